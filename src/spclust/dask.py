"""SPC of a Dask table or array: each partition is learnt where it is, and the models are merged."""

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from spclust.arrays import Floats
from spclust.estimator import SPC
from spclust.merging import merge_all

try:
    import dask.dataframe as tables
    import pandas as pd
    from dask import array
    from dask.delayed import delayed
except ImportError:
    raise ImportError(
        "spclust.dask needs Dask: install it with pip install 'spclust[dask]'."
    ) from None

Names = Sequence[str] | None
BadRows = Literal["raise", "skip"]
_TOGETHER = 32  # models that one task merges
_Learnt = tuple[SPC | None, int]  # the model of some partitions, and how many rows were skipped


def fit(data: Any, model: SPC, columns: Names = None, *, bad_rows: BadRows = "raise") -> SPC:
    """A model of all rows of a `dask.dataframe` or `dask.array`; `model` has the parameters.

    `columns` of a table are the features; None takes all. Rows in which a number is missing, NaN or
    infinite are refused or, with "skip", left out and counted in `n_rows_skipped_`. The same
    partitions in the same order give the same model, to the last bit.
    """
    if type(model) is not SPC:
        raise TypeError(f"model must be an SPC, but is {model!r:.80}.")
    if bad_rows not in ("raise", "skip"):
        raise ValueError(f'bad_rows must be "raise" or "skip", but is {bad_rows!r}.')
    features = _features(data, columns)
    learn, merge, template = delayed(_learnt), delayed(_merged), clone(model)
    parts, skip = features.to_delayed(), bad_rows == "skip"
    models = [learn(part, template, skip, number) for number, part in enumerate(parts)]
    while len(models) > 1:
        models = [merge(models[k : k + _TOGETHER]) for k in range(0, len(models), _TOGETHER)]
    learnt: _Learnt = models[0].compute()
    whole, skipped = learnt
    if whole is None:
        raise ValueError(f"There is nothing to learn: no row is left, {skipped} were skipped.")
    if skipped:
        rows = skipped + whole.n_samples_seen_
        warnings.warn(f"{skipped} of {rows} rows were skipped: not finite.", stacklevel=2)
    if not isinstance(data, array.Array):
        whole.feature_names_in_ = np.array(features.columns, dtype=object)
    whole.n_rows_skipped_ = skipped
    return whole


def predict(data: Any, model: SPC, columns: Names = None) -> Any:
    """Clusters of the rows, to be computed: a series of a table, an array of an array.

    `columns` of a table are the features as they were learnt; None takes the model's names.
    """
    if columns is None and not isinstance(data, array.Array):
        columns = getattr(model, "feature_names_in_", None)
    unnamed = SPC.from_bytes(model.to_bytes())
    unnamed.__dict__.pop("feature_names_in_", None)  # rows come without names, in this order

    def clusters(part: Any, partition_info: Any = None) -> Any:
        rows = _sound_rows(part, False, partition_info["number"])
        labels = unnamed.predict(rows) if len(rows) else np.empty(0)
        return pd.Series(labels, index=part.index, dtype=np.int32)

    found = _features(data, columns).map_partitions(clusters, meta=("cluster", np.int32))
    return found.values if isinstance(data, array.Array) else found


def _features(data: Any, columns: Names) -> Any:
    """The features as a table; those of an array have numbers as names."""
    if isinstance(data, array.Array) and data.ndim == 2 and columns is None:
        return tables.from_dask_array(data)
    if not isinstance(data, tables.DataFrame):
        raise TypeError(f"data must be a Dask table, or a 2-D array without columns: {data!r:.80}.")
    names = list(data.columns if columns is None else columns)
    for name in names:
        if name not in data.columns or not pd.api.types.is_numeric_dtype(data.dtypes[name]):
            raise ValueError(f"There is no column {name!r} of numbers in {list(data.columns)}.")
    return data[names]


def _sound_rows(part: Any, skip: bool, partition: int) -> Floats:
    """The rows of a partition that are all finite numbers."""
    rows: Floats = part.to_numpy(float, na_value=np.nan)
    finite = np.isfinite(rows)
    if not skip and not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise ValueError(
            f"Column {list(part)[column]!r} has {rows[row, column]} in row {row} of partition "
            f"{partition}: drop such rows, fill them in, or pass bad_rows='skip' to fit."
        )
    return rows[finite.all(axis=1)]


def _learnt(part: Any, template: SPC, skip: bool, partition: int) -> _Learnt:
    rows = _sound_rows(part, skip, partition)
    return clone(template).partial_fit(rows) if len(rows) else None, len(part) - len(rows)


def _merged(models: list[_Learnt]) -> _Learnt:
    known = [model for model, _ in models if model is not None]
    return merge_all(known) if known else None, sum(skipped for _, skipped in models)
