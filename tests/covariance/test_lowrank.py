"""Spreads of low rank are those of the full covariance, or larger where the rank has a limit."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from spclust.state.scratch import scratch_for
from spclust.stream import stream
from tests.algorithm.test_oracle import TIE
from tests.fixed import SPC
from tests.reference.algorithm1 import Algorithm1, covariance_union
from tests.strategies import examples, online_params, streams


def assert_same_models(lowrank, full):
    ours, theirs = lowrank.structures_, full.structures_
    assert ours.id.tolist() == theirs.id.tolist()
    assert ours.count.tolist() == theirs.count.tolist()
    assert lowrank._stream.merges == full._stream.merges
    assert lowrank._stream.pruned == full._stream.pruned
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.weight, theirs.weight, rtol=1e-8)
    for a, b in zip(ours.covariance, theirs.covariance, strict=True):
        assert np.linalg.norm(a - b) <= 1e-8 * np.linalg.norm(b)
    assert np.array_equal(lowrank.labels_, full.labels_)


def assert_every_direction_belongs_to_one(model):
    s = model._stream.structures
    taken = [int(p) for i in range(s.n) for p in s.place[i, : s.rank[i]]]
    free = s.free[: s.free_directions].tolist()
    assert sorted(taken + free) == list(range(s.free.size))


def assert_directions_are_orthonormal(model):
    s = model._stream.structures
    for i in range(s.id.size):
        V = s.basis[s.place[i, : s.rank[i]]]
        np.testing.assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-12)


@examples(150)
@given(
    X=streams(least_points=40, most_points=200, most_features=40),
    params=online_params(most_structures=12),
)
def test_without_a_limit_it_is_the_full_covariance(X, params):
    oracle = Algorithm1(**params)
    for x in X[:60]:
        oracle.update(x)
    assume(oracle.narrowest > TIE)
    X = X[:60]
    full = SPC(**params, covariance_type="full").fit(X)
    lowrank = SPC(**params, covariance_type="lowrank").fit(X)
    assert_same_models(lowrank, full)
    assert_every_direction_belongs_to_one(lowrank)
    assert_directions_are_orthonormal(lowrank)


@pytest.mark.parametrize(("d", "n"), [(3, 4), (25, 6), (40, 10)])
def test_long_streams_agree_too(d, n):
    """Ranks reach d, and stay there."""
    rng = np.random.default_rng(d)
    X = 8 * rng.normal(size=(5, d))[rng.integers(5, size=800)] + rng.normal(size=(800, d))
    params = {"n_structures": n, "beta": 0.001, "scale": np.sqrt(d)}
    lowrank = SPC(**params, covariance_type="lowrank").fit(X)
    assert_same_models(lowrank, SPC(**params, covariance_type="full").fit(X))
    assert lowrank._stream.structures.rank.max() == d


def load(directory, name):
    with np.load(directory / f"{name}.npz") as file:
        return file["X"].astype(float), file["y"]


def test_the_64_dimensional_set_of_the_paper_agrees(data_directory):
    X, y = load(data_directory, "dim064")
    lowrank = SPC(50, covariance_type="lowrank").fit(X)
    assert_same_models(lowrank, SPC(50, covariance_type="full").fit(X))
    found = lowrank.clustering(n_clusters=16)[lowrank._fitted.last_batch.nearest]
    assert normalized_mutual_info_score(y, found) == pytest.approx(1.0)


def test_the_1024_dimensional_set_of_the_paper(data_directory):
    X, y = load(data_directory, "dim1024")
    model = SPC(50).fit(X)
    assert model._stream.structures.memory.nbytes + model._stream.scratch.memory.nbytes < 20e6
    labels = model.labels_
    purity = sum(np.bincount(y[labels == k]).max() for k in np.unique(labels)) / len(y)
    assert purity == 1.0
    assert normalized_mutual_info_score(y, labels) >= 0.97
    found = model.clustering(n_clusters=16)[model._fitted.last_batch.nearest]
    assert len(np.unique(found)) == 16
    assert normalized_mutual_info_score(y, found) == pytest.approx(1.0)
    assert np.array_equal(model.clustering(nlt=35.0), model.clustering(n_clusters=16))


@examples(60)
@given(X=streams(least_points=12, most_points=30, most_features=12), most=st.integers(1, 4))
def test_a_limited_rank_gives_a_spread_that_covers_both_and_is_not_much_larger(X, most):
    """At every merge: at least the exact union, and larger by no more than base has grown."""
    model = SPC(1, covariance_type="lowrank", max_rank=most, w_min=0.0).fit(X[:1])
    for x in X[1:]:
        s = model._stream.structures
        before, base = model.structures_, s.base[0]
        model.partial_fit(x[np.newaxis])
        after, s = model.structures_, model._stream.structures
        exact = covariance_union(
            before.covariance[0], before.mean[0], np.eye(len(x)), x, after.mean[0]
        )
        excess = np.linalg.eigvalsh(after.covariance[0] - exact)
        rounding = 1e-9 * np.linalg.norm(exact)
        assert excess[0] >= -rounding
        assert excess[-1] <= s.base[0] - base + rounding
        assert s.rank.max() <= most
    assert_directions_are_orthonormal(model)
    assert_every_direction_belongs_to_one(model)


def test_a_limit_that_is_never_reached_changes_nothing(X):
    free = SPC(6, covariance_type="lowrank").fit(X)
    limited = SPC(6, covariance_type="lowrank", max_rank=X.shape[1]).fit(X)
    assert_same_models(limited, free)


@pytest.mark.parametrize("most", [None, 2])
def test_memory_grows_where_it_is_needed_however_the_stream_is_cut(most):
    rng = np.random.default_rng(0)
    X = 5 * rng.normal(size=(300, 30))
    params = {"n_structures": 6, "covariance_type": "lowrank", "max_rank": most, "w_min": 0.3}
    whole, cut, single = (SPC(**params) for _ in range(3))
    first = whole.partial_fit(X[:7])._stream.structures.memory.nbytes
    whole.partial_fit(X[7:])
    for start in range(0, len(X), 11):
        cut.partial_fit(X[start : start + 11])
    for x in X:
        single.learn_one(x)
    assert whole._stream.structures.memory.tobytes() == cut._stream.structures.memory.tobytes()
    assert whole._stream.structures.memory.tobytes() == single._stream.structures.memory.tobytes()
    assert (whole._stream.structures.memory.nbytes > first) == (most is None)
    assert whole._stream.pruned > 0 or whole._stream.merges > len(X) - 10


@pytest.mark.parametrize("kind", ["lowrank", "diag", "spherical"])
def test_ten_thousand_features_are_no_matter(kind):
    rng = np.random.default_rng(0)
    centres = 10 * rng.normal(size=(3, 10_000))
    y = rng.integers(3, size=40)
    X = (centres[y] + rng.normal(size=(40, 10_000))).astype(np.float32)
    model = SPC(10, covariance_type=kind, scale=100.0).fit(X)
    assert normalized_mutual_info_score(y, model.labels_) == pytest.approx(1.0)
    assert model._stream.structures.memory.nbytes < 12e6


def test_dense_covariances_are_made_only_when_they_are_asked_for():
    X = np.random.default_rng(0).normal(size=(30, 2000))
    table = SPC(5, scale=50.0).fit(X).structures_
    assert "covariance" not in vars(table)
    assert table.covariance.shape == (5, 2000, 2000)
    assert "covariance" in vars(table)


@pytest.mark.parametrize("kind", ["lowrank", "diag", "spherical"])
def test_a_batch_of_float32_is_never_converted_as_a_whole(kind):
    X = np.random.default_rng(0).normal(size=(16_000, 500)).astype(np.float32)  # 32 MB
    rank = 2 if kind == "lowrank" else None
    model = SPC(3, covariance_type=kind, max_rank=rank, scale=30.0).partial_fit(X[:20])
    assert len(model.labels_) == 20
    tracemalloc.start()
    model.partial_fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


@pytest.mark.parametrize("extent", [1e2, 1e5, 1e6])
def test_wide_clusters_lose_no_digits(extent):
    """Most of a distance lies in the directions: what is left is no difference of two squares."""
    rng = np.random.default_rng(0)
    everywhere = extent * rng.normal(size=(300, 5))
    in_a_plane = extent * rng.normal(size=(300, 3)) @ rng.normal(size=(3, 40)) / 6.0
    for X in (everywhere, in_a_plane):
        full, lowrank = (
            SPC(8, covariance_type=kind, w_min=0.0).fit(X) for kind in ("full", "lowrank")
        )
        assert_same_models(lowrank, full)
        np.testing.assert_allclose(
            lowrank.score_samples(X), full.score_samples(X), rtol=1e-7, atol=1e-8
        )


@pytest.mark.parametrize("what", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_while_memory_grows_leaves_the_old_one_whole(monkeypatch, what):
    rng = np.random.default_rng(0)
    X = 5 * rng.normal(size=(60, 80))
    params = {"n_structures": 2, "covariance_type": "lowrank", "w_min": 0.0, "scale": 60.0}
    expected = SPC(**params).partial_fit(X)
    model, stopped = SPC(**params), []

    def stop(structures):
        stopped.append(structures)
        raise what

    for x in X:
        seen = getattr(model, "n_samples_seen_", 0)
        with monkeypatch.context() as patch:
            if seen:
                patch.setattr(stream, "scratch_for", stop)
            try:
                model.partial_fit(x[np.newaxis])
            except what:
                own = scratch_for(model._stream.structures)
                assert model._stream.scratch.memory.size == own.memory.size
        if model.n_samples_seen_ == seen:
            model.partial_fit(x[np.newaxis])
    assert len(stopped) > 3
    assert model._stream.structures.memory.tobytes() == expected._stream.structures.memory.tobytes()


def test_a_table_of_structures_can_be_pickled(X):
    for kind in ("full", "lowrank", "diag", "spherical"):
        table = SPC(5, covariance_type=kind).fit(X).structures_
        again = pickle.loads(pickle.dumps(table))
        assert np.array_equal(again.covariance, table.covariance)
