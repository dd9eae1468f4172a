"""A figure of a model."""

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from spclust.array_types import Floats
from spclust.cli.exit_codes import CommandError
from spclust.prepared_model import PreparedModel
from spclust.tables.readers import split_names
from spclust.tables.table_error import printable

if TYPE_CHECKING:
    from matplotlib.axis import Axis


def require_drawable() -> None:
    """Raise CommandError unless matplotlib is installed."""
    if find_spec("matplotlib") is None:
        raise CommandError("Figures need matplotlib: install it with pip install 'spclust[plot]'.")


def places_of(features: Sequence[str], names: Sequence[str]) -> tuple[int, int]:
    """Positions of two columns, given one by one or separated by a comma."""
    chosen = split_names(features, names)
    if len(chosen) != 2:
        raise CommandError(f"--features needs two columns, as a,b, but has {len(chosen)}.")
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise CommandError(
            f"The model has no column {unknown[0]!r}: it has {', '.join(names[:20])}."
        )
    return names.index(chosen[0]), names.index(chosen[1])


def draw(
    prepared: PreparedModel,
    path: Path,
    points: Floats | None = None,
    features: tuple[int, int] | None = None,
) -> None:
    """Draw structures, clusters and, if given, points (n, d) in the units of the model.

    By default a model of one or two columns is drawn as it is, one of more in a projection.
    """
    if features is None and len(prepared.names()) == 2:
        features = (0, 1)
    with warnings.catch_warnings(action="ignore"):  # huge numbers, characters that no font has
        try:
            _draw(prepared, path, points, features)
        except ValueError as error:
            raise CommandError(f"{str(path)!r} cannot be drawn: {error}") from error


def _draw(
    prepared: PreparedModel,
    path: Path,
    points: Floats | None,
    features: tuple[int, int] | None,
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    from spclust import plot

    figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
    try:
        plot.structures(prepared.model, points, ax=ax, features=features)
        if features is not None:
            _name_axis(prepared, ax.xaxis, features[0])
            _name_axis(prepared, ax.yaxis, features[1])
        elif len(prepared.names()) == 1:
            _name_axis(prepared, ax.xaxis, 0)
        figure.savefig(path, dpi=150)
    finally:
        plt.close(figure)


def _name_axis(prepared: PreparedModel, axis: "Axis", column: int) -> None:
    """Name an axis by its column, with ticks in the units of the data."""
    from matplotlib.ticker import FuncFormatter

    axis.set_label_text(printable(prepared.names()[column]), parse_math=False)  # $ is no formula
    preparation = prepared.preparation
    if preparation.centre is not None and preparation.deviation is not None:
        centre, deviation = float(preparation.centre[column]), float(preparation.deviation[column])
        # The model is in standard deviations.
        axis.set_major_formatter(FuncFormatter(lambda at, _: f"{at * deviation + centre:.4g}"))
