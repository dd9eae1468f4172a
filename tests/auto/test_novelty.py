"""Novelty: a row is measured by the width of its cluster, if that is wider than most."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust import SPC
from spclust.auto.home import calibration
from spclust.auto.novelty import are_solid, novelty_limits, relative_widths, widths_of
from spclust.parameters import NOVEL_NLT
from tests.strategies import examples, seeds


def wide_and_narrow(n, d=5, share=0.1, ratio=8.0, seed=0):
    """Rows (n, d) of two narrow clusters and a wide one of few points, and which one each is of."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, size=n, p=[0.5 - share / 2, 0.5 - share / 2, share])
    X = rng.normal(size=(n, d)) * np.where(y == 2, ratio, 1.0)[:, np.newaxis]
    X[:, 0] += np.array([0.0, 20.0, 120.0])[y]
    return X, y


def median_in_plain_python(values, mass):
    upto, half = 0.0, 0.5 * sum(mass)
    for value, more in sorted(zip(values, mass, strict=True)):
        upto += more
        if upto >= half:
            return value
    raise AssertionError("no value has half of the mass up to it")


@examples(100)
@given(seeds, st.integers(1, 30), st.integers(1, 4))
def test_widths_are_medians_of_clusters_beside_that_of_all(seed, k, clusters):
    rng = np.random.default_rng(seed)
    reach, mass = rng.integers(5, size=k).astype(float), 2.0 ** rng.integers(-3, 4, size=k)
    labels = rng.integers(-1, clusters, size=k)
    expected, known = np.ones(k), labels >= 0
    usual = median_in_plain_python(reach[known], mass[known]) if known.any() else 0.0
    for i in np.flatnonzero(known):
        mine = labels == labels[i]
        if usual > 0.0:
            expected[i] = max(1.0, median_in_plain_python(reach[mine], mass[mine]) / usual)
    assert widths_of(labels, reach, mass, np.argsort(reach)).tolist() == expected.tolist()


@pytest.mark.parametrize("half_life", [None, 500])
def test_rows_of_a_wide_cluster_are_no_outliers(half_life):
    X, y = wide_and_narrow(6000)
    model = SPC(half_life=half_life).fit(X[:5000])
    rows, truth = X[5000:], y[5000:]
    assert np.mean(model.predict(rows[truth == 2]) == -1) < 0.1
    assert np.mean(model.predict(rows[truth < 2]) == -1) < 0.01


def test_what_is_far_from_narrow_clusters_is_an_outlier_all_the_same():
    X, _ = wide_and_narrow(5000)
    model = SPC().fit(X)
    rows = np.zeros((2, 5))
    rows[:, 1] = [15.0, -15.0]
    assert model.predict(rows).tolist() == [-1, -1]


def test_the_limit_is_the_same_where_all_clusters_are_alike():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2)) + 20.0 * rng.integers(3, size=(3000, 1))
    model = SPC().fit(X)
    limits = novelty_limits(model._stream.structures, model.clustering(), NOVEL_NLT)
    assert limits == pytest.approx(NOVEL_NLT, abs=1.5)


def test_widths_have_no_unit_and_strays_have_none():
    X, _ = wide_and_narrow(3000)
    one, other = SPC().fit(X), SPC().fit(2.0**40 * X)
    labels = one.clustering()
    widths = relative_widths(one._stream.structures, labels)
    assert np.array_equal(widths, relative_widths(other._stream.structures, other.clustering()))
    assert widths.max() > 4.0
    strays = np.full_like(labels, -1)
    assert np.all(relative_widths(one._stream.structures, strays) == 1.0)
    assert np.all(novelty_limits(one._stream.structures, strays, 8.0) == 8.0)


def test_labels_of_the_last_batch_are_those_of_predict():
    X, _ = wide_and_narrow(3000)
    model = SPC(half_life=500).fit(X)
    assert np.array_equal(model.labels_, model.predict(X))


