"""SPC as an outlier detector by scikit-learn's conventions: outliers are typical nowhere."""

from copy import deepcopy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from spclust.array_types import Floats, HalfLife, Integers, Rows
from spclust.estimators import model_file
from spclust.estimators.fitted_estimator import AccessSlot, InFiles
from spclust.estimators.input_checks import checked_rows, features_kept_on_failure
from spclust.estimators.last_batch import threads
from spclust.estimators.spc import SPC
from spclust.estimators.times import checked_times
from spclust.parameters import CONTAMINATION, DEFAULTS, LEARNING, is_automatic, validate_model
from spclust.persistence.container import Content
from spclust.stream.access import learns, reads
from spclust.stream.automatic_stream import AutomaticStream

# Parameters that SPC has too; those that only decide about clusters do not change scores.
_SHARED = (*LEARNING, "n_jobs")
_DEFAULTS = DEFAULTS
_SHARE = 0.01  # contamination="auto" in the automatic mode
# Scores kept of a stream. Few, because structures grow and scores rise with them, most of all in
# the beginning: of a longer window the oldest scores would decide.
_MOST_SCORES = 1_000
_NO_SCORES = np.empty(0)


class SPCOutlierDetector(InFiles, AccessSlot, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Outliers of a data stream: rows that are typical in no structure of an `SPC`.

    A row's score is its log typicality. An outlier that was learnt is a structure of its own, in
    which it would be typical: so in the automatic mode a structure counts from as far away as it
    finds enough points (docs/explanation/automatic_renewal.md), and in the mode of the paper
    structures of a single point do not count, unless all are.

    Parameters
    ----------
    n_structures : int or "auto", default "auto"
        N, the maximum number of structures. `SPC` explains all parameters but `contamination`.
    half_life : float, timedelta or None, default None
        Points, or time, after which the influence of a point has halved; None forgets nothing.
    m : float, default 1.5
        Fuzzifier, above 1. It does not change the order of scores.
    gamma : float, default 0.0
        Paper. Decay of a structure's mean for each point that it absorbs; 0 forgets nothing.
    beta : float, default 0.0
        Paper. Decay of a structure's weight for each point of the stream; 0 forgets nothing.
    w_min : float, default 0.01
        Paper. Structures lighter than this are pruned: a group of points that is rarer does not
        count as normal for long.
    nlt_max : float, default 3.0
        Paper. A pruned structure is removed if its negative log typicality in all others is at
        least this, and merged otherwise. With contamination "auto", rows above it are outliers.
    scale : float or "auto", default "auto"
        "auto" is the automatic mode. A number is the mode of the paper: the standard deviation of a
        fresh structure in the unit of the data.
    covariance_type : {"auto", "full", "lowrank", "diag", "spherical"}, default "auto"
        Form of the covariances.
    max_rank : int or None, default None
        Paper. Maximum number of directions of a "lowrank" covariance.
    contamination : "auto" or float in (0, 0.5], default "auto"
        Share of rows that are outliers. After `fit` it holds for the rows of X. In a stream it
        holds for the last 1,000 points, each scored before it was learnt: on a stream without
        outliers this share of points is reported. "auto" is 0.01, and in the mode of the
        paper the fixed threshold `nlt_max`.
    n_jobs : int or None, default None
        Threads that score rows. None is one, -1 one for each core.

    Attributes
    ----------
    offset_ : float
        Score below which a row is an outlier: see `contamination`. As of the last `fit` or
        `partial_fit`.
    model_ : SPC
        The clusters of the same stream, for reading: `model_.describe()`, `model_.structures_`.
        It identifies features by their order, not by name.
    n_features_in_ : int
        Features d.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, where the data had any.

    Examples
    --------
    >>> import numpy as np
    >>> from spclust import SPCOutlierDetector
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> SPCOutlierDetector().fit(X).predict([[0.0, 0.5], [9.0, 9.0]])
    array([ 1, -1])
    """

    _recent: Floats  # scores of the last points, oldest first; empty if contamination is "auto"
    # Points that had been learnt, and scores of the next ones, if they may not be in `_recent` yet.
    _scored: tuple[int, Floats] | None = None

    def __init__(
        self,
        n_structures: int | str = _DEFAULTS["n_structures"],
        *,
        half_life: HalfLife = _DEFAULTS["half_life"],
        m: float = _DEFAULTS["m"],
        gamma: float = _DEFAULTS["gamma"],
        beta: float = _DEFAULTS["beta"],
        w_min: float = _DEFAULTS["w_min"],
        nlt_max: float = _DEFAULTS["nlt_max"],
        scale: float | str = _DEFAULTS["scale"],
        covariance_type: str = _DEFAULTS["covariance_type"],
        max_rank: int | None = _DEFAULTS["max_rank"],
        contamination: float | str = CONTAMINATION.default,
        n_jobs: int | None = _DEFAULTS["n_jobs"],
    ) -> None:
        self.n_structures = n_structures
        self.half_life = half_life
        self.m = m
        self.gamma = gamma
        self.beta = beta
        self.w_min = w_min
        self.nlt_max = nlt_max
        self.scale = scale
        self.covariance_type = covariance_type
        self.max_rank = max_rank
        self.contamination = contamination
        self.n_jobs = n_jobs

    @learns
    def fit(self, X: Any, y: object = None, *, t: Any = None) -> Self:
        """Learn the rows of X (n, d), in order, as a new stream; what was known is forgotten.

        For time stamps `t` (n,) see `SPC.partial_fit`.
        """
        self._check_parameters()
        with features_kept_on_failure(self):
            rows = checked_rows(self, X, reset=True)
            model = SPC(**self._shared()).fit(rows, t=t)
            recent = _NO_SCORES
            if self._share() is not None:
                recent = _scores(model, model._fitted.last_rows_now(rows), threads(self))
        self.model_ = model
        # The offset is that of all rows; the last scores are kept for `partial_fit`.
        self.offset_ = self._offset(recent)
        self._recent, self._scored = recent[-_MOST_SCORES:].copy(), None
        return self

    @learns
    def partial_fit(self, X: Any, y: object = None, *, t: Any = None) -> Self:
        """Learn the rows of X (n, d), in order, as the continuation of the stream.

        However a stream is cut into calls, the state and `offset_` come out the same. For time
        stamps `t` (n,) see `SPC.partial_fit`.
        """
        new = not self.__sklearn_is_fitted__()
        self._check_parameters()
        with features_kept_on_failure(self):
            rows = checked_rows(self, X, reset=new)
            model = SPC(**self._shared()) if new else self.model_
            for name, value in self._shared().items():
                if getattr(model, name) != value:
                    setattr(model, name, value)
            if self.contamination == "auto" or is_automatic(self.scale):
                model.partial_fit(rows, t=t)
                recent = _NO_SCORES
            else:
                last = None if new else model._stream.clock
                times = checked_times(t, len(rows), last, new=new)
                recent = self._recent_after(model, rows, times)
        self.__dict__.update(model_=model, _recent=recent, _scored=None)  # in one step
        self.offset_ = self._offset(recent)
        return self

    def _recent_after(self, model: SPC, rows: Rows, times: Floats | None) -> Floats:
        """The last scores after learning rows (n, d). Modified in place: model."""
        if not model.__sklearn_is_fitted__():  # there is no score of the first point of a stream
            model.partial_fit(rows[:1], t=None if times is None else times[:1])
            self._recent, self._scored = _NO_SCORES, None
            rows, times = rows[1:], None if times is None else times[1:]
        # What an interrupt has left to do would change scores.
        model._access.learn(model._finish_point, model._stream.structures.memory)
        known, seen = self._last_scores(model), model.n_samples_seen_
        self._recent, self._scored = known, (seen, np.empty(len(rows)))
        _score_and_learn(model, rows, times, self._scored[1])
        return self._last_scores(model)

    def _last_scores(self, model: SPC) -> Floats:
        """The scores that are kept, with those of all rows that were learnt before an interrupt."""
        if self._scored is None:
            return self._recent
        seen, scores = self._scored
        learnt = scores[: model.n_samples_seen_ - seen]
        return np.concatenate([self._recent, learnt])[-_MOST_SCORES:]

    @reads
    def score_samples(self, X: Any) -> Floats:
        """Log typicality (n,) of each row of X (n, d): 0 at most, higher is more normal."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        return _scores(self.model_, rows, threads(self))

    @reads
    def decision_function(self, X: Any) -> Floats:
        """Score (n,) of each row of X (n, d) minus `offset_`: negative for outliers."""
        scores = self.score_samples(X)
        return scores - self.offset_

    def predict(self, X: Any) -> Integers:
        """-1 for each row (n,) of X (n, d) that is an outlier, 1 for all others."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    def fit_predict(self, X: Any, y: object = None, **given: Any) -> Integers:
        """Learn X (n, d) as `fit` does; -1 for each row (n,) that is an outlier.

        If all clusters move alike, a row is judged as if it had moved with them since it arrived.
        """
        self.fit(X, y, **given)
        rows = self.model_._fitted.last_rows_now(checked_rows(self, X, reset=False))
        scores = _scores(self.model_, rows, threads(self))
        return np.where(scores - self.offset_ < 0.0, -1, 1)

    def _shared(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _SHARED}

    def _check_parameters(self) -> None:
        validate_model(self)

    def _offset(self, scores: Floats) -> float:
        stream, share = self.model_._stream, self._share()
        if share is not None and len(scores) > 0:
            return float(np.quantile(scores, share))
        if share is not None and isinstance(stream, AutomaticStream):
            return 0.0 - stream.rare_nlt(share)
        return 0.0 - float(self.nlt_max)

    def _share(self) -> float | None:
        """The share of rows that are outliers; None if `nlt_max` tells them."""
        if self.contamination != "auto":
            return float(self.contamination)
        return _SHARE if is_automatic(self.scale) else None

    def _content(self) -> Content:
        """Header and arrays of a file."""
        scores = self._last_scores(self.model_) if self.__sklearn_is_fitted__() else _NO_SCORES
        return model_file.content_of_detector(self, scores)

    @classmethod
    def _of_content(cls, content: Content, max_bytes: int | None) -> Self:
        """The detector with this content; RefusedError if there is none."""
        detector: Self = model_file.detector_of_content(cls, SPC, content, max_bytes)
        return detector

    @reads
    def __getstate__(self) -> dict[str, Any]:
        """The state without who has access."""
        return dict(vars(self))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __copy__(self) -> Self:
        """Copy the state too, as `SPC` does."""
        return deepcopy(self)


def _scores(model: SPC, rows: Rows, threads: int) -> Floats:
    """Log typicality (n,) of each row in the best structure that counts."""
    stream = model._stream
    labels = np.zeros(stream.structures.live, dtype=np.int64)
    if not stream.automatic:
        single = stream.structures.count[stream.order()] == 1.0
        labels = np.where(single & ~single.all(), -1, 0)
    scores: Floats = 0.0 - stream.nlt(rows, labels, 1, threads)[:, 0]
    return scores


def _score_and_learn(model: SPC, rows: Rows, times: Floats | None, scores: Floats) -> None:
    """Learn rows (n, d) one by one, each scored before. Modified in place: model, scores (n,)."""
    rows = np.ascontiguousarray(rows, dtype=np.float64)  # the fast path of `learn_one`
    stamps: list[float | None] = [None] * len(rows) if times is None else list(times.tolist())
    for i in range(len(rows)):
        scores[i] = _scores(model, rows[i : i + 1], 1)[0]
        model.learn_one(rows[i], stamps[i])
