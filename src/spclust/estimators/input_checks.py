"""Checks of rows: input becomes a finite float array, or an error of one sentence.

NaN, infinity and another number of features are refused. Files are checked by `tables.cells`,
those of JSON by `tables.ndjson_reader`, tables of Spark and Dask by `spark.row_reader` and `dask`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from spclust.array_types import Booleans, Rows

_FLOATS = np.dtype(np.float64), np.dtype(np.float32)
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


def checked_rows(estimator: Any, X: Any, *, reset: bool, named: bool = True) -> Rows:
    """X as a finite float array (n, d), float32 left as it is; names and width checked or noted.

    With `reset` the features of X become those of the estimator, else they must agree with them:
    in their names, too, if X is `named`.
    """
    if not named and X.dtype.kind in "iub":
        X = X.astype(np.float64)
    plain = not reset and _is_plain(X, estimator, named)
    rows: Rows = X if plain else _validated(estimator, X, reset)
    with np.errstate(over="ignore", invalid="ignore"):
        sum_is_finite = np.isfinite(np.sum(rows))  # fast, but a sum may overflow
    if not sum_is_finite:
        finite = np.isfinite(rows)
        if not finite.all():
            names = getattr(estimator, "feature_names_in_", None)
            raise ValueError(_sentence_about_non_finite(rows, finite, names))
    return rows


def _is_plain(X: Any, estimator: Any, named: bool) -> bool:
    """True if scikit-learn's checks, which take as long as 100 points, would find nothing.

    X is an array of floats of the known width, and features have no names, or need none.
    """
    return (
        type(X) is np.ndarray
        and X.dtype in _FLOATS
        and X.ndim == 2
        and X.shape == (max(len(X), 1), getattr(estimator, "n_features_in_", 0))
        and not (named and hasattr(estimator, "feature_names_in_"))
    )


def _validated(estimator: Any, X: Any, reset: bool) -> Rows:
    """X as an array (n, d) of floats, by scikit-learn's rules, which may not be finite."""
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(float), np.nan)  # a masked cell is missing, and refused as such
    _refuse_times(X)
    try:
        rows: Rows = validate_data(
            estimator, X, reset=reset, dtype=list(_FLOATS), ensure_all_finite=False
        )
    except (ValueError, TypeError, OverflowError) as error:
        sentence = _sentence_about_shape(X, str(error)) or _sentence_about_cell(X)
        if sentence is None:
            raise
        kind = ValueError if isinstance(error, OverflowError) else type(error)
        raise kind(sentence) from None
    return rows


def _columns(X: Any) -> list[tuple[Any, Any]]:
    """(name, cells) of each column of a data frame, an Arrow table or a 2-D array."""
    if hasattr(X, "column_names"):  # Arrow
        return [(name, X[name].to_pylist()) for name in X.column_names]
    if hasattr(X, "columns") and hasattr(X, "iloc"):  # pandas
        return [(name, X[name].to_numpy()) for name in X.columns]
    if hasattr(X, "columns") and hasattr(X, "get_column"):  # Polars
        return [(name, X.get_column(name).to_list()) for name in X.columns]
    try:
        cells = np.asarray(X, dtype=object)
    except ValueError:
        return []
    return list(enumerate(cells.T)) if cells.ndim == 2 else []


def _refuse_times(X: Any) -> None:
    """Refuse dates and durations, which would become huge integers."""
    if hasattr(X, "column_names"):  # Arrow
        kinds = list(zip(X.column_names, X.schema.types, strict=True))
    elif hasattr(X, "columns") and hasattr(X, "dtypes"):  # pandas, Polars
        kinds = list(zip(X.columns, X.dtypes, strict=True))
    elif hasattr(X, "dtype") and X.dtype != object:
        kinds = [(0, X.dtype)]
    elif isinstance(X, list | tuple) or hasattr(X, "dtype"):
        kinds = [
            (name, getattr(cells[0], "dtype", "")) for name, cells in _columns(X) if len(cells)
        ]
    else:
        return
    for name, kind in kinds:
        if str(kind).lower().startswith(("date", "time", "duration")):
            raise TypeError(
                f"Column {name!r} of X holds times ({kind}), not numbers: turn them into a number "
                "of seconds or days since some moment, or leave that column out."
            )


def _sentence_about_shape(X: Any, error: str) -> str | None:
    if "Complex data not supported" in error:
        return "Complex data not supported: X must hold real numbers."
    if "Expected 2D array, got 1D array" in error:
        return (
            f"X must be 2-D, rows by features, but is 1-D of length {len(X)}. Reshape your data: "
            "as a NumPy array, X.reshape(1, -1) makes it one row, X.reshape(-1, 1) one feature."
        )
    if "got scalar array" in error or isinstance(X, str | bytes | dict | Iterator):
        return f"X must be a 2-D array or frame, rows by features, but is {X!r:.60}."
    if "inhomogeneous" in error:
        return "X must be 2-D, rows by features, but its rows are of different lengths."
    return None


def _sentence_about_cell(X: Any) -> str | None:
    """A sentence about the first cell that is no number; None if every cell is one."""
    for name, cells in _columns(X):
        for row, cell in enumerate(cells):
            try:
                float(cell)
            except (TypeError, ValueError, OverflowError) as error:
                return (
                    f"X holds {cell!r:.60} at row {row}, column {name!r}, where a number is needed "
                    f"({error!s:.80}): leave that column out or encode it."
                )
    return None


def place(row: int, column: int, names: Any) -> str:
    """Where a number of X is, by the names of the features or None."""
    return f"row {row}, column {column if names is None else repr(str(names[column]))}"


def _sentence_about_non_finite(rows: Any, finite: Booleans, names: Any) -> str:
    row, column = (int(i) for i in np.argwhere(~finite)[0])
    what = "NaN" if np.isnan(rows[row, column]) else "infinity (inf)"
    where, bad_rows = place(row, column, names), int((~finite).any(axis=1).sum())
    return (
        f"X contains {what} at {where}, and {bad_rows} of its {len(rows)} rows are not "
        "finite: drop those rows or fill them in first."
    )
