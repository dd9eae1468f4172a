"""What compiled loops make of two looks, beside array operations and sets."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import spclust
from spclust.datasets import make_drifting
from spclust.tracking import comparison as comparing
from spclust.tracking import tracker as tracking
from spclust.tracking.observation import NOBODY, Observation, observe
from tests.fixed import SPC
from tests.reference import observations as reference
from tests.strategies import examples, seeds


def situation(seed):
    """A look, what was known before it, and where names were: few of each, so that they clash."""
    rng = np.random.default_rng(seed)
    k, d, names = rng.integers(0, 12), rng.integers(1, 4), np.flatnonzero(rng.integers(2, size=6))
    ids = np.sort(rng.permutation(20)[:k])
    cluster = rng.integers(-1, rng.integers(1, 6), size=k)
    mass = rng.choice([0.0, 0.5, 1.0, 2.0, 4.0, 20.0], size=k)
    mean = rng.integers(-5, 6, size=(k, d)).astype(float)
    now = Observation(9, ids, cluster, mass, mean, rng.uniform(0.0, 2.0, size=k))
    known = np.sort(rng.permutation(20)[: rng.integers(0, 15)])
    owners = rng.choice([NOBODY, *names], size=known.size)
    return now, known, owners, names, rng.normal(scale=5.0, size=(names.size, d))


@examples(500)
@given(seeds)
def test_looks_are_compared_as_with_arrays(seed):
    now, known, owners, names, before = situation(seed)
    seen, expected = (way.compared(now, known, owners, names) for way in (comparing, reference))
    for ours, theirs in zip(seen, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert comparing.changes(seen, now).tolist() == reference.changes(seen, now).tolist()
    whose = comparing.followed(seen, now)
    assert whose.tolist() == reference.followed(seen, now).tolist()
    far, centres = comparing.moved(now, whose, names, before)
    far_too, centres_too = reference.moved(now, whose, names, before)
    assert far.tolist() == far_too.tolist()
    np.testing.assert_allclose(centres, centres_too, rtol=1e-12, atol=1e-12)


def test_situations_have_something_of_everything():
    kinds, changed, far = set(), 0, []
    for seed in range(300):
        now, known, owners, names, before = situation(seed)
        seen = reference.compared(now, known, owners, names)
        kinds.update(reference.changes(seen, now)[:, 0].tolist())
        whose = reference.followed(seen, now)
        changed += np.any(whose != seen.assigned)
        far.extend(reference.moved(now, whose, names, before)[0])
    assert kinds == {comparing.GONE, comparing.SPLIT, comparing.MERGE, comparing.BIRTH}
    assert changed > 50
    assert 0.1 < np.mean(far) < 0.9


@examples(6)
@given(seeds, st.integers(1, 60), st.sampled_from([0.0, 0.02]), st.sampled_from([0.95, "auto"]))
def test_streams_have_the_events_that_array_operations_see(seed, every, beta, eps):
    X, _, _ = make_drifting(n_samples=3_000, n_events=6, seed=seed)
    ours = SPC(40, scale=1.5, beta=beta, gamma=0.1, nlt_max=0.001, track_every=every, eps=eps)
    with mock.patch.object(tracking, "comparison", reference):
        theirs = clone(ours).fit(X)
    ours.fit(X)
    assert ours.cluster_ids_.tolist() == theirs.cluster_ids_.tolist()
    for mine, other in zip(ours.events_, theirs.events_, strict=True):
        assert (mine.kind, mine.index, mine.before) == (other.kind, other.index, other.before)
        assert mine.after == other.after
        assert mine.centre == pytest.approx(other.centre, rel=1e-9, abs=1e-9)


def look_and_table(model):
    """A look at a model, once it has learnt rows, and its table; the two must agree."""
    X = np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 20.0, 300.0] + 50.0
    table = model.fit(X).structures_
    labels = table.label
    now = observe(model._stream, labels)
    assert now.seen == 300
    assert now.id.tolist() == table.id.tolist()
    assert now.cluster is labels
    np.testing.assert_allclose(now.mean, table.mean, rtol=1e-12)
    return now, table


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_a_look_shows_what_the_table_of_structures_of_the_automatic_mode_says(kind):
    model = spclust.SPC(12, covariance_type=kind, half_life=100.0)
    now, table = look_and_table(model)
    np.testing.assert_allclose(now.weight / now.weight.sum(), table.weight, rtol=1e-12)
    traces = np.trace(table.covariance, axis1=1, axis2=2) / 3.0
    assert np.ptp(traces) > 0.01
    np.testing.assert_allclose(now.variance, traces, rtol=1e-9)


@pytest.mark.parametrize("kind", ["full", "diag", "spherical", "lowrank"])
def test_a_look_shows_what_the_table_of_structures_says(kind):
    model = SPC(12, scale=1.5, covariance_type=kind, beta=0.001)
    now, table = look_and_table(model)
    s, order = model._stream.structures, model._stream.order()
    np.testing.assert_array_equal(now.weight, s.total[order])
    spreads = table._covariances.dense()  # in units of scale, which may be those of the features
    traces = np.trace(spreads, axis1=1, axis2=2) / 3.0
    assert np.ptp(traces) > 0.01
    np.testing.assert_allclose(now.variance, traces * np.mean(model._stream.unit**2), rtol=1e-9)
