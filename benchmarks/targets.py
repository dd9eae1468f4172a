"""Targets for the speed of SPC, and the verdicts on them."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.competitors import AUTOMATIC, PEERS
from benchmarks.results import MissingError, Results
from benchmarks.streams import STREAMS

BATCH, ONE = "batch 10,000", "one"


@dataclass(frozen=True)
class Target:
    """A bound on a number that can be read from the results."""

    text: str
    bound: float
    value: Callable[[Results], float]
    at_least: bool  # False: at most
    unit: str = "x"


@dataclass(frozen=True)
class Verdict:
    """A target and its measurement: "met", "NOT met", or the reason for a missing number."""

    text: str
    bound: str
    value: float | None
    unit: str
    verdict: str

    def as_json(self) -> dict[str, Any]:
        """The fields as a dictionary."""
        return asdict(self)


def faster(
    stream: str, peer: str, call: str, bound: float, spc_call: str = BATCH, spc: str = "SPC"
) -> Target:
    """SPC is at least `bound` times as fast as the peer, both with N=50."""

    def value(results: Results) -> float:
        return results.best(peer, stream, 50, call) / results.best(spc, stream, 50, spc_call)

    text = f"{stream} N=50: {spc} ({spc_call}) faster than {peer} ({call})"
    return Target(text, bound, value, at_least=True)


def all_targets() -> Iterator[Target]:
    """Every target, in the order of the report."""
    yield faster("2-D", "River DBSTREAM", ONE, 35)
    yield faster("2-D", "River CluStream", ONE, 35)
    yield faster("2-D", "clusopt CluStream", BATCH, 1.0)
    yield faster("2-D", "scikit-learn Birch", BATCH, 10)
    for peer in PEERS:
        yield faster("2-D", peer.name, ONE, 2, spc_call=ONE)
    yield faster("10-D", "River DBSTREAM", ONE, 30)
    yield faster("10-D", "clusopt CluStream", BATCH, 2.5)
    yield faster("10-D", "scikit-learn Birch", BATCH, 4)
    yield faster("54-D", "River DBSTREAM", ONE, 1.2)
    yield faster("54-D", "clusopt CluStream", BATCH, 1.0)
    yield faster("54-D", "River DBSTREAM", ONE, 10, spc="SPC diag")
    yield from _automatic()
    yield from _growth()
    yield from _start_and_predict()


def _automatic() -> Iterator[Target]:
    """Bounds on the automatic mode with its default N, clusters read after each batch."""
    for automatic in AUTOMATIC:
        for stream in STREAMS:
            yield _slower(
                f"{stream} N=100: {automatic.name} against SPC",
                1.5,
                (automatic.name, stream, 100, BATCH),
                ("SPC", stream, 100, BATCH),
            )
        for stream in ("2-D", "10-D"):
            for peer, call, bound in (
                ("River DBSTREAM", ONE, 10.0),
                ("clusopt CluStream", BATCH, 1.0),
            ):
                yield _ahead(automatic.name, stream, peer, call, bound)


def _ahead(name: str, stream: str, peer: str, call: str, bound: float) -> Target:
    """SPC with N=100 is at least `bound` times as fast as the peer with N=50."""

    def value(results: Results) -> float:
        return results.best(peer, stream, 50, call) / results.best(name, stream, 100, BATCH)

    text = f"{stream}: {name} (N=100) faster than {peer} (N=50, {call})"
    return Target(text, bound, value, at_least=True)


def _growth() -> Iterator[Target]:
    """Bounds on how much slower SPC may become with N, the stream's length and m."""
    for stream in STREAMS:
        yield _slower(
            f"{stream}: SPC N=300 against N=30",
            13.0,
            ("SPC", stream, 300, BATCH),
            ("SPC", stream, 30, BATCH),
        )
    for stream in STREAMS:
        yield _slower(
            f"{stream} N=50: SPC after 1M points against the first 10k",
            1.1,
            ("SPC", stream, 50, "after many"),
            ("SPC", stream, 50, "first 10k"),
        )
    for m, bound in (("1.4", 1.5), ("1.37", 3.0)):
        yield _slower(
            f"2-D N=50: SPC m={m} against m=1.5",
            bound,
            (f"SPC m={m}", "2-D", 50, BATCH),
            ("SPC", "2-D", 50, BATCH),
        )


def _slower(
    text: str, bound: float, slow: tuple[str, str, int, str], fast: tuple[str, str, int, str]
) -> Target:
    return Target(text, bound, lambda r: r.best(*slow) / r.best(*fast), at_least=False)


def _start_and_predict() -> Iterator[Target]:
    for what, bound in (("import", 0.3), ("import and first fit", 2.0), ("cold compile", 15.0)):
        yield Target(f"SPC: {what}", bound, _startup(what), at_least=False, unit=" s")
    one, two = ("SPC", "2-D", 30, "predict"), ("SPC two threads", "2-D", 30, "predict")
    yield Target(
        "2-D N=30: SPC predict", 5.0, lambda r: 1 / r.best(*one), at_least=True, unit=" M points/s"
    )
    yield Target(
        "2-D N=30: SPC predict, two threads against one",
        1.6,
        lambda r: r.best(*one) / r.best(*two),
        at_least=True,
    )


def _startup(what: str) -> Callable[[Results], float]:
    def value(results: Results) -> float:
        if what not in results.startup:
            raise MissingError("not measured")
        return min(results.startup[what])

    return value


def judge(target: Target, results: Results) -> Verdict:
    """The verdict on one target."""
    bound = f"{'>=' if target.at_least else '<='} {target.bound:g}{target.unit}"
    try:
        value = target.value(results)
    except MissingError as reason:
        return Verdict(target.text, bound, None, target.unit, str(reason))
    met = value >= target.bound if target.at_least else value <= target.bound
    return Verdict(target.text, bound, value, target.unit, "met" if met else "NOT met")


def judge_all(results: Results) -> list[Verdict]:
    """The verdicts on all targets."""
    return [judge(target, results) for target in all_targets()]
