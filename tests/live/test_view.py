"""What the page gets: axes, samples, snapshots and readers, without a server."""

import asyncio
import copy
import json
import threading
import urllib.request

import numpy as np
import pytest

from spclust import SPC
from spclust.prepared_model import Preparation, PreparedModel
from tests.command.common import blobs
from tests.live.common import needs_a_server

pytestmark = needs_a_server

if not needs_a_server.args[0]:
    from spclust.live.view.axes import PROJECTION, Projection, View
    from spclust.live.view.feed import MOST_VIEWS, Feed
    from spclust.live.view.live_model import LiveModel
    from spclust.live.view.recent import Recent

NAMES = ("x", "y", "z")
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class OneReader(list):
    """A feed that keeps the last snapshot of each view."""

    def publish(self, make):
        self[:] = [json.loads(make(view)) for view in (View(), PROJECTION, View("x", "z"))]

    def __len__(self):
        return 1


def looked_at(X, names=NAMES, warmup=0, **parameters):
    """Snapshots of a model that has learnt X."""
    prepared = PreparedModel(SPC(**parameters), Preparation(names), warmup=warmup)
    live = LiveModel("rows", prepared)
    live.feed = OneReader()
    live.renew()
    for start in range(0, len(X), 500):
        rows = X[start : start + 500]
        live.learnt(rows, start + len(rows), prepared.learn(prepared.prepare(rows)))
        live.renew()
    return live, [list.__getitem__(live.feed, i) for i in range(3)]


def spread_out(n=2000):
    """Rows (n, 3) of four clusters, whose features have units of their own."""
    X = blobs(n)[0]
    return np.column_stack([X[:, 0], 1000.0 * X[:, 1], 0.01 * X.sum(axis=1)])


@pytest.mark.parametrize("warmup", [0, 500])
def test_ellipses_and_points_are_in_the_units_of_the_data(warmup):
    X = spread_out()
    live, (default, projection, features) = looked_at(X, warmup=warmup)
    assert default["view"] == projection["view"]
    assert projection["view"]["projection"]
    assert features["view"] == {"x": "x", "y": "z", "projection": False}
    ellipses, points = np.array(features["ellipses"]), np.array(features["recent"])
    assert len(ellipses) == len(live.prepared.model.structures_)
    known = X[:, [0, 2]]
    assert np.isclose(points[:, None, :2], known, rtol=1e-4).all(axis=2).any(axis=1).all()
    low, high = known.min(axis=0), known.max(axis=0)
    assert (ellipses[:, :2] >= low - 1e-3).all()
    assert (ellipses[:, :2] <= high + 1e-3).all()
    expected = live.prepared.preparation.deviations_in_units(
        live.prepared.model.describe("structures")["spread"]
    )
    sizes = np.sort(np.sqrt(ellipses[:, 2]))
    np.testing.assert_allclose(sizes, np.sort(expected[:, 0]), rtol=1e-3, atol=1e-4)
    assert np.isclose(ellipses[:, 5].sum(), 1.0, atol=1e-3)


def test_clusters_have_the_ids_of_their_points():
    _, (snapshot, _, _) = looked_at(spread_out(), half_life=1000)
    ids = {cluster["id"] for cluster in snapshot["clusters"]}
    assert {int(point[2]) for point in snapshot["recent"]} - {-1} <= ids
    assert {int(ellipse[6]) for ellipse in snapshot["ellipses"]} - {-1} == ids
    assert len(ids) == 4


def test_a_snapshot_has_a_bounded_size():
    rng = np.random.default_rng(0)
    X = 9.0 * rng.normal(size=(60, 300))[np.arange(1500) % 60] + rng.normal(size=(1500, 300))
    _live, (snapshot, _, _) = looked_at(X, tuple(f"f{i}" for i in range(300)), n_structures=400)
    assert len(json.dumps(snapshot)) < 100_000
    assert len(snapshot["ellipses"]) <= 300
    assert len(snapshot["clusters"]) == 60
    assert len(snapshot["columns"]) == 12


def test_outliers_are_told_with_their_rows():
    X = spread_out()
    X[1999] = [1e3, 1e6, 10.0]  # the last row of a batch is always in the sample
    _, (snapshot, _, _) = looked_at(X)
    outlier = snapshot["outliers"][0]
    assert (outlier["row"], outlier["values"]) == (2000, [1e3, 1e6, 10.0])
    assert outlier["typicality"] < 0.05


def test_the_sample_has_the_newest_rows_in_order():
    recent = Recent()
    for start in range(0, 100_000, 10_000):
        recent.add(np.zeros((10_000, 2)), start + 10_000, [], lambda rows: rows.astype(float))
    sample = recent.sample()
    assert len(sample.number) == 400
    assert sample.number[-1] == 100_000
    assert (np.diff(sample.number) > 0).all()


