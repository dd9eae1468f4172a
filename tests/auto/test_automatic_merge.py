"""Models of the automatic mode that are merged."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spclust import SPC, merge_all
from spclust.auto.home import last_distances, latest_median
from tests.auto.automatic_states import half_lives, memory, two_clusters
from tests.strategies import examples, streams

FADED = 0.25  # of a point: a structure of less is forgotten


def total_and_mean(model):
    """Faded number of all points, and their mean."""
    faded = model._stream.faded_counts()
    return faded.sum(), np.average(model.structures_.mean, axis=0, weights=faded)


def remembered(faded, n, h):
    """True for structures with these faded counts (k,) that a merge keeps, of more than n."""
    if h is None or faded.size <= n:
        return np.full(faded.size, True)
    assume(not np.any(np.isclose(faded, FADED, rtol=1e-9)))
    kept = faded >= FADED
    kept[faded.argmax()] |= not kept.any()
    return kept


@examples(40)
@given(
    streams(least_points=12),
    st.integers(1, 20),
    half_lives,
    st.sampled_from(["concurrent", "later"]),
    st.booleans(),
    st.integers(2, 5),
)
def test_a_merge_conserves_what_is_not_forgotten(X, n, h, when, timed, shards):
    parts, t = np.array_split(np.arange(len(X)), shards), np.arange(float(len(X))) ** 1.1
    models = [
        SPC(n, half_life=h, covariance_type="diag").fit(X[rows], t=t[rows] if timed else None)
        for rows in parts
    ]
    before = [memory(model) for model in models]
    whole = merge_all(models, when=when)
    assert [memory(model) for model in models] == before
    table = whole.structures_
    assert whole.n_samples_seen_ == len(X)
    assert table.count.sum() + whole._stream.pruned == len(X)
    assert (np.diff(table.id) > 0).all()
    # Each fades until the last stamp of all; without stamps, for as many points as came later.
    ages = np.zeros(shards)
    if timed:
        ages = np.array([t[-1] - t[rows[-1]] for rows in parts])
    elif when == "later":
        ages = np.array([len(X) - 1.0 - rows[-1] for rows in parts])
    factors = np.ones(shards) if h is None else 2.0 ** -(ages / h)
    pairs = zip(models, factors, strict=True)
    faded = np.concatenate([model._stream.faded_counts() * factor for model, factor in pairs])
    faded = np.maximum(faded, 1e-100)
    kept = remembered(faded, n, h)
    counts, means = (
        np.concatenate([getattr(model.structures_, name) for model in models])[kept]
        for name in ("count", "mean")
    )
    assert len(table) == min(n, kept.sum())
    assert table.count.sum() == counts.sum()
    total, mean = total_and_mean(whole)
    assert total == pytest.approx(faded[kept].sum(), rel=1e-9)
    error = 1e-9 * np.abs(X).max()
    np.testing.assert_allclose(mean, np.average(means, axis=0, weights=faded[kept]), atol=error)
    if timed:
        assert whole._stream.clock == t[-1]
        whole.partial_fit(X[:1], t=t[-1] + 1.0)
    else:
        whole.partial_fit(X[:1])
    assert whole.n_samples_seen_ == len(X) + 1


def test_shards_of_a_stream_have_its_clusters():
    X, y = two_clusters(2000)
    for h in (None, 400.0):
        whole = merge_all([SPC(40, half_life=h).fit(X[k::4]) for k in range(4)])
        assert whole.n_clusters_ == 2
        labels = whole.predict(X)
        assert len(set(labels[y == 0])) == len(set(labels[y == 1])) == 1


@pytest.mark.parametrize("points", [150, 700, 1500])
def test_the_last_distances_of_all_shards_are_the_last_ones_after_the_merge(points):
    X, _ = two_clusters(2 * points)
    shards = [SPC(half_life=100.0).fit(part) for part in np.split(X, 2)]
    for shard, distance in zip(shards, (3.0, 4.0), strict=True):
        s = shard._stream.structures
        s.recent[s.recent < np.inf] = 50.0
        s.recent[np.arange(s.seen - 100, s.seen) % s.recents] = distance
    s = merge_all(shards)._stream.structures
    assert last_distances(s, 300).size == min(300, 2 * points - 4)
    last = last_distances(s, 80)
    assert last.max() == 4.0
    assert last.mean() == pytest.approx(3.5, abs=0.01)
    assert latest_median(s) in (3.0, 3.5, 4.0)


def test_shards_that_begin_elsewhere_and_in_other_units_lose_no_digit():
    X, _ = two_clusters(400)
    near, far = X[:200], 1000.0 * X[200:] + 1e6
    model = SPC(400).fit(near).merge(SPC(400).fit(far))
    np.testing.assert_allclose(model.structures_.mean, np.concatenate([near, far]), rtol=1e-12)


def test_what_was_learnt_later_counts_more():
    X, _ = two_clusters(300, apart=0.0)
    early, late = SPC(10, half_life=30.0).fit(X), SPC(10, half_life=30.0).fit(X + 100.0)
    after = merge_all([early, late], when="later")
    assert total_and_mean(after)[1][0] > 99.0
    beside = merge_all([early, late])
    assert total_and_mean(beside)[1][0] == pytest.approx(50.0, abs=1.0)


def test_hundreds_of_models_are_merged_in_groups():
    X, _ = two_clusters(3000)
    whole = merge_all([SPC(20).fit(part) for part in np.split(X, 300)])
    assert len(whole.structures_) == 20
    assert whole.structures_.count.sum() == 3000
    assert whole.n_clusters_ == 2
