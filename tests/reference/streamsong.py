"""StreamSoNG in plain Python lists, drawing the same random numbers as the fast one."""

import math

import numpy as np


class SlowStreamSoNG:
    def __init__(
        self, bandwidth, n_prototypes, n_nearest, m, outlier, n_open, n_scale, rate, reach,
        pool_max, seed,
    ):  # fmt: skip
        self.eta0 = bandwidth**2
        self.P, self.K, self.m, self.tau, self.M = n_prototypes, n_nearest, m, outlier, n_open
        self.kr, self.eps, self.rho, self.pool_max = n_scale, rate, reach, pool_max
        self.rng = np.random.default_rng(seed)
        self.classes = []  # lists of prototypes
        self.eta = []
        self.pool = []

    def learn(self, x):
        x = list(x)
        T = self.typicality(x)
        if not T or max(T) < self.tau:
            self.pool.append(x)
            self.pool = self.pool[max(0, len(self.pool) - self.pool_max) :]
            if len(self.pool) >= self.M:
                self.open()
            return
        best = T.index(max(T))
        ranked = sorted(self.classes[best], key=lambda v: square(x, v))
        for rank, v in enumerate(ranked):
            move(v, x, self.eps * T[best] * math.exp(-rank / self.rho))

    def typicality(self, x):
        prototypes = [(square(x, v), c) for c, vs in enumerate(self.classes) for v in vs]
        nearest = sorted(prototypes, key=lambda pair: pair[0])[: self.K]
        T = []
        for c in range(len(self.classes)):
            own = [self.u(d2, self.eta[c]) for d2, owner in nearest if owner == c]
            T.append(sum(own) / len(own) if own else 0.0)
        return T

    def u(self, d2, eta):
        return 1 / (1 + (d2 / eta) ** (1 / (self.m - 1)))

    def open(self):
        v = self.pool[-1]
        for _ in range(50):
            u = [self.u(square(o, v), self.eta0) for o in self.pool]
            total = sum(value**self.m for value in u)
            pairs = list(zip(u, self.pool, strict=True))
            new = [sum(a**self.m * o[i] for a, o in pairs) / total for i in range(len(v))]
            moved, v = math.dist(new, v), new
            if moved < 1e-6 * math.sqrt(self.eta0):
                break
        A = [o for a, o in pairs if a > 0.5]
        if len(A) < self.M:
            return
        gas = self.neural_gas(A)
        self.classes.append(gas)
        self.eta.append(self.scale(gas))
        self.pool = [o for a, o in pairs if a <= 0.5]

    def neural_gas(self, A):
        P = min(self.P, len(A))
        gas = [list(A[i]) for i in self.rng.choice(len(A), P, replace=False)]
        order = [i for _ in range(20) for i in self.rng.permutation(len(A))]
        for s, i in enumerate(order):
            f = s / len(order)
            e = 0.5 * (0.005 / 0.5) ** f
            reach = P / 2 * (0.01 / (P / 2)) ** f
            ranked = sorted(gas, key=lambda v, a=A[i]: square(a, v))
            for rank, v in enumerate(ranked):
                move(v, A[i], e * math.exp(-rank / reach))
        return gas

    def scale(self, gas):
        near = []
        for i, v in enumerate(gas):
            others = sorted(square(v, w) for j, w in enumerate(gas) if j != i)[: self.kr]
            near.append(sum(others) / len(others) if others else 0.0)
        return sum(near) / len(near) or self.eta0

    def predict(self, x, hard):
        T = self.typicality(list(x))
        if not T:
            return -1
        if max(T) >= self.tau:
            return T.index(max(T))
        if not hard:
            return -1
        apart = [min(square(x, v) for v in vs) for vs in self.classes]
        return apart.index(min(apart))


def square(a, b):
    return sum((i - j) ** 2 for i, j in zip(a, b, strict=True))


def move(v, x, share):
    """Modified in place."""
    for i in range(len(v)):
        v[i] += share * (x[i] - v[i])