def test_a_projection_stays_until_another_one_shows_far_more():
    rng = np.random.default_rng(0)
    means, weights = rng.normal(size=(50, 5)) * [9, 4, 1, 1, 1], np.ones(50)
    projection = Projection()
    first = projection.axes(means, weights).matrix
    for _ in range(20):
        moved = means + 0.05 * rng.normal(size=means.shape)
        assert np.array_equal(projection.axes(moved, weights).matrix, first)
    others = rng.normal(size=(50, 5))
    others[:, 4] = np.where(np.arange(50) < 25, -1.0, 1.0)
    others[:, 3] = others[:, 4] + 0.01 * others[:, 3]
    others[:, 2] = others[:, 4] + 0.01 * others[:, 2]
    assert not np.array_equal(projection.axes(others, weights).matrix, first)


def test_a_slow_reader_loses_snapshots_and_gets_the_newest():
    async def read():
        feed = Feed()
        reader = feed.join(View())
        for number in range(5):
            feed.publish(lambda view, number=number: b"%d" % number)
        await asyncio.sleep(0.01)
        newest = await reader.next()
        feed.end()
        await asyncio.sleep(0.01)
        return newest, reader.lost, await reader.next()

    assert asyncio.run(read()) == (b"4", 4, None)


def test_there_are_few_views_at_a_time():
    async def join():
        feed = Feed()
        readers = [feed.join(View("x", str(i))) for i in range(MOST_VIEWS + 3)]
        made = []
        feed.publish(lambda view: made.append(view) or b"")
        return [reader.view for reader in readers], made

    views, made = asyncio.run(join())
    assert len(set(made)) == len(made) == MOST_VIEWS + 1
    assert views[-3:] == [View()] * 3


def test_the_page_of_a_model_in_this_process():
    X = blobs(6000)[0]
    plain, shown = SPC(half_life=1000), SPC(half_life=1000)
    for start in range(0, len(X), 200):
        plain.partial_fit(X[start : start + 200])
    with shown.live() as page:
        with pytest.raises(ValueError, match="has a live page already"):
            shown.live()
        for start in range(0, len(X), 200):
            shown.partial_fit(X[start : start + 200])
        copied = copy.deepcopy(shown)
        with DIRECT.open(f"{page.url}clusters", timeout=20) as answer:
            clusters = json.load(answer)["clusters"]
        with DIRECT.open(f"{page.url}live", timeout=20) as answer:
            assert answer.readline() == b"retry: 1000\n"
    assert len(clusters) == 4
    assert np.array_equal(shown.structures_.mean, plain.structures_.mean)
    assert np.array_equal(copied.structures_.mean, plain.structures_.mean)
    with pytest.raises(OSError, match="refused"):
        DIRECT.open(f"{page.url}clusters", timeout=5)
    shown.partial_fit(X[:10])
    with pytest.raises(ValueError, match="other machines can reach"):
        shown.live(host="0.0.0.0")


def test_a_learner_never_fails_because_somebody_looks():
    X = blobs(20_000)[0]
    model = SPC(half_life=500)
    with model.live() as page:
        stop = threading.Event()

        def ask():
            while not stop.is_set():
                DIRECT.open(f"{page.url}structures", timeout=20).read()

        asking = threading.Thread(target=ask)
        asking.start()
        for start in range(0, len(X), 100):
            model.partial_fit(X[start : start + 100])
        for x in X[:2000]:
            model.learn_one(x)
        stop.set()
        asking.join()
    assert model.n_samples_seen_ == 22_000


@pytest.mark.parametrize(("batch", "renewed"), [(2000, 1), (1000, 4), (10_000, 1)])
def test_rows_that_moved_with_their_clusters_are_no_outliers(batch, renewed):
    rng = np.random.default_rng(0)
    n = 40_000
    X = 9.0 * rng.integers(2, size=(n, 2)) + rng.normal(size=(n, 2))
    X[:, 0] += 0.01 * np.arange(n)
    live = LiveModel("rows", PreparedModel(SPC(half_life=500), Preparation(("x", "y"))))
    shares = []
    for number, start in enumerate(range(0, n, batch)):
        rows = X[start : start + batch]
        live.learnt(rows, start + len(rows), live.prepared.learn(rows))
        if number % renewed == renewed - 1:
            live.renew()
            shares += [live.outlier_share] if start > 10_000 else []
    assert max(shares) < 0.15
    known = live.moment.labels >= 0
    assert known.mean() > 0.97
    assert len(set(live.moment.labels[known])) == 4
