"""Snapshots for the page: a model at one moment as JSON of a bounded size, for two axes."""

import json
from typing import Any

import numpy as np

from spclust.array_types import Floats
from spclust.live.view.axes import PROJECTION, Axes, Projection, View, default_view, feature_axes
from spclust.live.view.moment import Moment
from spclust.prepared_model import Preparation

MOST_STRUCTURES = 300
MOST_CLUSTERS = 200
MOST_COLUMNS = 12  # of tables of clusters and outliers
MOST_FEATURES = 200  # among which axes can be chosen
_DIGITS = 5


def axes_for(view: View, moment: Moment, projection: Projection, preparation: Preparation) -> Axes:
    """The axes that a reader wants to see, in the units of the data."""
    wanted = default_view(moment.names) if view == View() else view
    if wanted != PROJECTION:
        return feature_axes(wanted, moment.names)
    means = preparation.centres_in_units(moment.table.mean)
    return projection.axes(means, np.maximum(moment.table.weight, 0.0) + 1e-12)


def picture(moment: Moment, axes: Axes, preparation: Preparation) -> dict[str, Any]:
    """What the page draws: ellipses of structures, and points."""
    matrix, table = axes.matrix, moment.table
    deviation = preparation.deviation
    # Of standardised rows, covariances are in standard deviations; means are put into units first.
    mean = preparation.centres_in_units(table.mean) @ matrix.T
    _, covariance = table.projected(matrix if deviation is None else matrix * deviation)
    share = table.weight / max(float(table.weight.sum()), 1e-300)
    rows = np.column_stack(
        [mean, covariance[:, 0, 0], covariance[:, 0, 1], covariance[:, 1, 1], share, moment.ids]
    )
    largest = np.argsort(-share, kind="stable")[:MOST_STRUCTURES]
    found: dict[str, Any] = {
        "view": {"x": axes.names[0], "y": axes.names[1], "projection": axes.is_projection},
        "ellipses": _rounded(rows[largest]),
        "recent": [],
    }
    if moment.sample is not None:
        places = moment.sample.values @ matrix.T
        typicality = np.exp(-moment.nlt)
        found["recent"] = _rounded(np.column_stack([places, moment.labels, typicality]))
    return found


def tables(moment: Moment, preparation: Preparation) -> dict[str, Any]:
    """Clusters, largest first, in the units of the data."""
    columns = slice(None, MOST_COLUMNS)
    centre = preparation.centres_in_units(moment.clusters["centre"])[:, columns]
    spread = preparation.deviations_in_units(moment.clusters["spread"])[:, columns]
    weight = moment.clusters["weight"]
    share = weight / max(float(moment.table.weight.sum()), 1e-300)
    order = np.argsort(-share, kind="stable")[:MOST_CLUSTERS]
    return {
        "features": moment.names[:MOST_FEATURES],
        "columns": moment.names[columns],
        "clusters": [
            {
                "id": int(moment.cluster_ids[i]),
                "count": int(moment.clusters["count"][i]),
                "share": round(float(share[i]), _DIGITS),
                "structures": int(moment.clusters["structures"][i]),
                "centre": _rounded(centre[i]),
                "spread": _rounded(spread[i]),
            }
            for i in order
        ],
    }


def _rounded(numbers: Floats) -> list[Any]:
    """Numbers with a few digits, and 0 where they are not finite, as lists."""
    numbers = np.where(np.isfinite(numbers), numbers, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        digits = _DIGITS - 1 - np.floor(np.log10(np.abs(numbers)))
        unit = 10.0 ** np.where(np.isfinite(digits), np.clip(digits, -300, 300), 0.0)
        rounded = np.round(numbers * unit) / unit
    found: list[Any] = np.where(np.isfinite(rounded), rounded, numbers).tolist()
    return found


def rounded_rows(values: Floats) -> list[Any]:
    """The first columns of rows (n, d) with a few digits."""
    return _rounded(values[:, :MOST_COLUMNS])


def encoded(record: dict[str, Any]) -> bytes:
    """A record as JSON in one line."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False).encode()
