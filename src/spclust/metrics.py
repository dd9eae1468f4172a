"""Scores of clusters against known classes, with an explicit treatment of noise.

The label -1 marks noise: points without a cluster. Every score has a parameter `noise`:

- "cluster": noise is one more cluster (the default);
- "singletons": every noise point is a cluster of its own, so that noise does not improve NMI and
  ARI;
- "drop": noise points are not scored. Report their number with the score.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from spclust.array_types import Integers

Noise = Literal["cluster", "singletons", "drop"]
Score = Callable[..., float]


def purity(y_true: Any, y_pred: Any, *, noise: Noise = "cluster") -> float:
    """Share of points whose class is the most frequent one of their cluster: 0 to 1.

    Splitting a cluster never lowers it: report it with a score that penalises many clusters.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Known classes.
    y_pred : array-like of shape (n,)
        Clusters; -1 is noise.
    noise : {"cluster", "singletons", "drop"}, default "cluster"
        Treatment of noise.

    Examples
    --------
    >>> purity([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    table = _contingency(y_true, y_pred, noise)
    return float(table.max(axis=0).sum() / table.sum())


def average_purity(y_true: Any, y_pred: Any, *, noise: Noise = "cluster") -> float:
    """Unweighted mean over clusters of the share of their largest class: 0 to 1.

    The purity of R's `stream`. Parameters are those of `purity`.

    Examples
    --------
    >>> round(average_purity([0, 0, 1, 1], [0, 0, 0, 1]), 3)
    0.833
    """
    table = _contingency(y_true, y_pred, noise)
    return float(np.mean(table.max(axis=0) / table.sum(axis=0)))


def nmi(y_true: Any, y_pred: Any, *, noise: Noise = "cluster") -> float:
    """Normalised mutual information, by the arithmetic mean of the entropies: 0 to 1.

    Computed by scikit-learn. Parameters are those of `purity`.
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(*_paired(y_true, y_pred, noise)))


def ari(y_true: Any, y_pred: Any, *, noise: Noise = "cluster") -> float:
    """Adjusted Rand index: at most 1, about 0 by chance.

    Computed by scikit-learn. Parameters are those of `purity`.
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(*_paired(y_true, y_pred, noise)))


SCORES: Mapping[str, Score] = {
    "purity": purity,
    "average purity": average_purity,
    "nmi": nmi,
    "ari": ari,
}


class Window(NamedTuple):
    """Scores of successive points of a stream."""

    start: int  # index of the first point
    stop: int  # index after the last point
    scores: dict[str, float]
    noise: float  # share of noise among the labels


def prequential(
    model: Any,
    X: Any,
    y: Any,
    *,
    window: int = 1000,
    batch: int = 100,
    scores: tuple[str, ...] = ("purity", "nmi", "ari"),
    noise: Noise = "cluster",
) -> Iterator[Window]:
    """Prequential evaluation: label each point before learning it, and score windows.

    Parameters
    ----------
    model : object with `predict` and `partial_fit`
        Learns the stream. The first batch is learnt without being labelled.
    X : array-like of shape (n, d)
        The stream.
    y : array-like of shape (n,)
        Its classes.
    window : int, default 1000
        Number of points of a window; the last one may have fewer.
    batch : int, default 100
        Number of points that are labelled, and then learnt, at once.
    scores : tuple of str, default ("purity", "nmi", "ari")
        Names of `SCORES`.
    noise : {"cluster", "singletons", "drop"}, default "cluster"
        Treatment of noise.

    Yields
    ------
    Window
    """
    if window < 1 or batch < 1:
        raise ValueError(f"window and batch must be at least 1, but are {window!r} and {batch!r}.")
    X, y = np.asarray(X), np.asarray(y)
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} rows but y has {len(y)}.")
    model.partial_fit(X[:batch])
    start, labels = min(batch, len(X)), np.empty(0, dtype=np.int64)
    for at in range(start, len(X), batch):
        rows = X[at : at + batch]
        labels = np.concatenate([labels, model.predict(rows)])
        model.partial_fit(rows)
        while len(labels) >= window or (at + batch >= len(X) and len(labels)):
            part, labels = labels[:window], labels[window:]
            stop = start + len(part)
            yield Window(
                start,
                stop,
                {name: SCORES[name](y[start:stop], part, noise=noise) for name in scores},
                float(np.mean(part == -1)),
            )
            start = stop


def _paired(y_true: Any, y_pred: Any, noise: Noise) -> tuple[Integers, Integers]:
    """Classes and clusters as numbers from 0, after the treatment of noise."""
    classes, found = np.asarray(y_true), np.asarray(y_pred)
    if classes.ndim != 1 or classes.shape != found.shape:
        raise ValueError(
            "y_true and y_pred must be two lists of the same length, but have shapes "
            f"{classes.shape} and {found.shape}."
        )
    is_noise = found == -1
    if noise == "drop":
        classes, found, is_noise = classes[~is_noise], found[~is_noise], is_noise[~is_noise]
    elif noise not in ("cluster", "singletons"):
        raise ValueError(f'noise must be "cluster", "singletons" or "drop", but is {noise!r}.')
    if not len(classes):
        raise ValueError("There is no point to score.")
    numbers = np.unique(classes, return_inverse=True)[1]
    clusters = np.unique(found, return_inverse=True)[1]
    if noise == "singletons":
        clusters[is_noise] = clusters.max() + 1 + np.arange(is_noise.sum())
    return numbers, clusters


def _contingency(y_true: Any, y_pred: Any, noise: Noise) -> Integers:
    """Number of points of each class in each cluster (classes, clusters)."""
    from sklearn.metrics.cluster import contingency_matrix

    table: Integers = contingency_matrix(*_paired(y_true, y_pred, noise))
    return table
