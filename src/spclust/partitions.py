"""What engines that learn in partitions share: parameters, bad rows, and how models are merged."""

import warnings
from typing import Literal

from sklearn.base import clone

from spclust.estimators.spc import SPC
from spclust.parameters import validate_model

BadRows = Literal["raise", "skip"]
TOGETHER = 32  # models that one task merges


def template_of(model: SPC) -> SPC:
    """A new model of the same parameters, if they are sound."""
    if type(model) is not SPC:
        raise TypeError(f"model must be an SPC, but is {model!r:.80}.")
    template: SPC = clone(model)
    validate_model(template)
    return template


def checked_policy(bad_rows: BadRows) -> BadRows:
    """What is done with rows that are not all finite numbers."""
    if bad_rows not in ("raise", "skip"):
        raise ValueError(f'bad_rows must be "raise" or "skip", but is {bad_rows!r}.')
    return bad_rows


def counted(whole: SPC | None, skipped: int) -> SPC:
    """The model of all partitions, with the number of rows that were skipped, and a warning."""
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
