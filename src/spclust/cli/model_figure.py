"""A figure of a model of two columns."""

import warnings
from importlib.util import find_spec
from pathlib import Path

from spclust.array_types import Floats
from spclust.cli.exit_codes import CommandError
from spclust.prepared_model import PreparedModel
from spclust.tables.table_error import printable


def require_drawable(columns: int) -> None:
    """Raise CommandError unless there are two columns and matplotlib is installed."""
    if columns != 2:
        raise CommandError(
            f"Figures show two columns, but there are {columns}: choose two by --columns."
        )
    if find_spec("matplotlib") is None:
        raise CommandError("Figures need matplotlib: install it with pip install 'spclust[plot]'.")


def draw(prepared: PreparedModel, path: Path, points: Floats | None = None) -> None:
    """Draw structures, clusters and, if given, points (n, 2) in the units of the model."""
    with warnings.catch_warnings(action="ignore"):  # huge numbers, characters that no font has
        try:
            _draw(prepared, path, points)
        except ValueError as error:
            raise CommandError(f"{str(path)!r} cannot be drawn: {error}") from error


def _draw(prepared: PreparedModel, path: Path, points: Floats | None) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter

    from spclust import plot

    figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
    try:
        plot.structures(prepared.model, points, ax=ax)
        names, preparation = prepared.names(), prepared.preparation
        ax.set_xlabel(printable(names[0]), parse_math=False)  # $ is no formula here
        ax.set_ylabel(printable(names[1]), parse_math=False)
        if preparation.centre is not None and preparation.deviation is not None:
            for i, axis in enumerate((ax.xaxis, ax.yaxis)):
                centre, deviation = float(preparation.centre[i]), float(preparation.deviation[i])
                # The model is in standard deviations; the ticks are in the units of the data.
                axis.set_major_formatter(
                    FuncFormatter(lambda at, _, c=centre, s=deviation: f"{at * s + c:.4g}")
                )
        figure.savefig(path, dpi=150)
    finally:
        plt.close(figure)
