"""The jobs of the benchmark, their groups and their numbers of rounds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.competitor import Competitor
from benchmarks.competitors import AUTOMATIC, PEERS, RESTRICTED, SPC, TWO_THREADS, VARIANTS
from benchmarks.results import Key
from benchmarks.streams import STREAMS

MILLION = 1_000_000
OTHER_SIZES = (30, 100, 300)


@dataclass(frozen=True)
class Job:
    """One measurement: its budget in seconds, and for ageing the number of points to learn."""

    competitor: Competitor
    stream: str
    n: int
    measure: str
    budget: float
    points: int = 0

    @property
    def key(self) -> Key:
        """Key of the measured number."""
        return Key(self.competitor.name, self.stream, self.n, self.measure)


@dataclass(frozen=True)
class Group:
    """Jobs that are compared with each other: each round runs all of them once, in turn."""

    title: str
    jobs: tuple[Job, ...]
    rounds: int


def learn_measures(competitor: Competitor) -> list[str]:
    """All measures of learning that the competitor supports."""
    return ["one", *(f"batch {size:,}" for size in competitor.batches)]


def all_measures(competitor: Competitor) -> list[str]:
    """All measures at N=50."""
    return learn_measures(competitor) + (["predict"] if competitor.predicts else [])


def full(peers: Sequence[Competitor] = PEERS) -> Iterator[Group]:
    """The whole benchmark."""
    for stream in STREAMS:
        yield Group(stream, tuple(_stream_jobs(stream, peers, 0.5)), rounds=5)
        # Repeated, because both cores of a shared machine are rarely free at the same time.
        yield Group("two cores", tuple(_core_jobs(0.5)), rounds=4)
    others = [
        Job(one, "2-D", n, measure, 0.3)
        for n in OTHER_SIZES
        for one in (SPC, *peers)
        for measure in ("one", "batch 10,000")
        if measure in learn_measures(one)
    ]
    yield Group("2-D, other N", tuple(others), rounds=2)
    ageing = [Job(SPC, stream, 50, "ageing", float("inf"), MILLION) for stream in STREAMS]
    ageing += [Job(peer, "2-D", 50, "ageing", 3.0, MILLION) for peer in peers]
    yield Group("long streams", tuple(ageing), rounds=1)


def quick(peers: Sequence[Competitor] = PEERS) -> Iterator[Group]:
    """A first impression: N=50, the two main ways of learning, few rounds."""
    for stream in STREAMS:
        jobs = [
            Job(one, stream, 50, measure, 0.1)
            for one in (SPC, *peers)
            for measure in ("one", "batch 10,000")
            if measure in learn_measures(one)
        ]
        yield Group(stream, tuple(jobs), rounds=2)
    yield Group("long stream", (Job(SPC, "2-D", 50, "ageing", float("inf"), MILLION),), rounds=1)


def _stream_jobs(stream: str, peers: Sequence[Competitor], budget: float) -> Iterator[Job]:
    for one in (SPC, *peers):
        for measure in all_measures(one):
            yield Job(one, stream, 50, measure, budget)
    for n in OTHER_SIZES:
        yield Job(SPC, stream, n, "batch 10,000", budget)
    for automatic in AUTOMATIC:  # with the default N
        yield Job(automatic, stream, 100, "batch 10,000", budget)
    if stream == "54-D":
        for one in RESTRICTED:
            yield Job(one, stream, 50, "batch 10,000", budget)
    if stream == "2-D":
        for variant in VARIANTS:
            yield Job(variant, stream, 50, "batch 10,000", budget)


def _core_jobs(budget: float) -> Iterator[Job]:
    for one in (SPC, TWO_THREADS):
        yield Job(one, "2-D", 30, "predict", budget)
