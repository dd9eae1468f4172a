"""The automatic mode: nothing to choose, whatever the unit of the data."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import normalized_mutual_info_score as nmi

import spclust.river
from spclust import SPC, SPCOutlierDetector, datasets, merge_all
from spclust.auto.clusters import cut as cutting
from tests.reference.stable_groups import stable_groups
from tests.strategies import examples, seeds

KINDS = ["full", "diag", "spherical"]


def gaussians(seed=0, n=1500, k=6, d=2, sep=12.0):
    rng = np.random.default_rng(seed)
    centres = rng.permutation(np.stack(np.meshgrid(*[np.arange(3.0)] * d), -1).reshape(-1, d))[:k]
    y = rng.integers(k, size=n)
    return sep * centres[y] + rng.normal(size=(n, d)) * rng.uniform(0.5, 1.5, size=k)[
        y, np.newaxis
    ], y


@pytest.mark.parametrize("order", ["shuffled", "sorted"])
@pytest.mark.parametrize("d", [2, 3, 5])
def test_plain_clusters_are_found_with_nothing_set(d, order):
    for seed in range(3):
        X, y = gaussians(seed, d=d)
        if order == "sorted":
            X, y = X[np.argsort(y, kind="stable")], np.sort(y)
        model = SPC(100).fit(X * 10.0 ** np.arange(-3, d - 3) + 1e4)
        assert nmi(y, model.labels_) > 0.9  # two that are much nearer than the others may be one
        assert model.n_clusters_ in (5, 6)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_do_not_depend_on_units_or_on_the_origin(kind):
    X, _ = gaussians(1, n=600, d=3)
    X = np.round(X, 1)  # so that there are ties
    base = SPC(40, covariance_type=kind).fit(X)
    own = 10.0 ** np.random.default_rng(0).uniform(-6, 6, size=3)
    for other in (*(X * 10.0**k for k in range(-6, 7, 2)), X * own, X + 1e6, X * own - 1e3 * own):
        model = SPC(40, covariance_type=kind).fit(other)
        assert np.array_equal(model.labels_, base.labels_)


def test_units_that_differ_by_ten_orders_of_magnitude_on_the_way():
    for seed in range(40, 60):
        rng = np.random.default_rng(seed)
        parts = [rng.normal(size=(150, 3)) * 10.0 ** rng.integers(-5, 6, size=3) for _ in range(4)]
        for kind in KINDS:
            model = SPC(covariance_type=kind).fit(np.concatenate(parts))
            assert np.isfinite(model.structures_.covariance).all()


def test_features_that_are_constant_in_each_shard_are_kept():
    both = SPC().fit([[1.0, 2.0]]) + SPC().fit([[3.0, 4.0]])
    assert both.structures_.mean.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    both = SPC().fit([[0.0, 0.0], [1.0, 0.0]]) + SPC().fit([[0.0, 7.0], [1.0, 7.0]])
    assert both.structures_.mean[:, 1].tolist() == [0.0, 0.0, 7.0, 7.0]


def test_features_that_never_vary_or_vary_late_are_no_trouble():
    X, _ = gaussians(3)
    late = np.column_stack([X, np.full(len(X), 7.0), np.r_[np.zeros(700), np.arange(800.0) % 3]])
    model = SPC(100).fit(late)
    assert np.isfinite(model.structures_.mean).all()
    assert np.isfinite(model.structures_.covariance).all()
    constant = SPC(10).fit(np.ones((40, 2)))
    assert constant.n_clusters_ == 1
    assert constant.predict([[1.0, 1.0], [2.0, -1.0]]).tolist() == [0, 0]
    assert SPC(100).fit(X).n_clusters_ == 6


@pytest.mark.parametrize("factor", [1e-250, 1e-150, 1e150, 1e250])
def test_extreme_units(factor):
    X, _ = gaussians(4, n=400)
    assert np.array_equal(SPC(30).fit(X * factor).labels_, SPC(30).fit(X).labels_)


def test_two_points_as_far_apart_as_floats_can_be():
    model = SPC(2).fit([[0.0, 0.5], [-1.7e308, 0.0], [1.7e308, 1.0], [1.0, 0.5]])
    assert np.isfinite(model.structures_.mean).all()
    with pytest.raises(ValueError, match="too far from the first point"):
        model = SPC(2).fit([[-1.7e308, 0.0], [1.7e308, 1.0]])


FAR = np.array([[0.0, 1e308], [1.0, 0.0], [2.0, 1.5], [0.5, -1.2e308], [0.0, 0.0]])


def test_a_number_that_is_too_far_away_is_named_by_row_and_column():
    rest = r" is too far from the first point of the stream: leave that point out, or [^.]*\.$"
    third = r"^X holds -1\.2e\+308 at row 3, column 1, which" + rest
    for model in (SPC(2), SPC(), SPC(half_life=10, track_every=2)):
        with pytest.raises(ValueError, match=third):
            model.fit(FAR)
        with pytest.raises(ValueError, match=third):
            model.partial_fit(FAR, sample_weight=[1, 0, 1, 2, 1])
        model.partial_fit(FAR[:2])
        with pytest.raises(ValueError, match=r"at row 1, column 1, which" + rest):
            model.partial_fit(FAR[2:])
        assert model.n_samples_seen_ == 3
        with pytest.raises(ValueError, match=r"at row 0, column 1, which" + rest):
            model.learn_one(FAR[3])
    with pytest.raises(ValueError, match=r"at row 3, column 'b', which" + rest):
        SPC().fit(pd.DataFrame(FAR, columns=["a", "b"]))
    long = np.concatenate([np.repeat(FAR[:3], 30_000, axis=0), FAR[3:]])  # in several chunks
    with pytest.raises(ValueError, match=r"at row 90000, column 1, which" + rest):
        SPC().fit(long)


def test_a_feature_of_river_that_is_too_far_away_is_named():
    points = [dict(zip("ab", row, strict=True)) for row in FAR.tolist()]
    one, many = spclust.river.SPC(), spclust.river.SPC()
    for x in points[:3]:
        one.learn_one(x)
    for learn in (
        lambda: one.learn_one(points[3]),
        lambda: many.learn_many(pd.DataFrame(points)),
    ):
        with pytest.raises(ValueError, match=r"^Feature 'b' is -1\.2e\+308, which is too far"):
            learn()
    one.learn_one(points[4])


def test_the_number_of_clusters_stands_while_nothing_happens():
    changes = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        centres = rng.uniform(0, 20, size=(12, 2))  # some of which touch
        X = centres[rng.integers(12, size=60_000)] + rng.normal(size=(60_000, 2))
        model, counts = SPC(), []
        for part in np.split(X, 60):
            counts.append(model.partial_fit(part).n_clusters_)
        changes.append(sum(a != b for a, b in pairwise(counts[6:])))
    assert np.median(changes) <= 2
    assert max(changes) <= 12  # of 54: one pair is between one cluster and two


def late_clusters(seed, before):
    """Three clusters after three others, 10 standard deviations apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=13_000)
    X = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])[y] + rng.normal(size=(13_000, 2))
    X[before:] += [40.0, -30.0]
    return X


