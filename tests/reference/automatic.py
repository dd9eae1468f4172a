"""The automatic mode in plain Python and NumPy: the oracle of `SPC()` with scale="auto".

Nothing is cached: each point fades every mass, and measures every pair. A mass is the faded number
of points, so that a point that arrives has the mass 1. Structures are in order of creation.

`sure` is False once a decision was taken by less than rounding may change: both answers are right.
"""

from dataclasses import dataclass, field

import numpy as np

from tests.reference.evidence import clusters_by_evidence, partition

TIE = 1e-9  # relative: decisions by less than this are not sure
ROUNDING = 1e-13  # of the largest terms of a distance
GROWTH = 1.2
RIDGE, TAIL, WIDEST = 0.25, 0.05, 0.1
FADED, BY_CHANCE, BOTH = 0.25, 0.02, 0.4
OFTEN, MEMORY, CALMEST, SAME, NEARLY = 5, 0.25, 8, 0.95, 0.1
MANY_STRANGE, MANY_NEAR, STRANGE, FEWEST = 0.2, 0.8, 4.0, 100
ENOUGH = 3.0
NOISE = 1e-14  # of the largest coordinate: narrower features are constant


@dataclass
class Structure:
    id: int
    mean: np.ndarray  # in coordinates
    scatter: np.ndarray
    mass: float = 1.0
    count: int = 1
    cluster: int = 0
    missed: float = 0.0
    reach: float = np.inf  # squared; NaN if it is not sure


