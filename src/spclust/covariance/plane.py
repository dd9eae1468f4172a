"""Full covariances of two features: the union of any two, and its factor, are short formulas.

With two features, the rest of a step is so cheap that the general functions, which loop over
features, would take most of the time. A covariance [[a, b], [b, c]] is given by a, b and c.
"""

from typing import TypeAlias

import numpy as np

from spclust.array_types import Floats
from spclust.covariance.full import lacks_memory as lacks_memory
from spclust.covariance.full import squares_in_one as squares_in_one
from spclust.covariance.full import unite_in_general as unite_in_general
from spclust.jit.decorators import part
from spclust.numerics.eight import Eight, add_product, load
from spclust.state.scratch import Scratch
from spclust.state.structures import Structures, is_single, write_factor

Entries: TypeAlias = tuple[float, float, float]

# Where the determinant is a smaller part of the product of the diagonal, too many digits are lost;
# where that product is larger, third powers leave the range.
_FLATTEST = 1e-5
_LARGEST = 1e60


@part
def squares_in_each(b: int, s: Structures, offset: Floats, plain: Eight, spare: Floats) -> Eight:
    """Squared distances of eight offsets (2, 8), each in the metric of its own slot of block b."""
    W, e, f = s.whiten[b], load(offset, 0), load(offset, 1)
    y, z = load(W, 0) * e, add_product(load(W, 1) * e, load(W, 2), f)
    return add_product(z * z, y, y)


@part
def two_squares_in_each(
    b: int, s: Structures, work: Scratch, plain: Eight, plain_next: Eight
) -> tuple[Eight, Eight]:
    """Squared distances of work.offset and work.ahead; factors are read once for both."""
    W, e, f = s.whiten[b], load(work.offset, 0), load(work.offset, 1)
    y, z = load(W, 0) * e, add_product(load(W, 1) * e, load(W, 2), f)
    return add_product(y * y, z, z), squares_in_each(b, s, work.ahead, plain_next, work.spare)


@part
def is_round(S: Entries) -> bool:
    """True if a covariance is far enough from a line, and in range, for the formulas."""
    a, b, c = S
    return a * c - b * b >= _FLATTEST * a * c and a * c <= _LARGEST


@part
def union_in_plane(U1: Entries, U2: Entries) -> Entries:
    """The union of two round covariances. Eq. (16), §III-C."""
    if U1[0] + U1[2] > U2[0] + U2[2]:
        U1, U2 = U2, U1  # what the smaller one adds is added to the larger one
    a, b, c = U2
    # (U1 - U2) v = excess U2 v has two solutions; each with an excess above 0 adds a rank to U2.
    x, y, z = U1[0] - a, U1[1] - b, U1[2] - c
    determinant, product = a * c - b * b, x * z - y * y
    middle = x * c + z * a - 2.0 * y * b
    if product >= 0.0:  # both have the same sign: one covariance covers the other
        return U2 if middle <= 0.0 else U1
    root = np.sqrt(middle * middle - 4.0 * determinant * product)
    if middle >= 0.0:
        excess = (middle + root) / (2.0 * determinant)
    else:
        excess = -2.0 * product / (root - middle)
    v, w = y - excess * b, excess * a - x
    other_v, other_w = z - excess * c, excess * b - y
    other = other_v * other_v * a + other_w * other_w * c
    if other * a > (v * v * a + w * w * c) * c:  # the larger row, in units of the diagonal
        v, w = other_v, other_w
    p, q = a * v + b * w, b * v + c * w
    size = excess / (v * p + w * q)
    return a + size * p * p, b + size * p * q, c + size * q * q


@part
def padded_in_plane(S: Entries, share: float, e: Floats) -> Entries:
    """A covariance plus the square of share e, e (2,). Eq. (14) and (15), §III-C."""
    u, v = share * e[0], share * e[1]
    return S[0] + u * u, S[1] + u * v, S[2] + v * v


@part
def unite_in_plane(Sigma: Floats, other: Entries, share: float, e: Floats, W: Floats) -> bool:
    """Make Sigma (2, 2) the union with another one, and W (3,) its factor. Eq. (14) to (16).

    The other one's mean is at offset e (2,) and has `share` of the merged mean. False, and nothing
    written, where the formulas would lose digits. Modified in place: Sigma, W.
    """
    U1 = padded_in_plane((Sigma[0, 0], Sigma[0, 1], Sigma[1, 1]), share, e)
    U2 = padded_in_plane(other, 1.0 - share, e)
    if not (is_round(U1) and is_round(U2)):
        return False
    union = union_in_plane(U1, U2)
    if not is_round(union):
        return False
    a, b, c = union
    Sigma[0, 0], Sigma[0, 1], Sigma[1, 0], Sigma[1, 1] = a, b, b, c
    second = np.sqrt(a / (a * c - b * b))
    W[0], W[1], W[2] = 1.0 / np.sqrt(a), -b / a * second, second
    return True


@part
def unite(keeper: int, other: int, share: float, s: Structures, work: Scratch) -> bool:
    """Make the covariance of `keeper` cover the other structure, at offset work.e. Eq. 14 to 16.

    As in `full`, for any two structures of two features. Modified in place: s, work.
    """
    Sigma, theirs = s.Sigma[keeper], s.Sigma[max(other, 0)]
    entries = (1.0, 0.0, 1.0) if is_single(other, s) else (theirs[0, 0], theirs[0, 1], theirs[1, 1])
    if not unite_in_plane(Sigma, entries, share, work.e, work.W):
        return False
    write_factor(keeper, s.whiten, work.W)
    return True
