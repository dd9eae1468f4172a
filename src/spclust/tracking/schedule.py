"""When the clusters are observed: every so many points, between the batches that are learnt."""

from collections.abc import Callable, Mapping

from spclust.arrays import Floats, Integers, Rows
from spclust.stream.mode import AnyStream
from spclust.stream.point_learner import PointLearner
from spclust.tracking.observation import observe
from spclust.tracking.tracker import Tracker

Labels = Callable[[AnyStream], Integers]  # clusters (k,) of the structures, oldest first
Columns = Mapping[str, Floats]  # numbers (rows,) beside the rows, as `learn` takes them


def learn_and_observe(
    stream: AnyStream,
    rows: Rows,
    columns: Columns,
    tracker: Tracker,
    every: int,
    labels: Labels,
) -> None:
    """Learn rows, and observe the clusters whenever `every` points were learnt."""
    at = 0
    while True:
        # First of all, if the last call was interrupted before it.
        observe_if_due(stream, tracker, every, labels)
        if at >= len(rows):
            return
        until = at + every - stream.seen % every
        stream.learn(rows[at:until], **{key: c[at:until] for key, c in columns.items()})
        at = until


def observe_if_due(stream: AnyStream, tracker: Tracker, every: int, labels: Labels) -> None:
    """Observe the clusters if it is time to."""
    if stream.seen % every == 0 and tracker.observed_at < stream.seen:
        tracker.observe(observe(stream, labels(stream)))


def observing_learner(
    stream: AnyStream, tracker: Tracker, every: int, labels: Labels
) -> PointLearner:
    """What learning one point at a time needs; it observes the clusters when it is time to."""
    plain, s = stream.point_learner(), stream.structures

    def learn_and_observe(memory: Floats, x: Floats, scratch: Floats, rows: int) -> int:
        learnt = plain.learn(memory, x, scratch, rows)
        if learnt == 1 and s.seen % every == 0:
            observe_if_due(stream, tracker, every, labels)
        return learnt

    return plain._replace(learn=learn_and_observe)