def test_clusters_that_begin_late_get_structures_enough():
    for seed in range(3):
        model = SPC().fit(late_clusters(seed, 3000))
        assert model.n_clusters_ == 6
        assert model.diagnose() == []
        assert np.sum(model.structures_.mean[:, 0] > 25.0) >= 6
        assert not (model.labels_ == -1).any()


def test_clusters_that_begin_very_late_are_told_to_be_coarse():
    """Structures that have become heavy are never merged, so that few are left for others."""
    X = late_clusters(1, 10_000)
    assert "coarse" in [finding.code for finding in SPC().fit(X).diagnose()]
    assert SPC(half_life=1000).fit(X).diagnose() == []
    assert SPC().fit(np.random.default_rng(0).permutation(X)).diagnose() == []


def test_a_new_cluster_is_seen_before_the_next_decision():
    rng = np.random.default_rng(1)
    model = SPC(30).fit(rng.normal(size=(10_000, 2)) + 30.0 * rng.integers(2, size=(10_000, 1)))
    assert model.n_clusters_ == 2
    model.partial_fit(rng.normal(size=(1_000, 2)) + np.array([200.0, -100.0]))
    assert model.n_clusters_ == 3
    assert len(set(model.predict([[0, 0], [30, 30], [200, -100]]))) == 3


