"""Labelled streams with a few outliers, from datasets of scikit-learn and River."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits

Rows = NDArray[np.float64]
Flags = NDArray[np.bool_]
SHARE = 0.05  # of outliers


class Case(NamedTuple):
    """A stream in order of arrival."""

    X: Rows  # (n, d)
    outlier: Flags  # (n,)


class Labelled(NamedTuple):
    """Rows and their classes."""

    X: Rows  # (n, d)
    y: NDArray[np.int64]  # (n,)


def breast_cancer() -> Labelled:
    """Cells of 569 tumours; class 1 is malignant."""
    X, y = load_breast_cancer(return_X_y=True)
    return Labelled(X, (y == 0).astype(np.int64))


def digits() -> Labelled:
    """1,797 handwritten digits of 8 x 8 pixels."""
    X, y = load_digits(return_X_y=True)
    return Labelled(X, y.astype(np.int64))


def phishing() -> Labelled:
    """1,250 web sites; class 1 is phishing. Needs River."""
    from river.datasets import Phishing

    return _from_river(Phishing())


def segments() -> Labelled:
    """2,310 pieces of seven outdoor images. Needs River."""
    from river.datasets import ImageSegments

    return _from_river(ImageSegments())


def _from_river(dataset: object) -> Labelled:
    points = list(dataset)  # type: ignore[call-overload]
    X = np.array([list(x.values()) for x, _ in points], dtype=np.float64)
    _, y = np.unique([label for _, label in points], return_inverse=True)
    return Labelled(X, y.astype(np.int64))


def rare_class(data: Labelled, strange: int, seed: int) -> Case:
    """All rows of the other classes, and rows of one class as outliers: a share of 5 %."""
    return _mixed(data, data.y == strange, seed)


def one_class(data: Labelled, usual: int, seed: int) -> Case:
    """All rows of one class, and a few rows of the others as outliers."""
    return _mixed(data, data.y != usual, seed)


def _mixed(data: Labelled, outlier: Flags, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    usual, strange = np.flatnonzero(~outlier), np.flatnonzero(outlier)
    few = min(len(strange), round(SHARE / (1 - SHARE) * len(usual)))
    chosen = rng.permutation([*usual, *rng.choice(strange, few, replace=False)])
    return Case(data.X[chosen], outlier[chosen])


# Name: loader, and function from rows and seed to a stream; the seed selects the class.
CASES: dict[str, tuple[Callable[[], Labelled], Callable[[Labelled, int], Case]]] = {
    "breast cancer: malignant": (breast_cancer, lambda data, seed: rare_class(data, 1, seed)),
    "phishing sites": (phishing, lambda data, seed: rare_class(data, 1, seed)),
    "digits: one usual": (digits, lambda data, seed: one_class(data, seed % 10, seed)),
    "digits: one rare": (digits, lambda data, seed: rare_class(data, seed % 10, seed)),
    "segments: one usual": (segments, lambda data, seed: one_class(data, seed % 7, seed)),
    "segments: one rare": (segments, lambda data, seed: rare_class(data, seed % 7, seed)),
}
