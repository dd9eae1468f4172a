"""A user's data as one more experiment: her rows, in order, with their classes."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.experiments.reproduction.setups import Experiment

LEAST_ROWS = 200  # two batches: one to learn, one to label at arrival


@dataclass(frozen=True)
class OwnData:
    """Rows and classes of a user."""

    name: str  # of the file
    X: Floats  # (n, d)
    y: Integers  # (n,)

    @property
    def key(self) -> str:
        """Key of the experiment, which names files of figures."""
        return "data_" + re.sub(r"\W+", "_", self.name).strip("_").lower()


def own_data(name: str, X: Any, y: Any) -> OwnData:
    """Rows (n, d) and classes (n,), numbers or texts, checked."""
    rows, classes = np.asarray(X, dtype=np.float64), np.asarray(y)
    if rows.ndim != 2 or classes.shape != (len(rows),):
        raise ValueError(
            f"{name} must have rows (n, d) and one class for each, but has the shapes "
            f"{rows.shape} and {classes.shape}."
        )
    if len(rows) < LEAST_ROWS or not rows.shape[1]:
        raise ValueError(
            f"{name} has {len(rows):,} rows of {rows.shape[1]} features: an evaluation needs at "
            f"least {LEAST_ROWS} rows and one feature."
        )
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(f"{name} has {rows[row, column]} in row {row + 1}, feature {column + 1}.")
    return OwnData(name, rows, np.unique(classes, return_inverse=True)[1].astype(np.int64))


def own_experiment(data: OwnData) -> Experiment:
    """The experiment: one stream, whatever the seed."""
    classes = len(np.unique(data.y))
    return Experiment(
        data.key,
        data.name,
        classes,
        {},
        1.0,
        lambda seed: (data.X, data.y),
        f"{len(data.X):,} rows of {data.X.shape[1]} features and {classes} classes, in the order "
        "of the file",
        "",
        in_turn=True,
        own=True,
    )
