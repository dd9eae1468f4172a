"""DenStream in plain Python: micro-clusters are lists of points, sums are taken when needed."""

import math


class SlowDenStream:
    def __init__(self, eps, mu, beta, decay, link):
        self.eps, self.mu, self.beta, self.decay, self.link = eps, mu, beta, decay, link
        self.potential, self.outlier = [], []  # lists of (point, time)
        self.t = 0
        self.period = math.inf
        if decay > 0:
            self.period = math.ceil(math.log2(beta * mu / (beta * mu - 1)) / decay)

    def learn(self, x):
        self.t += 1
        self.add(list(x))
        if self.t % self.period == 0:
            self.remove()

    def add(self, x):
        for group in (self.potential, self.outlier):
            if group:
                nearest = min(group, key=lambda mc: math.dist(self.centre(mc), x))
                grown = [*nearest, (x, self.t)]
                if self.radius(grown) <= self.eps:
                    nearest.append((x, self.t))
                    if group is self.outlier and self.weight(nearest) > self.beta * self.mu:
                        group.remove(nearest)
                        self.potential.append(nearest)
                    return
        self.outlier.append([(x, self.t)])

    def remove(self):
        def least(mc):
            age = self.t - mc[0][1]
            old, new = 2 ** (-self.decay * (age + self.period)), 2 ** (-self.decay * self.period)
            return (old - 1) / (new - 1)

        light = self.beta * self.mu
        self.potential = [mc for mc in self.potential if self.weight(mc) >= light]
        self.outlier = [mc for mc in self.outlier if self.weight(mc) >= least(mc)]

    def shares(self, mc):
        return [2 ** (-self.decay * (self.t - time)) for _, time in mc]

    def weight(self, mc):
        return sum(self.shares(mc))

    def centre(self, mc):
        w = self.shares(mc)
        columns = zip(*(x for x, _ in mc), strict=True)
        return [sum(a * b for a, b in zip(w, c, strict=True)) / sum(w) for c in columns]

    def radius(self, mc):
        w, c = self.shares(mc), self.centre(mc)
        squares = [math.dist(x, c) ** 2 for x, _ in mc]
        return math.sqrt(sum(a * b for a, b in zip(w, squares, strict=True)) / sum(w))

    def linked(self, a, b):
        apart = math.dist(self.centre(a), self.centre(b))
        if self.link == "touching" and apart > self.radius(a) + self.radius(b):
            return False
        return apart <= 2 * self.eps

    def labels(self):
        """Cluster of each potential micro-cluster, oldest first; -1 is none."""
        core = [i for i, mc in enumerate(self.potential) if self.weight(mc) >= self.mu]
        labels, clusters = [-1] * len(self.potential), 0
        for start in core:
            if labels[start] == -1:
                labels[start], todo = clusters, [start]
                while todo:
                    i = todo.pop()
                    for j in core:
                        if labels[j] == -1 and self.linked(self.potential[i], self.potential[j]):
                            labels[j] = clusters
                            todo.append(j)
                clusters += 1
        for i, mc in enumerate(self.potential):
            if i not in core and core:
                apart = {
                    j: math.dist(self.centre(mc), self.centre(self.potential[j])) for j in core
                }
                j = min(apart, key=apart.get)
                if apart[j] <= 2 * self.eps:
                    labels[i] = labels[j]
        return labels

    def predict(self, x, hard):
        pairs = list(zip(self.potential, self.labels(), strict=True))
        if hard:
            pairs = [pair for pair in pairs if pair[1] >= 0]
        if not pairs:
            return -1
        return min(pairs, key=lambda pair: math.dist(self.centre(pair[0]), x))[1]
