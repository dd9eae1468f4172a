"""DenStream: fading micro-clusters joined by density (Cao, Ester, Qian and Zhou, 2006)."""

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from spclust.array_types import Booleans, Floats
from spclust.experiments.baselines.components import components
from spclust.experiments.baselines.euclidean import squared_distances
from spclust.experiments.baselines.ranges import LENGTH, number, word
from spclust.experiments.baselines.stream_clusterer import Offline, Online, StreamClusterer
from spclust.parameters import Parameter


class MicroClusters:
    """Micro-clusters as arrays, one row for each, oldest first.

    A row has a weight, a centre and a scatter: the weighted sum of squared distances of its points
    from the centre. Sums of points and of squares would lose all digits of the radius far from the
    origin. Weight and scatter are those at time `changed`; both fade by 2^-decay for each point of
    the stream.
    """

    def __init__(self, n_features: int, decay: float) -> None:
        self.decay = decay
        self.n = 0
        self.centre = np.zeros((8, n_features))
        self.weight, self.scatter, self.changed, self.born = np.zeros((4, 8))

    def weights(self, now: int) -> Floats:
        """Weights (n,) at time `now`."""
        faded: Floats = self.weight[: self.n] * 2.0 ** (
            -self.decay * (now - self.changed[: self.n])
        )
        return faded

    def radii(self) -> Floats:
        """Root mean squared distances (n,) of the points from their centres."""
        found: Floats = np.sqrt(self.scatter[: self.n] / self.weight[: self.n])
        return found

    def absorb(self, x: Floats, now: int, eps: float) -> int:
        """Add x (d,) to the nearest row if its radius stays within eps; the row, or -1."""
        if not self.n:
            return -1
        distance2 = squared_distances(x, self.centre[: self.n])
        i = int(distance2.argmin())
        fade = 2.0 ** (-self.decay * (now - self.changed[i]))
        weight = self.weight[i] * fade + 1.0
        scatter = self.scatter[i] * fade + distance2[i] * (weight - 1.0) / weight
        if scatter > eps * eps * weight:
            return -1
        self.centre[i] += (x - self.centre[i]) / weight
        self.weight[i], self.scatter[i], self.changed[i] = weight, scatter, now
        return i

    def append(self, centre: Floats, weight: float, scatter: float, now: int, born: float) -> None:
        """Append a row."""
        if self.n == len(self.weight):
            self.centre = np.concatenate([self.centre, np.zeros_like(self.centre)])
            for name in ("weight", "scatter", "changed", "born"):
                setattr(self, name, np.concatenate([getattr(self, name), np.zeros(self.n)]))
        i, self.n = self.n, self.n + 1
        self.centre[i], self.weight[i], self.scatter[i] = centre, weight, scatter
        self.changed[i], self.born[i] = now, born

    def keep(self, mask: Booleans) -> None:
        """Keep the rows where `mask` (n,) is true, in their order."""
        rows = np.flatnonzero(mask)
        for array in (self.centre, self.weight, self.scatter, self.changed, self.born):
            array[: len(rows)] = array[rows]
        self.n = len(rows)


class Density(Online):
    """Online phase of DenStream: potential and outlier micro-clusters, and a clock of points."""

    def __init__(self, n_features: int, eps: float, decay: float, least: float) -> None:
        self.eps = eps
        self.decay = decay
        self.least = least  # weight of a potential micro-cluster, beta mu
        self.now = 0
        self.potential = MicroClusters(n_features, decay)
        self.outlier = MicroClusters(n_features, decay)
        self.period = math.inf  # points between two removals: the shortest time to fade away
        if decay > 0:
            self.period = math.ceil(math.log2(least / (least - 1.0)) / decay)

    def learn(self, rows: Floats) -> None:
        """Learn rows (n, d), one after another."""
        for x in rows:
            self.now += 1
            self._add(x)
            if self.now % self.period == 0:
                self._remove_light()

    def _add(self, x: Floats) -> None:
        if self.potential.absorb(x, self.now, self.eps) >= 0:
            return
        out = self.outlier
        i = out.absorb(x, self.now, self.eps)
        if i < 0:
            out.append(x, 1.0, 0.0, self.now, self.now)
        elif out.weight[i] > self.least:
            self.potential.append(
                out.centre[i], out.weight[i], out.scatter[i], self.now, out.born[i]
            )
            out.keep(np.arange(out.n) != i)

    def _remove_light(self) -> None:
        """Remove potential ones below beta mu, and outliers too light for their age."""
        self.potential.keep(self.potential.weights(self.now) >= self.least)
        rate = self.decay * math.log(2.0)
        age = self.now - self.outlier.born[: self.outlier.n]
        least = np.expm1(-rate * (age + self.period)) / np.expm1(-rate * self.period)
        self.outlier.keep(self.outlier.weights(self.now) >= least)


