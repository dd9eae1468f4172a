"""The figure: for each job, means over all sets as bars, and means of each group as dots."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from benchmarks.quality.summary import VIEWS, View, contestant, mean, names, of_view
from benchmarks.quality.tasks import Record

# Okabe and Ito's palette, which is distinguishable with any colour vision.
SPC, REFERENCE, TOLD, OTHER = "#D55E00", "#0072B2", "#009E73", "#999999"
LABELS = {SPC: "SPC, defaults", REFERENCE: "batch or window", TOLD: "told k", OTHER: "other"}
# Vertical offsets: equal values must not hide each other.
ABOVE = {SPC: 0.0, REFERENCE: -0.16, TOLD: 0.16, OTHER: 0.0}
MARKERS = {SPC: "o", REFERENCE: "s", TOLD: "^", OTHER: "|"}
SHOWN = ("static", "stream", "outlier", "robustness")


def colour(name: str) -> str:
    """Colour of a contestant."""
    if name.startswith("SPC"):
        return SPC
    if name.startswith(("HDBSCAN", "IsolationForest")):
        return REFERENCE
    return TOLD if "told" in name else OTHER


def draw(records: Sequence[Record], file: Path) -> bool:
    """Draw all jobs that have a number into a file; False if there is none."""
    first = {view.job: view for view in reversed(VIEWS)}
    views = [
        first[job]
        for job in SHOWN
        if any(one["error"] is None for one in of_view(records, first[job]))
    ]
    if not views:
        return False
    heights = [max(3, len(names(of_view(records, v), contestant))) for v in views]
    figure, panels = plt.subplots(
        len(views),
        2,
        figsize=(12, 0.32 * sum(heights) + 1.1 * len(views) + 0.6),
        height_ratios=heights,
        squeeze=False,
        layout="constrained",
    )
    for (left, right), view in zip(panels, views, strict=True):
        shown = of_view(records, view)
        _bars(left, shown, view)
        _dots(right, shown, view)
    handles = [
        Line2D([], [], ls="", marker=MARKERS[c], color=c, ms=8, mew=2, label=LABELS[c])
        for c in LABELS
    ]
    handles.insert(
        1,
        Line2D([], [], ls="", marker="D", color=SPC, mfc="white", ms=7, mew=2,
                   label="SPC, half_life=500 or standardised rows"),
    )  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(file, dpi=130)
    plt.close(figure)
    return True


def _bars(axes: Axes, records: Sequence[Record], view: View) -> None:
    """Mean over all sets of each contestant, the best first."""
    means = {
        name: mean([one for one in records if contestant(one) == name], view.measure)
        for name in names(records, contestant)
    }
    order = sorted(means, key=lambda name: -np.nan_to_num(means[name].value, nan=-1.0))
    for place, name in enumerate(order):
        found = means[name]
        if found.measured:
            axes.barh(place, found.value, height=0.7, color=colour(name))
        axes.text(np.nan_to_num(found.value) + 0.01, place, found.text, va="center", fontsize=9)
    axes.set_yticks(range(len(order)), order, fontsize=9)
    for tick, name in zip(axes.get_yticklabels(), order, strict=True):
        tick.set_fontweight("bold" if name.startswith("SPC") else "normal")
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_xlim(0.0, 1.15)
    axes.set_title(view.title, fontsize=10, loc="left")
    axes.set_xlabel("mean of all sets", fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right"]].set_visible(False)


def _dots(axes: Axes, records: Sequence[Record], view: View) -> None:
    """Mean of each contestant in each group."""
    groups, order = names(records, view.by), names(records, contestant)
    main = next((name for name in order if name.startswith("SPC") and name.endswith("()")), "")
    for place, group in enumerate(groups):
        axes.axhline(place, color="0.9", lw=1, zorder=0)
        for name in order:
            found = mean(
                [o for o in records if contestant(o) == name and view.by(o) == group], view.measure
            )
            if not found.measured:
                continue
            shade = colour(name)
            other = shade == SPC and name != main
            axes.plot(
                found.value,
                place + ABOVE[shade],
                ls="",
                marker="D" if other else MARKERS[shade],
                color=shade,
                mfc="white" if other else shade,
                ms=11 if shade == OTHER else 8,
                mew=2,
                zorder=3 if shade == SPC else 2,
            )
    axes.set_yticks(range(len(groups)), groups, fontsize=9)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlim(-0.03, 1.03)
    axes.set_xlabel(f"mean of each group ({view.measure})", fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right"]].set_visible(False)
