"""Algorithm 1 in plain Python lists: the oracle that every fast path must agree with.

Nothing is cached and nothing is clever: every distance is computed when it is needed, in the
units of the data, from a dense covariance matrix. `docs/explanation/errata.md` explains the ids
E1 to E12.

It also notes by how little its closest decision was taken (`narrowest`): where two candidates tie
up to rounding, another order of the same arithmetic may rightly choose the other one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Structure:
    mu: np.ndarray
    Sigma: np.ndarray
    w: float
    count: int
    age: int
    id: int


@dataclass
class Algorithm1:
    n_structures: int
    m: float = 1.5
    gamma: float = 0.0
    beta: float = 0.0
    w_min: float = 0.01
    nlt_max: float = 3.0
    scale: float = 1.0
    S: list[Structure] = field(default_factory=list)  # always in creation order
    seen: int = 0
    pruned: int = 0
    merges: int = 0
    evaluations: int = 0
    narrowest: float = np.inf
    union: Callable | None = None  # another one than Eq. 14 to 16

    def update(self, x):
        """UpdateSPC."""
        d = len(x)
        S = self.S
        S.append(Structure(np.array(x), self.scale**2 * np.eye(d), 1.0, 1, 1, self.seen))
        self.seen += 1
        if len(S) <= self.n_structures:  # E11: nothing but insertion while there is room
            return
        for s in S:  # E5: first every weight ...
            u = np.exp(-nlt(self.log_odds(x, s)))
            s.w = weight_after_point(s.w, s.age, u, self.beta)
            s.age += 1
        i = 0
        while i < len(S):  # ... then prune in index order
            i += self.prune(i)
        while len(S) > self.n_structures:  # E6: merge only while there is no room
            self.merge(*self.closest_pair())

    def prune(self, i):
        """Handle slot i; return 1 if the next structure to look at is in the next slot."""
        S, s = self.S, self.S[i]
        self.note_decision(s.w, self.w_min)
        if s.w >= self.w_min:
            return 1
        others = [j for j in range(len(S)) if j != i]
        odds = [self.log_odds(s.mu, S[j]) for j in others]
        self.note_decision(*sorted([*odds, np.inf])[:2])
        self.note_decision(nlt(min(odds)), self.nlt_max)
        j = others[int(np.argmin(odds))]
        if nlt(min(odds)) < self.nlt_max:
            self.merge(min(i, j), max(i, j))
            return 1 if i < j else 0  # the merged structure stays in the older slot
        self.pruned += s.count
        del S[i]
        return 0

    def closest_pair(self):
        """The pair with the smallest D (Eq. 3), the lowest index pair among equals (E12)."""
        means = np.array([s.mu for s in self.S])
        log_odds = np.array([self.log_odds(means, s) for s in self.S])
        # D / (1 - D) = (1 + e^a)(1 + e^b) - 1 orders like D and never saturates.
        a, b = log_odds, log_odds.T
        closeness = np.logaddexp(np.logaddexp(a, b), a + b)
        closeness[np.tril_indices(len(means))] = np.inf  # each pair once
        self.note_decision(*np.partition(closeness, 1, axis=None)[:2])
        return np.unravel_index(np.argmin(closeness), closeness.shape)

    def note_decision(self, a, b):
        """Remember how far apart two numbers were, one of which was found to be the smaller."""
        if a == b == -np.inf:
            return  # exact copies of one point, which are at distance zero in any arithmetic
        self.narrowest = min(self.narrowest, abs(a - b) / (1e-300 + min(abs(a), 1.0)))

    def merge(self, i, j):
        """Merge: i is older than j (E7) and keeps its slot and id."""
        a, b = self.S[i], self.S[j]
        mu = merged_mean(a.mu, a.count, b.mu, b.count, self.gamma)
        a.Sigma = (self.union or covariance_union)(a.Sigma, a.mu, b.Sigma, b.mu, mu)
        a.mu = mu
        a.w = merged_weight(a.w, a.age, b.w, b.age, self.beta)  # E2
        a.count += b.count
        a.age += b.age
        self.merges += 1
        del self.S[j]

    def log_odds(self, x, s):
        """log(q^(1/(m-1))), where u = 1 / (1 + q^(1/(m-1))) is the typicality of x in s (Eq. 2).

        For a point x (d,), or for each of several (k, d).
        """
        delta = x - s.mu
        q = np.sum(delta * np.linalg.solve(s.Sigma, delta.T).T, axis=-1)
        self.evaluations += q.size
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(q, 0.0)) / (self.m - 1)


def nlt(log_odds):
    """Eq. 4: -log u = log(1 + odds)."""
    return np.logaddexp(0.0, log_odds)


def damping_sum(rate, T):
    """Eq. 8 and 9 (E10)."""
    return float(T) if rate == 0 else np.expm1(-rate * T) / np.expm1(-rate)


def merged_mean(mu1, T1, mu2, T2, gamma):
    """Eq. 10."""
    older = np.exp(-gamma * T2) * damping_sum(gamma, T1)
    newer = damping_sum(gamma, T2)
    if np.array_equal(mu1, mu2):
        return mu1
    return (older * mu1 + newer * mu2) / damping_sum(gamma, T1 + T2)


def merged_weight(w1, T1, w2, T2, beta):
    """Eq. 12."""
    older = np.exp(-beta * T2) * damping_sum(beta, T1)
    newer = damping_sum(beta, T2)
    return (older * w1 + newer * w2) / damping_sum(beta, T1 + T2)


def weight_after_point(w, T, u, beta):
    """Eq. 13."""
    return (np.exp(-beta) * damping_sum(beta, T) * w + u) / damping_sum(beta, T + 1)


def covariance_union(Sigma1, mu1, Sigma2, mu2, mu):
    """Eq. 14 to 16, with the whitening of E1."""
    U1 = Sigma1 + np.outer(mu - mu1, mu - mu1)
    U2 = Sigma2 + np.outer(mu - mu2, mu - mu2)
    L = np.linalg.cholesky(U2)
    white = np.linalg.solve(L, np.linalg.solve(L, U1).T)
    eigenvalues, Q = np.linalg.eigh((white + white.T) / 2)
    LQ = L @ Q
    return LQ * np.maximum(eigenvalues, 1.0) @ LQ.T


def diagonal_union(Sigma1, mu1, Sigma2, mu2, mu):
    """Eq. 14 to 16 if every covariance is diagonal: in each feature the larger one."""
    return np.diag(np.maximum(np.diag(Sigma1) + (mu - mu1) ** 2, np.diag(Sigma2) + (mu - mu2) ** 2))


def spherical_union(Sigma1, mu1, Sigma2, mu2, mu):
    """Eq. 14 to 16 if every covariance is a multiple of I: the larger sphere."""
    first, second = (Sigma1[0, 0] + sum((mu - mu1) ** 2)), (Sigma2[0, 0] + sum((mu - mu2) ** 2))
    return max(first, second) * np.eye(len(mu))
