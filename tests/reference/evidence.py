"""Clusters by evidence in plain NumPy: which of the proposed groups are separate, and how much."""

import numpy as np

from spclust.auto.clusters.cut import proposed_groups
from tests.reference.gap_parts import divided_at_gaps
from tests.reference.line_valley import NEGLIGIBLE, RIPPLE, nearer, separation
from tests.reference.ward_parts import divided_into_parts

EMPTY, TRIALS, TILES = 0.1, 4.0, 4
SHALLOW, DEEP, OPEN, CHOSEN, RESOLVED, OF_FEW = 0.55, 0.5, 0.85, 1.0, 3, 2.0
TOGETHER, CLEAR, FEWEST, FULL, BESIDE = 3.1, 0.8, 12, 0.6, 0.25
GAP, INSIDE = 0.4, 0.2
STRAY = -1
POINTS, SMALL = 3.0, 0.3
WIDTH, BASIN_WIDTH, NEIGHBOURS, DIMENSIONS, ON_EDGE = 0.7, 0.5, 4, 4, (0.25, 0.5, 0.75)
TINY, NEAREST = 1e-300, 12


def clusters_by_evidence(z, mass, covariance, *, fades, weighted):
    """Cluster (k,) of structures with means z (k, d), masses and covariances (k, d, d)."""
    labels = separate_clusters(z, mass, covariance, fades=fades, weighted=weighted)
    return joined_to_solid(labels, z, mass) if fades and len(z) > 2 else labels


def solid(mass):
    """Which structures of these masses are solid: those of three points, unless most are small."""
    light = sum(m for m in mass if m < POINTS)
    return [m >= POINTS or light > SMALL * sum(mass) for m in mass]


def joined_to_solid(labels, z, mass):
    """Labels (k,) after each light structure got that of the nearest solid one, if it may."""
    joined, firm = labels.copy(), [i for i, one in enumerate(solid(mass)) if one]
    firm = [i for i in firm if labels[i] != STRAY]
    for i, label in enumerate(labels):
        if i not in firm and any(labels[j] == label for j in firm):
            joined[i] = labels[min(firm, key=lambda j: np.sum((z[i] - z[j]) ** 2))]
    return joined


def separate_clusters(z, mass, covariance, *, fades, weighted):
    """The same before outliers join the cluster of what is near them."""
    k = len(z)
    if k < 3:
        return np.zeros(k, dtype=int)
    variance = np.maximum(np.trace(covariance, axis1=1, axis2=2), 0.0) / z.shape[1]
    radius = np.sqrt(z.shape[1] * variance)
    labels = proposed_groups(np.ascontiguousarray(z), mass, radius)
    border = Border(z, mass, variance, WIDTH)
    border.add_edges(lambda i, j: labels[i] != labels[j])
    limit = usual = np.sqrt(2.0 * np.log(TRIALS * k))
    if z.shape[1] > RESOLVED and fades and not weighted:
        limit = OF_FEW
    labels = merged_until_separate(labels, z, mass, covariance, border, limit)
    if z.shape[1] > RESOLVED:
        labels = divided_by_halves(labels, z, mass, covariance, limit)
        return labels if fades else divided_into_parts(labels, z, mass, covariance, usual)
    if z.shape[1] > 1 and not fades:
        joined = Border(z, mass, variance, BASIN_WIDTH)
        joined.add_edges(lambda i, j: True)
        labels = divided_at_gaps(labels, list(joined.edges), z, mass, covariance)
    border = Border(z, mass, variance, WIDTH if fades else BASIN_WIDTH)
    border.add_edges(lambda i, j: labels[i] == labels[j] != STRAY)
    found = np.where(labels == STRAY, STRAY, border.basins())
    return merged_until_separate(
        found,
        z,
        mass,
        covariance,
        border,
        limit,
        chosen=CHOSEN,
        fades=fades,
        strays=False,
        weighted=weighted,
    )


