"""The model of one partition, shard or key, on a worker: restored, taught and kept as bytes."""

from collections.abc import Iterable

from sklearn.base import clone

from spclust.array_types import Floats
from spclust.estimators.last_batch import SUPERSEDED
from spclust.estimators.spc import SPC


def taught(template: SPC, data: bytes | None, batches: Iterable[Floats]) -> SPC:
    """The model kept as `data`, or a new one, after learning batches of rows, some maybe empty.

    The model gets the parameters of the template. Learning raises a ValueError if one of them
    cannot change in the middle of a stream.
    """
    model: SPC
    if data is None:
        model = clone(template)
    else:
        model = SPC.from_bytes(bytes(data)).set_params(**template.get_params())
    for rows in batches:
        if len(rows):
            model.partial_fit(rows)
    return model


def model_bytes(model: SPC) -> bytes | None:
    """The model as bytes, without the rows of its last batch; None if it has learnt nothing."""
    if not hasattr(model, "n_features_in_"):
        return None
    _drop_last_batch(model)
    return model.to_bytes()


def _drop_last_batch(model: SPC) -> None:
    """Drop the rows of the last batch: otherwise `to_bytes` computes and stores their labels."""
    model._fitted.last_batch = SUPERSEDED
