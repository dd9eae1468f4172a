"""SPC as a scikit-learn estimator: parameters in, fitted attributes out; the core does the rest."""

from copy import deepcopy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from spclust.algorithm.clock import stamped
from spclust.algorithm.typicality import exponent
from spclust.arrays import Floats
from spclust.estimators.last_batch import NO_ROWS, NOT_LEARNT_IN_FULL, SOMETHING_ELSE, LastRows
from spclust.estimators.model_merge import Mergeable
from spclust.estimators.queries import Reader
from spclust.estimators.rows import checked_rows, features_kept_on_failure
from spclust.estimators.times import checked_times
from spclust.parameters import DEFAULTS, FIXED, TABLE, Params, validate_model
from spclust.persistence.model_file import Savable
from spclust.state.kinds import kind_for
from spclust.stream.stream import PointLearner, Stream
from spclust.tracking.tracker import Tracker
from spclust.tracking.watch import Watcher

_ARRAY, _FLOAT64 = np.ndarray, np.dtype(np.float64)


def online_params(model: Any, d: int, kind: int) -> Params:
    """The parameters of the online phase, for d features and a kind of spreads, from a model's."""
    return Params(
        n_structures=int(model.n_structures),
        exponent=exponent(float(model.m)),
        gamma=float(model.gamma),
        beta=float(model.beta),
        w_min=float(model.w_min),
        nlt_max=float(model.nlt_max),
        scale=1.0 if model.scale == "auto" else float(model.scale),
        kind=kind,
        max_rank=d if model.max_rank is None else int(model.max_rank),
        framed=model.scale == "auto",
        natural=getattr(model, "eps", None) == "auto",
    )


class _Quick:
    """A place for what learns single points: found sooner than among the other attributes."""

    __slots__ = ("_learner",)

    _learner: PointLearner | None  # None, or nothing, if a check is needed first


