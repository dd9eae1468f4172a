"""Checks of sample weights: finite numbers that are not negative, one for each row."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spclust.array_types import Floats, Rows
from spclust.parameters import is_automatic

# Weights outside of these limits are taken to be as small, or as large: squares of masses are
# finite. A weight of 0 is one of its own kind: the row is left out.
_SMALLEST, _LARGEST = 1e-100, 1e100


def checked_weights(model: Any, sample_weight: Any, rows: int, *, new: bool) -> Floats:
    """Weights (rows,) to learn rows with; a ValueError or TypeError says what is wrong."""
    if not is_automatic(model.scale):
        raise ValueError(
            "sample_weight belongs to the automatic mode: the mode of the paper, which a number "
            "as scale chooses, has no weights of points."
        )
    weights = as_weights(sample_weight, rows)
    if new and not weights.any():
        raise ValueError("sample_weight is zero for every row: a new stream needs a row to learn.")
    return np.where(weights > 0.0, np.clip(weights, _SMALLEST, _LARGEST), 0.0)


def as_weights(sample_weight: Any, rows: int) -> Floats:
    """Weights (rows,) as floats, if they are finite and not negative."""
    if isinstance(sample_weight, np.ma.MaskedArray):
        sample_weight = np.ma.filled(sample_weight.astype(float), np.nan)  # which is refused
    weights = np.asarray(sample_weight)
    if weights.dtype == object:
        weights = np.array([_number(one, at) for at, one in enumerate(weights.reshape(-1))])
        weights = weights.reshape(np.shape(sample_weight))
    if weights.dtype.kind not in "iufb":
        raise TypeError(
            f"sample_weight must hold numbers, but holds {weights.dtype} ({sample_weight!r:.60})."
        )
    if weights.shape != (rows,):
        raise ValueError(
            f"sample_weight must have one weight for each row, shape ({rows},), but has shape "
            f"{weights.shape}."
        )
    weights = weights.astype(np.float64)
    sound = np.isfinite(weights) & (weights >= 0.0)
    if not sound.all():
        row = int(np.argmin(sound))
        raise ValueError(
            f"sample_weight is {weights[row]:g} at row {row}: weights must be finite numbers that "
            "are not negative."
        )
    return weights


def _number(weight: Any, row: int) -> float:
    """A weight of an array of objects as a number."""
    try:
        return float(weight)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            f"sample_weight is {weight!r:.60} at row {row}, where a number is needed."
        ) from None


def without_weightless(rows: Rows, columns: Mapping[str, Floats]) -> tuple[Rows, dict[str, Floats]]:
    """Rows (n, d), and the columns (n,) beside them, that have a weight above 0."""
    kept = columns["weights"] > 0.0
    if kept.all():
        return rows, dict(columns)
    return rows[kept], {name: column[kept] for name, column in columns.items()}