def merged_until_separate(
    labels,
    z,
    mass,
    covariance,
    border,
    limit,
    *,
    chosen=0.0,
    fades=False,
    strays=True,
    weighted=False,
):
    """Merge the least separate two groups, or call one a stray, until all are separate."""
    labels, d = labels.copy(), z.shape[1]
    known = {}  # a merge changes the pairs of one group: all others are judged once

    def judged(a, b):
        members = (labels == a).tobytes(), (labels == b).tobytes()
        if members not in known:
            known[members] = judge(a, b)
        return known[members]

    def judge(a, b):
        ratio, share = border.separation(labels, a, b, chosen)
        if ratio == np.inf:
            return ratio, share
        on_line, share_on_line = separation(labels, a, b, z, mass, covariance)
        fewest = min((labels == a).sum(), (labels == b).sum())
        shallow = SHALLOW if fewest >= TILES else EMPTY
        by_line = on_line > limit and share_on_line < (shallow if d > RESOLVED else DEEP)
        if d == 1:
            return np.inf if by_line else on_line, share_on_line
        inside = d > RESOLVED or share <= GAP or border.fullness(labels, a, b) >= INSIDE
        by_line = by_line and (d > RESOLVED or share < DEEP) and inside
        on_border = not fades and ratio > limit and share < OPEN and inside
        together = fades and not weighted and np.hypot(ratio, on_line) > TOGETHER
        together = together and max(share, share_on_line) < CLEAR and border.direct(labels, a, b)
        both = np.inf if by_line or on_border or together else max(ratio, on_line)
        return both, min(share, share_on_line)

    while True:
        groups = sorted(set(labels[labels >= 0]))
        pairs = [(a, b) for a in groups for b in groups if b < a]
        found = [judged(a, b) for a, b in pairs]
        least = min((ratio for ratio, _ in found), default=np.inf)
        if least == np.inf:
            return labels
        at = max(i for i, (ratio, _) in enumerate(found) if ratio == least)
        (a, b), (_, share) = pairs[at], found[at]
        lighter, heavier = (a, b) if mass[labels == a].sum() < mass[labels == b].sum() else (b, a)
        labels[labels == lighter] = STRAY if strays and share < EMPTY else heavier


def divided_by_halves(labels, z, mass, covariance, limit):
    """Divide clusters whose halves are apart, unless their density is a product."""
    labels, at = labels.copy(), 0

    def apart(half, tiles=0):
        if not {0, 1} <= set(half):
            return False
        ratio, share = separation(half, 0, 1, z, mass, covariance)
        fewest = min((half == 0).sum(), (half == 1).sum())
        return ratio > limit and share < (SHALLOW if fewest >= tiles else EMPTY)

    def product(half):
        for side in (0, 1):
            quarter = halves(half == side, z, mass)
            if apart(quarter):
                low, high = (
                    np.average(z[quarter == q], axis=0, weights=mass[quarter == q]) for q in (0, 1)
                )
                if apart(np.where(half == 1 - side, nearer(z, low, high), -1)):
                    return True
        return False

    while at <= labels.max():
        half = halves(labels == at, z, mass)
        if apart(half, TILES) and not product(half):
            labels[half == 1] = labels.max() + 1
        else:
            at += 1
    return labels


def halves(members, z, mass):
    """Half (k,), 0 or 1, of each member, by 2-means; -1 for all others."""
    half = np.full(len(z), -1)
    if members.sum() < 4:
        return half

    def weightiest(place):
        return np.where(members, mass * np.sum((z - place) ** 2, axis=1), -1.0).argmax()

    first = weightiest(np.average(z[members], axis=0, weights=mass[members]))
    means = [z[first], z[weightiest(z[first])]]
    for _ in range(20):
        before, half = half, np.where(members, nearer(z, *means), -1)
        if np.array_equal(half, before) or not {0, 1} <= set(half):
            break
        means = [np.average(z[half == q], axis=0, weights=mass[half == q]) for q in (0, 1)]
    return half


