"""Clusters by evidence: one where there is one, two where there are two, those that touch."""

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score as nmi

from spclust import SPC


def ring(rng, n, d):
    """Points around a circle of radius 10, with a standard deviation of 1 in all directions."""
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    circle = np.zeros((n, d))
    circle[:, 0], circle[:, 1] = 10.0 * np.cos(angle), 10.0 * np.sin(angle)
    return circle + rng.normal(size=(n, d))


SINGLE = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)) @ rng.normal(size=(d, d)),
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "Student": lambda rng, n, d: rng.standard_t(5, size=(n, d)),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "ring": ring,
}


@pytest.mark.slow
@pytest.mark.parametrize("half_lives", [(None,), (500, 2000)], ids=str)
def test_one_cluster_is_found_where_there_is_one(half_lives):
    """In 97 % of all sets. Rings are divided most often."""
    one = {kind: [] for kind in SINGLE}
    for kind, points in SINGLE.items():
        for d in (1, 2, 3, 5, 10, 20)[kind == "ring" :]:
            # With a half-life nothing is left of the first 10,000 points after 10,000 more.
            for n in (200, 400, 1000, 5000, 20_000)[: 5 if half_lives == (None,) else 4]:
                X = points(np.random.default_rng([d, n]), n, d)
                models = [SPC(half_life=half_life).fit(X) for half_life in half_lives]
                one[kind] += [model.n_clusters_ == 1 for model in models]
    found = np.concatenate(list(one.values()))
    assert found.mean() >= 0.97, {kind: np.mean(ones) for kind, ones in one.items()}


@pytest.mark.parametrize("half_life", [None, 500])
@pytest.mark.parametrize("d", [5, 10, 20])
def test_a_cluster_of_few_structures_is_not_divided_at_the_gaps_between_them(d, half_life):
    """A cube that is ten times narrower than others is remembered by a few."""
    rng = np.random.default_rng(d)
    centres, y = 18.0 / np.sqrt(d) * rng.normal(size=(4, d)), rng.integers(4, size=4000)
    widths = np.array([1.0, 1.0, 0.1, 0.03])[y, np.newaxis]
    X = centres[y] + widths * rng.uniform(-1.7, 1.7, size=(4000, d))
    cube = y == 2
    model = SPC(half_life=half_life)
    for start in range(0, 4000, 400):
        labels = model.partial_fit(X[start : start + 400]).labels_
        if start:
            assert len(set(labels[cube[start : start + 400]]) - {-1}) == 1


def pair(rng, d, distance, n=1000):
    """Two normal clusters so many standard deviations apart, in any direction, mixed."""
    direction = rng.normal(size=d)
    y = rng.permutation(np.repeat([0, 1], n))
    steps = distance * direction / np.linalg.norm(direction)
    return rng.normal(size=(2 * n, d)) + steps * y[:, np.newaxis], y


@pytest.mark.parametrize(("distance", "least"), [(4.0, 0.9), (5.0, 1.0)])
def test_two_normal_clusters_are_two_from_four_standard_deviations_on(distance, least):
    found = [
        SPC().fit(pair(np.random.default_rng([seed, d]), d, distance)[0]).n_clusters_ == 2
        for d in (2, 5, 10)
        for seed in range(8)
    ]
    assert np.mean(found) >= least


def test_two_clusters_with_one_feature():
    X, y = pair(np.random.default_rng(0), 1, 5.0)
    assert nmi(y, SPC().fit(X).labels_) > 0.9


def test_clusters_that_touch_are_divided_though_others_are_far_away():
    """Seven around one, 5 standard deviations apart; four more far away."""
    rng = np.random.default_rng(0)
    angle = 2.0 * np.pi * np.arange(7) / 7.0
    near = 6.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    centres = np.vstack([near, [[0.0, 0.0], [80.0, 0.0], [-80.0, 0.0], [0.0, 80.0], [0.0, -80.0]]])
    y = rng.integers(len(centres), size=3000)
    model = SPC().fit(centres[y] + rng.normal(size=(3000, 2)))
    assert model.n_clusters_ == len(centres)
    assert nmi(y, model.labels_) > 0.95


def test_rings_inside_of_each_other_are_told_apart():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=6000)
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, 6000), 1.0 + 9.0 * y + rng.normal(size=6000)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    assert nmi(y, SPC().fit(X).labels_) > 0.9


def test_what_is_left_of_a_cluster_that_has_grown_divides_nothing():
    """Ten times as wide from one point to the next: the old, narrow clusters are inside of one."""
    divided = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        narrow, wide = pair(rng, 2, 20.0, n=2000)[0], pair(rng, 2, 20.0, n=500)[0]
        model = SPC(half_life=500).fit(narrow).partial_fit(10.0 * wide)
        divided += model.n_clusters_ != 2
    assert divided <= 1


@pytest.mark.parametrize("d", [2, 10, 20])
@pytest.mark.parametrize("half_life", [None, 500])
def test_a_lone_point_millions_of_deviations_away_changes_no_cluster(d, half_life):
    rng = np.random.default_rng(d)
    y = rng.integers(5, size=2000)
    X = rng.normal(size=(2000, d)) + 20.0 * rng.choice([-1.0, 1.0], size=(5, d))[y]
    X[:, 0] += 20.0 * y
    model = SPC(half_life=half_life).fit(X[:1000])
    model.partial_fit(np.full((1, d), 1e6)).partial_fit(X[1000:])
    assert nmi(y[1000:], model.labels_) > 0.95
