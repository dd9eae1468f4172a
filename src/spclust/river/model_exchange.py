"""A River model as an estimator and back: both keep the same stream, and the same files."""

from typing import Any

import numpy as np

from spclust.estimators.fitted import Fitted
from spclust.estimators.last_batch import NO_ROWS, SUPERSEDED
from spclust.estimators.queries import feature_names
from spclust.estimators.spc import SPC
from spclust.parameters import FIXED
from spclust.river.named_stream import NamedStream
from spclust.stream.automatic_stream import AutomaticStream


def as_estimator(model: Any) -> SPC:
    """The `spclust.SPC` with the stream of a River model that has learnt something.

    Names of features that are no strings become strings.
    """
    known: NamedStream | None = model._known
    if known is None:
        raise ValueError(f"This {type(model).__name__} has learnt nothing yet.")
    estimator = SPC(**model._parameters())
    built_with = {name: getattr(estimator, name) for name in FIXED}
    estimator._fitted = Fitted(known.stream, None, SUPERSEDED, NO_ROWS, built_with)
    estimator.n_features_in_ = len(known.names)
    estimator.feature_names_in_ = np.array([str(name) for name in known.names], dtype=object)
    return estimator


def refuse_other_names(model: Any) -> None:
    """Raise a ValueError if a feature of a River model has a name that a file cannot hold."""
    for name in () if model._known is None else model._known.names:
        if not isinstance(name, str):
            raise ValueError(
                f"A file has names of features as text, but {name!r} is no string: learn "
                "dictionaries whose keys are strings."
            )


def of_estimator(kind: Any, estimator: SPC) -> Any:
    """The River model of a class that goes on with the stream of an estimator.

    Features without a name are called x0, x1, ... Parameters that River models do not have,
    `track_every` and `n_clusters` for example, are left out.
    """
    taken, stream = kind()._parameters(), estimator._stream
    given = {name: value for name, value in estimator.get_params().items() if name in taken}
    if isinstance(stream, AutomaticStream):
        stream.told = None
        stream.unfollow()
    model = kind(**given)
    model._known = NamedStream(tuple(feature_names(estimator)), stream, model._access)
    return model
