"""New features in the middle of a stream: the same structures, with more features."""

import numpy as np

from spclust.arrays import Floats
from spclust.parameters import Params
from spclust.state.kinds import Room
from spclust.state.structures import (
    FACTOR,
    FEATURES,
    MOST,
    SPREAD_COLUMNS,
    SPREAD_ROWS,
    empty_pool,
    view,
)
from spclust.stream.stream import Stream

# Entries of the head that depend on the number of features.
_SIZES = [FEATURES, FACTOR, SPREAD_ROWS, SPREAD_COLUMNS, MOST]


def with_new_features(stream: Stream, params: Params, first: Floats) -> Stream:
    """Return a copy of the stream with new features behind the others; `first` are their values.

    Every structure's mean gets the values `first` (new,), and its covariance the block of a fresh
    structure: scale^2 I, and 0 beside it. As no structure differs from another in a new feature,
    all distances, hence all clusters, stay the same. In a new feature, a "spherical" covariance has
    the variance that it has in all others; a "lowrank" one that has given up directions, its base.
    """
    wider = Stream.__new__(Stream)
    wider.__setstate__({"params": params, "pool": _wider_pool(stream.pool, params, first)})
    return wider


def _wider_pool(pool: Floats, params: Params, first: Floats) -> Floats:
    """The state with new features, in new memory."""
    old = view(pool)
    d = old.anchor.shape[1]
    room = Room(rank=old.place.shape[1], directions=old.free.size)
    wider = empty_pool(params, d + first.size, room)
    new, sizes = view(wider), wider[_SIZES]
    # An empty state has fresh covariances everywhere, and new features come last in each array,
    # in a factor too, which is lower triangular: the old arrays are corners of the new ones.
    for ours, theirs in zip(new, old, strict=True):
        ours[tuple(slice(size) for size in theirs.shape)] = theirs
    wider[_SIZES] = sizes
    new.anchor[:, d:] = first[:, np.newaxis]
    new.least[:] = np.minimum(new.least, 1.0)
    return wider
