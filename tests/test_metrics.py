from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from spclust import SPC
from spclust.metrics import SCORES, ari, average_purity, nmi, prequential, purity

labels = st.lists(st.integers(-1, 4), min_size=1, max_size=60)


@given(st.data())
def test_scores_are_those_of_scikit_learn_and_of_the_definition(data):
    y = data.draw(labels)
    found = data.draw(st.lists(st.integers(-1, 4), min_size=len(y), max_size=len(y)))
    clusters = [[c for c, own in zip(y, found, strict=True) if own == k] for k in set(found)]
    largest = [max(Counter(classes).values()) for classes in clusters]
    shares = [most / len(classes) for most, classes in zip(largest, clusters, strict=True)]
    assert purity(y, found) == pytest.approx(sum(largest) / len(y))
    assert average_purity(y, found) == pytest.approx(sum(shares) / len(shares))
    assert nmi(y, found) == pytest.approx(normalized_mutual_info_score(y, found))
    assert ari(y, found) == pytest.approx(adjusted_rand_score(y, found))


def test_noise_is_a_cluster_or_many_or_none():
    y, found = [0, 0, 0, 1, 1, 1], [0, 0, -1, 1, 1, -1]
    assert purity(y, found) == pytest.approx(5 / 6)
    assert purity(y, found, noise="singletons") == 1.0
    assert purity(y, found, noise="drop") == 1.0
    assert average_purity(y, found) == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert average_purity(y, [0, 0, -1, 0, 1, 1], noise="singletons") == pytest.approx(8 / 9)
    assert average_purity(y, [0, 0, -1, 0, 1, 1], noise="drop") == pytest.approx(5 / 6)
    assert nmi(y, found, noise="drop") == pytest.approx(1.0)
    assert nmi(y, found, noise="singletons") == pytest.approx(
        normalized_mutual_info_score(y, [0, 0, 2, 1, 1, 3])
    )
    assert ari(y, found, noise="singletons") == pytest.approx(
        adjusted_rand_score(y, [0, 0, 2, 1, 1, 3])
    )


@pytest.mark.parametrize("score", SCORES.values())
def test_names_of_classes_do_not_matter(score):
    y, found = np.array(["a", "b", "b", "c"]), np.array([7, 7, -1, 3])
    again = score([10, 2, 2, 0], [0, 0, -1, 9])
    assert score(y, found) == pytest.approx(again)


@pytest.mark.parametrize("score", SCORES.values())
def test_bad_input_gets_a_sentence(score):
    with pytest.raises(ValueError, match="same length"):
        score([0, 1], [0])
    with pytest.raises(ValueError, match="same length"):
        score([[0]], [[0]])
    with pytest.raises(ValueError, match="no point"):
        score([0, 1], [-1, -1], noise="drop")
    with pytest.raises(ValueError, match="no point"):
        score([], [])
    with pytest.raises(ValueError, match="noise must be"):
        score([0], [0], noise="ignore")


def test_points_are_scored_before_they_are_learnt(X):
    y = np.repeat([0, 1], 150)
    windows = list(prequential(SPC(10, scale=3.0), X, y, window=80, batch=30))
    assert [(one.start, one.stop) for one in windows] == [
        (30, 110),
        (110, 190),
        (190, 270),
        (270, 300),
    ]
    # The first batch of the second cluster is labelled before anything of it was seen.
    assert windows[1].scores["purity"] < 1.0
    assert windows[2].scores["purity"] == 1.0
    assert all(one.noise == 0.0 for one in windows)
    model, expected = SPC(10, scale=3.0), []
    for at in range(0, 300, 30):
        expected.extend(model.predict(X[at : at + 30]) if at else [])
        model.partial_fit(X[at : at + 30])
    assert windows[1].scores["nmi"] == pytest.approx(nmi(y[110:190], expected[80:160]))


def test_prequential_refuses_what_does_not_fit(X):
    with pytest.raises(ValueError, match="300 rows but y has 2"):
        next(prequential(SPC(5), X, [0, 1]))
    with pytest.raises(ValueError, match="at least 1"):
        next(prequential(SPC(5), X, np.zeros(300), window=0))
