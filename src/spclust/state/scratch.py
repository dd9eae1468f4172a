"""Scratch memory: kernels make no arrays, they work in what they are given."""

from functools import lru_cache
from typing import Any, NamedTuple

from numba import types
from numba.extending import intrinsic

from spclust.array_types import Floats
from spclust.jit.decorators import COMPILED, part
from spclust.numerics.memory import aligned_copy
from spclust.state.kinds import LOWRANK, known_extents, spare_size
from spclust.state.record import Array, Extent, Flag, Integer, Record, RecordType
from spclust.state.structures import Structures

_UNION_MATRICES = 8  # as large as a covariance, for the general union


class Scratch(Record):
    """Memory for one point; nothing in it outlives the call."""

    # The next merge, if it takes the general union of covariances
    keeper = Integer()  # slot of the union
    other = Integer()  # slot of the other structure
    light = Flag()  # because one of them is too light
    pending = Flag()  # it is to be done
    united = Flag()  # it is done, and the other structure is to be removed

    n = Extent()  # slots
    d = Extent()  # features
    t = Extent()  # numbers of a factor
    rows = Extent()  # of a covariance
    spares = Extent()
    generals = Extent()

    x = Array("2 d")  # the point: anchor, and a drift of 0
    mu = Array("2 d")  # mean of a structure: anchor and drift
    e = Array("d")  # difference of two means, in units of scale
    W = Array("t")  # factor of a structure
    offset = Array("d 8")  # differences of eight means to mu
    ahead = Array("d 8")  # differences of eight means to x

    # Relation of the point to all structures: see `Relation`
    point_q = Array("n")
    point_q_back = Array("n")
    point_odds = Array("n")
    point_odds_back = Array("n")
    point_pair = Array("n")

    # Relation of a structure that changed to all others
    changed_q = Array("n")
    changed_q_back = Array("n")
    changed_odds = Array("n")
    changed_odds_back = Array("n")
    changed_pair = Array("n")

    # For the union of a covariance with a point: see `covariance.point_union`
    R = Array("rows rows")
    inverse = Array("d")
    direction = Array("d")
    v = Array("d")
    w = Array("d")
    p = Array("d")

    spare = Array("spares")  # for covariances of low rank
    general = Array("generals")  # for the general union of covariances


def scratch_for(s: Structures) -> Scratch:
    """Scratch memory that learning into a state needs."""
    side = s.rank_room if s.kind == LOWRANK else s.rows
    general = _UNION_MATRICES * side * (side + 4) + s.d
    if s.kind == LOWRANK and s.max_rank < s.d:
        general += s.max_rank * s.d
    spares = spare_size(s.d, s.rank_room)
    return _scratch(n=s.n, d=s.d, t=s.t, rows=s.rows, spares=spares, generals=general)


def memory_for_query(s: Structures) -> Floats:
    """Scratch memory that measuring points in a state needs."""
    return aligned_copy(_for_queries(s.n, s.d, s.t, spare_size(s.d, s.rank_room)))


@lru_cache(maxsize=16)
def _for_queries(n: int, d: int, t: int, spares: int) -> Floats:
    # Kept, because to lay out memory takes longer than to label a point.
    return _scratch(n=n, d=d, t=t, rows=0, spares=spares, generals=0).memory


def _scratch(**extents: int) -> Scratch:
    scratch: Scratch = Scratch.empty(extents)
    return scratch


def scratch_in_kernel(memory: Any, kind: int) -> Scratch:
    """Name the parts of scratch memory for a kind of covariances."""
    return Scratch(memory)


if COMPILED:

    @intrinsic(prefer_literal=True)
    def scratch_in_kernel(typingctx: Any, memory: Any, kind: Any) -> Any:
        """The same in compiled code; the compiler knows the kind."""
        if not isinstance(kind, types.IntegerLiteral):
            return None
        known = known_extents(int(kind.literal_value))
        known.pop("columns", None)
        record = RecordType(Scratch, known, {})

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.make_array(signature.args[0])(context, builder, args[0]).data

        return record(memory, kind), build


class Relation(NamedTuple):
    """Relation of one structure, or point, to all n slots."""

    q: Any  # (n,) squared distances of its mean in the others
    q_back: Any  # (n,) squared distances of the others' means in it
    odds: Any  # (n,) odds of q
    odds_back: Any  # (n,) odds of q_back
    pair: Any  # (n,) odds of the pairs


@part
def point_relation(work: Scratch) -> Relation:
    """The relation of the point to all structures."""
    return Relation(
        work.point_q, work.point_q_back, work.point_odds, work.point_odds_back, work.point_pair
    )


@part
def changed_relation(work: Scratch) -> Relation:
    """The relation of a structure that changed to all others."""
    return Relation(
        work.changed_q,
        work.changed_q_back,
        work.changed_odds,
        work.changed_odds_back,
        work.changed_pair,
    )