@dataclass
class Automatic:
    n_structures: int
    d: int
    half_life: float | None = None
    diagonal: bool = False
    fitted: bool = True  # False keeps the first metric, the identity
    S: list[Structure] = field(default_factory=list)
    seen: int = 0
    removed: int = 0
    due: int = 2  # points learnt at the next renewal
    metric_due: int = 2  # points learnt when the metric is renewed, too
    readings: int = 0
    clock: float = 0.0
    calm: int = 1
    near: int = 0  # points since the last renewal that were nearer home than the median
    strange: int = 0  # and farther from it than 95 % of those before
    median: float = 0.0
    rare: float = np.inf
    recent: list[float] = field(default_factory=list)  # distances from home; NaN if not sure
    sure: bool = True
    is_strange: bool = False  # the last point
    noise: float = 0.0  # the largest error of a distance by rounding

    def __post_init__(self):
        self.A, self.unit, self.width = np.eye(self.d), np.zeros(self.d), np.zeros(self.d)

    def learn(self, x, t=None):
        if self.seen >= self.due:
            self.renew()
        if self.seen == 0:
            self.origin, self.clock = x, t
        point = Structure(self.seen, self.coordinates(x), np.zeros((self.d, self.d)))
        self.fade(1.0 if t is None else t - self.clock)
        self.clock = t
        self.note_arrival(point)
        self.S.append(point)
        if len(self.S) > self.n_structures:
            self.merge(*self.cheapest_pair())
        self.seen += 1

    def coordinates(self, x):
        """Offsets from the first point, in units: the power of two above the first offset."""
        offset = x - self.origin
        for c in range(self.d):
            if self.unit[c] == 0.0 and offset[c] != 0.0:
                self.unit[c] = 2.0 ** np.ceil(np.log2(abs(offset[c])))
        return offset / np.where(self.unit > 0.0, self.unit, 1.0)

    def fade(self, gap):
        if self.half_life is not None:
            factor = 2.0 ** -(gap / self.half_life)
            for s in self.S:
                s.mass, s.scatter = s.mass * factor, s.scatter * factor
                self.sure &= s.mass > 1e-90  # masses below 1e-100 are not told apart

    def note_arrival(self, point):
        """The nearest structure's cluster has got a point: all of its structures missed one."""
        if not self.S:
            return
        q = np.array([self.square(point, s) for s in self.S])
        point.reach = 0.0
        if self.seen > 1:
            point.reach = self.note_distance(q)
        nearest = self.S[int(np.argmin(q))]
        error = self.rounding()
        for s, square in zip(self.S, q, strict=True):
            if s.cluster != nearest.cluster:
                self.note(np.sqrt(q.min()), np.sqrt(square), error)
        point.cluster = nearest.cluster
        members = [s for s in self.S if s.cluster == nearest.cluster]
        total = 1.0 + sum(s.mass for s in members)
        for s in members:
            s.missed += s.mass / total

    def note_distance(self, q):
        """Note the distance from home of a point with squared distances q; its own reach."""
        home = np.min(np.maximum(q, [s.reach for s in self.S]))
        self.recent.append(home)
        for limit in (self.median, self.rare):
            if 0.0 < limit < np.inf:
                self.note(np.sqrt(home), np.sqrt(limit), self.rounding())
        self.near += home < self.median
        self.is_strange = home > self.rare
        self.strange += self.is_strange
        total, mass, reach = sum(s.mass for s in self.S), 1.0, 0.0
        for i in np.argsort(q, kind="stable"):
            if self.half_life is not None:
                self.note(mass * len(q), ENOUGH * total)
            if mass * len(q) < ENOUGH * total:
                reach = q[i]
            mass += self.S[i].mass
        return reach

    def cheapest_pair(self):
        """The pair that costs least; of equal ones that of the oldest structures."""
        S, pairs = self.S, []
        for i in range(len(S)):
            for j in range(i + 1, len(S)):
                pairs.append((self.cost(S[i], S[j]), i, j))
        least, i, j = min(pairs)
        error = self.rounding()
        for cost, *other in pairs:
            if other != [i, j]:
                self.note_costs((least, S[i], S[j]), (cost, S[other[0]], S[other[1]]), error)
        return i, j

    def cost(self, a, b):
        return (a.mass * b.mass / (a.mass + b.mass)) ** 2 * self.square(a, b)

    def square(self, a, b):
        """Squared distance in the metric."""
        return float(np.sum((self.A @ a.mean - self.A @ b.mean) ** 2))

    def merge(self, i, j):
        """Merge two structures: the cluster is that of the heavier one, the id the older one's."""
        older, newer = self.S[i], self.S.pop(j)
        a, b = (older, newer) if older.mass >= newer.mass else (newer, older)
        if newer.id == self.seen:  # the point
            a, b, older.missed = older, newer, 0.0
            if self.is_strange:
                older.reach = np.minimum(older.reach, newer.reach)
        else:
            a.missed = min(a.missed, b.missed)
            a.reach = np.minimum(a.reach, b.reach)
            if a.cluster != b.cluster:
                self.note(a.mass, b.mass)
        share, e = b.mass / (a.mass + b.mass), b.mean - a.mean
        a.scatter = a.scatter + b.scatter + a.mass * share * np.outer(e, e)
        a.mean = a.mean + share * e
        a.mass, a.count, a.id = a.mass + b.mass, a.count + b.count, older.id
        self.S[i] = a

    def renew(self):
        n = self.n_structures
        changed = self.strange > MANY_STRANGE * n or self.near > MANY_NEAR * n
        fits = changed or self.seen >= self.metric_due
        self.near = self.strange = 0
        if self.half_life is not None and len(self.S) == n:
            self.remove_forgotten()
        if fits:
            before = np.diag(self.A)
            self.fit_metric()
            self.find_reaches()
            shift = float(np.mean(np.abs(np.log(np.diag(self.A) / before))))
        if self.half_life is not None and len(self.S) > 2 and fits:
            labels = self.clusters()
            self.note(shift, NEARLY)
            calm = shift < NEARLY and self.is_calm(labels)
            self.calm = min(2 * self.calm, CALMEST) if calm else 1
            strays = max(labels) + 1
            for s, label in zip(self.S, labels, strict=True):
                s.cluster = label if label >= 0 else strays
            self.readings += 1
        if fits:
            if self.recent:
                self.median = 0.99 * np.median(self.recent[-max(n, FEWEST) :])
                self.rare = 1.01 * self.usual_distance()
            self.set_dues()
        self.due = min(self.seen + n, self.metric_due)

    def is_calm(self, labels):
        """True if nearly all structures, by mass, are in the same clusters as before."""
        shared = {}
        for s, label in zip(self.S, labels, strict=True):
            shared[s.cluster, label] = shared.get((s.cluster, label), 0.0) + s.mass
        kept = []
        for side in (0, 1):
            largest = {}
            for pair, mass in shared.items():
                largest[pair[side]] = max(largest.get(pair[side], 0.0), mass)
            kept.append(sum(largest.values()))
        enough = SAME * sum(s.mass for s in self.S)
        self.note(min(kept), enough)
        return min(kept) >= enough

    def usual_distance(self):
        """Quantile of 95 %, without strange ones, of the last distances from home."""
        recent = np.array(self.recent[-1000:])
        self.sure &= not np.isnan(recent).any()
        middle, upper, rare = np.quantile(recent, (0.5, 0.8, 0.95))
        if 0.0 < middle < upper:
            limit = middle * (upper / middle) ** STRANGE
            if rare > limit:
                rare = np.quantile(recent[recent <= limit], 0.95)
        return max(rare, 1e-300)

    def set_dues(self):
        n = self.n_structures
        if self.seen < n:
            self.metric_due = min(2 * self.seen, n)
        elif self.half_life is None:
            self.metric_due = max(self.seen + n, int(GROWTH * self.seen))
        else:
            remembered = MEMORY * sum(s.mass for s in self.S) / n
            self.note(remembered, round(remembered))
            wait = n * max(OFTEN, int(remembered))
            later = min(self.seen + self.calm * wait, int(GROWTH * self.seen))
            self.metric_due = max(self.seen + wait, later)

    def remove_forgotten(self):
        S, gone = self.S, []
        for s in S:
            self.note(s.mass, FADED)
            silent = np.log(max(s.mass, 1.0) / BY_CHANCE)
            both = BOTH * silent
            self.note(s.missed, silent)
            goes = s.mass < FADED or s.missed > silent
            if not goes:
                self.note(s.missed, both)
            if not goes and len(S) > 1 and s.missed > both:
                partner = min((o for o in S if o is not s), key=lambda o: self.cost(s, o))
                self.note(partner.missed, both)
                goes = partner.missed > both
                for other in S:
                    if other is not s and (other.missed > both) != goes:
                        ours, theirs = self.cost(s, partner), self.cost(s, other)
                        self.note_costs((ours, s, partner), (theirs, s, other), self.rounding())
            gone.append(goes)
        if all(gone):
            heaviest = int(np.argmax([s.mass for s in S]))
            for s in S:
                if s is not S[heaviest]:
                    self.note(s.mass, S[heaviest].mass)
            gone[heaviest] = False
        self.removed += sum(s.count for s, goes in zip(S, gone, strict=True) if goes)
        self.S = [s for s, goes in zip(S, gone, strict=True) if not goes]

    def fit_metric(self):
        if not self.fitted:
            return
        self.A, self.width = self.metric_of(self.S)
        again, width = self.metric_of(self.S[::-1])  # structures that tie, in another order
        self.sure &= np.allclose(again, self.A, rtol=TIE, atol=TIE * np.abs(self.A).max())
        self.sure &= np.allclose(width, self.width, rtol=TIE, atol=0.0)
        largest = np.max(np.abs([s.mean for s in self.S]), axis=0)
        self.sure &= np.all((width == 0.0) | (width > 1e-6 * largest))  # or digits are lost

    def metric_of(self, S):
        """The metric A, and the width of each feature."""
        width = np.array([self.width_of(S, c) for c in range(self.d)])
        unit = np.where(width > 0.0, width, 1.0)
        breadths = [np.sum(np.diag(s.scatter) / unit**2) / s.mass for s in S]
        pooled, mass, before = np.zeros((self.d, self.d)), 0.0, 0.0
        limit = (1.0 - WIDEST) * sum(s.mass for s in S)
        for i in np.argsort(breadths, kind="stable"):
            if breadths[i] > 0.0:
                self.note(before, limit)
            if before < limit:
                pooled, mass = pooled + S[i].scatter, mass + S[i].mass
            before += S[i].mass
        W = pooled / mass / np.outer(unit, unit) + RIDGE**2 * np.eye(self.d)
        if self.diagonal:
            W = np.diag(np.diag(W))
        return np.linalg.inv(np.linalg.cholesky(W)) / unit, width

    def width_of(self, S, c):
        """Standard deviation in a feature without the tails; with them if it is 0."""
        total, upto, kept = sum(s.mass for s in S), 0.0, []
        for s in sorted(S, key=lambda s: s.mean[c]):
            before, upto = upto, upto + s.mass
            if self.half_life is not None:  # otherwise masses are whole numbers, and sums exact
                self.note(upto, TAIL * total)
                self.note(before, (1.0 - TAIL) * total)
            if upto > TAIL * total and before < (1.0 - TAIL) * total:
                kept.append(s)
        noise = NOISE * max(abs(s.mean[c]) for s in S)
        widths = [deviation(kept, c), deviation(S, c)]
        return next((width for width in widths if width > noise), 0.0)

    def find_reaches(self):
        enough, k = ENOUGH * sum(s.mass for s in self.S), len(self.S)
        for s in self.S:
            others = sorted((self.square(s, o), o.mass) for o in self.S)
            mass, s.reach = 0.0, 0.0
            for square, more in others:
                if self.half_life is not None and abs(k * mass - enough) <= TIE * enough:
                    s.reach = np.nan  # otherwise masses are whole numbers, and sums exact
                elif k * mass < enough:
                    s.reach = square
                mass += more

    def clusters(self):
        """Cluster of each structure, -1 for strays; not sure if noise or another order matters.

        Lengths of edges tie where they are the reach of a structure: then the order decides.
        """
        z = np.array([self.A @ s.mean for s in self.S])
        z -= z.mean(axis=0)
        mass = np.array([s.mass for s in self.S])
        C = np.array([self.A @ self.kept(s.scatter) @ self.A.T / s.mass for s in self.S])
        fades = self.half_life is not None
        labels = clusters_by_evidence(z, mass, C, fades=fades)
        rng = np.random.default_rng(0)
        for _ in range(16):
            order = rng.permutation(len(z))
            noise = 1.0 + TIE * rng.uniform(-1.0, 1.0, size=z.shape)
            again = clusters_by_evidence((z * noise)[order], mass[order], C[order], fades=fades)
            self.sure &= partition(again, order) == partition(labels, range(len(z)))
        return labels

    def kept(self, scatter):
        return np.diag(np.diag(scatter)) if self.diagonal else scatter

    def rounding(self):
        """By how much rounding may change a distance."""
        largest = np.max(np.abs([s.mean for s in self.S]), axis=0)
        error = ROUNDING * float(np.linalg.norm(np.abs(self.A) @ largest))
        self.noise = max(self.noise, error)
        return error

    def note(self, a, b, error=0.0):
        """Note a decision that depended on which of two numbers is the smaller one."""
        self.sure &= abs(a - b) > TIE * max(abs(a), abs(b)) + error

    def note_costs(self, first, second, error):
        """The same of two costs, each with its pair of structures, given the error of distances."""
        allowed = 0.0
        for cost, a, b in (first, second):
            weight = a.mass * b.mass / (a.mass + b.mass)
            allowed += weight * error * (2.0 * np.sqrt(cost) + weight * error)
        self.note(first[0], second[0], allowed)


def deviation(S, c):
    """Standard deviation of the points of structures in a feature."""
    mass = sum(s.mass for s in S)
    middle = sum(s.mass * s.mean[c] for s in S) / mass
    return np.sqrt(sum(s.mass * (s.mean[c] - middle) ** 2 + s.scatter[c, c] for s in S) / mass)
