"""What the oracle of the automatic mode remembers: its structures, its counters and its metric,
with the distances and costs that follow from them, and whether its decisions were sure. A mass is
the faded number of points, so that a point of the mean weight has the mass 1 when it arrives.
`sure` is False once a decision was taken by less than rounding may change: both answers are right.
"""

from dataclasses import dataclass, field

import numpy as np

TIE = 1e-9  # relative: decisions by less than this are not sure
ROUNDING = 1e-13  # of the largest terms of a distance
ENOUGH, SHARE = 3.5, 0.25  # times the mean mass of structures, and N times it: in a reach


@dataclass
class Structure:
    id: int
    mean: np.ndarray  # in coordinates
    scatter: np.ndarray
    mass: float = 1.0
    count: int = 1
    cluster: int = 0
    group: int | None = 0  # that of when the last window of the drift ended; none after a leap
    time: float = 0.0  # when its points arrived, on average
    missed: float = 0.0
    reach: float = np.inf  # squared; NaN if it is not sure


@dataclass
class State:
    n_structures: int
    d: int
    half_life: float | None = None
    diagonal: bool = False
    fitted: bool = True  # False keeps the first metric, the identity
    S: list[Structure] = field(default_factory=list)  # in order of creation
    seen: int = 0
    removed: int = 0
    due: int = 2  # points learnt at the next renewal
    metric_due: int = 2  # points learnt when the metric is renewed, too
    readings: int = 0
    clock: float = 0.0
    drift_clock: float = 0.0  # time without silences
    calm: int = 1
    near: int = 0  # points since the last renewal that were nearer home than the median
    strange: int = 0  # and farther from it than 95 % of those before
    median: float = 0.0
    rare: float = np.inf
    recent: list[float] = field(default_factory=list)  # distances from home; NaN if not sure
    sure: bool = True
    is_strange: bool = False  # the last point
    is_far: bool = False  # and farther than a leap
    mean_weight: float = 1.0  # of the points that are remembered
    weighted: bool = False  # some point had a weight other than 1
    window: list = field(default_factory=list)  # group, time and place of each arrival in it
    began: float = 0.0  # when the last window ended
    agreeing: int = 0  # windows whose drift agrees
    evidence: float = 0.0  # sum of squared offsets in time in these windows
    noise: float = 0.0  # the largest error of a distance by rounding

    def enough(self, total):
        """The mass, times the number of structures, that a reach includes."""
        return min(ENOUGH, SHARE * self.n_structures) * total

    def __post_init__(self):
        self.A, self.unit, self.width = np.eye(self.d), np.zeros(self.d), np.zeros(self.d)
        self.displacement, self.velocity = np.zeros(self.d), np.zeros(self.d)
        self.drift = np.zeros(self.d)

    @property
    def exact(self):
        """True if masses are whole numbers, so that their sums are exact."""
        return self.half_life is None and not self.weighted

    def square(self, a, b):
        """Squared distance in the metric."""
        return float(np.sum((self.A @ a.mean - self.A @ b.mean) ** 2))

    def weight(self, a, b):
        """What the squared distance of two structures counts in their cost."""
        half = a.mass * b.mass / (a.mass + b.mass)
        return half * (np.sqrt(half) if self.half_life is None else half)

    def cost(self, a, b):
        return self.weight(a, b) * self.square(a, b)

    def kept(self, scatter):
        return np.diag(np.diag(scatter)) if self.diagonal else scatter

    def rounding(self):
        """By how much rounding may change a distance."""
        largest = np.max(np.abs([s.mean for s in self.S]), axis=0) + np.abs(self.displacement)
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
            weight = self.weight(a, b)
            allowed += weight * error * (2.0 * np.sqrt(cost / weight) + error)
        self.note(first[0], second[0], allowed)
