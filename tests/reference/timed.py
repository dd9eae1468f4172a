"""Algorithm 1 with time stamps, as slow and as obvious as the one without.

A structure keeps the time stamps of all its points; how much of each is left is asked when it is
needed. Weights are those of Eq. 12 and 13 with the time that passed where the paper has points.
"""

from dataclasses import dataclass, field

import numpy as np

from tests.reference.algorithm1 import Algorithm1, Structure, covariance_union, nlt


@dataclass
class TimedStructure(Structure):
    times: list[float] = field(default_factory=list)
    mass: float = 1.0

    def recent(self, now, gamma):
        return sum(np.exp(-gamma * (now - t)) for t in self.times)


@dataclass
class TimedAlgorithm1(Algorithm1):
    now: float = np.nan

    def update(self, x, t):
        gap = 1.0 if self.seen == 0 else t - self.now
        self.now = t
        S = self.S
        fresh = self.scale**2 * np.eye(len(x))
        S.append(TimedStructure(np.array(x), fresh, 1.0, 1, gap, self.seen, [t]))
        self.seen += 1
        if len(S) <= self.n_structures:
            return
        for s in S:
            u, left = np.exp(-nlt(self.log_odds(x, s))), np.exp(-self.beta * gap)
            s.w = (left * s.mass * s.w + u) / (left * s.mass + 1.0)
            s.mass = left * s.mass + 1.0
            s.age += gap
        i = 0
        while i < len(S):
            i += self.prune(i)
        while len(S) > self.n_structures:
            self.merge(*self.closest_pair())

    def merge(self, i, j):
        a, b = self.S[i], self.S[j]
        ours, theirs = (s.recent(self.now, self.gamma) for s in (a, b))
        mu = a.mu if np.array_equal(a.mu, b.mu) else (ours * a.mu + theirs * b.mu) / (ours + theirs)
        a.Sigma = covariance_union(a.Sigma, a.mu, b.Sigma, b.mu, mu)
        left = np.exp(-self.beta * b.age) * a.mass
        a.mu, a.w = mu, (left * a.w + b.mass * b.w) / (left + b.mass)
        a.mass, a.age, a.count = left + b.mass, a.age + b.age, a.count + b.count
        a.times = a.times + b.times
        self.merges += 1
        del self.S[j]
