"""New features in the middle of a stream: the same structures, with more features."""

import numpy as np

from spclust.array_types import Floats
from spclust.parameters import Params
from spclust.state.automatic_structures import AutomaticStructures, empty_automatic
from spclust.state.creation import empty
from spclust.state.kinds import Room
from spclust.state.structures import Structures
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.mode import AnyStream
from spclust.stream.stream import Stream


def with_new_features(stream: AnyStream, params: Params, first: Floats) -> AnyStream:
    """Return a copy of the stream with new features behind the others; `first` are their values.

    Every structure's mean gets the values `first` (new,), and its covariance the block of a fresh
    structure: scale^2 I, and 0 beside it. As no structure differs from another in a new feature,
    all distances, hence all clusters, stay the same. In a new feature, a "spherical" covariance has
    the variance that it has in all others; a "lowrank" one that has given up directions, its base.
    """
    if isinstance(stream, AutomaticStream):
        wider = _wider_automatic(stream.structures, params, first)
        return AutomaticStream.of(params, wider, stream.reading)
    s = stream.structures
    make = lambda: _wider(s, params, first)  # noqa: E731
    return Stream.of(params, make, s.d + first.size, s.memory.size)


def _wider(old: Structures, params: Params, first: Floats) -> Structures:
    """The state with new features, in new memory."""
    new = empty(params, old.d + first.size, Room(old.rank_room, old.directions))
    max_rank = new.max_rank
    new.copy_words(old)
    new.max_rank = max_rank
    # An empty state has fresh covariances everywhere, and new features come last in each array,
    # in a factor too, which is lower triangular: the old arrays are corners of the new ones.
    for name, theirs in old.views.items():
        new.views[name][tuple(slice(size) for size in theirs.shape)] = theirs
    new.anchor[:, old.d :] = first[:, np.newaxis]
    new.least[:] = np.minimum(new.least, 1.0)
    return new


def _wider_automatic(
    old: AutomaticStructures, params: Params, first: Floats
) -> AutomaticStructures:
    """The same in the automatic mode: new features have been constant so far."""
    new = empty_automatic(params, old.d + first.size)
    new.copy_words(old)
    for name, theirs in old.views.items():
        new.views[name][tuple(slice(size) for size in theirs.shape)] = theirs
    new.origin[old.d :] = first
    return new
