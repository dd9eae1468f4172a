"""How well clusters agree with known classes, with a plain word about noise.

A clusterer may leave points out: their label is -1. Every score here takes a `noise` that says
what that means:

- "cluster": noise is one more cluster, as if the clusterer had found it (the default);
- "singletons": every such point is a cluster of its own, so that leaving out does not pay in NMI
  and ARI;
- "drop": such points are not scored. Report their number beside the score.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from spclust.arrays import Floats, Integers

Noise = Literal["cluster", "singletons", "drop"]
Score = Callable[..., float]


def purity(y_true: Any, y_pred: Any, *, noise: Noise = "cluster") -> float:
    """Share of points whose class is the most frequent one of their cluster: 0 to 1.

    Never lower for more clusters: beside it belongs a score that punishes them.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Known classes.
    y_pred : array-like of shape (n,)
        Clusters; -1 is noise.
    noise : {"cluster", "singletons", "drop"}, default "cluster"
        What noise counts as.

    Examples
    --------
    >>> purity([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    table = _contingency(*_paired(y_true, y_pred, noise))
    return float(table.max(axis=1).sum() / table.sum())


def average_purity(y_true: Any, y_pred: Any, *, noise: Noise = "cluster") -> float:
    """Mean over clusters, small ones as good as large ones, of the share of their largest class.

    The purity of R's `stream`. Parameters are those of `purity`.

    Examples
    --------
    >>> round(average_purity([0, 0, 1, 1], [0, 0, 0, 1]), 3)
    0.833
    """
    table = _contingency(*_paired(y_true, y_pred, noise))
    return float(np.mean(table.max(axis=1) / table.sum(axis=1)))


def nmi(y_true: Any, y_pred: Any, *, noise: Noise = "cluster") -> float:
    """Normalised mutual information, by the arithmetic mean of the entropies: 0 to 1.

    That of scikit-learn. Parameters are those of `purity`.
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(*_paired(y_true, y_pred, noise)))


def ari(y_true: Any, y_pred: Any, *, noise: Noise = "cluster") -> float:
    """Adjusted Rand index: 1 at best, about 0 by chance.

    That of scikit-learn. Parameters are those of `purity`.
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
    """Scores of some successive points of a stream."""

    start: int  # number of the first of them
    stop: int  # and of the one after the last
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
    """Test, then learn: every point is labelled before it is learnt, and windows are scored.

    Parameters
    ----------
    model : object with `predict` and `partial_fit`
        Learns the stream. The first batch, which nothing can be known about, is learnt only.
    X : array-like of shape (n, d)
        The stream.
    y : array-like of shape (n,)
        Its classes.
    window : int, default 1000
        Points of a window; the last one may have fewer.
    batch : int, default 100
        Points that are labelled, and then learnt, at once.
    scores : tuple of str, default ("purity", "nmi", "ari")
        Names of `SCORES`.
    noise : {"cluster", "singletons", "drop"}, default "cluster"
        What noise counts as.

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
    """Classes and clusters as numbers from 0, with noise as it is to be counted."""
    classes, found = np.asarray(y_true), np.asarray(y_pred)
    if classes.ndim != 1 or classes.shape != found.shape:
        raise ValueError(
            f"y_true and y_pred must be two lists of the same length, but have shapes "
            f"{classes.shape} and {found.shape}."
        )
    lost = found == -1
    if noise == "drop":
        classes, found, lost = classes[~lost], found[~lost], lost[~lost]
    elif noise not in ("cluster", "singletons"):
        raise ValueError(f'noise must be "cluster", "singletons" or "drop", but is {noise!r}.')
    if not len(classes):
        raise ValueError("There is no point to score.")
    numbers = np.unique(classes, return_inverse=True)[1]
    clusters = np.unique(found, return_inverse=True)[1]
    if noise == "singletons":
        clusters[lost] = clusters.max() + 1 + np.arange(lost.sum())
    return numbers, clusters


def _contingency(classes: Integers, clusters: Integers) -> Floats:
    """Points of each class in each cluster (clusters, classes); clusters without any left out."""
    table = np.zeros((clusters.max() + 1, classes.max() + 1))
    np.add.at(table, (clusters, classes), 1.0)
    return table[table.any(axis=1)]
