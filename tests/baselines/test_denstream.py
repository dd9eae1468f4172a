"""DenStream: its laws, and agreement with a slow reference on streams drawn by Hypothesis."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.experiments.baselines import DenStream
from tests.baselines.common import moving_blobs
from tests.reference.denstream import SlowDenStream
from tests.strategies import examples, streams


def test_weights_are_points_that_fade():
    model = DenStream(decay=0.1, mu=3.0).fit(np.zeros((20, 2)))
    (weight,) = model._online.potential.weights(20)
    assert weight == pytest.approx(sum(2.0 ** (-0.1 * k) for k in range(20)))


@pytest.mark.parametrize("offset", [0.0, 5.0, 1e8])
def test_radius_is_the_root_of_the_mean_squared_distance_anywhere(offset):
    X = np.random.default_rng(0).integers(-64, 64, size=(100, 3)) / 64.0  # exact at any offset
    model = DenStream(eps=5.0, decay=0.0).fit(X + offset)
    potential = model._online.potential
    assert potential.n == 1
    assert potential.centre[0] - offset == pytest.approx(X.mean(axis=0), abs=1e-7)
    assert potential.radii()[0] == pytest.approx(math.sqrt(X.var(axis=0).sum()), rel=1e-6)


def test_a_point_is_absorbed_if_the_radius_with_it_stays_within_eps():
    """Two points 2 r apart have radius r."""
    assert DenStream(eps=1.0).fit([[0.0], [2.0]])._online.outlier.n == 1
    assert DenStream(eps=0.999).fit([[0.0], [2.0]])._online.outlier.n == 2


def test_an_outlier_becomes_potential_above_beta_mu():
    model = DenStream(mu=4.0, beta=0.5, decay=0.0).fit(np.zeros((2, 1)))
    assert (model._online.outlier.n, model._online.potential.n) == (1, 0)
    model.partial_fit([[0.0]])
    assert (model._online.outlier.n, model._online.potential.n) == (0, 1)


def test_potential_ones_are_dropped_below_beta_mu_when_the_period_is_over():
    model = DenStream(mu=5.0, beta=0.4, decay=0.05)  # period: log2(2 / 1) / 0.05 = 20
    model.fit(np.zeros((10, 1)))
    assert model._online.period == 20
    weight = model._online.potential.weights(10)[0]
    gone = next(t for t in range(10, 100) if weight * 2 ** (-0.05 * (t - 10)) < 2.0 and t % 20 == 0)
    model.partial_fit(np.full((gone - 11, 1), 9.0))
    assert model._online.potential.n == 2
    model.partial_fit([[9.0]])
    assert model._online.potential.centre[: model._online.potential.n].tolist() == [[9.0]]


def test_a_lonely_outlier_is_dropped_and_a_fresh_one_is_not():
    model = DenStream(mu=5.0, beta=0.4, decay=0.05)  # period 20
    model.fit(np.concatenate([np.zeros((18, 1)), [[50.0]], [[90.0]]]))
    assert model._online.outlier.centre[: model._online.outlier.n].tolist() == [[90.0]]


def with_potential(rows, **params):
    """A model of 1-d potential micro-clusters (centre, weight, radius), mu 6."""
    model = DenStream(mu=6.0, decay=0.0, hard=False, **params).fit([[1e3]])
    for centre, weight, radius in rows:
        model._online.potential.append(np.array([centre]), weight, weight * radius**2, 1, 1)
    model._online.offline = None
    return model


@pytest.mark.parametrize(
    ("apart", "radius", "by_centres", "by_touch"),
    [(0.99, 0.1, True, False), (0.99, 0.499, True, True), (1.01, 0.4, False, False)],
)
def test_cores_are_joined_by_centres_or_by_touch(apart, radius, by_centres, by_touch):
    rows = [(0.0, 6.0, radius), (apart, 9.0, radius)]
    for link, together in [("centres", by_centres), ("touching", by_touch)]:
        labels = with_potential(rows, eps=0.5, link=link).predict([[0.0], [apart]])
        assert (labels[0] == labels[1]) == together


def test_light_ones_beside_a_core_join_it_and_others_are_noise():
    """2.1 is within reach of 1.9, which is too light to take it along."""
    rows = [(-3.0, 5.0, 0.1), (0.0, 6.0, 0.1), (1.9, 5.0, 0.1), (2.1, 5.0, 0.1)]
    model = with_potential(rows, eps=1.0)
    assert model.predict([[-3.0], [0.0], [1.9], [2.1]]).tolist() == [-1, 0, 0, -1]
    assert model.set_params(hard=True).predict([[-3.0], [2.1]]).tolist() == [0, 0]


def test_outliers_have_no_say_in_labels():
    model = with_potential([(0.0, 6.0, 0.1)], eps=1.0)
    assert model._online.outlier.n == 1
    assert model.predict([[1e3]]).tolist() == [0]


def test_beta_mu_must_exceed_one_point():
    with pytest.raises(ValueError, match=r"beta \* mu of DenStream must be above 1.* but is 1"):
        DenStream(mu=2.0, beta=0.5).fit([[0.0]])


def test_far_off_the_origin_nothing_changes():
    X = np.round(moving_blobs() * 1024) / 1024  # exact at the offset
    labels = DenStream(eps=0.7).fit_predict(X)
    assert labels.max() > 0
    assert np.array_equal(DenStream(eps=0.7).fit_predict(X + 2.0**30), labels)


@examples(150)
@given(
    X=streams(most_features=3, most_points=80),
    eps=st.floats(0.5, 20.0),
    mu=st.floats(2.5, 8.0),
    beta=st.floats(0.45, 0.9),
    decay=st.sampled_from([0.0, 0.003, 0.03]),
    link=st.sampled_from(["centres", "touching"]),
    hard=st.booleans(),
)
def test_the_slow_one_agrees(X, hard, **params):
    model, slow = DenStream(hard=hard, **params).fit(X), SlowDenStream(**params)
    for x in X:
        slow.learn(x)
    for rows, expected in [
        (model._online.potential, slow.potential),
        (model._online.outlier, slow.outlier),
    ]:
        assert rows.weights(len(X)) == pytest.approx([slow.weight(mc) for mc in expected])
        for i, mc in enumerate(expected):
            assert rows.centre[i] == pytest.approx(slow.centre(mc))
            assert rows.radii()[i] == pytest.approx(slow.radius(mc), abs=1e-7)
    assert model.labels_.tolist() == [slow.predict(x, hard) for x in X]
