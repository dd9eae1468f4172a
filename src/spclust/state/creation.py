"""Creation of states: empty ones, with other parameters, and with more memory."""

import numpy as np

from spclust.numerics.eight import LANES
from spclust.parameters import Params
from spclust.state.kinds import FULL, LOWRANK, Room, covariance_extents
from spclust.state.structures import Structures

# Larger differences are taken to be this large: the first in units of scale, whose squares are
# summed over all features; the second in the unit of the data, whose squares are covariances.
FARTHEST = 1e150
_FARTHEST_IN_DATA = 1e153

# Beyond this exponent (m < 1.2) odds of ordinary data overflow, so they are kept as logarithms.
LARGEST_LINEAR_EXPONENT = 5.0

_FIRST_RANK = 8


def extents(params: Params, d: int, room: Room) -> dict[str, int]:
    """Lengths of the axes of a state of d features: N structures and the newest point."""
    n = (params.n_structures + LANES) // LANES * LANES
    axes = {"n": n, "blocks": n // LANES, "d": d}
    rooms = {"rank_room": room.rank, "directions": room.directions}
    return {**axes, **covariance_extents(params.kind, d, room), **rooms}


def first_room(params: Params, d: int) -> Room:
    """Memory for the directions of the first structures, if covariances are of low rank."""
    if params.kind != LOWRANK:
        return Room()
    rank = min(d, 2 * min(params.max_rank, _FIRST_RANK) + 1)
    return Room(rank, params.n_structures + _FIRST_RANK)


def empty(params: Params, d: int, room: Room) -> Structures:
    """The state before the first point."""
    s: Structures = Structures.empty(extents(params, d, room))
    s.capacity, s.kind = params.n_structures, params.kind
    s.free_directions, s.max_rank = room.directions, min(params.max_rank, d)
    s.gap = 1.0
    configure(s, params)
    s.in_logs = params.exponent > LARGEST_LINEAR_EXPONENT
    for array in (s.Sigma, s.whiten, s.least, s.base):
        array[:] = 1.0
    s.free[:] = np.arange(room.directions)
    if params.kind == FULL:
        s.Sigma[:] = np.eye(d)
        s.whiten[:] = np.eye(d)[np.tril_indices(d)][:, np.newaxis]
    return s


def configure(s: Structures, params: Params) -> None:
    """Write the parameters of the online phase. Modified in place: s."""
    s.exponent, s.scale, s.per_scale = params.exponent, params.scale, 1.0 / params.scale
    s.reach = min(FARTHEST, _FARTHEST_IN_DATA / params.scale)
    s.gamma, s.beta = params.gamma, params.beta
    s.w_min, s.nlt_max = params.w_min, params.nlt_max


def enlarged(old: Structures, params: Params) -> Structures:
    """The same state with more memory, for the rank that is needed and some more."""
    needed, directions = old.needed_rank, old.directions
    rank = min(old.d, max(old.rank_room, needed + needed // 8 + 1))
    more = Room(rank, directions + max(directions // 8, needed + 1))
    new = empty(params, old.d, more)
    new.copy_words(old)
    for array in Structures.arrays():
        ours, theirs = new.views[array.name], old.views[array.name]
        if ours.shape == theirs.shape:
            ours[...] = theirs
    free, numbers = old.free_directions, old.columns // 2
    half = new.columns // 2
    new.Sigma[:, :, :numbers] = old.Sigma[..., :numbers]
    new.Sigma[:, :, half : half + numbers] = old.Sigma[..., numbers:]
    new.place[:, : old.rank_room] = old.place
    new.free[:free] = old.free[:free]
    new.free[free : free + more.directions - directions] = np.arange(directions, more.directions)
    new.free_directions += more.directions - directions
    new.needed_rank = 0
    new.basis[:directions] = old.basis
    return new
