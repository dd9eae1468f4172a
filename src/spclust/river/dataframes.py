"""Conversion of data frames, of any library that River supports, to arrays and back."""

from typing import Any

import numpy as np
from river.utils import dataframe

from spclust.array_types import Floats, Integers
from spclust.river.feature_values import Name, as_number


def numbers_in(X: Any) -> tuple[list[Name], Floats]:
    """Column names of a data frame, and its cells (n, columns), NaN where missing."""
    frame = _frame(X)
    names: list[Name] = list(frame.columns)
    cells = np.empty((len(frame), len(names)))
    for j, name in enumerate(names):
        column = frame.get_column(name)
        if column.dtype.is_numeric() and not column.dtype.is_decimal():
            cells[:, j] = dataframe.to_numpy(column.to_frame())[:, 0]
            infinite = np.flatnonzero(np.isinf(cells[:, j])).tolist()
            suspects = [(i, cells[i, j]) for i in infinite]
        else:  # booleans, decimals, objects: cell by cell, like a dictionary's values
            suspects = list(enumerate(column.to_list()))
        for i, cell in suspects:
            try:
                cells[i, j] = as_number(name, cell)
            except (TypeError, ValueError) as error:
                raise type(error)(f"Row {i} of X: {error}") from None
    return names, cells


def series_like(labels: Integers, X: Any) -> Any:
    """Labels as a series of the same library, and with the same index, as the data frame X."""
    return dataframe.to_native_series(labels, name="cluster", like=_frame(X))


def _frame(X: Any) -> Any:
    try:
        return dataframe.into_frame(X)
    except TypeError:
        raise TypeError(
            f"X must be a frame, of pandas or Polars for instance, but is a {type(X).__name__}."
        ) from None
