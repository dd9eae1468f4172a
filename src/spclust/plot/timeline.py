"""Events along time: births, deaths, merges, splits and moves of clusters."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from spclust.estimators.spc import SPC
from spclust.plot.palette import cluster_colours
from spclust.tracking.events import ClusterEvent

_MARKERS = {"birth": "o", "death": "X", "move": "D", "merge": "v", "split": "^"}
_MOST_NAMES = 30  # cluster ids beside their lanes
_ALONE = 0.02  # of the time: how far a lane goes on after the last event of a list


@dataclass
class _Life:
    """A time in which a cluster lives."""

    start: int
    end: int | None = None  # None: it lives on


class _Link(NamedTuple):
    """A merge or split: a line between two lanes."""

    at: int  # points learnt
    source: int  # cluster id
    target: int  # cluster id
    kind: str


class _Lanes:
    """For each cluster id the times in which it lives, and what happens to it."""

    def __init__(self) -> None:
        self.lives: dict[int, list[_Life]] = {}  # by cluster id
        self.marks: list[tuple[int, int, str]] = []  # (index, cluster id, kind)
        self.links: list[_Link] = []

    def add(self, event: ClusterEvent) -> None:
        """Add what an event tells."""
        index, kind = event.index, event.kind
        for each in event.before:
            self.is_alive(each)
        for each in event.after:
            if each not in event.before and not self._lives_now(each):
                self._begin(each, index)
        for each in event.before:
            if each not in event.after:
                self.lives[each][-1].end = index
        if kind in ("birth", "death", "move"):
            self.marks.append((index, (event.after or event.before)[0], kind))
        elif kind == "merge":
            gone = (each for each in event.before if each not in event.after)
            self.links += [_Link(index, each, event.after[0], kind) for each in gone]
        else:
            new = (each for each in event.after if each not in event.before)
            self.links += [_Link(index, event.before[0], each, kind) for each in new]

    def is_alive(self, cluster: int) -> None:
        """Note that a cluster lives: since the start, if nothing has told its birth."""
        if not self._lives_now(cluster):
            self._begin(cluster, 0)

    def _begin(self, cluster: int, index: int) -> None:
        self.lives.setdefault(cluster, []).append(_Life(index))

    def _lives_now(self, cluster: int) -> bool:
        return cluster in self.lives and self.lives[cluster][-1].end is None


def events(model: SPC | Iterable[ClusterEvent], ax: Axes | None = None) -> Axes:
    """Draw a timeline of clusters: a lane for each lasting id, with what has happened to it.

    A lane begins with a birth or a split and ends with a death or a merge; lines link the lanes of
    clusters that merge and split. What lives at the end goes on to the right edge. A lane without a
    beginning is of a cluster that was known when tracking began, or whose birth was told more than
    a thousand events ago.

    Parameters
    ----------
    model : SPC or iterable of ClusterEvent
        A model that is tracked, by `watch` or `track_every`; or events, such as those that `watch`
        gave.
    ax : matplotlib Axes, optional
        Axes to draw into; the current axes by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from spclust import SPC, datasets, plot
    >>> model = SPC(half_life=300)
    >>> told = list(model.watch([datasets.make_drifting(6000, n_events=3)[0]]))
    >>> ax = plot.events(model)
    >>> ax.get_xlabel()
    'points learnt'
    """
    ax = plt.gca() if ax is None else ax
    told = list(model.events_ if isinstance(model, SPC) else model)
    lanes = _Lanes()
    for event in told:
        lanes.add(event)
    end: float = told[-1].index * (1.0 + _ALONE) if told else 1.0
    if isinstance(model, SPC):
        end = model.n_samples_seen_
        for cluster in model.cluster_ids_[model.cluster_ids_ >= 0].tolist():
            lanes.is_alive(cluster)
    heights = {cluster: height for height, cluster in enumerate(sorted(lanes.lives))}
    _draw_lanes(ax, lanes, heights, end)
    _draw_events(ax, lanes, heights)
    _name_lanes(ax, heights)
    ax.set(xlim=(0.0, end), ylim=(len(heights) - 0.4, -0.6), xlabel="points learnt")
    _explain(ax, {event.kind for event in told})
    return ax


def _colour(cluster: int) -> tuple[float, ...]:
    return tuple(cluster_colours(np.array([cluster]))[0])


def _draw_lanes(ax: Axes, lanes: _Lanes, heights: dict[int, int], end: float) -> None:
    for cluster, lives in lanes.lives.items():
        for life in lives:
            ax.plot(
                [life.start, end if life.end is None else life.end],
                [heights[cluster]] * 2,
                color=_colour(cluster),
                linewidth=5.0,
                solid_capstyle="butt",
                zorder=1,
            )


def _draw_events(ax: Axes, lanes: _Lanes, heights: dict[int, int]) -> None:
    """Markers; a merge has that of its kind where it ends, a split where the new lane begins."""
    for index, source, target, kind in lanes.links:
        lower, upper = heights[source], heights[target]
        ax.plot([index] * 2, [lower, upper], color="0.25", linewidth=1.2, zorder=2)
        _mark(ax, index, heights[target], target, kind)
    for index, cluster, kind in lanes.marks:
        _mark(ax, index, heights[cluster], cluster, kind)


def _mark(ax: Axes, index: int, height: int, cluster: int, kind: str) -> None:
    ax.plot(
        [index],
        [height],
        marker=_MARKERS[kind],
        markersize=8,
        markerfacecolor="white" if kind == "move" else _colour(cluster),
        markeredgecolor="0.1",
        markeredgewidth=0.9,
        linestyle="none",
        clip_on=False,
        zorder=3,
    )


def _name_lanes(ax: Axes, heights: dict[int, int]) -> None:
    step = -(-len(heights) // _MOST_NAMES) or 1
    named = list(heights.items())[::step]
    ax.set_yticks([height for _, height in named], [f"cluster {each}" for each, _ in named])
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="x", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def _explain(ax: Axes, kinds: set[str]) -> None:
    """A legend of the kinds of events that there are, above the lanes."""
    handles = [
        Line2D(
            [],
            [],
            marker=marker,
            linestyle="none",
            markersize=7,
            markerfacecolor="white" if kind == "move" else "0.6",
            markeredgecolor="0.1",
            label=kind,
        )
        for kind, marker in _MARKERS.items()
        if kind in kinds
    ]
    if handles:
        ax.legend(
            handles=handles,
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=len(handles),
            frameon=False,
            fontsize="small",
            handletextpad=0.2,
            columnspacing=1.2,
        )
