"""SPC as a scikit-learn estimator: parameters, methods, and their documentation."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any, Self

import numpy as np

from spclust.algorithm.kernels import stamped
from spclust.array_types import Floats, HalfLife, Integers
from spclust.estimators import model_merge, queries
from spclust.estimators.cluster_transform import ClusterTransform
from spclust.estimators.fit import as_row, fit
from spclust.estimators.fitted_estimator import FittedEstimator
from spclust.inspection.findings import Finding
from spclust.parameters import DEFAULTS, TABLE
from spclust.tracking.events import ClusterEvent

_ARRAY, _FLOAT64 = np.ndarray, np.dtype(np.float64)


class SPC(ClusterTransform, FittedEstimator):
    """Single-pass possibilistic clustering of a data stream.

    SPC sees every point once and keeps at most `n_structures` structures: mean, covariance,
    weight, count and age. A new point becomes a structure of its own; then the two most compatible
    structures are merged. Clusters are groups of structures within reach of each other.

    In the automatic mode, scale="auto", it finds units, metric and clusters by itself; a stream
    that changes needs `half_life`: see docs/how-to/choose_half_life.md. SPC(scale=1.0) is the
    algorithm of Dale, Keller and Galusha: Single-pass Possibilistic Clustering with Damped Window
    Footprints.

    Parameters
    ----------
    n_structures : int or "auto", default "auto"
        N, the maximum number of structures. "auto" is 100, or 30 in the mode of the paper.
    half_life : float, timedelta or None, default None
        Points after which the influence of a point has halved, in everything that is learnt; with
        time stamps a time, in the unit of `t` (seconds, if these are dates) or as a timedelta of
        Python, pandas or NumPy. None forgets nothing.
    n_clusters : int or None, default None
        Number of clusters, at most N, strays not counted. None finds it. May change at any time.
    m : float, default 1.5
        Fuzzifier, above 1. The smaller, the sharper the edge of a structure.
    gamma : float, default 0.0
        Paper. Decay of a structure's mean for each point that it absorbs; 0 forgets nothing.
    beta : float, default 0.0
        Paper. Decay of a structure's weight for each point of the stream; 0 forgets nothing.
    w_min : float, default 0.01
        Paper. Structures lighter than this are pruned. A weight is the damped mean of the
        typicality of recent points, from 0 to 1.
    nlt_max : float, default 3.0
        Paper. A pruned structure is merged into the one in which it is most typical if its negative
        log typicality there is below this (3 is a typicality of 0.05), and removed otherwise.
    eps : float or "auto", default "auto"
        Paper. Two structures at most this distance D apart, from 0 to 1, are neighbours; "auto" is
        0.95 there. May be changed at any time: it does not change the stream.
    min_samples : int, default 1
        Paper. Neighbours, itself included, that make a structure the core of a cluster (DBSCAN's
        rule). With more than 1, isolated structures are noise, -1. May be changed at any time.
    scale : float or "auto", default "auto"
        "auto" is the automatic mode. A number is the mode of the paper, with this standard
        deviation of a fresh structure in the unit of the data; the paper has 1.
    covariance_type : {"auto", "full", "lowrank", "diag", "spherical"}, default "auto"
        Form of the covariances. "diag" has a variance for each feature, "spherical" one for all.
        "auto" is "full" up to 128 features; above, it is "diag", and "lowrank" in the mode of the
        paper, which gives what "full" gives without d x d matrices.
    max_rank : int or None, default None
        Paper. Maximum number of directions of a "lowrank" covariance. Where more are needed, those
        of the smallest variances are given up. None has no limit.
    track_every : int or None, default None
        Points between two observations of the clusters, which report events (`events_`, `watch`)
        and, in the mode of the paper, give ids that last (`cluster_ids_`). None does not track,
        but in the automatic mode `watch` then chooses the number.
    outlier_nlt : float, "auto" or None, default "auto"
        Rows whose negative log typicality in their best structure is above this get the label -1
        in `predict` and `labels_` (3 is a typicality of 0.05). "auto" is 8, for rows farther from
        everything than any recent one (more in clusters much wider than most), and no limit in the
        mode of the paper; None gives every row to a cluster. May be changed at any time, but not
        for `labels_` of rows learnt without it.
    n_jobs : int or None, default None
        Threads of all queries. None is one, -1 one for each core.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Clusters of the rows of the last `fit` or `partial_fit`, after all of these were learnt, as
        if they had moved with the clusters since; -1 is noise, or an outlier.
    structures_ : StructureTable
        The structures, oldest first, as read-only arrays `mean` (k, d), `covariance` (k, d, d),
        `weight`, `count`, `age`, `id` and `label` (k,).
    n_clusters_ : int
        Clusters of structures, noise not counted.
    cluster_labels_, cluster_centers_ : ndarrays of shape (n_clusters_,) and (n_clusters_, d)
        Label of each cluster, and its centre: the mean of its structures, weighted by count.
    cluster_ids_ : ndarray of shape (n_clusters_,)
        Id of each cluster, in the automatic mode its label; -1 if not reported, or dead.
    events_ : list of ClusterEvent
        The last thousand births, deaths, merges, splits and moves, if clusters are tracked.
    n_samples_seen_, n_features_in_ : int
        Points learnt since the last `fit` or the first `partial_fit`; features d.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, where the data had any.

    Examples
    --------
    >>> import numpy as np
    >>> from spclust import SPC
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(20, 1, (200, 2))])
    >>> model = SPC().fit(X)
    >>> model.n_clusters_
    2
    >>> model.predict([[0.5, 0.5], [19.0, 21.0]])
    array([0, 1])
    """

    def __init__(
        self,
        n_structures: int | str = DEFAULTS["n_structures"],
        *,
        half_life: HalfLife = DEFAULTS["half_life"],
        n_clusters: int | None = DEFAULTS["n_clusters"],
        m: float = DEFAULTS["m"],
        gamma: float = DEFAULTS["gamma"],
        beta: float = DEFAULTS["beta"],
        w_min: float = DEFAULTS["w_min"],
        nlt_max: float = DEFAULTS["nlt_max"],
        eps: float | str = DEFAULTS["eps"],
        min_samples: int = DEFAULTS["min_samples"],
        scale: float | str = DEFAULTS["scale"],
        covariance_type: str = DEFAULTS["covariance_type"],
        max_rank: int | None = DEFAULTS["max_rank"],
        track_every: int | None = DEFAULTS["track_every"],
        outlier_nlt: float | str | None = DEFAULTS["outlier_nlt"],
        n_jobs: int | None = DEFAULTS["n_jobs"],
    ) -> None:
        self.n_structures = n_structures
        self.half_life = half_life
        self.n_clusters = n_clusters
        self.m = m
        self.gamma = gamma
        self.beta = beta
        self.w_min = w_min
        self.nlt_max = nlt_max
        self.eps = eps
        self.min_samples = min_samples
        self.scale = scale
        self.covariance_type = covariance_type
        self.max_rank = max_rank
        self.track_every = track_every
        self.outlier_nlt = outlier_nlt
        self.n_jobs = n_jobs

    def __setattr__(self, name: str, value: Any) -> None:
        """Note a change of parameters, so that they are checked before the next point."""
        super().__setattr__(name, value)
        if name in TABLE:
            self._learner = None
            self.__dict__.pop("_valid", None)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def fit(self, X: Any, y: object = None, sample_weight: Any = None, *, t: Any = None) -> Self:
        """Learn the rows of X (n, d), in order, as a new stream; the old one is discarded.

        Clusters are numbered by their oldest structure, those first that have rows of X: `labels_`
        has no gaps. They keep these numbers if `outlier_nlt` changes. Else as `partial_fit`.
        """
        self._access.learn(fit, self, X, t, sample_weight, new=True, gapless=True)
        return self

    def partial_fit(
        self, X: Any, y: object = None, sample_weight: Any = None, *, t: Any = None
    ) -> Self:
        """Learn the rows of X (n, d), in order, as the continuation of the stream.

        However a stream is cut into calls, the state is the same to the last bit. A cluster keeps
        its label for as long as it lives; in the mode of the paper labels follow the age of its
        oldest structure. If a call is interrupted, `n_samples_seen_` rows stay learnt.

        With time stamps `t` (n,), or one for all rows, numbers or dates that never go backwards,
        influence fades with time, not with points: `half_life` is a time in the unit of t (seconds,
        if they are dates), `gamma` and `beta` are rates. All points of a stream have one, or none.
        With weights `sample_weight` (n,), at least 0, a point has so many times the mass of one
        without; a row of weight 0 is labelled, but not learnt. Only in the automatic mode.
        """
        self._access.learn(fit, self, X, t, sample_weight, gapless=False)
        return self

    def learn_one(self, x: Floats, t: Any = None) -> None:
        """Learn one point x (d,): what `partial_fit` does with one row, in microseconds.

        Fast path: a one-dimensional float64 ndarray. Anything else with d numbers is learnt by
        `partial_fit`. Names of features are ignored. There are no `labels_`: call `predict`.
        """
        # What the kernel accepts; it checks the rest itself.
        if type(x) is _ARRAY and x.dtype is _FLOAT64 and x.ndim == 1:
            try:
                row = x if t is None else stamped(x, t, self._stream.structures)
                learn, memory, scratch = self._learner  # type: ignore[misc]
            except (AttributeError, TypeError):  # the first point, or parameters have changed
                pass
            else:
                # No call from here on to that of the kernel: other threads do not come in between.
                if memory is self._access.open:
                    learnt = learn(memory, row, scratch, 1)  # type: ignore[arg-type]
                    if learnt == 1:
                        return
                    if learnt == -1:
                        self._access.finish(self._finish_point, memory)
                        return
        self._learn_row(as_row(x), t)

    def predict(self, X: Any) -> Integers:
        """Cluster (n,) of the structure in which each row of X (n, d) is most typical.

        -1 if that structure is noise, or if the row's NLT in it is above `outlier_nlt`.
        """
        return queries.predict(self, X)

    def typicality(self, X: Any) -> Floats:
        """Typicality (n, n_clusters_) of each row in the best structure of each cluster, 0 to 1."""
        return queries.typicality(self, X)

    def score_samples(self, X: Any) -> Floats:
        """Log typicality (n,) of each row in its best structure: at most 0, higher is typical."""
        return queries.score_samples(self, X)

    def clustering(
        self,
        eps: float | str | None = None,
        min_samples: int | None = None,
        *,
        nlt: float | None = None,
        n_clusters: int | None = None,
    ) -> Integers:
        """Cluster (k,) of each structure, oldest first, for another cut; -1 is noise.

        Structures are neighbours if their distance D is at most `eps`; or if -log(1 - D), the sum
        of the NLT of each one's mean in the other, is at most `nlt`, which differs where every D is
        1 to the last digit, as in many dimensions; or so that there are `n_clusters` clusters (by
        single linkage, min_samples is 1; in the automatic mode as by the parameter of that name).
        `min_samples` counts neighbours; in the automatic mode it needs `eps` or `nlt`.
        """
        return queries.clustering(self, eps, min_samples, nlt, n_clusters)

    def describe(self, what: str = "clusters", as_: str = "numpy") -> Any:
        """A table of the clusters, or of the structures, in the units of the data.

        The columns are explained in `spclust.inspection.description.description`.

        Parameters
        ----------
        what : {"clusters", "structures"}, default "clusters"
            One row for each cluster, or for each structure, oldest first.
        as_ : {"numpy", "pandas", "polars"}, default "numpy"
            "numpy" is a dictionary of arrays, one for each column, `centre` and `spread` of shape
            (rows, d). Data frames have a column for each feature of these, such as "centre_x0".
        """
        return queries.describe(self, what, as_)

    def diagnose(self) -> list[Finding]:
        """Sentences about probable problems, and what to change; empty if there is none.

        Each is a `str` with a `code`, one word for programs. They are hints, from structures alone.
        """
        return queries.diagnose(self)

    def watch(self, batches: Iterable[Any]) -> Iterator[ClusterEvent]:
        """Learn batches of what `partial_fit` accepts, perhaps without an end; yield their events.

        A batch with time stamps is a pair (X, t). Of each batch at most the last thousand events
        are yielded, which is as many as are kept.
        """
        return queries.watch(self, batches)

    def merge(self, other: Self, *, when: model_merge.When = "concurrent") -> Self:
        """Merge another model of the same parameters into this one; the other does not change.

        All structures of both are merged, two at a time, by the rule of the mode, until N are left.
        Counts and points seen add up. The other model's are the newer ones, also by their ids.

        Parameters
        ----------
        when : {"concurrent", "later"}, default "concurrent"
            "concurrent": both learnt parts of one stream at the same time, so that neither is
            older. "later": the other model learnt what came after, so that this one has faded.
            Where nothing is forgotten, there is no difference.
        """
        model_merge.merge_into(self, [other], when)
        return self

    def __add__(self, other: object) -> Self:
        """A new model of two models that learnt at the same time."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return deepcopy(self).merge(other)
