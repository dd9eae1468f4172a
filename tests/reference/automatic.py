"""The automatic mode in plain Python and NumPy: the oracle of `SPC()` with scale="auto". This file
has what each point changes; `automatic_state` has what is remembered, `automatic_renewal` what
changes from time to time. Nothing is cached: each point fades every mass, and measures every pair.
"""

import numpy as np

from tests.reference.automatic_drift import LEAP
from tests.reference.automatic_renewal import clusters_of, renew
from tests.reference.automatic_state import State, Structure


class Automatic(State):
    def learn(self, x, t=None, weight=1.0):
        self.weighted |= weight != 1.0
        if self.seen >= self.due:
            renew(self)
        if self.seen == 0:
            self.origin, self.clock = x, t
        gap = 1.0 if t is None else t - self.clock
        gap = gap if self.seen else 0.0
        step = gap if self.half_life is None else min(gap, self.half_life)  # silences
        self.drift_clock += step
        self.displacement = self.displacement + self.velocity * step
        place = self.coordinates(x) - self.displacement
        point = Structure(self.seen, place, np.zeros((self.d, self.d)), time=self.drift_clock)
        self.fade(gap)
        self.clock = t
        point.mass = self.weigh(weight)
        self.note_arrival(point)
        self.S.append(point)
        if len(self.S) > self.n_structures:
            self.merge(*self.cheapest_pair())
        self.seen += 1

    def clusters(self):
        """Cluster of each structure now, -1 for strays."""
        return clusters_of(self)

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

    def weigh(self, weight):
        """Mass of a point of some weight, in units of the mean weight, which it changes."""
        others = sum(s.mass for s in self.S)
        mean = (weight + others * self.mean_weight) / (1.0 + others)
        for s in self.S:
            s.mass *= self.mean_weight / mean
            s.scatter = s.scatter * (self.mean_weight / mean)
        self.mean_weight = mean
        return weight / mean

    def note_arrival(self, point):
        """The nearest structure's cluster has got a point: all of its structures missed one."""
        if not self.S:
            self.window.append((0, point.time, point.mean))
            return
        q = np.array([self.square(point, s) for s in self.S])
        point.reach = 0.0
        if self.seen > 1:
            point.reach = self.note_distance(q, point.mass)
        nearest = self.S[int(np.argmin(q))]
        error = self.rounding()
        for s, square in zip(self.S, q, strict=True):
            if (s.cluster, s.group) != (nearest.cluster, nearest.group):
                self.note(np.sqrt(q.min()), np.sqrt(square), error)
        point.cluster, point.group = nearest.cluster, nearest.group
        if self.is_far:
            point.group = None
        if not self.is_strange and point.group is not None:
            self.window.append((point.group, point.time, point.mean))
        members = [s for s in self.S if s.cluster == nearest.cluster]
        total = point.mass + sum(s.mass for s in members)
        for s in members:
            s.missed += s.mass / total

    def note_distance(self, q, mass):
        """Note the distance from home of a point with squared distances q; its own reach."""
        home = np.min(np.maximum(q, [s.reach for s in self.S]))
        self.recent.append(home)
        for limit in (self.median, self.rare, LEAP * self.rare):
            if 0.0 < limit < np.inf:
                self.note(np.sqrt(home), np.sqrt(limit), self.rounding())
        self.near += home < self.median
        self.is_strange, self.is_far = home > self.rare, home > LEAP * self.rare
        self.strange += self.is_strange
        total, reach = sum(s.mass for s in self.S), 0.0
        for i in np.argsort(q, kind="stable"):
            if not self.exact:
                self.note(mass * len(q), self.enough(total))
            if mass * len(q) < self.enough(total):
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
        a.mean, a.time = a.mean + share * e, a.time + share * (b.time - a.time)
        a.mass, a.count, a.id = a.mass + b.mass, a.count + b.count, older.id
        self.S[i] = a
