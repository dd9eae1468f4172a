"""Parts of clusters in many dimensions: the compiled path, its reference, and what they find."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import normalized_mutual_info_score as nmi

from spclust import SPC
from spclust.auto.clusters.evidence import clusters_of
from spclust.auto.clusters.ward import ward_merges
from spclust.state.automatic_structures import read_z
from tests.reference.evidence import clusters_by_evidence, partition
from tests.strategies import examples, seeds


def overlapping(seed, d, clusters, spread, n=1500):
    """Normal clusters around random centres, of which many overlap."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=spread, size=(clusters, d))
    return centres[rng.integers(clusters, size=n)] + rng.normal(size=(n, d))


def reference(s):
    """Clusters of the reference, for the structures of a state in the order of age."""
    order = np.argsort(s.id[: s.live])
    z = read_z(s, order)
    mass = s.mass[order]
    scatter = s.scatter[order] * (np.eye(s.d) if s.diagonal else 1.0)
    A = np.diag(s.metric[0]) if s.diagonal else s.metric
    covariance = A @ scatter @ A.T / mass[:, np.newaxis, np.newaxis]
    how = {"fades": s.half_life < np.inf, "weighted": bool(s.weighted)}
    return clusters_by_evidence(z, mass / s.point_mass, covariance, **how)


@examples(20)
@given(seeds, st.integers(4, 12), st.integers(4, 8), st.floats(1.3, 1.6), st.booleans())
def test_clusters_are_those_of_the_reference(seed, d, clusters, spread, diagonal):
    kind = "diag" if diagonal else "full"
    model = SPC(covariance_type=kind).fit(overlapping(seed, d, clusters, spread))
    s = model._stream.structures
    order = np.argsort(s.id[: s.live])
    found = clusters_of(s)[order]
    assert partition(found, range(s.live)) == partition(reference(s), range(s.live))


def test_some_of_these_clusters_have_parts(monkeypatch):
    """Otherwise the comparison with the reference would say nothing about them."""
    X = [overlapping(seed, 8, 12, 1.5, n=2000) for seed in range(6)]
    with_parts = [SPC().fit(x).n_clusters_ for x in X]
    monkeypatch.setattr(
        "spclust.auto.clusters.evidence.divide_into_parts", lambda labels, *_: labels
    )
    without = [SPC().fit(x).n_clusters_ for x in X]
    assert sum(a > b for a, b in zip(with_parts, without, strict=True)) >= 2


@given(seeds, st.integers(2, 12), st.integers(1, 3))
def test_merges_are_the_cheapest_ones(seed, k, groups):
    rng = np.random.default_rng(seed)
    z, mass, group = rng.normal(size=(k, 3)), rng.uniform(1, 9, k), rng.integers(-1, groups, k)
    centre, weight, left = z.copy(), mass.copy(), list(np.flatnonzero(group >= 0))
    for a, b in ward_merges(z, mass, group):
        pairs = [(i, j) for i in left for j in left if i < j and group[i] == group[j]]
        costs = {
            (i, j): weight[i] * weight[j] / (weight[i] + weight[j])
            * np.sum((centre[i] - centre[j]) ** 2)
            for i, j in pairs
        }  # fmt: skip
        assert (a, b) == min(pairs, key=costs.__getitem__)
        centre[a] = np.average(centre[[a, b]], axis=0, weights=weight[[a, b]])
        weight[a] += weight[b]
        left.remove(b)
    assert len({group[i] for i in left}) == len(left)


@pytest.mark.parametrize(("load", "least"), [(load_digits, 0.45), (load_wine, 0.6)])
def test_classes_that_overlap_are_found_in_tables(load, least):
    X, y = load(return_X_y=True)
    scores = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(X))
        scores.append(nmi(y[order], SPC().fit(X[order]).labels_))
    assert np.mean(scores) > least
