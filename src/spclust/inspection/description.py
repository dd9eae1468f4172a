"""Tables of structures and of clusters, in the units of the data."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.covariance.export import covariances_of
from spclust.state.kinds import FULL, LOWRANK
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.mode import AnyStream
from spclust.stream.stream import Stream

Table = dict[str, Any]  # name: column (rows,), or one number for each feature (rows, d)

_WIDE = ("centre", "spread")  # columns that have one number for each feature
_NOBODY = -1


def description(
    stream: AnyStream, labels: Integers, names: Sequence[str], what: str, as_: str
) -> Any:
    """The table of structures or clusters in one of three forms: see `SPC.describe`.

    Columns of both tables, all in the units of the data:

    - `count`: points absorbed. `weight`: damped mean of the typicality of recent points, from 0 to
      1; of a cluster, the sum of its structures' weights. `age`: weight updates since creation,
      plus one, or a time, with time stamps; of a cluster, that of its oldest structure.
    - `nearest`: label of the nearest other cluster, -1 if there is no other. `distance`: the
      distance D, Eq. 3, and `nlt`: -log(1 - D), to the structure of that cluster that is nearest;
      of a cluster, between the two structures that are nearest to each other. NaN if there is no
      other cluster.
    - `centre` (d): the mean; of a cluster, the mean of its structures' means, weighted by count, or
      by `weight` if points have weights.
    - `spread` (d): the standard deviation in each feature. With a fixed scale it is the root of the
      diagonal of the covariance, which contains the scale. With scale="auto" it is that of the
      points that the structure absorbed, without the unit: 0 for a single point. Of a cluster, it
      is that of its structures taken together, weighted in the same way.

    Of clusters also `label`, and `structures`, their number; noise is left out. Of structures also
    `id` and `cluster`, its label, -1 if it is noise. No covariance matrix is built.
    """
    tables = {"clusters": clusters, "structures": structures}
    forms = {"numpy": None, "pandas": "DataFrame", "polars": "DataFrame"}
    if what not in tables:
        raise ValueError(f'what of describe must be "clusters" or "structures", but is {what!r}.')
    if as_ not in forms:
        raise ValueError(f'as_ of describe must be "numpy", "pandas" or "polars", but is {as_!r}.')
    if as_ == "numpy":
        return tables[what](stream, labels)
    try:
        library = import_module(as_)
    except ImportError:
        raise ImportError(
            f'describe(as_="{as_}") needs {as_}: install it with pip install {as_}.'
        ) from None
    return library.DataFrame(_one_column_for_each_feature(tables[what](stream, labels), names))


def structures(stream: AnyStream, labels: Integers) -> Table:
    """A row for each structure, oldest first; `labels` (k,) are their clusters."""
    table = stream.table(labels)
    nearest, nlt = _nearest_clusters(stream.nlt_of_pairs(), labels)
    return {
        "id": table.id,
        "cluster": labels,
        "count": table.count,
        "weight": table.weight,
        "age": table.age,
        "nearest": nearest,
        "distance": -np.expm1(-nlt),
        "nlt": nlt,
        "centre": table.mean,
        "spread": deviations(stream),
    }


def clusters(stream: AnyStream, labels: Integers) -> Table:
    """A row for each cluster; structures that are noise are left out."""
    table = structures(stream, labels)
    found = np.unique(labels[labels >= 0])
    members = [np.flatnonzero(labels == label) for label in found]
    d = table["centre"].shape[1]
    closest = [own[np.argmin(_last_if_nan(table["nlt"][own]))] for own in members]
    share = table["weight" if has_weights(stream) else "count"]
    centre, spread = np.empty((len(members), d)), np.empty((len(members), d))
    for row, own in enumerate(members):
        centre[row], spread[row] = pooled(share[own], table["centre"][own], table["spread"][own])
    return {
        "label": found,
        "structures": np.array([len(own) for own in members], dtype=np.int64),
        "count": np.array([table["count"][own].sum() for own in members], dtype=np.int64),
        "weight": np.array([table["weight"][own].sum() for own in members], dtype=np.float64),
        "age": np.array([table["age"][own].max() for own in members], dtype=table["age"].dtype),
        "nearest": table["nearest"][closest],
        "distance": table["distance"][closest],
        "nlt": table["nlt"][closest],
        "centre": centre,
        "spread": spread,
    }


def has_weights(stream: AnyStream) -> bool:
    """True if points of the stream had weights other than 1."""
    return isinstance(stream, AutomaticStream) and stream.structures.weighted


def pooled(count: Floats | Integers, centre: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Mean (d,) and standard deviation (d,) of several groups of points taken together.

    Each has a count (k,), a mean (k, d) and a standard deviation (k, d). Neither large numbers nor
    means far from the origin lose digits or overflow.
    """
    share = (count / count.sum())[:, np.newaxis]
    mean = centre[0] + np.sum(share * (centre - centre[0]), axis=0)
    reach = np.hypot(spread, centre - mean)
    unit = np.maximum(reach.max(axis=0), np.finfo(float).tiny)
    return mean, unit * np.sqrt(np.sum(share * (reach / unit) ** 2, axis=0))


