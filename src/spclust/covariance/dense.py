"""The growth of a covariance that is stored as a matrix: of all features, or of a few directions.

Nearly all merges are unions with a single point: see `point_union`.
"""

from typing import Any, NamedTuple

from spclust.array_types import Floats
from spclust.covariance.point_union import UnionScratch, covers, stretch_by_factor, union_with_point
from spclust.covariance.small_union import unite_small
from spclust.covariance.union import surely_holds, unite
from spclust.jit.decorators import outlined, part
from spclust.numerics.cholesky import (
    dot,
    invert_transposed,
    least_eigenvalue_bound,
    raise_diagonal,
    renew_inverse,
    shifted_cholesky,
    times_vector,
)
from spclust.state.scratch import Scratch
from spclust.state.structures import Structures

_FLOOR = 1.0  # in units of scale every covariance is at least the identity

# A factor is computed anew after so many renewals, each of which adds a rounding error, and where
# one adds more than this to the covariance, relative to it: the error would be as large.
_MOST_RENEWALS = 32.0
_LARGEST_RENEWAL = 1.0
_LARGEST_FIRST = 1e6  # the same for the I of a single point, in which there is no error yet


class Dense(NamedTuple):
    """The covariance of one structure, and the offset of the mean that it has to cover."""

    Sigma: Any  # (k, k)
    W: Any  # (k (k + 1) / 2,) its factor, packed
    e: Any  # (k,) offset of the other mean
    union: UnionScratch


@part
def dense_of(slot: int, s: Structures, work: Scratch) -> Dense:
    """The full covariance of a slot, with the scratch memory for its growth."""
    union = UnionScratch(work.R, work.inverse, work.direction, work.v, work.w, work.p)
    return Dense(s.Sigma[slot], work.W, work.e, union)


@part
def cover_if_easy(
    slot: int, held: bool, single: bool, share: float, own: Dense, s: Structures
) -> bool:
    """Make a covariance, and its factor, cover another one where that is simple. Eq. 14 to 16.

    `held` is True if it covers the other one already, `single` if the other one is a point; `share`
    is the other one's in the merged mean, own.union.p is W e. False, and the covariance unchanged,
    if it takes `cover_any`. Modified in place: own, s.
    """
    Sigma, W, e, union = own
    if held:
        grow_along(slot, share, own, s)
        return True
    if not single:
        return False
    if s.renewals[slot] < _MOST_RENEWALS and stretch_by_factor(Sigma, W, e, share, union):
        s.renewals[slot] += 2.0
        return True
    if not union_with_point(Sigma, e, share, s.least[slot], union):
        return False
    factor_anew(slot, own, s)
    return True


@part
def holds_point(slot: int, share: float, own: Dense, s: Structures) -> bool:
    """True if a covariance surely covers a single point.

    Modified in place: own.union.p, which becomes W e; own.union.v is scratch.
    """
    return covers(own.W, own.e, share, s.least[slot], own.union.p, own.union.v)


@part
def holds_covariance(share: float, own: Dense, theirs: Floats) -> bool:
    """True if a covariance surely covers another one (k, k).

    Modified in place: own.union.p, which becomes W e; own.union.R is scratch.
    """
    times_vector(own.W, own.e, own.union.p)
    return surely_holds(own.Sigma, theirs, share, own.e, own.union.R)


@part
def cover_any(
    slot: int, share: float, own: Dense, theirs: Floats, s: Structures, memory: Floats
) -> None:
    """`cover_if_easy` for any two structures; `theirs` (k, k) is the other one's covariance.

    Of a single point it may be own.union.R. Modified in place: own, s; memory is scratch.
    """
    Sigma, _, e, union = own
    if not unite_small(Sigma, theirs, share, e, _FLOOR, memory):
        delta1, delta2 = union.v, union.w
        for c in range(e.size):
            delta1[c], delta2[c] = share * e[c], (share - 1.0) * e[c]
        unite(Sigma, delta1, theirs, delta2, _FLOOR, memory)
    factor_anew(slot, own, s)


@part
def grow_along(slot: int, share: float, own: Dense, s: Structures) -> None:
    """Pad a covariance that covers the other one: by its own move alone, Eq. 14.

    own.union.p is W e. Modified in place: own, s.
    """
    p = own.union.p
    add_square(own.Sigma, share, own.e)
    if not renewable(slot, dot(p, p, 0), share, s):
        factor_anew(slot, own, s)
        return
    for c in range(p.size):
        p[c] *= share
    renew_inverse(own.W, p, own.union.v, own.union.w)
    s.renewals[slot] += 1.0


@outlined
def factor_anew(slot: int, own: Dense, s: Structures) -> None:
    """Compute the factor of a covariance anew. Modified in place: own, s."""
    R, inverse = own.union.R, own.union.inverse
    shifted_cholesky(own.Sigma, 0.0, _FLOOR, R, inverse)
    raise_diagonal(own.Sigma, R)
    invert_transposed(R, inverse, own.W)
    s.least[slot], s.renewals[slot] = least_eigenvalue_bound(own.W), 0.0


@part
def add_square(Sigma: Floats, share: float, e: Floats) -> None:
    """Add share^2 e e^T, Eq. 14, to Sigma (k, k). Modified in place: Sigma."""
    for r in range(e.size):
        for c in range(e.size):
            Sigma[r, c] += (share * e[r]) * (share * e[c])


@part
def renewable(slot: int, square: float, share: float, s: Structures) -> bool:
    """True if the factor of a slot may be updated by share^2 e e^T instead of computed.

    `square` is the squared length of W e.
    """
    most = _LARGEST_RENEWAL if s.count[slot] > 1.0 else _LARGEST_FIRST
    return s.renewals[slot] < _MOST_RENEWALS and share * share * square <= most
