"""The figure: microseconds per point of all competitors, one panel for each stream."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import StrMethodFormatter

from benchmarks.report import number
from benchmarks.results import Results
from benchmarks.streams import STREAMS

# Okabe and Ito's palette, which is distinguishable with any colour vision.
SPC_COLOUR, PEER_COLOUR = "#D55E00", "#56B4E9"
MEASURES = ("one", "batch 10,000")


def draw(results: Results, file: Path) -> None:
    """Draw all streams at N=50 into a file."""
    figure, panels = plt.subplots(
        1, len(STREAMS), figsize=(11, 5), sharex=True, layout="constrained"
    )
    for axes, stream in zip(panels, STREAMS, strict=True):
        _panel(axes, results, stream)
    handles = [
        Patch(facecolor=SPC_COLOUR, label="SPC"),
        Patch(facecolor=PEER_COLOUR, label="others"),
        Patch(facecolor="0.6", label="batches of 10,000 points"),
        Patch(facecolor="white", edgecolor="0.4", hatch="////", label="one point per call"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle("Time to learn a point, about 50 micro-clusters (less is better)")
    figure.savefig(file, dpi=150)
    plt.close(figure)


def _panel(axes: Axes, results: Results, stream: str) -> None:
    rows = sorted(
        (record.best, key.competitor, key.measure)
        for key, record in results.records.items()
        if (key.stream, key.n) == (stream, 50)
        and key.measure in MEASURES
        and key.competitor != "SPC spherical"
        and not key.competitor.startswith("SPC m=")
    )
    for place, (best, name, measure) in enumerate(rows):
        colour = SPC_COLOUR if name.startswith("SPC") else PEER_COLOUR
        single = measure == "one"
        axes.barh(
            place,
            best,
            height=0.72,
            facecolor="white" if single else colour,
            edgecolor=colour,
            hatch="////" if single else None,
        )
        axes.text(best * 1.15, place, number(best), va="center", fontsize=9)
    axes.set_yticks(range(len(rows)), [name.removeprefix("scikit-learn ") for _, name, _ in rows])
    for tick, (_, name, _) in zip(axes.get_yticklabels(), rows, strict=True):
        tick.set_fontweight("bold" if name == "SPC" else "normal")
    axes.tick_params(axis="y", length=0, labelsize=9.5)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.margins(x=0.2, y=0.01)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.set_title(f"{stream}, {STREAMS[stream].gaussians} Gaussians")
    axes.set_xlabel("microseconds per point")
    axes.spines[["top", "right"]].set_visible(False)
