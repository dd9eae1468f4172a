"""Judgement: whether two groups of structures are separate, by their border and by a line.

The border (`border`) comes first: it says how separate two groups are at least. The line through
their centres (`separation`) finds the shallowest valleys, because it uses all points of both. If
masses fade, few points are remembered; then both count together, where they are about the same
place (`is_direct`). A ring has thin places by chance: in few dimensions parts of it, whose centres
are empty, are separate only if there is a gap between them (`are_dense`).
"""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Integers
from spclust.auto.clusters.border import (
    RESOLVED,
    Field,
    border_separation,
    density_at,
    lower_peak,
)
from spclust.auto.clusters.separation import (
    DEEP,
    EMPTY,
    FEWEST_WITHOUT_GAPS,
    SHALLOW,
    Placement,
    centre,
    separation_of,
)
from spclust.jit.decorators import allocating, part

# What a valley may have at most of the density of the lower peak:
_OPEN = 0.85  # at the densest place of a border that decides alone
_CLEAR = 0.8  # of both, if line and border count together; then also:
_FEWEST_STRUCTURES = 12  # of each group
_GAP = 0.4  # at the densest place of a border: in rings that is rare by chance
# What a centre has at least of the density of its peak:
_INSIDE = 0.2  # that of an arc of a ring has less
_FULL = 0.6  # if line and border count together
_BESIDE = 0.25  # of the length of the line: how far from it the densest passage may be


class Rules(NamedTuple):
    """What separates two groups."""

    limit: float  # of the depth of a valley, in standard deviations
    by_border: bool  # True if a valley along the border does
    by_chance: float  # standard deviations that a valley along the border has by chance
    strays: bool  # True if a light group that is apart is a stray
    together: float  # limit of line and border together


@allocating
def judge_border(
    a: int,
    b: int,
    first: int,
    after: Integers,
    labels: Integers,
    placed: Placement,
    field: Field,
    rules: Rules,
) -> tuple[float, float, int]:
    """How separate two groups are by their border, infinite if enough to be two clusters.

    And the density of its densest passage, as a share of the lower peak, and that passage.
    """
    d = placed.z.shape[1]
    peak = lower_peak(a, b, labels, field.density)
    border, share, passage = border_separation(
        peak, first, after, placed.mass, field, rules.by_chance
    )
    if d == 1:  # the border is a place on the line, which decides
        return 0.0, share, passage
    apart = rules.by_border and border > rules.limit and share < _OPEN
    if apart and d <= RESOLVED and share > _GAP:
        apart = are_dense(a, b, _INSIDE, labels, placed, field)
    if apart:
        return np.inf, share, passage
    return border, share, passage


@allocating
def judge_line(
    a: int,
    b: int,
    at_border: tuple[float, float, int],
    labels: Integers,
    placed: Placement,
    field: Field,
    rules: Rules,
) -> tuple[float, float]:
    """How separate two groups are by border and line, infinite if enough to be two clusters.

    And the density between them, as a share of the lower peak.
    """
    d = placed.z.shape[1]
    border, open_share, passage = at_border
    line, line_share = separation_of(a, b, labels, placed)
    allowed = DEEP
    if d > RESOLVED:
        fewest = min(members(a, labels), members(b, labels))
        allowed = SHALLOW if fewest >= FEWEST_WITHOUT_GAPS else EMPTY
    by_line = line > rules.limit and line_share < allowed
    if d == 1:
        return np.inf if by_line else line, line_share
    by_line &= d > RESOLVED or open_share < DEEP
    if by_line and d <= RESOLVED and open_share > _GAP:
        by_line = are_dense(a, b, _INSIDE, labels, placed, field)
    together = np.sqrt(border * border + line * line) > rules.together
    if together and max(open_share, line_share) < _CLEAR:
        by_line |= is_direct(a, b, passage, labels, placed, field)
    return np.inf if by_line else max(border, line), min(open_share, line_share)


@part
def members(label: int, labels: Integers) -> int:
    """How many structures have a label."""
    found = 0
    for i in range(labels.size):
        found += int(labels[i] == label)
    return found


@allocating
def are_dense(
    a: int, b: int, share: float, labels: Integers, placed: Placement, field: Field
) -> bool:
    """True if the density at the centres of two groups is at least this share of their peaks."""
    for label in (a, b):
        peak = 0.0
        for i in range(labels.size):
            if labels[i] == label:
                peak = max(peak, field.density[i])
        place = centre(label, labels, placed)
        if density_at(place, placed.z, placed.mass, field) < share * peak:
            return False
    return True


@allocating
def is_direct(
    a: int, b: int, passage: int, labels: Integers, placed: Placement, field: Field
) -> bool:
    """True if the line through the centres of two groups leads from one to the other.

    Both centres are in a dense place, and the densest passage of the border is near the line. Parts
    of a ring have neither. Groups of few structures may be the remains of a cluster that has grown.
    """
    few = min(members(a, labels), members(b, labels)) < _FEWEST_STRUCTURES
    if few or not are_dense(a, b, _FULL, labels, placed, field):
        return False
    z, start, end = placed.z, centre(a, labels, placed), centre(b, labels, placed)
    i, j = field.edges[passage, 0], field.edges[passage, 1]
    length, along, square = 0.0, 0.0, 0.0
    for c in range(start.size):
        step, offset = end[c] - start[c], 0.5 * (z[i, c] + z[j, c]) - start[c]
        length += step * step
        along += step * offset
        square += offset * offset
    return square * length - along * along < _BESIDE * _BESIDE * length * length
