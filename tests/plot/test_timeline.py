"""Timelines of events, and the overview that has one."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

import spclust
from spclust import datasets, plot
from spclust.tracking.events import ClusterEvent


def event(kind, index, before, after):
    return ClusterEvent(kind, index, tuple(before), tuple(after), (0.0, 0.0))


TOLD = [
    event("birth", 100, [], [0]),
    event("birth", 200, [], [1]),
    event("move", 300, [1], [1]),
    event("split", 400, [0], [0, 2]),
    event("merge", 500, [0, 1], [0]),
    event("death", 600, [2], []),
    event("birth", 700, [], [2]),  # it returns
    event("death", 800, [5], []),  # known before the first event
]


def lanes(ax):
    """(from, to) of each lane, by the name beside it, and its colour."""
    labels = [label.get_text() for label in ax.get_yticklabels()]
    names = dict(zip(ax.get_yticks(), labels, strict=True))
    found = {}
    for line in ax.lines:
        x, y = line.get_xdata(), line.get_ydata()
        if len(x) == 2 and y[0] == y[1]:
            found.setdefault(names[y[0]], []).append((*x, to_rgb(line.get_color())))
    return found


def links(ax):
    pairs = (line for line in ax.lines if len(line.get_xdata()) == 2)
    return [
        (line.get_xdata()[0], sorted(line.get_ydata()))
        for line in pairs
        if line.get_ydata()[0] != line.get_ydata()[1]
    ]


def test_lanes_begin_and_end_with_events():
    ax = plot.events(TOLD)
    end = ax.get_xlim()[1]
    assert end > 800
    spans = {name: [part[:2] for part in parts] for name, parts in lanes(ax).items()}
    assert spans == {
        "cluster 0": [(100, end)],
        "cluster 1": [(200, 500)],
        "cluster 2": [(400, 600), (700, end)],
        "cluster 5": [(0, 800)],
    }


def test_merges_and_splits_link_lanes_and_every_event_has_its_marker():
    ax = plot.events(TOLD)
    assert links(ax) == [(400, [0, 2]), (500, [0, 1])]
    markers = sorted(
        (float(line.get_xdata()[0]), line.get_marker())
        for line in ax.lines
        if len(line.get_xdata()) == 1
    )
    assert [index for index, _ in markers] == [100, 200, 300, 400, 500, 600, 700, 800]
    assert len({marker for _, marker in markers}) == 5
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(legend) == ["birth", "death", "merge", "move", "split"]


def test_ids_have_the_colours_of_their_labels():
    drawn = lanes(plot.events([event("birth", 10, [], [each]) for each in (0, 3, 9)]))
    for name, ((_, _, colour),) in drawn.items():
        label = int(name.removeprefix("cluster "))
        assert colour == pytest.approx(to_rgb(plot.CLUSTER_COLOURS[label % 8]))


@pytest.fixture(scope="module")
def watched():
    X, _, _ = datasets.make_drifting(4000, n_events=2, seed=1)
    model = spclust.SPC(half_life=200)
    model.partial_fit(X[:1000])  # not watched: these clusters have no birth
    told = list(model.watch([X[1000:]]))
    return model, told, X


def test_a_model_has_a_lane_for_each_of_its_clusters(watched):
    model, told, X = watched
    assert told
    ax = plot.events(model)
    assert ax.get_xlim() == (0.0, len(X))
    alive = {name for name, parts in lanes(ax).items() if parts[-1][1] == len(X)}
    assert alive == {f"cluster {each}" for each in model.cluster_ids_ if each >= 0}


def test_no_events_are_an_empty_timeline():
    assert plot.events([]).get_legend() is None
    with pytest.raises(AttributeError, match="track_every"):
        plot.events(spclust.SPC().fit(np.eye(3)))


def test_many_lanes_have_few_names():
    ax = plot.events([event("birth", 10 + each, [], [each]) for each in range(100)])
    assert 20 <= len(ax.get_yticks()) <= 30


def texts(figure):
    return [each.get_text() for ax in figure.axes for each in (*ax.texts, ax.title)] + [
        ax.get_title(loc="left") for ax in figure.axes
    ]


def test_the_overview_has_all_parts(watched):
    model, _, X = watched
    figure = plot.plot_all(model, X[-300:])
    said = texts(figure)
    assert f"4,000 points of 2 features: {len(model.structures_)} structures, " in "".join(said)
    assert "Events" in said
    sizes = model.describe()["count"]
    assert all(any(f" {count:,} in " in text for text in said) for count in sizes)
    bars = next(ax for ax in figure.axes if ax.get_xlabel() == "typicality")
    assert sum(patch.get_height() for patch in bars.patches[-30:]) > 0
    figure.canvas.draw()  # nothing warns


def test_the_overview_says_what_diagnose_says():
    rng = np.random.default_rng(0)
    model = spclust.SPC(4).fit(rng.normal(size=(400, 5)) + 9.0 * rng.integers(6, size=(400, 1)))
    found = model.diagnose()
    assert found
    said = " ".join(" ".join(texts(plot.plot_all(model))).split())
    assert all(" ".join(str(finding).split()) in said for finding in found[:4])
    assert "Events" not in said