def deviations(stream: AnyStream) -> Floats:
    """Standard deviations (k, d) of the structures, oldest first; no covariance is built.

    In the automatic mode they are those of the points, 0 for a single one; in the paper's they
    contain the scale.
    """
    if isinstance(stream, AutomaticStream):
        return stream.deviations()
    # Of low rank they are sums, which rounding may leave below 0.
    deviation: Floats = stream.unit * np.sqrt(np.maximum(_variances(stream), 0.0))
    return deviation


def _variances(stream: Stream) -> Floats:
    """Diagonals (k, d) of the covariances, oldest structure first, in units of scale^2."""
    s, order = stream.structures, stream.order()
    k, d = len(order), s.d
    if stream.params.kind == FULL:
        diagonals: Floats = np.einsum("kcc->kc", s.Sigma)[order]
        return diagonals
    if stream.params.kind != LOWRANK:
        return np.broadcast_to(s.Sigma[order, 0], (k, d)).copy()
    covariances = covariances_of(order, s)
    variances = np.repeat(covariances.base[:, np.newaxis], d, axis=1)
    for i, (rank, end) in enumerate(
        zip(covariances.rank, np.cumsum(covariances.rank), strict=True)
    ):
        small, V = np.zeros((rank, rank)), covariances.V[end - rank : end]
        small[np.tril_indices(rank)] = covariances.Sigma[i, 0, : rank * (rank + 1) // 2]
        small += np.tril(small, -1).T - covariances.base[i] * np.eye(rank)
        variances[i] += np.sum(V * (small @ V), axis=0)
    return variances


def nearest_pairs(stream: AnyStream) -> tuple[Floats, Floats]:
    """For each structure (k,), NLT of the most compatible other, distance of the nearest mean.

    Both are infinite if there is no other.
    """
    nlt = stream.nlt_of_pairs()
    np.fill_diagonal(nlt, np.inf)
    mean = stream.table(np.zeros(len(nlt), dtype=np.int64)).mean
    distance = np.full(len(nlt), np.inf)
    for i in range(len(nlt)):
        gaps = lengths(mean - mean[i])
        gaps[i] = np.inf
        distance[i] = gaps.min()
    return nlt.min(axis=1, initial=np.inf), distance


def lengths(rows: Floats) -> Floats:
    """Euclidean length (n,) of each row (n, d), however large."""
    unit = max(float(np.abs(rows).max(initial=0.0)), np.finfo(float).tiny)
    lengths: Floats = unit * np.linalg.norm(rows / unit, axis=1)
    return lengths


def _nearest_clusters(nlt: Floats, labels: Integers) -> tuple[Integers, Floats]:
    """For each structure (k,), the other cluster that is nearest, and the NLT to it.

    -1 and NaN if there is no other cluster. Noise is no cluster.
    """
    others = (labels != labels[:, np.newaxis]) & (labels != _NOBODY)
    best = np.argmin(np.where(others, nlt, np.inf), axis=1)
    rows = np.arange(len(labels))
    there = others.any(axis=1)
    best = np.where(others[rows, best], best, np.argmax(others, axis=1))  # if all are infinite
    return np.where(there, labels[best], _NOBODY), np.where(there, nlt[rows, best], np.nan)


def _last_if_nan(values: Floats) -> Floats:
    return np.where(np.isnan(values), np.inf, values)


def _one_column_for_each_feature(table: Table, names: Sequence[str]) -> Table:
    columns: Table = {}
    for title, column in table.items():
        if title not in _WIDE:
            columns[title] = column
            continue
        for i, name in enumerate(names):
            columns[f"{title}_{name}"] = column[:, i]
    return columns
