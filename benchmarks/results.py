"""Measurements: one record for each competitor, stream, N and measure."""

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple


class Key(NamedTuple):
    """Key of a record; `measure` is "one", "batch 10,000", "predict" and so on."""

    competitor: str
    stream: str
    n: int
    measure: str


@dataclass
class Record:
    """Microseconds per point of each round, and the competitor's state after the last."""

    us: list[float] = field(default_factory=list)
    points: int = 0
    micro_clusters: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    state_bytes: int | None = None

    @property
    def best(self) -> float:
        """The fastest round: noise only adds time."""
        return min(self.us)

    @property
    def spread(self) -> float:
        """The slowest round over the fastest."""
        return max(self.us) / min(self.us)


class MissingError(LookupError):
    """A number was not measured; the message is the reason."""


@dataclass
class Results:
    """All records, start-up times in seconds, and the reasons for missing competitors or keys."""

    records: dict[Key, Record] = field(default_factory=dict)
    startup: dict[str, list[float]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)

    def record(self, key: Key) -> Record:
        """The record of the key, or MissingError with the reason."""
        if key not in self.records:
            reason = self.missing.get(key.competitor) or self.missing.get(label(key))
            raise MissingError(reason or "not measured")
        return self.records[key]

    def best(self, competitor: str, stream: str, n: int, measure: str) -> float:
        """Best time in microseconds per point, or MissingError with the reason."""
        return self.record(Key(competitor, stream, n, measure)).best

    def add(self, key: Key, answer: dict[str, Any]) -> None:
        """Add a worker's answer to one job, which may hold several measures."""
        for measure, us in answer["us"].items():
            record = self.records.setdefault(key._replace(measure=measure), Record())
            record.us.append(us)
            record.points = answer["plan"][1]
            record.micro_clusters = answer["micro_clusters"]
            record.parameters = answer["parameters"]
            record.state_bytes = answer["state_bytes"]

    def figures(self) -> dict[str, float]:
        """Best times in microseconds, by `label` with slashes; seconds of starts."""
        found = {
            f"{key.competitor}/{key.stream}/{key.n}/{key.measure}": record.best
            for key, record in self.records.items()
        }
        starts = {f"start/{what}": min(times) for what, times in self.startup.items() if times}
        return {**found, **starts}

    def as_json(self) -> dict[str, Any]:
        """Everything, in plain lists and dictionaries."""
        records = [{**key._asdict(), **asdict(record)} for key, record in self.records.items()]
        return {
            "machine": self.machine,
            "records": records,
            "startup": self.startup,
            "missing": self.missing,
        }


def label(key: Key) -> str:
    """The key in words."""
    return f"{key.competitor}, {key.stream}, N={key.n}, {key.measure}"
