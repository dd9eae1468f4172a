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

_SHAPE = [FEATURES, FACTOR, SPREAD_ROWS, SPREAD_COLUMNS, MOST]  # what features change in the head


def with_more_features(stream: Stream, params: Params, first: Floats) -> Stream:
    """The stream with more features behind those it has; `first` (new,) are their first values.

    Every structure's mean gets these values, and its spread the fresh block: I, and 0 beside it.
    So no structure differs from another in a new feature, and all distances, hence all clusters,
    stay what they are. A spread of type "spherical" has the variance that it has in all features,
    one of "lowrank" that has given up directions, `base`. The stream given stays as it is.
    """
    wider = Stream.__new__(Stream)
    wider.__setstate__({"params": params, "pool": wider_pool(stream.pool, params, first)})
    return wider


def wider_pool(pool: Floats, params: Params, first: Floats) -> Floats:
    """The state with more features, in new memory."""
    old = view(pool)
    d = old.anchor.shape[1]
    room = Room(rank=old.place.shape[1], directions=old.free.size)
    wider = empty_pool(params, d + first.size, room)
    new, shape = view(wider), wider[_SHAPE]
    # An empty pool has the fresh spread everywhere, and new features come last in each array,
    # in a factor too, which is lower triangular: what was known is a corner of what is now.
    for ours, theirs in zip(new, old, strict=True):
        ours[tuple(slice(size) for size in theirs.shape)] = theirs
    wider[_SHAPE] = shape
    new.anchor[:, d:] = first[:, np.newaxis]
    new.least[:] = np.minimum(new.least, 1.0)
    return wider
