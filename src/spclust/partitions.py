"""What Spark and Dask share: parameters, bad rows, names of features, size of a merge."""

import warnings
from collections.abc import Iterable
from typing import Literal

import numpy as np
from sklearn.base import clone

from spclust.durations import duration_seconds
from spclust.estimators.spc import SPC
from spclust.parameters import validate_model

BadRows = Literal["raise", "skip"]
MODELS_PER_MERGE = 32  # that one task merges


def template_of(model: SPC) -> SPC:
    """A model with the same parameters, checked, that has learnt nothing."""
    if type(model) is not SPC:
        raise TypeError(f"model must be an SPC, but is {model!r:.80}.")
    template: SPC = clone(model)
    validate_model(template)
    if duration_seconds(template.half_life) is not None:
        raise ValueError(
            f"half_life={template.half_life!r} is a time, but rows of partitions have no time "
            "stamps: give half_life as a number of points."
        )
    return template


def checked_policy(bad_rows: BadRows) -> BadRows:
    """Check `bad_rows`, what to do with rows that have missing, NaN or infinite numbers."""
    if bad_rows not in ("raise", "skip"):
        raise ValueError(f'bad_rows must be "raise" or "skip", but is {bad_rows!r}.')
    return bad_rows


def with_skipped_rows(whole: SPC | None, skipped: int) -> SPC:
    """Write the number of skipped rows to the model of all partitions, and warn if there are any.

    Raises a ValueError if there is no model, because no partition had a row to learn.
    """
    if whole is None:
        raise ValueError(
            f"There is nothing to learn: all {skipped} rows were skipped."
            if skipped
            else "There is nothing to learn: the table has no rows."
        )
    whole.n_rows_skipped_ = skipped
    if skipped:
        warnings.warn(
            f"{skipped} of {skipped + whole.n_samples_seen_} rows were skipped, because numbers in "
            "them are missing, NaN or infinite.",
            stacklevel=3,
        )
    return whole


def with_feature_names(model: SPC, names: Iterable[str]) -> SPC:
    """Name the features of a model of partitions, which are learnt without names."""
    model.feature_names_in_ = np.array(list(names), dtype=object)
    return model


def without_feature_names(model: SPC) -> SPC:
    """Remove the names of the features, for rows whose columns were already checked."""
    model.__dict__.pop("feature_names_in_", None)
    return model
