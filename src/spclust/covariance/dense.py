"""A spread as a matrix, of all features or of the few directions that count, and how it grows.

For the union with a single point, which nearly all merges are, see `point_union`.
"""

from typing import Any, NamedTuple

from spclust.arrays import Floats
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

_FLOOR = 1.0  # in units of scale every spread is at least the identity

# A factor is computed anew after so many renewals, each of which adds a rounding error, and where
# one adds more than this to the spread, in units of the spread: the error would be as large.
_MOST_RENEWALS = 32.0
_LARGEST_RENEWAL = 1.0
_LARGEST_FIRST = 1e6  # the same for the I of a single point, in which there is no error yet


class Dense(NamedTuple):
    """The spread of one structure, and where the mean is that it is to cover."""

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
    """Make a spread, and its factor, cover another one. Eq. 14 to 16.

    `slot` tells what is known of the spread, `held` whether it covers the other one already, and
    `single` whether that is a point; `share` is its part of the merged mean, own.union.p is W e.
    False, and the spread as it was, if it takes `cover_any`. Modified in place: own, s.
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
    """Whether a spread surely covers a single point; own.union.p becomes W e, modified in place."""
    return covers(own.W, own.e, share, s.least[slot], own.union.p, own.union.v)


@part
def holds_covariance(share: float, own: Dense, spread: Floats) -> bool:
    """What `holds_point` tells, of a structure of another spread (k, k)."""
    times_vector(own.W, own.e, own.union.p)
    return surely_holds(own.Sigma, spread, share, own.e, own.union.R)


@part
def cover_any(
    slot: int, share: float, own: Dense, spread: Floats, s: Structures, memory: Floats
) -> None:
    """What `cover_if_easy` does, for any two structures; `spread` (k, k) is the other one's.

    If that is a single point, `spread` is own.union.R. Modified in place: own, s; memory is scratch.
    """
    Sigma, _, e, union = own
    if not unite_small(Sigma, spread, share, e, _FLOOR, memory):
        delta1, delta2 = union.v, union.w
        for c in range(e.size):
            delta1[c], delta2[c] = share * e[c], (share - 1.0) * e[c]
        unite(Sigma, delta1, spread, delta2, _FLOOR, memory)
    factor_anew(slot, own, s)


@part
def grow_along(slot: int, share: float, own: Dense, s: Structures) -> None:
    """Add to a spread what its own move adds, Eq. 14, and no more: it covers the other one.

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
    """Compute the factor of a spread. Modified in place: own, s."""
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
    """Whether the factor of a slot may be changed for share^2 e e^T instead of computed.

    `square` is the squared length of W e.
    """
    most = _LARGEST_RENEWAL if s.count[slot] > 1.0 else _LARGEST_FIRST
    return s.renewals[slot] < _MOST_RENEWALS and share * share * square <= most