class SPC(_Quick, Savable, Reader, Watcher, Mergeable, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Single-pass possibilistic clustering of a data stream.

    SPC sees every point once and keeps at most `n_structures` structures: mean, covariance,
    weight, and two clocks. A new point becomes a structure of its own; then the two most
    compatible structures are merged. Clusters are groups of structures within reach of each other.

    Parameters
    ----------
    n_structures : int, default 30
        N, the most structures kept. Memory is O(N^2 + N d^2), time O(N d^2) a point, with full
        covariances. Several per expected cluster; more if clusters are far from elliptic.
    m : float, default 1.5
        Fuzzifier, above 1. The smaller, the sharper the edge of a structure.
    gamma : float, default 0.0
        Decay of a structure's mean for each point that it takes in; 0 forgets nothing.
        `decay_from_half_life` turns a number of points into a rate.
    beta : float, default 0.0
        Decay of a structure's weight for each point of the stream; 0 forgets nothing.
    w_min : float, default 0.01
        Structures lighter than this are pruned. A weight is the damped mean of the typicality of
        recent points, from 0 to 1.
    nlt_max : float, default 3.0
        A pruned structure is merged into the one in which it is most typical if its negative log
        typicality there is below this (3 is a typicality of 0.05), and forgotten otherwise.
    eps : float or "auto", default "auto"
        Two structures at most this distance D apart, from 0 to 1, are neighbours; the paper has
        0.95. "auto" finds the clusters by how long they hold together: see docs/automatic.md. May
        be changed at any time: it does not touch the stream.
    min_samples : int, default 1
        Neighbours, itself included, that make a structure the core of a cluster (DBSCAN's rule).
        With 1 every structure belongs to a cluster; with more, lonely ones are noise, -1. Has no
        part if eps is "auto". May be changed at any time.
    scale : float or "auto", default "auto"
        Standard deviation of a fresh structure in the unit of the data. The paper has 1, which
        suits data of about ten units across; scale, not m, is what the data decides first. "auto"
        finds one for each feature, and follows the stream: see docs/automatic.md.
    covariance_type : {"auto", "full", "lowrank", "diag", "spherical"}, default "auto"
        Form of the covariances. "lowrank" gives what "full" gives, without d x d matrices: it keeps
        the few directions in which a structure has grown. "auto" is "full" up to 128 features and
        "lowrank" above. "diag" has a variance for each feature, "spherical" one for all.
    max_rank : int or None, default None
        Most directions that a structure of "lowrank" keeps; memory is O(N d max_rank). A structure
        that needs more grows, in all directions that it gives up, to the largest of them. None is
        as many as there are: exact.
    track_every : int or None, default None
        Points between two looks at the clusters, which give them ids that last (`cluster_ids_`) and
        tell what happens to them (`events_`, `watch`). A change is believed when five looks in a
        row have seen it. None does not look.
    outlier_nlt : float or None, default None
        Rows whose negative log typicality in their best structure is above this get the label -1
        in `predict` and `labels_` (3 is a typicality of 0.05). None, as in the paper, gives every
        row to a cluster. May be changed at any time: it does not touch the stream. (`labels_` of
        rows that were learnt without it may need `predict`, since rows are not kept.)
    n_jobs : int or None, default None
        Threads that read the model: in `predict`, `typicality`, `score_samples` and `labels_`.
        None is one, -1 one for each core. Learning always is one.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Clusters of the rows of the last `fit` or `partial_fit`, as `predict` tells them after all
        of these rows were learnt; -1 is noise, or an outlier by `outlier_nlt`.
    structures_ : StructureTable
        The structures, oldest first, as read-only arrays `mean` (k, d), `covariance` (k, d, d),
        `weight`, `count`, `age`, `id` and `label` (k,).
    n_clusters_ : int
        Clusters of structures, noise not counted.
    cluster_ids_ : ndarray of shape (n_clusters_,)
        Id of each cluster, the same for as long as it lives; -1 for what is hardly a cluster. Only
        if `track_every` is set.
    events_ : list of ClusterEvent
        Births, deaths, merges, splits and moves of clusters, the last thousand of them. Only if
        `track_every` is set.
    n_samples_seen_ : int
        Points learnt since the last `fit` or the first `partial_fit`.
    n_features_in_ : int
        Features d.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, where the data had any.

    References
    ----------
    J. Dale, J. Keller, A. Galusha: Single-pass Possibilistic Clustering with Damped Window
    Footprints.

    Examples
    --------
    >>> import numpy as np
    >>> from spclust import SPC
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(20, 1, (200, 2))])
    >>> model = SPC(n_structures=30, scale=2.0).fit(X)
    >>> model.n_clusters_
    2
    >>> model.predict([[0.5, 0.5], [19.0, 21.0]])
    array([0, 1])
    """

    __slots__ = ()  # where scikit-learn looks for those that it could not store: see `_Quick`

    _built_with: dict[str, Any]  # parameters that may not change in the middle of the stream
    _valid: bool  # there once parameters were checked

    def __init__(
        self,
        n_structures: int = DEFAULTS["n_structures"],
        *,
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
        outlier_nlt: float | None = DEFAULTS["outlier_nlt"],
        n_jobs: int | None = DEFAULTS["n_jobs"],
    ) -> None:
        self.n_structures = n_structures
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

    # Learning

    def fit(self, X: Any, y: object = None, *, t: Any = None) -> Self:
        """Learn the rows of X (n, d), in order, as a new stream; what was known is forgotten.

        Clusters are numbered by their oldest structure, those first in which there are rows of X:
        `labels_` has no gaps. If `outlier_nlt` changes later, clusters keep these numbers. For `t`,
        see `partial_fit`.
        """
        return self._learn(X, t, new=True, gapless=True)

    def partial_fit(self, X: Any, y: object = None, *, t: Any = None) -> Self:
        """Learn the rows of X (n, d), in order, as the continuation of the stream.

        However a stream is cut into calls, the state comes out the same to the last bit. Clusters
        are numbered by their oldest structure. If a call is interrupted, the rows learnt until
        then stay learnt: `n_samples_seen_` tells how many.

        With time stamps `t` (n,), numbers or dates, what was learnt fades with time, not with
        points: `gamma` and `beta` then are rates per unit of t (per second, if they are dates). All
        points of a stream have one, or none has; they may be equal, and never go backwards. A
        single one counts for all rows.
        """
        return self._learn(X, t, new=not self.__sklearn_is_fitted__(), gapless=False)

    def learn_one(self, x: Floats, t: Any = None) -> None:
        """Learn one point x (d,): what `partial_fit` does with one row, in microseconds.

        So quick is it with a plain float64 array; anything else that has d numbers goes the way of
        `partial_fit`. Features go by their order, names are not looked at. There are no `labels_`
        for such points: ask `predict`.
        """
        # Just what the machine code takes, which looks at the rest itself.
        if type(x) is _ARRAY and x.dtype is _FLOAT64 and x.ndim == 1:
            try:
                learn, pool, scratch, address = self._learner  # type: ignore[misc]
            except (AttributeError, TypeError):  # the first point, or parameters were changed
                pass
            else:
                learnt = learn(pool, x if t is None else stamped(x, t, pool), scratch, address)
                if learnt == 1:
                    return
                if learnt == -1:
                    self._make_room(pool)
                    return
        self._learn(self._as_row(x), t, new=not self.__sklearn_is_fitted__(), gapless=False)
        self._last = SOMETHING_ELSE
        self._learner = self._point_learner()

    def _make_room(self, pool: Floats) -> None:
        """Prune, after a single point was learnt; and look at the clusters, if it is time to."""
        self._stream.make_room()
        if self._stream.pool is not pool:  # it has grown
            self._learner = self._point_learner()
        if self._tracker is not None and self.track_every is not None:
            self._look_if_it_is_time(self._stream, self._tracker, self.track_every)

    def _as_row(self, x: Any) -> Any:
        if np.ndim(x) != 1:
            raise ValueError(f"x must be one point of shape (d,), but has shape {np.shape(x)}.")
        return np.asanyarray(x)[np.newaxis]

    def __setattr__(self, name: str, value: Any) -> None:
        """Note a change of parameters: the next point is not learnt without a check."""
        super().__setattr__(name, value)
        if name in TABLE:
            self._learner = None
            self.__dict__.pop("_valid", None)

    def _learn(self, X: Any, t: Any, *, new: bool, gapless: bool) -> Self:
        self._learner = None
        if "_valid" not in self.__dict__:  # to look again takes as long as to learn 50 points
            validate_model(self)
        if not new:
            self._refuse_changes()
        with features_kept_on_failure(self):
            rows = checked_rows(self, X, reset=new)
            last_time = None if new else self._stream.clock
            times = checked_times(t, len(rows), last_time, new=new)
            params = self._online_params(rows.shape[1])
            stream = Stream(params, rows.shape[1]) if new else self._stream
            stream.configure(params)
            if not new:
                self._last, self._first = NOT_LEARNT_IN_FULL, NO_ROWS
            tracker = self._tracker
            if new:
                tracker = None if self.track_every is None else Tracker()
            self._learn_and_look(stream, rows, times, tracker)
            last = LastRows.of(
                rows,
                stream,
                self._threads(),
                at_once=gapless,
                with_nlt=self.outlier_nlt is not None,
            )
        self._stream, self._tracker = stream, tracker
        self._built_with = {name: getattr(self, name) for name in FIXED}
        self._last = last
        self._first = NO_ROWS
        if gapless:
            kept = slice(None) if last.nlt is None else ~self._outlying(last.nlt)
            self._first = np.unique(last.nearest[kept])
        self._learner = None
        self._valid = True
        return self

    def _refuse_changes(self) -> None:
        for name, value in self._built_with.items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"{name} was changed from {value!r} to {getattr(self, name)!r} in the middle "
                    "of a stream: set it back, or call fit to start a new stream."
                )

    def _online_params(self, d: int) -> Params:
        return online_params(self, d, kind_for(self.covariance_type, d))

    def __getstate__(self) -> dict[str, Any]:
        """The state without what is made anew when it is needed, and without rows of data."""
        if self.__sklearn_is_fitted__() and self._last.rows is not None:
            if self._last.seen == self._stream.seen:
                self.labels_  # noqa: B018 - from here on the rows are not needed any more
            self._last = self._last._replace(rows=None)
        return {name: value for name, value in vars(self).items() if name != "_valid"}

    def __copy__(self) -> Self:
        """Copy the state too: two models that learn into one stream would both be wrong."""
        return deepcopy(self)