class Border:
    """Density of all structures, round kernels, at each of them and on edges."""

    def __init__(self, z, mass, variance, width):
        self.z, self.mass, k = z, mass, len(z)
        self.squares = squares = np.sum((z[:, np.newaxis] - z) ** 2, axis=2)
        nearest = np.log(np.maximum((squares + np.diag(np.full(k, np.inf))).min(axis=1), TINY)) / 2
        around = np.argsort(squares, axis=1, kind="stable")[:, : NEIGHBOURS + 1]
        local = np.exp([np.average(nearest[near], weights=mass[near]) for near in around])
        local = np.maximum(local, 1e-3 * np.median(local) + 1e-12)
        self.widths = variance + (width * local) ** 2
        self.heights = self.widths ** (-min(z.shape[1], DIMENSIONS) / 2)
        self.heights /= self.heights.max()
        self.at_nodes = np.array([self.kernels(row) for row in squares])
        self.density = self.at_nodes @ mass
        self.edges = {}  # kernels at the emptiest place of each

    def add_edges(self, wanted):
        """Edges (i, j) of structures for which wanted(i, j) is true, if no third one is between.

        One of the two is among the nearest of the other. Of copies, the first one has all edges.
        """
        z, squares = self.z, self.squares
        first = squares.argmin(axis=1)
        far = np.sort(squares, axis=1)[:, min(NEAREST, len(z) - 1)]
        for i in range(len(z)):
            for j in range(i):
                in_ball = squares[i] + squares[j] < squares[i, j]
                in_ball[[i, j]] = False
                near = squares[i, j] <= max(far[i], far[j])
                near &= first[i] == j or (first[i] == i and first[j] == j)
                if near and wanted(i, j) and not in_ball.any():
                    places = [z[i] + t * (z[j] - z[i]) for t in ON_EDGE]
                    at = [self.kernels(np.sum((z - x) ** 2, axis=1)) for x in places]
                    self.edges[i, j] = min(at, key=lambda values: values @ self.mass)

    def basins(self):
        """The peak (k,) to which the steepest edges without a valley lead, numbered."""
        density, above = self.density, np.arange(len(self.z))
        rise = np.zeros(len(self.z))
        for edge, at in self.edges.items():
            low, high = sorted(edge, key=lambda i: density[i])
            climb = density[high] - density[low]
            upward = climb > rise[low] or (climb == 0.0 and above[low] == low)
            if upward and at @ self.mass >= density[low] * (1.0 - 1e-12):
                above[low], rise[low] = high, climb
        while np.any(above[above] != above):
            above = above[above]
        return above

    def kernels(self, squares):
        x = squares / self.widths / 2
        return np.where(x < NEGLIGIBLE, np.exp(-x), 0.0) * self.heights

    def separation(self, labels, a, b, chosen):
        """Lower peak against the densest passage, and both sides of all: sd, share of the peak."""
        n, density = self.mass, self.density
        edges = {e: at for e, at in self.edges.items() if {labels[e[0]], labels[e[1]]} == {a, b}}
        if not edges:
            return np.inf, 0.0
        tops = [np.where(labels == g, density, -1.0).argmax() for g in (a, b)]
        peak = min(tops, key=lambda i: density[i])
        densest = max(edges.values(), key=lambda at: at @ n)
        drop, ripple = self.at_nodes[peak] - densest, RIPPLE * density[peak]
        of_peak = drop @ n / np.sqrt(drop**2 @ n + 2.0 * ripple**2 + TINY)
        weights = {e: at @ n + np.sqrt(at**2 @ n) for e, at in edges.items()}
        depth, drops, largest = 0.0, np.zeros(len(n)), max([*weights.values(), TINY])
        for e, at in edges.items():
            end, weight = min(e, key=lambda i: density[i]), weights[e] / largest
            dip = self.at_nodes[end] - at
            depth += weight * (dip @ n - RIPPLE * density[end] - chosen * np.sqrt(dip**2 @ n))
            drops += weight * dip
        along = depth / np.sqrt(drops**2 @ n + TINY)
        both = np.hypot(max(of_peak, 0.0), max(along, 0.0))
        return both, densest @ n / max(density[peak], TINY)

    def fullness(self, labels, a, b):
        """Density at the centre of each group, as a share of its peak; the smaller one."""
        shares = []
        for own in (labels == a, labels == b):
            centre = np.average(self.z[own], axis=0, weights=self.mass[own])
            here = self.kernels(np.sum((self.z - centre) ** 2, axis=1)) @ self.mass
            shares.append(here / self.density[own].max())
        return min(shares)

    def direct(self, labels, a, b):
        """True if both centres are in a dense place, and the densest passage is near the line."""
        z, n, groups = self.z, self.mass, [labels == a, labels == b]
        if min(own.sum() for own in groups) < FEWEST or self.fullness(labels, a, b) < FULL:
            return False
        centres = [np.average(z[own], axis=0, weights=n[own]) for own in groups]
        edges = [e for e in self.edges if {labels[e[0]], labels[e[1]]} == {a, b}]
        i, j = max(edges, key=lambda e: self.edges[e] @ n)
        line, offset = centres[1] - centres[0], (z[i] + z[j]) / 2 - centres[0]
        beside = offset - line * (offset @ line) / (line @ line)
        return np.linalg.norm(beside) < BESIDE * np.linalg.norm(line)


def partition(labels, names):
    """Groups of names with the same label, and those without one."""
    groups = {}
    for label, name in zip(labels, names, strict=True):
        groups.setdefault(int(label), set()).add(int(name))
    strays = groups.pop(STRAY, set())
    return sorted(map(sorted, groups.values())), sorted(strays)
