"""A figure of a model of two columns."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from spclust.arrays import Floats
from spclust.cli.exit_codes import CommandError
from spclust.cli.prepared_model import Preparation

if TYPE_CHECKING:
    from spclust.estimators.spc import SPC


def refuse_undrawable(columns: int) -> None:
    """Raise CommandError if a figure of so many columns could not be drawn here."""
    if columns != 2:
        raise CommandError(
            f"Figures show two columns, but there are {columns}: choose two by --columns."
        )
    if find_spec("matplotlib") is None:
        raise CommandError("Figures need matplotlib: install it with pip install 'spclust[plot]'.")


def draw(model: "SPC", preparation: Preparation, path: Path, points: Floats | None = None) -> None:
    """Draw structures, clusters and, if there are any, points (n, 2) as the model sees them."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter

    from spclust import plot

    figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
    try:
        plot.structures(model, points, ax=ax)
        names = preparation.columns or ("x0", "x1")
        ax.set(xlabel=names[0], ylabel=names[1])
        if preparation.centre is not None and preparation.spread is not None:
            for i, axis in enumerate((ax.xaxis, ax.yaxis)):
                centre, spread = float(preparation.centre[i]), float(preparation.spread[i])
                # The model is in standard deviations, the ticks tell the units of the data.
                axis.set_major_formatter(
                    FuncFormatter(lambda at, _, c=centre, s=spread: f"{at * s + c:.4g}")
                )
        figure.savefig(path, dpi=150)
    finally:
        plt.close(figure)
