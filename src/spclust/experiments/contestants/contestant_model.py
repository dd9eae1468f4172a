"""A model of a contestant behind the protocol of the evaluation, with its labels checked."""

from typing import Any, Self

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.experiments.contestants.contestant_error import ContestantError

_BATCHES, _ROWS = ("partial_fit", "predict"), ("learn_one", "predict_one")


def require_methods(model: Any, name: str) -> None:
    """Raise a ContestantError unless a model, or its class, can learn a stream."""
    if _has(model, _BATCHES) or _has(model, _ROWS):
        return
    wanted = (
        "a contestant learns rows as they arrive by partial_fit(X) and labels rows by predict(X), "
        "or has learn_one and predict_one as in River"
    )
    if not _has(model, _BATCHES[:1]) and _has(model, ("fit_predict",)):
        raise ContestantError(
            f"{name} learns all rows at once, by fit_predict or fit, and cannot go on with a "
            f"stream: {wanted}."
        )
    pair = _ROWS if _has(model, _ROWS[:1]) or _has(model, _ROWS[1:]) else _BATCHES
    missing = " and no ".join(method for method in pair if not _has(model, (method,)))
    raise ContestantError(f"{name} has no {missing}: {wanted}.")


def _has(model: Any, methods: tuple[str, ...]) -> bool:
    return all(callable(getattr(model, method, None)) for method in methods)


class ContestantModel:
    """A model that learns batches and labels rows; one of River learns row by row.

    It gets copies of rows: others learn the same ones.
    """

    def __init__(self, model: Any) -> None:
        require_methods(model, type(model).__name__)
        self.model = model
        self._in_batches = _has(model, _BATCHES)

    def partial_fit(self, X: Floats) -> Self:
        """Learn rows (n, d), in order."""
        if self._in_batches:
            self.model.partial_fit(np.array(X, dtype=np.float64))
        else:
            for row in _dictionaries(X):
                self.model.learn_one(row)
        return self

    def predict(self, X: Floats) -> Integers:
        """Label each row (n,); a row for which River has no cluster is noise."""
        if self._in_batches:
            return _checked(self.model.predict(np.array(X, dtype=np.float64)), len(X), "predict")
        labels = [self.model.predict_one(row) for row in _dictionaries(X)]
        numbers = [-1 if label is None else label for label in labels]
        return _checked(numbers, len(X), "predict_one")


def _dictionaries(X: Floats) -> list[dict[int, float]]:
    return [dict(enumerate(row)) for row in X.tolist()]


def _checked(labels: Any, rows: int, method: str) -> Integers:
    """Labels (rows,) as integers."""
    try:
        found = np.asarray(labels)
    except ValueError:  # lists of different lengths
        found = np.empty((0, 0))
    if found.ndim != 1:
        raise ContestantError(
            f"{method} returned {type(labels).__name__} of shape {found.shape} and not a list of "
            f"{rows:,} labels."
        )
    if len(found) != rows:
        raise ContestantError(f"{method} returned {len(found):,} labels for {rows:,} rows.")
    wrong = found
    if found.dtype.kind in "iubf":
        wrong = found[~((found >= -1) & (np.isfinite(found)) & (found == np.round(found)))]
    if len(wrong):
        raise ContestantError(
            f"{method} returned labels such as {wrong[:1].tolist()[0]!r}: labels are integers from "
            "0, and -1 for noise."
        )
    return found.astype(np.int64)
