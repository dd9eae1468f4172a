"""A contestant: how a model is made for a set, and what it is told about the set."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import StandardScaler

from spclust.array_types import Floats
from spclust.experiments.contestants.contestant_model import ContestantModel

WHOLE = "standardised by the whole set"


class Setting(NamedTuple):
    """What is known before the first row."""

    X: Floats  # all rows: used by references alone
    k: int  # clusters: used by those that are told
    seed: int


class MissingError(Exception):
    """A contestant cannot be made: a package or a parameter does not exist."""


@dataclass(frozen=True)
class Contestant:
    """A named model. `make` returns an object with `learn` and `predict`, or `score`."""

    name: str
    make: Callable[[Setting], Any]
    note: str = ""  # what the model is told or given, for the table of parameters
    standardised: bool = False
    in_batches: bool = True  # False: learns all rows of a set at once
    compiled: bool = False  # learns a few rows first, so that compilation is not timed

    def start(self, setting: Setting) -> Any:
        """A new model, or MissingError with the reason."""
        try:
            return self.make(setting)
        except (ImportError, TypeError) as error:
            raise MissingError(str(error)) from error

    def rows(self, X: Floats) -> Floats:
        """The rows as the contestant gets them."""
        rows = np.asarray(X, dtype=np.float64)
        return StandardScaler().fit_transform(rows) if self.standardised else rows


def parameters(model: Any) -> dict[str, Any]:
    """Parameters of the model inside a contestant, by scikit-learn's or River's interface."""
    inner = getattr(model, "model", model)
    if isinstance(inner, ContestantModel):
        inner = inner.model
    for name in ("get_params", "_get_params"):
        if hasattr(inner, name):
            found: dict[str, Any] = getattr(inner, name)()
            plain = (bool, int, float, str)
            return {key: value for key, value in found.items() if isinstance(value, plain)}
    return {}
