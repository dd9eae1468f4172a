"""Told k: so many clusters, of rows and of structures; strays are none of them."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from spclust import SPC
from spclust.auto.clusters.told_count import divided, merged
from tests.auto.automatic_states import half_lives, memory, two_clusters
from tests.saving.crafted_models import sealed, split
from tests.strategies import examples, seeds, streams


def blobs(k, n=2000, d=2, seed=0):
    rng = np.random.default_rng(seed)
    angle = 2.0 * np.pi * np.arange(k) / k
    centres = np.zeros((k, d))
    centres[:, :2] = 6.0 * k * np.column_stack([np.cos(angle), np.sin(angle)])
    y = rng.integers(k, size=n)
    return centres[y] + rng.normal(size=(n, d)), y


@pytest.mark.parametrize("half_life", [None, 500])
@pytest.mark.parametrize("d", [2, 10])
def test_the_clusters_there_are_stay_if_their_number_is_told(d, half_life):
    X, y = blobs(5, d=d)
    model = SPC(n_clusters=5, half_life=half_life).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.98
    assert model.n_clusters_ == 5


@pytest.mark.parametrize("k", [1, 2, 3, 8, 20])
def test_so_many_clusters_are_found_as_are_told(k):
    X, y = blobs(5)
    model = SPC(n_clusters=k).fit(X)
    assert model.n_clusters_ == k == len(set(model.labels_) - {-1}) == model.typicality(X).shape[1]
    assert set(model.structures_.label) - {-1} == set(range(k))
    assert SPC().fit(X).clustering(n_clusters=k).max() == k - 1
    shares = [np.bincount(y[model.labels_ == label], minlength=5) for label in range(k)]
    whole = np.sum([share > 0.9 * np.bincount(y) for share in shares])
    if k <= 5:
        assert whole == 5  # clusters are merged whole
    else:
        assert all((share > 0).sum() == 1 for share in shares)  # and divided one by one


def test_strays_do_not_use_up_the_number():
    X, y = blobs(3)
    rng = np.random.default_rng(1)
    rows = rng.choice(len(X), size=20, replace=False)
    X[rows] = rng.uniform(-300.0, 300.0, size=(20, 2))
    kept = np.delete(np.arange(len(X)), rows)
    model = SPC(n_clusters=3).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y[kept], model.labels_[kept]) > 0.99


@pytest.mark.parametrize("k", [1, 3, 5])
def test_in_the_mode_of_the_paper_it_is_a_cut_of_single_linkage(k):
    X, y = blobs(5)
    model = SPC(scale=1.0, n_clusters=k).fit(X)
    assert model.n_clusters_ == k == len(set(model.labels_))
    assert np.array_equal(model.structures_.label, SPC(scale=1.0).fit(X).clustering(n_clusters=k))
    assert k < 5 or adjusted_rand_score(y, model.labels_) > 0.99
    assert SPC(scale=1.0, n_clusters=k).fit(X[:1]).labels_.tolist() == [0]


def test_a_model_that_has_no_such_cut_can_be_copied():
    model = SPC(scale=1.0, n_clusters=3).partial_fit(100.0 * np.array([[0, 0], [0, 1], [1, 0]]))
    model.partial_fit([[100.0, 100.0]])
    for each in (model, deepcopy(model), pickle.loads(pickle.dumps(model))):
        with pytest.raises(ValueError, match="There is no cut with 3 clusters"):
            each.labels_  # noqa: B018
        assert each.set_params(n_clusters=None).labels_.tolist() == [3]
        each.set_params(n_clusters=3)


@pytest.mark.parametrize("params", [{}, {"scale": 1.0}], ids=["automatic", "paper"])
def test_another_cut_does_not_depend_on_the_number(params):
    X, _ = blobs(5)
    told, found = SPC(n_clusters=2, **params).fit(X), SPC(**params).fit(X)
    for cut in ({"eps": 0.1}, {"eps": 0.9, "min_samples": 2}, {"nlt": 1.0}, {"n_clusters": 3}):
        assert np.array_equal(told.clustering(**cut), found.clustering(**cut))
    assert told.clustering().max() == 1


def test_the_number_may_change_at_any_time_and_changes_nothing_that_is_learnt():
    X, _ = blobs(5)
    model = SPC(n_clusters=3).partial_fit(X[:1000])
    assert model.n_clusters_ == 3
    assert model.set_params(n_clusters=None).n_clusters_ == 5
    assert model.set_params(n_clusters=7).n_clusters_ == 7
    model.partial_fit(X[1000:])
    assert memory(model) == memory(SPC().partial_fit(X))
    again = SPC.from_bytes(model.to_bytes())
    assert again.n_clusters == 7
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("seed", range(4))
def test_labels_last_with_a_number_told(seed):
    """Of four clusters, two pairs: which ones are merged does not depend on chance."""
    rng = np.random.default_rng(seed)
    centres = np.array([(0.0, 0.0), (0.0, 10.0), (100.0, 0.0), (100.0, 10.0)])
    X = centres[rng.integers(4, size=4000)] + rng.normal(size=(4000, 2))
    model = SPC(n_clusters=2, half_life=200).partial_fit(X[:1000])
    labels = []
    for start in range(1000, len(X), 100):
        labels.append(model.predict(X[start : start + 100]))
        model.partial_fit(X[start : start + 100])
    assert len(set(np.concatenate(labels)) - {-1}) == 2


@examples(40)
@given(streams(), half_lives, st.integers(1, 10))
def test_any_stream_has_at_most_so_many_clusters(X, h, k):
    model = SPC(10, half_life=h, n_clusters=k).fit(X)
    counted = int((model.structures_.label >= 0).sum())
    assert model.n_clusters_ == min(k, counted)
    assert set(model.labels_) <= {-1, *range(k)}


@examples(40)
@given(seeds, st.integers(2, 20), st.integers(1, 4))
def test_ward_within_groups_is_the_definition(seed, n, k):
    rng = np.random.default_rng(seed)
    place, mass = rng.normal(size=(n, 2)), rng.integers(1, 9, size=n).astype(float)
    groups = rng.integers(2, size=n)
    groups = np.unique(groups, return_inverse=True)[1]
    many = max(k, int(groups.max()) + 1)
    parts = [[i] for i in range(n)]

    def squares(part):
        middle = np.average(place[part], axis=0, weights=mass[part])
        return float(np.sum(mass[part] * np.sum((place[part] - middle) ** 2, axis=1)))

    while len(parts) > many:
        costs = {
            (a, b): squares(parts[a] + parts[b]) - squares(parts[a]) - squares(parts[b])
            for b in range(len(parts))
            for a in range(b)
            if groups[parts[a][0]] == groups[parts[b][0]]
        }
        a, b = min(costs, key=costs.__getitem__)
        parts[a] += parts.pop(b)
    found = divided(place, mass, groups, many)
    assert sorted(map(sorted, parts)) == sorted(
        sorted(np.flatnonzero(found == label).tolist()) for label in set(found.tolist())
    )


def test_light_clusters_are_merged_before_heavy_ones():
    z = np.array([[0.0], [10.0], [17.0]])  # the first two are farther apart than the last two
    assert merged(z, np.array([9.0, 1.0, 1.0]), np.arange(3), 2).tolist() == [0, 1, 1]
    assert merged(z, np.array([1.0, 9.0, 9.0]), np.arange(3), 2).tolist() == [0, 0, 1]


def test_a_number_that_is_no_number_of_clusters_is_refused():
    X, _ = two_clusters(300)
    for wrong in (0, -1, 1.5, True, "many"):
        with pytest.raises(ValueError, match=r"n_clusters of SPC must be None or an integer"):
            SPC(n_clusters=wrong).fit(X)
        with pytest.raises(ValueError, match=r"n_clusters must be an integer"):
            SPC().fit(X).clustering(n_clusters=wrong)
    with pytest.raises(ValueError, match=r"There are \d+ structures: they cannot make up 1000"):
        SPC().fit(X).clustering(n_clusters=1000)


@pytest.mark.parametrize(
    ("params", "most"), [({}, 100), ({"n_structures": 5}, 5), ({"scale": 1.0}, 30)], ids=str
)
def test_more_clusters_than_structures_are_refused(params, most):
    X, _ = blobs(5)
    sentence = rf"^n_clusters of SPC must not exceed n_structures, {most}, but is {most + 1}: .*\.$"
    with pytest.raises(ValueError, match=sentence):
        SPC(n_clusters=most + 1, **params).fit(X)
    model = SPC(n_clusters=most, **params).fit(X)
    assert 0 < model.n_clusters_ <= most
    model.set_params(n_clusters=most + 1)
    for query in (lambda: model.predict(X), lambda: model.labels_, lambda: model.learn_one(X[0])):
        with pytest.raises(ValueError, match=sentence):
            query()


@pytest.mark.parametrize("params", [{}, {"scale": 1.0}], ids=str)
def test_a_file_with_more_clusters_than_structures_is_read_as_it_was_used(params):
    X, _ = blobs(5)
    model = SPC(4, n_clusters=4, **params).fit(X)
    header, body = split(model.to_bytes())
    header["parameters"]["n_clusters"] = 7
    again = SPC.from_bytes(sealed(header, body))
    assert again.n_clusters == 4
    assert np.array_equal(again.predict(X), model.predict(X))


def test_real_tables_told_k_are_as_good_as_by_k_means():
    """Means of three; k-means sees all rows of standardised features at once, ten times."""
    ours, theirs = [], []
    for load in (load_digits, load_iris, load_wine):
        X, y = load(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(X))
        X, y, k = X[order], y[order], len(np.unique(y))
        ours.append(normalized_mutual_info_score(y, SPC(n_clusters=k).fit(X).labels_))
        scaled = X / np.where(X.std(axis=0) > 0.0, X.std(axis=0), 1.0)
        means = KMeans(k, n_init=10, random_state=0).fit_predict(scaled)
        theirs.append(normalized_mutual_info_score(y, means))
    assert np.mean(ours) > 0.95 * np.mean(theirs)
