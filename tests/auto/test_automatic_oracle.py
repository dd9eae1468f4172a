"""The automatic mode and its plain reference must see the same stream the same way."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spclust import SPC
from spclust.auto import renewal
from spclust.auto.common_drift import NO_GROUP
from spclust.state.automatic_structures import write_z
from tests.reference.automatic import Automatic
from tests.reference.evidence import partition
from tests.strategies import examples, seeds

# Errors of means are relative to the largest coordinate, those of scatters to the largest variance:
# a structure's own may be 0, while the terms that it is computed from are rounded.
PRECISION = 1e-9


@st.composite
def odd_streams(draw, most_points=90):
    """Streams (n, d) of 1 to 4 features with what makes a metric, or a tie, difficult."""
    rng, d = np.random.default_rng(draw(seeds)), draw(st.integers(1, 4))
    n, clusters = draw(st.integers(1, most_points)), draw(st.integers(1, 4))
    labels = rng.integers(clusters, size=n)
    if draw(st.booleans()):  # clusters in sequence
        labels.sort()
    X = rng.normal(scale=10.0, size=(clusters, d))[labels] + rng.normal(size=(n, d))
    if draw(st.integers(0, 2)) == 2:  # all clusters move alike
        X += np.arange(n)[:, np.newaxis] * rng.normal(
            scale=draw(st.sampled_from([0.1, 2.0])), size=d
        )
    if draw(st.booleans()):  # features of very different units, far from 0
        X = X * 10.0 ** rng.uniform(-6, 6, size=d) + 10.0 ** rng.uniform(0, 3, size=d)
    if draw(st.booleans()):  # copies
        X[rng.integers(n, size=n // 5)] = X[rng.integers(n, size=n // 5)]
    if draw(st.booleans()):  # far-away points
        X[rng.integers(n, size=2)] *= 10.0 ** rng.uniform(2, 5)
    if draw(st.integers(0, 2)) == 2:  # a constant feature, perhaps for some time
        X[: draw(st.integers(1, n)), -1] = 7.25
    if draw(st.integers(0, 4)) == 4:  # numbers of few digits, of which many tie
        X = np.round(draw(st.sampled_from([1.0, 4.0])) * X)
    return X


@st.composite
def half_lives(draw):
    """Half-lives in points; no simple fractions, so that no mass is just a quarter of a point."""
    return draw(st.sampled_from([None, 3.7182, 11.4142, 47.1234, 1e4]))


@st.composite
def odd_weights(draw, n):
    """Weights (n,) above 0, or None."""
    rng = np.random.default_rng(draw(seeds))
    some = rng.exponential(size=n) + 0.01
    wide = 10.0 ** rng.uniform(-3, 3, size=n)
    late = np.where(np.arange(n) < n // 2, 1.0, some)
    return draw(st.sampled_from([None, some, 1e6 * some, wide, late]))


def partial_fits(model, X, t, cuts, weights=None):
    for rows in np.split(np.arange(len(X)), sorted(cuts)):
        if rows.size:
            weight = None if weights is None else weights[rows]
            model.partial_fit(X[rows], sample_weight=weight, t=None if t is None else t[rows])
    return model


def run_oracle(oracle, X, t=None, weights=None):
    for i, x in enumerate(X):
        weight = 1.0 if weights is None else weights[i]
        oracle.learn(x, None if t is None else t[i], weight)
    return oracle


def assert_same_structures(oracle, model):
    s = model._stream.structures
    order = np.argsort(s.id[: s.live])
    assert s.id[order].tolist() == [o.id for o in oracle.S]
    assert s.count[order].tolist() == [o.count for o in oracle.S]
    assert (s.seen, s.removed) == (oracle.seen, oracle.removed)
    assert s.mean_weight == pytest.approx(oracle.mean_weight, rel=PRECISION)
    assert np.array_equal(s.unit, oracle.unit)
    mass = s.mass[order] / s.point_mass
    np.testing.assert_allclose(mass, [o.mass for o in oracle.S], rtol=PRECISION)
    means = np.array([o.mean for o in oracle.S])
    largest = np.abs(means).max() + np.abs(oracle.displacement).max()
    assert np.abs(s.mean[order] - means).max() <= PRECISION * largest
    assert np.abs(s.displacement - oracle.displacement).max() <= PRECISION * largest
    assert s.agreeing == oracle.agreeing
    assert s.velocity.any() == oracle.velocity.any()
    np.testing.assert_allclose(s.time[order], [o.time for o in oracle.S], rtol=PRECISION)
    scatters = np.array([oracle.kept(o.scatter) for o in oracle.S])
    got = s.scatter[order] / s.point_mass * (np.eye(oracle.d) if oracle.diagonal else 1.0)
    assert np.abs(got - scatters).max() <= PRECISION * (np.abs(scatters).max() + mass.max())
    np.testing.assert_allclose(s.width, oracle.width, rtol=PRECISION)


def assert_same_clusters(oracle, model):
    """Those that structures were assigned to while learning, and those of a query."""
    s = model._stream.structures
    labels, ids = model.clustering(), np.sort(s.id[: s.live])
    expected = oracle.clusters()
    assume(oracle.sure)
    assert partition(labels, ids) == partition(expected, ids)
    assigned = partition(s.cluster[: s.live], s.id[: s.live])
    assert assigned == partition([o.cluster for o in oracle.S], [o.id for o in oracle.S])
    groups = [NO_GROUP if o.group is None else o.group for o in oracle.S]
    assert np.array_equal(
        np.sort(s.id[: s.live][s.group[: s.live] == NO_GROUP]),
        [o.id for o in oracle.S if o.group is None],
    )
    grouped = partition(s.group[: s.live], s.id[: s.live])
    assert grouped == partition(groups, [o.id for o in oracle.S])


def assert_same_arrivals(oracle, model):
    """Distances of points from home, and how many points each structure missed."""
    s = model._stream.structures
    order = np.argsort(s.id[: s.live])
    missed = s.missed[order] + s.mass[order] * (
        s.cluster_clock[s.cluster[order]] - s.clock_then[order]
    )
    # A clock is a sum over all points: its last digit counts for heavy structures.
    heaviest = float(np.max(s.mass[order]) * np.max(s.cluster_clock))
    expected = [o.missed for o in oracle.S]
    np.testing.assert_allclose(missed, expected, rtol=PRECISION, atol=1e-12 * heaviest)
    recent = np.array(oracle.recent)
    sure = ~np.isnan(recent)
    got = s.recent[2 : 2 + recent.size]
    np.testing.assert_allclose(got[sure], recent[sure], rtol=1e-6, atol=(1e4 * oracle.noise) ** 2)


@examples(60)
@given(odd_streams(), st.integers(1, 12), half_lives(), st.booleans(), st.booleans(), st.data())
def test_learning_gives_the_structures_of_the_reference(X, n, half_life, diagonal, timed, data):
    t = None
    if timed:
        gaps = np.random.default_rng(data.draw(seeds)).exponential(size=len(X))
        t = np.cumsum(np.where(gaps > 3.0, 5.0 * gaps, gaps))
    cuts = data.draw(st.lists(st.integers(1, len(X)), max_size=5))
    weights = data.draw(odd_weights(len(X)))
    oracle = run_oracle(Automatic(n, X.shape[1], half_life, diagonal), X, t, weights)
    assume(oracle.sure)
    model = SPC(n, half_life=half_life, covariance_type="diag" if diagonal else "full")
    partial_fits(model, X, t, cuts, weights)
    assert_same_structures(oracle, model)
    assert_same_arrivals(oracle, model)
    assert_same_clusters(oracle, model)


@pytest.mark.parametrize(("d", "side", "n"), [(1, 12, 8), (2, 4, 5), (2, 6, 11), (3, 3, 11)])
def test_exact_ties_go_to_the_oldest_structures(monkeypatch, d, side, n):
    """With the identity as metric both sides compute the same numbers, to the last bit."""
    monkeypatch.setattr(renewal, "renew_metric", lambda s: write_z(s, s.mean[: s.live]))
    tied = 0
    for seed in range(10, 16):
        X = np.random.default_rng(seed).integers(side, size=(40, d)).astype(float)
        oracle = run_oracle(Automatic(n, d, fitted=False), X)
        model = SPC(n, covariance_type="full").fit(X)
        assert model.structures_.id.tolist() == [s.id for s in oracle.S]
        assert model.structures_.count.tolist() == [s.count for s in oracle.S]
        tied += not oracle.sure
    assert tied > 2
