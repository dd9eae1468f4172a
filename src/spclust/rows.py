"""Rows at the border: what comes in is checked once, and refused in one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from spclust.arrays import Booleans, Rows

_FEATURE_ATTRIBUTES = ("n_features_in_", "feature_names_in_")


@contextmanager
def features_kept_on_failure(estimator: Any) -> Iterator[None]:
    """Undo what scikit-learn noted about the features if anything goes wrong in the block."""
    before = {name: getattr(estimator, name, None) for name in _FEATURE_ATTRIBUTES}
    try:
        yield
    except BaseException:
        for name, value in before.items():
            if value is not None:
                setattr(estimator, name, value)
            elif hasattr(estimator, name):
                delattr(estimator, name)
        raise


def checked_rows(estimator: Any, X: Any, *, reset: bool) -> Rows:
    """X as a finite float array (n, d), float32 left as it is; names and width checked or noted.

    With `reset` the features of X become those of the estimator, else they must agree with them.
    """
    if np.ndim(X) == 1 and not hasattr(X, "columns"):
        raise ValueError(
            f"X must be 2-D, rows by features, but is 1-D of length {len(X)}. Reshape your data: "
            "X.reshape(1, -1) makes it one row, X.reshape(-1, 1) one feature."
        )
    try:
        rows: Rows = validate_data(
            estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False
        )
    except ValueError as error:
        if "could not convert string to float" in str(error):
            raise ValueError(_sentence_about_text(X)) from None
        raise
    finite = np.isfinite(rows)
    if not finite.all():
        names = getattr(estimator, "feature_names_in_", None)
        raise ValueError(_sentence_about_non_finite(rows, finite, names))
    return rows


def _sentence_about_non_finite(rows: Any, finite: Booleans, names: Any) -> str:
    row, column = (int(i) for i in np.argwhere(~finite)[0])
    what = "NaN" if np.isnan(rows[row, column]) else "infinity (inf)"
    bad_rows = int((~finite).any(axis=1).sum())
    where = f"column {column if names is None else repr(str(names[column]))}"
    return (
        f"X contains {what} at row {row}, {where}, and {bad_rows} of its {len(rows)} rows are not "
        "finite: drop those rows or fill them in before they are learnt."
    )


def _sentence_about_text(X: Any) -> str:
    names = list(getattr(X, "columns", range(np.shape(X)[1])))
    for column, cells in enumerate(np.asarray(X, dtype=object).T):
        for row, cell in enumerate(cells):
            try:
                float(cell)
            except (TypeError, ValueError):
                return (
                    f"X holds {cell!r} at row {row}, column {names[column]!r}, where a number is "
                    "needed: leave that column out or encode it."
                )
    return "X holds text where numbers are needed: leave those columns out or encode them."
