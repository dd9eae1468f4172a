"""D-Stream in plain Python: every cell fades at every step, every pair of cells is compared."""

import math


class SlowDStream:
    def __init__(self, side, decay, dense, sparse, protection, gap, mass, link):
        self.side, self.decay, self.dense, self.sparse = side, decay, dense, sparse
        self.protection, self.gap, self.mass, self.link = protection, gap, mass, link
        self.density = {}  # of each cell, now; oldest cell first
        self.touched = {}
        self.removed = {}
        self.visited = []
        self.t = 0

    def n_cells(self):
        box = 1
        for indices in zip(*self.visited, strict=True):
            box *= max(indices) - min(indices) + 1
        return box

    def cell(self, x):
        return tuple(math.floor(value / self.side) for value in x)

    def learn(self, x):
        self.t += 1
        for key in self.density:
            self.density[key] *= self.decay
        key = self.cell(x)
        self.visited.append(key)
        self.density[key] = self.density.get(key, 0.0) + 1.0
        self.touched[key] = self.t
        if self.decay < 1 and self.t % self.published_gap() == 0:
            self.remove()

    def published_gap(self):
        if self.gap is not None:
            return self.gap
        N = self.n_cells()
        ratio = max(self.sparse / self.dense, (N - self.dense) / (N - self.sparse))
        return max(1, math.floor(math.log(ratio) / math.log(self.decay)))

    def remove(self):
        N, lam = self.n_cells(), self.decay
        for key in list(self.density):
            idle = self.t - self.touched[key]
            limit = self.sparse * (1 - lam ** (idle + 1)) / (N * (1 - lam))
            protected = key in self.removed and self.t < (1 + self.protection) * self.removed[key]
            if self.density[key] < limit and not protected:
                del self.density[key]
                self.removed[key] = self.t

    def labels(self):
        """Cluster of each cell that has one: numbered by the oldest cell of each."""
        if self.mass == "steady":
            total = 1 / (1 - self.decay)
        else:
            total = sum(self.decay**k for k in range(self.t))
        N = self.n_cells()
        dense = [k for k in self.density if self.density[k] >= self.dense * total / N]
        between = [k for k in self.density if k not in dense]
        between = [k for k in between if self.density[k] > self.sparse * total / N]
        joining = dense if self.link == "dense" else [*dense, *between]
        groups = [group for group in flooded(joining) if any(k in dense for k in group)]
        if self.link == "dense":
            age = {k: i for i, k in enumerate(self.density)}
            groups.sort(key=lambda group: min(age[k] for k in group))
            joining = {}
            for key in between:
                beside = [g for g in groups if any(touching(key, k) for k in g)]
                if beside:  # the largest, of equals the oldest
                    joining[key] = groups.index(max(beside, key=len))
            for key, number in joining.items():
                groups[number].append(key)
        numbers, labels = {}, {}
        for key in self.density:
            for number, group in enumerate(groups):
                if key in group:
                    labels[key] = numbers.setdefault(number, len(numbers))
        return labels

    def predict(self, x, hard):
        labels = self.labels()
        if self.cell(x) in labels or not hard or not labels:
            return labels.get(self.cell(x), -1)
        middle = {key: [(k + 0.5) * self.side for k in key] for key in labels}
        return labels[min(labels, key=lambda key: math.dist(x, middle[key]))]


def touching(a, b):
    return sum(abs(i - j) for i, j in zip(a, b, strict=True)) == 1


def flooded(cells):
    """Groups of cells that hang together."""
    left, groups = list(cells), []
    while left:
        group = [left.pop(0)]
        for key in group:
            more = [other for other in left if touching(key, other)]
            group.extend(more)
            left = [other for other in left if other not in more]
        groups.append(group)
    return groups