def novel_in_plain_python(model, rows):
    """Whether each row is far from all structures of three points, for its cluster."""
    s, labels = model._stream.structures, model.clustering()
    order = np.argsort(s.id[: s.live])
    faded, places = s.mass[order] / s.point_mass, s.mean[order]
    light = sum(count for count in faded if count < 3.0)
    widths = relative_widths(s, labels)
    eta, power = calibration(s, 0.98)
    found = []
    for row in rows:
        y = (row - s.origin) / s.unit - s.displacement
        squares = [np.sum((s.metric @ (y - place)) ** 2) for place in places]
        solid = [
            square
            for square, count in zip(squares, faded, strict=True)
            if count >= 3.0 or light > 0.3 * sum(faded)
        ]
        odds = (min(solid) / eta) ** (power * s.exponent)
        width = widths[np.argmin(squares)] ** (power * s.exponent)
        found.append(odds > (np.exp(NOVEL_NLT) - 1.0) * width)
    return np.array(found)


@examples(20)
@given(seeds, st.sampled_from([None, 300.0]), st.integers(1, 6), st.sampled_from([0.0, 0.05, 0.5]))
def test_rows_are_novel_that_are_far_from_solid_structures(seed, half_life, d, outliers):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, d)) + 30.0 * rng.integers(2, size=(1000, 1))
    scattered = rng.random(1000) < outliers
    X[scattered] = rng.uniform(-60.0, 90.0, (scattered.sum(), d))
    model = SPC(n_structures=30, half_life=half_life).fit(X)
    rows = rng.uniform(-60.0, 90.0, (100, d))
    expected = novel_in_plain_python(model, rows)
    strays = model.clustering()[model._stream.nearest(rows)] == -1
    assert np.array_equal(model.predict(rows) == -1, expected | strays)


def test_structures_of_three_points_are_solid_and_all_if_most_are_small():
    assert are_solid(np.array([1.0, 3.0, 2.9, 10.0])).tolist() == [False, True, False, True]
    assert are_solid(np.array([1.0, 2.0, 2.0, 3.0])).all()
    assert are_solid(np.array([3.0, 7.0])).all()


def wrong_labels(seed):
    """How many rows of a cluster that is alone do not have the label of most, beside outliers."""
    rng, wrong = np.random.default_rng(seed), 0
    X = rng.normal(size=(3000, 2))
    X[1500:, 0] += 30.0
    outlier = rng.random(len(X)) < 0.05
    X[outlier] = rng.uniform([-10.0, -10.0], [40.0, 10.0], (outlier.sum(), 2))
    model = SPC(half_life=500)
    for part in np.split(np.arange(len(X)), 15):
        model.partial_fit(X[part])
        if part[0] >= 2000:
            labels = model.predict(X[part[~outlier[part]]])
            wrong += np.sum(labels != np.bincount(labels[labels >= 0]).argmax())
    return wrong


def test_rows_near_outliers_have_the_label_of_their_cluster():
    assert sum(wrong_labels(seed) for seed in range(16)) <= 4


@pytest.mark.parametrize("half_life", [None, 500])
def test_what_is_near_a_scattered_outlier_is_not_of_its_cluster(half_life):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    X[::50] = rng.uniform(-40.0, 40.0, (20, 2))
    lone = np.array([150.0, 150.0])
    X[900] = lone
    model = SPC(half_life=half_life).fit(X)
    near = lone + 0.1 * rng.normal(size=(5, 2))
    assert model.predict(near).tolist() == [-1] * 5
    assert model.labels_[900] == -1
    usual = np.ones(len(X), dtype=bool)
    usual[::50] = usual[900] = False
    assert np.all(model.labels_[usual] == 0)


@pytest.mark.parametrize("half_life", [None, 500])
def test_a_rare_cluster_keeps_its_rows(half_life):
    rng = np.random.default_rng(1)
    y = (rng.random(4000) < 0.02).astype(int)
    X = rng.normal(size=(4000, 3)) + 25.0 * y[:, np.newaxis]
    model = SPC(half_life=half_life).fit(X[:3000])
    found = model.predict(X[3000:])
    rare = found[y[3000:] == 1]
    assert np.mean(rare == -1) < 0.1
    assert not set(rare[rare >= 0].tolist()) & set(found[y[3000:] == 0].tolist())
