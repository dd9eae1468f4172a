"""Gaps that densities do not show: the compiled path, its reference, and what they find."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score as nmi

from spclust import SPC
from spclust.auto.clusters.evidence import clusters_of
from tests.auto.test_parts import reference
from tests.reference.evidence import partition
from tests.strategies import examples, seeds

NO_GAPS = "spclust.auto.clusters.evidence.divide_by_gaps"


def disc_in_ring(seed, gap, share=0.5, d=2, n=1500):
    """Points of a disc with the radius 4, and of a ring around it that ends at 10."""
    rng = np.random.default_rng(seed)
    of = (rng.random(n) > share).astype(int)
    low, high = np.where(of, 4.0 + gap, 0.0), np.where(of, 10.0, 4.0)
    radius = (low**d + rng.random(n) * (high**d - low**d)) ** (1.0 / d)
    direction = rng.normal(size=(n, d))
    return radius[:, np.newaxis] * direction / np.linalg.norm(direction, axis=1)[:, np.newaxis], of


@examples(12)
@given(seeds, st.sampled_from([2, 3]), st.floats(0.5, 3.0), st.floats(0.1, 0.9), st.booleans())
def test_clusters_are_those_of_the_reference(seed, d, gap, share, diagonal):
    X, _ = disc_in_ring(seed, gap, share, d, n=600)
    s = SPC(60, covariance_type="diag" if diagonal else "full").fit(X)._stream.structures
    found = clusters_of(s)[np.argsort(s.id[: s.live])]
    assert partition(found, range(s.live)) == partition(reference(s), range(s.live))


def test_a_gap_divides_what_is_otherwise_one(monkeypatch):
    sets = [disc_in_ring(seed, 1.1, 0.8) for seed in range(6)]
    assert np.mean([nmi(y, SPC().fit(X).labels_) for X, y in sets]) > 0.85
    monkeypatch.setattr(NO_GAPS, lambda labels, *_: labels)
    assert np.mean([nmi(y, SPC().fit(X).labels_) for X, y in sets]) < 0.6


@pytest.mark.parametrize("d", [2, 3])
def test_without_a_gap_a_change_of_density_divides_nothing(d):
    found = [SPC().fit(disc_in_ring(seed, 0.0, 0.5, d)[0]).n_clusters_ for seed in range(10)]
    assert np.mean(np.array(found) == 1) >= 0.8
