"""StreamSoNG: its laws, and agreement with a slow reference on streams drawn by Hypothesis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.experiments.baselines import StreamSoNG
from tests.baselines.common import moving_blobs, state
from tests.reference.streamsong import SlowStreamSoNG
from tests.strategies import examples, streams


def blobs(n, *places):
    rng = np.random.default_rng(0)
    return np.concatenate([place + rng.normal(size=(n, 2)) for place in places])


@pytest.mark.parametrize("m", [1.1, 1.5, 2.0, 5.0])
def test_typicality_is_one_at_a_prototype_and_a_half_at_its_scale(m):
    model = StreamSoNG(3.0, n_prototypes=1, m=m).fit(np.full((10, 2), 1.0))  # scale: bandwidth
    found = model.typicality([[1.0, 1.0], [4.0, 1.0], [1.0, -2.0], [7.0, 1.0]])[:, 0]
    assert found[:3] == pytest.approx([1.0, 0.5, 0.5])
    assert found[3] == pytest.approx(1 / (1 + 4 ** (1 / (m - 1))))


def test_the_scale_of_a_class_is_that_of_its_prototypes():
    model = StreamSoNG(4.0, n_prototypes=6, n_scale=2, n_nearest=1).fit(blobs(10, 0.0))
    gas, (scale2,) = model._online.prototypes, model._online.scales2
    apart = np.sort(((gas[:, np.newaxis] - gas) ** 2).sum(axis=2), axis=1)
    assert scale2 == pytest.approx(apart[:, 1:3].mean())
    x = np.array([1.5, -0.5])
    nearest = ((gas - x) ** 2).sum(axis=1).min()
    assert model.typicality([x])[0, 0] == pytest.approx(1 / (1 + (nearest / scale2) ** 2))


def test_a_class_without_prototypes_among_the_nearest_is_not_typical():
    model = StreamSoNG(4.0).fit(blobs(40, 0.0, 30.0))
    found = model.typicality([[0.0, 0.0], [30.0, 30.0]])
    assert found[0, 1] == found[1, 0] == 0.0
    assert found[0, 0] > 0.5
    assert found[1, 1] > 0.5


def test_two_far_blobs_are_two_classes_and_labels_make_no_difference():
    X = blobs(10, 0.0, 100.0)
    model = StreamSoNG(5.0, n_open=10).fit(X[:9])
    assert set(model.labels_) == {-1}
    model.fit(X, np.repeat([0, 1], 10))
    assert len(model._online.scales2) == 2
    assert model.labels_.tolist() == [0] * 10 + [1] * 10
    assert state(StreamSoNG(5.0).fit(X, np.arange(20))) == state(model)


def test_the_pool_is_bounded_and_loses_the_oldest():
    X = 100.0 * np.arange(50.0)[:, np.newaxis]
    model = StreamSoNG(1.0, pool_max=12).fit(X)
    assert model._online.pool.tolist() == X[-12:].tolist()
    model = StreamSoNG(0.5, pool_max=30)
    for x in moving_blobs():
        assert len(model.partial_fit(x[np.newaxis])._online.pool) <= 30


def test_a_class_takes_its_members_out_of_the_pool():
    X = np.concatenate([[[50.0, 50.0]], blobs(10, 0.0)])
    model = StreamSoNG(5.0).fit(X)
    assert len(model._online.scales2) == 1
    assert model._online.pool.tolist() == [[50.0, 50.0]]


def test_a_typical_point_pulls_its_own_class_by_rank():
    model = StreamSoNG(4.0, rate=0.2, reach=3.0).fit(blobs(40, 0.0, 9.0))
    online = model._online
    x = np.array([0.5, 0.5])
    before, typical = online.prototypes.copy(), model.typicality([x])[0, 0]
    model.partial_fit([x])
    distance = np.linalg.norm(before - x, axis=1)
    own = online.owners == 0
    rank = np.argsort(np.argsort(distance[own]))
    expected = before.copy()
    expected[own] += (0.2 * typical * np.exp(-rank / 3.0))[:, np.newaxis] * (x - before[own])
    assert online.prototypes == pytest.approx(expected)


def test_the_seed_decides():
    X = moving_blobs()
    first, again = (StreamSoNG(2.0, seed=3).fit(X) for _ in range(2))
    assert state(first) == state(again)
    assert state(StreamSoNG(2.0, seed=4).fit(X)) != state(first)


def test_the_unit_of_the_data_makes_no_difference():
    X = moving_blobs()
    labels = StreamSoNG(2.0).fit_predict(X)
    assert np.array_equal(StreamSoNG(2.0 * 1024).fit_predict(X * 1024), labels)


def test_a_pool_too_small_to_open_a_class_is_refused():
    with pytest.raises(ValueError, match="pool_max of StreamSoNG must be at least n_open, 10"):
        StreamSoNG(pool_max=9).fit([[0.0]])


@examples(100)
@given(
    X=streams(most_features=3, most_points=120, least_points=20),
    bandwidth=st.floats(0.5, 20.0),
    n_prototypes=st.integers(1, 6),
    n_nearest=st.integers(1, 4),
    m=st.floats(1.3, 3.0),
    outlier=st.floats(0.02, 0.5),
    n_open=st.integers(1, 12),
    n_scale=st.integers(1, 4),
    rate=st.sampled_from([0.0, 0.1, 0.5]),
    reach=st.floats(0.5, 3.0),
    pool_max=st.integers(12, 60),
    seed=st.integers(0, 100),
    hard=st.booleans(),
)
def test_the_slow_one_agrees(X, hard, **params):
    model, slow = StreamSoNG(hard=hard, **params).fit(X), SlowStreamSoNG(**params)
    for x in X:
        slow.learn(x)
    online = model._online
    assert len(online.pool) == len(slow.pool)
    assert online.prototypes == pytest.approx(
        np.array([v for vs in slow.classes for v in vs]).reshape(-1, X.shape[1]), abs=1e-6
    )
    assert online.scales2 == pytest.approx(slow.eta, rel=1e-6, abs=1e-9)
    assert model.labels_.tolist() == [slow.predict(x, hard) for x in X]
