"""DBSTREAM: River's micro-clusters, and an offline phase of our own."""

import sys

import numpy as np
import pytest

from spclust.experiments.baselines import DBSTREAM
from tests.baselines.common import moving_blobs

river = pytest.importorskip("river.cluster")


def test_weights_are_points_that_fade_until_the_last_one():
    model = DBSTREAM(fading_factor=0.1).fit([[0.0]] * 5 + [[9.0]] * 3)
    centres, weight = model._online.weights()
    assert centres.tolist() == [[0.0], [9.0]]
    fade = 2.0 ** (-0.1 * np.arange(8))
    assert weight == pytest.approx([fade[3:].sum(), fade[:3].sum()])


def two_that_share(n_shared):
    """Two micro-clusters of radius 1, and points in the middle between them."""
    return [[0.0]] * 10 + [[1.5]] * 10 + [[0.75]] * n_shared


def test_pairs_share_weight_that_fades_until_the_last_point():
    model = DBSTREAM(fading_factor=0.1, cleanup_interval=1000).fit([*two_that_share(3), [9.0]])
    ((i, j, shared),) = model._online.pairs()
    assert (i, j) == (0, 1)
    assert shared == pytest.approx(sum(2.0 ** (-0.1 * k) for k in (1, 2, 3)))


def test_those_that_share_enough_are_one_cluster():
    """Without fading: 10 + n and 10 + n points, of which n are shared."""
    for n, factor, together in [(5, 0.3, True), (5, 0.35, False), (4, 0.3, False)]:
        model = DBSTREAM(fading_factor=0.0, intersection_factor=factor).fit(two_that_share(n))
        labels = model.predict([[0.0], [1.5]])
        assert (labels[0] == labels[1]) == together


def test_sharing_goes_both_ways():
    """The third shares with the first and with the second, which do not share: one cluster."""
    row = [[0.0]] * 3 + [[3.0]] * 3 + [[1.5]] * 3
    shared = [[0.75]] * 8 + [[2.25]] * 8
    model = DBSTREAM(fading_factor=0.0, intersection_factor=0.3).fit(row + shared)
    assert sorted((i, j) for i, j, _ in model._online.pairs()) == [(0, 2), (1, 2)]
    assert model.predict([[0.0], [1.5], [3.0]]).tolist() == [0, 0, 0]
    assert model._online.river.n_clusters == 2  # River follows pairs from the older one only


def test_light_micro_clusters_are_noise():
    X = [[0.0]] * 5 + [[9.0]] * 2 + [[20.0]] * 5
    model = DBSTREAM(fading_factor=0.0, minimum_weight=3.0, hard=False).fit(X)
    assert model.predict([[0.0], [9.0], [20.0]]).tolist() == [0, -1, 1]
    assert model.set_params(hard=True).predict([[9.0]]).tolist() == [0]
    assert DBSTREAM(fading_factor=0.0, minimum_weight=2.0).fit_predict(X)[6] == 1


def test_light_micro_clusters_do_not_stand_in_the_way_of_others():
    X = [[50.0], [70.0], [90.0], *two_that_share(5)]
    model = DBSTREAM(fading_factor=0.0, minimum_weight=2.0, hard=False).fit(X)
    assert model.predict([[50.0], [0.0], [1.5]]).tolist() == [-1, 0, 0]


def test_the_online_phase_is_that_of_river():
    """Also where micro-clusters are removed, as long as no pair of a removed one is left over."""
    X = moving_blobs()
    params = {"clustering_threshold": 1.0, "fading_factor": 0.05, "cleanup_interval": 20}
    plain = river.DBSTREAM(**params)
    for x in X.tolist():
        plain.learn_one(dict(enumerate(x)))
    model = DBSTREAM(**params).fit(X)
    centres, _ = model._online.weights()
    expected = [list(row.center.values()) for row in plain.micro_clusters.values()]
    assert centres.tolist() == expected
    assert len(expected) < 100


def test_no_pair_outlives_its_micro_clusters():
    X = 2.0 * np.random.default_rng(1).normal(size=(1500, 2))
    params = {"clustering_threshold": 1.0, "fading_factor": 0.1, "cleanup_interval": 50}
    plain = river.DBSTREAM(**params)
    left_over = 0
    model = DBSTREAM(**params)
    for x in X:
        plain.learn_one(dict(enumerate(x.tolist())))
        left_over += orphans(plain)
        assert not orphans(model.partial_fit(x[np.newaxis])._online.river)
    assert left_over  # River has some: else this test could not fail


def orphans(model):
    there = set(model.micro_clusters)
    return sum(len({i, *row} - there) for i, row in model.s.items())


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(ImportError, match=r"pip install spclust\[river\]"):
        DBSTREAM().fit([[0.0]])


def test_a_cleanup_needs_a_whole_number_of_points():
    with pytest.raises(ValueError, match=r"whole number of points, but is 2\.5"):
        DBSTREAM(cleanup_interval=2.5).fit([[0.0]])
