"""What the paper reports of SPC, with its own parameters (Table I); `scale` is ours."""

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score as nmi

from spclust import datasets
from tests.fixed import SPC

AGGREGATION = {"n_structures": 30, "m": 1.5}
SINE = {"n_structures": 30, "m": 1.4, "gamma": 0.1, "beta": 0.05}


def aggregation(directory):
    table = np.loadtxt(directory / "aggregation.csv", delimiter=",", skiprows=1)
    return table[:, :2], table[:, 2]


def test_aggregation(data_directory):
    X, y = aggregation(data_directory)
    model = SPC(**AGGREGATION, scale=3.5).fit(X)
    assert model.n_clusters_ == 7
    assert nmi(y, model.labels_) >= 0.995


@pytest.mark.parametrize(
    ("scale", "score", "clusters"),
    [(2.5, 0.996, 7), (2.75, 0.958, 6), (3.0, 0.958, 6), (3.25, 0.996, 7), (3.5, 1.0, 7)],
)
def test_two_clocks_on_aggregation(data_directory, scale, score, clusters):
    """The evidence for E4, and a fingerprint of the whole algorithm on real data."""
    X, y = aggregation(data_directory)
    model = SPC(**AGGREGATION, scale=scale).fit(X)
    assert model.n_clusters_ == clusters
    assert nmi(y, model.labels_) == pytest.approx(score, abs=6e-4)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("scale", [0.8, 1.0, 1.25])
def test_sine(seed, scale):
    X, y = datasets.make_sine(seed=seed)
    model = SPC(**SINE, scale=scale).fit(X)
    assert nmi(y, model.labels_) == pytest.approx(1.0)
    assert model.n_clusters_ == 3


def test_on_the_sine_stream_most_structures_detail_the_newest_points():
    X, _ = datasets.make_sine()
    table = SPC(**SINE).fit(X).structures_
    newest = table.mean[:, 0] > X[:, 0].max() - 5
    assert newest.mean() > 0.8
    assert (table.count > 500).sum() == 3  # one structure holds the past of each wave


def test_sine_generator_is_three_waves_in_turn():
    X, y = datasets.make_sine(300, seed=1)
    assert X.shape == (300, 2)
    assert y[:6].tolist() == [0, 1, 2, 0, 1, 2]
    assert np.array_equal(X, datasets.make_sine(300, seed=1)[0])
    assert not np.array_equal(X, datasets.make_sine(300, seed=2)[0])
    gaps = [X[y == k + 1, 1].min() - X[y == k, 1].max() for k in (0, 1)]
    assert min(gaps) > 0