def test_shards_of_different_units_are_merged():
    X, y = gaussians(5, n=4000)
    parts = [SPC(60).fit(X[k::4]) for k in range(4)]
    whole = merge_all(parts)
    assert whole.n_samples_seen_ == 4000
    assert nmi(y, whole.predict(X)) > 0.95
    small, large = SPC(60).fit(X[y == 0] * 0.01), SPC(60).fit(X[y != 0])
    both = small + large
    both.partial_fit(X[:200])
    assert both.structures_.count.sum() + both._stream.pruned == len(X) + 200


def test_tracking_time_stamps_and_outliers_work_without_a_scale():
    X, _ = gaussians(6, n=2000)
    model = SPC(60, track_every=100, half_life=1000.0).fit(X, t=np.arange(2000.0))
    assert sum(event.kind == "birth" for event in model.events_) >= 6
    detector = SPCOutlierDetector(60, scale="auto").fit(X)
    far = detector.score_samples([[200.0, 200.0]])
    assert far < detector.score_samples(X).min()


def test_drifting_waves_and_the_papers_sets():
    X, y = datasets.make_sine(seed=0)[:2]
    assert nmi(y, SPC(100).fit(X).labels_) > 0.97
    X, y = datasets.make_overlapping(seed=0)[:2]
    assert nmi(y, SPC(100).fit(X).labels_) > 0.85


def test_the_cut_alone_works_with_a_fixed_scale():
    X, y = gaussians(7)
    model = SPC(60, scale=3.0, eps="auto").fit(X)
    assert nmi(y, model.labels_) > 0.97
    assert np.array_equal(
        SPC(60, scale=3.0, eps=0.95).fit(X).clustering("auto"), model.clustering()
    )
    with pytest.raises(ValueError, match='"auto" or a number'):
        model.clustering("all")
    automatic = SPC(60).fit(X)
    assert np.array_equal(automatic.clustering("auto"), automatic.clustering())
    with pytest.raises(ValueError, match="scale"):
        SPC(scale="large").fit(X)


def test_too_few_structures_are_told():
    X, _ = gaussians(8, k=9)
    assert "too_few_structures" in [found.code for found in SPC(20).fit(X).diagnose()]
    assert SPC(100).fit(X).diagnose() == []


@examples(30)
@given(seeds, st.integers(3, 40), st.integers(1, 4))
def test_the_tree_is_single_linkage(seed, k, d):
    rng = np.random.default_rng(seed)
    z, mass = rng.normal(size=(k, d)), rng.integers(1, 20, size=k).astype(float)
    D = cutting.distances(z)
    np.testing.assert_allclose(D, squareform(pdist(z)), rtol=1e-12)
    reach, _, length = cutting.spanning_tree(D, mass, 0.7 * mass.mean())
    for i in range(k):
        order = np.argsort(D[i])
        need = order[: np.searchsorted(np.cumsum(mass[order]), 0.7 * mass.mean()) + 1]
        assert reach[i] == D[i, need].max()
    R = np.maximum(np.maximum(D, reach), reach[:, np.newaxis])
    np.fill_diagonal(R, 0.0)
    order = np.argsort(length, kind="stable")
    expected = linkage(squareform(R), "single")[:, 2]
    np.testing.assert_allclose(length[order], expected, rtol=1e-12)


@examples(40)
@given(seeds, st.integers(3, 60), st.integers(1, 3), st.integers(1, 4))
def test_the_most_stable_groups_are_those_of_the_reference(seed, k, d, groups):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(k, d)) + 8.0 * rng.normal(size=(groups, d))[rng.integers(groups, size=k)]
    mass = rng.uniform(1.0, 20.0, size=k)
    _, ends, length = cutting.spanning_tree(cutting.distances(z), mass, mass.mean())
    order = np.argsort(length, kind="stable")
    ends, length = ends[:, order].copy(), length[order]
    height = np.concatenate([rng.uniform(0.0, length.min(), size=k), length])
    labels = cutting.stable_groups(ends, height, mass, mass.sum())
    expected = stable_groups(ends, height, mass)
    assert set(labels) == set(range(labels.max() + 1))
    assert np.array_equal(same_group(labels), same_group(expected))


def same_group(labels):
    """Whether two structures are in one group (k, k)."""
    return labels[:, np.newaxis] == labels