class DenStream(StreamClusterer):
    """DenStream: small round micro-clusters that fade; clusters join heavy ones that are near.

    The nearest potential micro-cluster absorbs a point if its radius stays within `eps`, else the
    nearest outlier micro-cluster does, else the point becomes a new one. An outlier micro-cluster
    that is heavy enough becomes a potential one; light ones are removed periodically. There is no
    initial batch: the first point is learnt like any other.

    Parameters
    ----------
    eps : float, default 1.0
        Largest radius of a micro-cluster, the root mean squared distance of its points from its
        centre, in the unit of the data.
    mu : float, default 5.0
        Weight, in points, of a micro-cluster that is the core of a cluster.
    beta : float, default 0.5
        A micro-cluster heavier than beta mu is a potential one; beta mu must be above 1.
    decay : float, default 0.01
        Weights fade by 2^-decay for each point of the stream: they halve in 1 / decay points.
        With 0 they do not fade.
    link : {"centres", "touching"}, default "centres"
        Cores are joined if their centres are at most 2 eps apart; with "touching" the sum of
        their radii must also be at least that distance.
    hard : bool, default True
        True: a point gets the label of the nearest micro-cluster that has one. False: it is
        noise, -1, if the nearest potential micro-cluster has none.

    References
    ----------
    F. Cao, M. Ester, W. Qian, A. Zhou: Density-based clustering over an evolving data stream with
    noise. SDM 2006.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(20, 1, (200, 2))])
    >>> DenStream(eps=1.0).fit(X).predict([[0.0, 0.0], [20.0, 20.0]])
    array([0, 1])
    """

    _online: Density
    _ranges: ClassVar[Mapping[str, Parameter]] = {
        "eps": LENGTH,
        "mu": number(0, closed="neither"),
        "beta": number(0, 1, "right"),
        "decay": number(0),
        "link": word("centres", "touching"),
    }

    def __init__(
        self,
        eps: float = 1.0,
        *,
        mu: float = 5.0,
        beta: float = 0.5,
        decay: float = 0.01,
        link: str = "centres",
        hard: bool = True,
    ) -> None:
        self.eps = eps
        self.mu = mu
        self.beta = beta
        self.decay = decay
        self.link = link
        self.hard = hard

    def _start(self, n_features: int) -> Density:
        least = float(self.beta) * float(self.mu)
        if least <= 1.0:
            raise ValueError(
                f"beta * mu of DenStream must be above 1, the weight of one point, but is "
                f"{least:g}: raise mu or beta."
            )
        return Density(n_features, float(self.eps), float(self.decay), least)

    def _cluster(self) -> Offline:
        """Potential micro-clusters, and their clusters: joined cores and neighbours of cores."""
        rows, eps = self._online.potential, float(self.eps)
        centres, radii = rows.centre[: rows.n].copy(), rows.radii()
        labels = np.full(rows.n, -1, dtype=np.int64)
        core = rows.weights(self._online.now) >= self.mu
        if core.any():
            apart = cdist(centres[core], centres[core])
            near = apart <= 2.0 * eps
            if self.link == "touching":
                near &= apart <= radii[core, np.newaxis] + radii[core]
            labels[core] = components(int(core.sum()), *np.nonzero(near))
            apart = cdist(centres[~core], centres[core])
            joined = labels[core][apart.argmin(axis=1)]
            labels[~core] = np.where(apart.min(axis=1) <= 2.0 * eps, joined, -1)
        return Offline(centres, labels)
