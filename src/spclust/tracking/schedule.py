"""When the clusters are observed: every so many points, between the batches that are learnt."""

from collections.abc import Callable, Mapping

from spclust.array_types import Floats, Integers, Rows
from spclust.stream.access import Access, PointLearner
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.mode import AnyStream
from spclust.tracking.label_tracker import LabelTracker
from spclust.tracking.observation import observe
from spclust.tracking.tracker import Tracker

Labels = Callable[[AnyStream], Integers]  # clusters (k,) of the structures, oldest first
Columns = Mapping[str, Floats]  # numbers (rows,) beside the rows, as `learn` takes them
AnyTracker = Tracker | LabelTracker

# Points between two observations, if no number is set: a part of N and of the half-life.
_OF_STRUCTURES, _OF_HALF_LIFE = 2, 4
_LEAST, _MOST = 10, 150


def new_tracker(stream: AnyStream) -> AnyTracker:
    """A tracker of a stream, from now on."""
    return LabelTracker.of(stream) if isinstance(stream, AutomaticStream) else Tracker()


def interval(track_every: int | None, stream: AnyStream, *, timed: bool) -> int | None:
    """Points between two observations of a tracked stream; None if it is not observed.

    In the automatic mode there is a default, in which a half-life that is a time (`timed`) has no
    part.
    """
    if track_every is not None or not isinstance(stream, AutomaticStream):
        return track_every
    s = stream.structures
    every = s.capacity / _OF_STRUCTURES
    if not timed:
        every = min(every, s.half_life / _OF_HALF_LIFE)
    return int(min(max(every, _LEAST), _MOST))


def learn_and_observe(
    stream: AnyStream,
    rows: Rows,
    columns: Columns,
    tracker: AnyTracker,
    every: int,
    labels: Labels,
) -> None:
    """Learn rows, and observe the clusters whenever `every` points were learnt."""
    at = 0
    stream.finish()  # what the last call left to do, and to observe, if it was interrupted
    while True:
        observe_if_due(stream, tracker, every, labels)
        if at >= len(rows):
            return
        until = at + every - stream.seen % every
        stream.learn(rows[at:until], **{key: c[at:until] for key, c in columns.items()})
        at = until


def observe_if_due(stream: AnyStream, tracker: AnyTracker, every: int, labels: Labels) -> None:
    """Observe the clusters if it is time to."""
    if stream.seen % every == 0 and tracker.observed_at < stream.seen:
        if isinstance(tracker, Tracker):
            tracker.observe(observe(stream, labels(stream)))
        elif isinstance(stream, AutomaticStream):
            tracker.observe(stream)


def observing_learner(
    stream: AnyStream, tracker: AnyTracker, every: int, labels: Labels, access: Access
) -> PointLearner:
    """What learning one point at a time needs; it observes the clusters when it is time to."""
    plain, s = stream.point_learner(access), stream.structures
    is_open = True  # the last point may have to be finished, or observed

    def observe_point() -> None:
        observe_if_due(stream, tracker, every, labels)
        if stream.structures is s:  # memory has not grown
            access.memory = s.memory

    def finish() -> None:
        stream.finish()
        observe_point()

    def learn_and_observe(memory: Floats, x: Floats, scratch: Floats, rows: int) -> int:
        nonlocal is_open
        if is_open:  # the call for the last point was interrupted
            access.learn(finish)
        is_open = True
        if access.open is not memory:
            return 0  # memory has grown, or another thread came in between
        learnt = plain.learn(memory, x, scratch, rows)
        if learnt == 1 and s.seen % every == 0:
            access.finish(observe_point)
        is_open = learnt == -1
        return learnt

    return plain._replace(learn=learn_and_observe)
