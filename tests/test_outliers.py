"""Rows that are typical nowhere: outlier_nlt of SPC, and the detector of outliers."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from benchmarks import outlier_streams
from benchmarks import outliers as benchmark
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import spclust
from spclust import SPCOutlierDetector
from spclust.estimators import last_batch as last_rows
from spclust.estimators import outlier_detector as outliers
from spclust.stream.stream import Stream
from tests.fixed import SPC
from tests.strategies import examples, online_params, streams

DETECTORS = [
    SPCOutlierDetector(),
    SPCOutlierDetector(contamination=0.1),
    SPCOutlierDetector(5, half_life=50.0, covariance_type="diag", contamination=0.2),
    SPCOutlierDetector(
        5, gamma=0.1, beta=0.05, covariance_type="diag", contamination=0.2, scale=1.0
    ),
]
FAR = np.array([[10.0, 10.0], [-500.0, 3.0]])  # between the two blobs of X, and beyond them


def state(model):
    return model._stream.structures.memory.tobytes()


@parametrize_with_checks(DETECTORS, xfail_strict=True)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_inplace_ensure_writeable,
    ],
    ids=lambda check: check.__name__,
)
def test_scikit_learns_checks_outside_its_suite(check):
    check("SPCOutlierDetector", SPCOutlierDetector())


# outlier_nlt


@given(X=streams(), params=online_params(), limit=st.floats(0.0, 5.0))
def test_outliers_are_the_rows_above_the_limit_and_all_others_stay(X, params, limit):
    model = SPC(**params).partial_fit(X)
    before, plain, scores = state(model), model.predict(X), model.score_samples(X)
    labels = model.set_params(outlier_nlt=limit).predict(X)
    assert np.array_equal(labels, np.where(-scores > limit, -1, plain))
    assert state(model) == before


@given(X=streams(), params=online_params(), limit=st.floats(0.0, 2.0))
def test_labels_agree_with_predict_and_have_no_gap(X, params, limit):
    model = SPC(**params, outlier_nlt=limit).fit(X)
    assert np.array_equal(model.labels_, model.predict(X))
    kept = np.unique(model.labels_[model.labels_ >= 0])
    assert kept.tolist() == list(range(len(kept)))
    model.set_params(outlier_nlt=limit / 2)
    assert np.array_equal(model.labels_, model.predict(X))
    model.partial_fit(X[:5])
    assert np.array_equal(model.labels_, model.predict(X[:5]))


def test_a_cluster_of_outliers_alone_leaves_no_gap():
    """Found by search: without outliers the same stream has rows in more clusters."""
    for seed in range(300):
        X = np.random.default_rng(seed).normal(size=(60, 2)) * 3
        plain = SPC(8, gamma=1.0).fit(X)
        strict = SPC(8, gamma=1.0, outlier_nlt=0.005).fit(X)
        kept = np.unique(strict.labels_[strict.labels_ >= 0])
        assert kept.tolist() == list(range(len(kept)))
        if 0 < len(kept) < len(np.unique(plain.labels_)):
            return
    pytest.fail("no such stream was found: the case is not tested")


def test_points_far_from_everything_belong_to_no_cluster(X):
    model = SPC(30, scale=2.0).fit(X)
    assert (model.predict(FAR) >= 0).all()
    model.set_params(outlier_nlt=3.0)
    assert model.predict(FAR).tolist() == [-1, -1]
    assert model.predict([[0.0, 0.0], [20.0, 20.0]]).tolist() == [0, 1]
    assert model.typicality(FAR).max() < np.exp(-3.0)


def test_the_limit_may_change_between_points(X):
    changed, unchanged = SPC(10).fit(X), SPC(10).fit(X)
    for i, row in enumerate(X):
        changed.outlier_nlt = None if i % 3 else float(i)
        changed.learn_one(row)
        assert changed._learner is not None
        unchanged.learn_one(row)
    assert state(changed) == state(unchanged)


def test_labels_of_rows_that_are_gone_are_not_made_up(X, monkeypatch):
    model = SPC(10).fit(X).set_params(outlier_nlt=1.0)
    with pytest.raises(AttributeError, match="outlier_nlt was another one when the rows"):
        _ = model.labels_
    assert len(model.set_params(outlier_nlt=None).labels_) == len(X)
    model.partial_fit(X).set_params(outlier_nlt=1.0)  # rows of a small batch are still there
    assert np.array_equal(model.labels_, model.predict(X))
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(restored.labels_, model.labels_)
    monkeypatch.setattr(last_rows, "_LARGEST_KEPT", 100)
    model.partial_fit(X)
    assert np.array_equal(model.labels_, model.predict(X))


def test_no_limit_costs_nothing(X, monkeypatch):
    def refuse(*_):
        pytest.fail("NLT was computed")

    model = SPC(10)
    monkeypatch.setattr(Stream, "nlt", refuse)
    model.fit(X).predict(X)
    assert len(model.partial_fit(X).labels_) == len(X)


@pytest.mark.parametrize("value", [-1.0, np.inf, np.nan, True])
def test_a_wrong_limit_is_refused_when_it_is_used(X, value):
    model = SPC(10).fit(X).set_params(outlier_nlt=value)
    with pytest.raises(
        ValueError, match=r'outlier_nlt of SPC must be None or "auto" or a num.* but'
    ):
        model.predict(X)


# The detector


def with_outliers(n=600, share=0.05, seed=0):
    """Two Gaussians in five dimensions; some points, at random times, are from anywhere."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, 5)) + 12.0 * rng.integers(2, size=(n, 1))
    X[y] = rng.uniform(-15, 25, size=(y.sum(), 5))
    return X, y


@pytest.mark.parametrize("kind", ["full", "lowrank", "diag", "spherical"])
def test_outliers_are_found_before_and_after_they_are_learnt(kind):
    X, y = with_outliers()
    model = SPCOutlierDetector(scale=1.5, covariance_type=kind)
    assert roc_auc_score(y, -model.fit(X).score_samples(X)) > 0.95
    model, scores = clone(model).partial_fit(X[:50]), []
    for start in range(50, len(X), 50):
        rows = X[start : start + 50]
        scores.append(model.score_samples(rows))
        model.partial_fit(rows)
    assert roc_auc_score(y[50:], -np.concatenate(scores)) > 0.95


def test_a_lonely_point_does_not_vouch_for_itself(X):
    rows = np.concatenate([X, FAR])
    model = SPCOutlierDetector(scale=2.0).fit(rows)
    assert model.predict(FAR).tolist() == [-1, -1]
    assert model.model_.score_samples(FAR).tolist() == [0.0, 0.0]  # each has its own structure
    assert model.fit_predict(rows)[:-2].min() == 1


def test_single_points_count_while_there_is_nothing_else(X):
    model = SPCOutlierDetector(scale=2.0).fit(X[:5])
    assert (model.score_samples(X[:5]) == 0.0).all()


def test_automatic_threshold_is_the_one_of_pruning(X):
    for nlt_max in (3.0, 1.0):
        model = SPCOutlierDetector(scale=2.0, nlt_max=nlt_max).fit(X)
        assert model.offset_ == -nlt_max
        rows = np.concatenate([X, FAR])
        scores = model.score_samples(rows)
        assert np.array_equal(model.decision_function(rows), scores + nlt_max)
        assert np.array_equal(model.predict(rows), np.where(scores < -nlt_max, -1, 1))
        assert model.partial_fit(X).offset_ == -nlt_max


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_contamination_is_the_share_of_outliers_after_fit(share):
    X, _ = with_outliers(n=1000)
    model = SPCOutlierDetector(scale=0.5, contamination=share).fit(X)
    assert np.mean(model.predict(X) == -1) == pytest.approx(share, abs=0.01)


def test_contamination_of_a_stream_is_the_share_of_alarms_before_learning():
    X, _ = with_outliers(n=3000)
    model, alarms = SPCOutlierDetector(scale=1.5, contamination=0.05), []
    for rows in np.split(X, 300):
        if alarms or model.__sklearn_is_fitted__():
            alarms.append(model.predict(rows) == -1)
        model.partial_fit(rows)
    assert np.mean(alarms[150:]) == pytest.approx(0.05, abs=0.015)


@examples(20)
@given(X=streams(most_points=60), params=online_params(most_structures=8), data=st.data())
def test_any_split_of_a_stream_gives_the_same_state_and_threshold(X, params, data):
    whole = SPCOutlierDetector(**params, contamination=0.1).partial_fit(X)
    cuts = data.draw(st.lists(st.integers(1, len(X)), max_size=4).map(sorted))
    parts = SPCOutlierDetector(**params, contamination=0.1)
    for rows in np.split(X, cuts):
        if len(rows):
            parts.partial_fit(rows)
    assert parts.offset_ == whole.offset_
    assert state(parts.model_) == state(whole.model_) == state(SPC(**params).fit(X))


def test_each_point_is_scored_before_it_is_learnt(X):
    model = SPCOutlierDetector(10, contamination=0.1, scale=1.0).partial_fit(X)
    other, expected = SPCOutlierDetector(10, scale=1.0).partial_fit(X[:1]), []
    for row in X[1:, np.newaxis]:
        expected.append(other.score_samples(row)[0])
        other.partial_fit(row)
    assert model._recent.tolist() == expected
    assert model.offset_ == np.quantile(expected, 0.1)


def test_memory_of_scores_is_bounded(X, monkeypatch):
    monkeypatch.setattr(outliers, "_MOST_SCORES", 50)
    model = SPCOutlierDetector(10, contamination=0.1, scale=1.0).fit(X)
    assert model.offset_ == np.quantile(model.score_samples(X), 0.1)
    for _ in range(3):
        assert len(model.partial_fit(X)._recent) == 50
    assert model.offset_ == np.quantile(model._recent, 0.1)


@pytest.mark.parametrize("scale", ["auto", 1.0])
def test_reading_changes_no_bit_and_copies_learn_apart(X, scale):
    model = SPCOutlierDetector(10, contamination=0.1, scale=scale).fit(X)
    before = state(model.model_)
    model.predict(X), model.score_samples(X), model.decision_function(X), repr(model)
    for duplicate in (copy.copy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(duplicate.predict(X), model.predict(X))
        duplicate.partial_fit(9 * X)
    assert state(model.model_) == before
    assert not hasattr(clone(model), "offset_")


def test_parameters_in_the_middle_of_a_stream_follow_the_rules_of_spc(X):
    model = SPCOutlierDetector(10, scale=1.0).partial_fit(X)
    before = state(model.model_)
    with pytest.raises(ValueError, match=r"scale was changed from 1\.0 to 2\.0 in the middle"):
        model.set_params(scale=2.0).partial_fit(X)
    assert state(model.model_) == before
    model.set_params(scale=1.0, beta=0.1, contamination=0.2).partial_fit(X)
    assert model.offset_ == np.quantile(model._recent, 0.2)
    assert model.model_.beta == 0.1


def test_wrong_parameters_and_rows_are_refused_in_the_name_of_the_detector(X):
    for bad in (0.0, 0.6, -0.1, "some", True, None):
        with pytest.raises(ValueError, match=r"contamination.* of SPCOutlierDetector must be"):
            SPCOutlierDetector(contamination=bad).fit(X)
    with pytest.raises(ValueError, match='n_structures of SPCOutlierDetector must be "auto" or'):
        SPCOutlierDetector(n_structures=True).fit(X)
    model = SPCOutlierDetector(10).fit(pd.DataFrame(X, columns=["speed", "load"]))
    assert model.feature_names_in_.tolist() == ["speed", "load"]
    with pytest.raises(ValueError, match="must be in the same order"):
        model.partial_fit(pd.DataFrame(X, columns=["load", "speed"]))
    with pytest.raises(ValueError, match="SPCOutlierDetector is expecting 2 features"):
        SPCOutlierDetector().fit(X).partial_fit(np.ones((2, 3)))
    with pytest.raises(ValueError, match="row 1, column 'load'"):
        model.fit(pd.DataFrame({"speed": [1.0, 2.0], "load": [1.0, np.nan]}))
    assert model.model_.n_samples_seen_ == len(X)


# The detector in the automatic mode


def gaussians(n, d, clusters, seed):
    rng = np.random.default_rng(seed)
    centres = 12.0 * rng.normal(size=(clusters, d))
    shapes = rng.normal(size=(clusters, d, d)) / np.sqrt(d)
    y = rng.integers(clusters, size=n)
    return centres[y] + np.einsum("nij,nj->ni", shapes[y], rng.normal(size=(n, d)))


@pytest.mark.parametrize("params", [{"contamination": 0.01}, {}, {"half_life": 2000.0}], ids=str)
@pytest.mark.parametrize(("d", "clusters"), [(1, 1), (2, 1), (2, 4), (5, 3), (10, 2)])
def test_of_a_clean_stream_one_in_a_hundred_is_reported(params, d, clusters):
    X, model, alarms = gaussians(12_000, d, clusters, seed=d), SPCOutlierDetector(**params), []
    for rows in np.split(X, 240):
        if model.__sklearn_is_fitted__():
            alarms.append(model.predict(rows) == -1)
        model.partial_fit(rows)
    assert 0.005 < np.mean(alarms[40:]) < 0.02  # 2,000 points to settle


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_contamination_is_the_share_of_alarms_in_the_automatic_mode_too(share):
    X, model, alarms = gaussians(9_000, 3, 3, seed=0), SPCOutlierDetector(contamination=share), []
    for rows in np.split(X, 180):
        if model.__sklearn_is_fitted__():
            alarms.append(model.predict(rows) == -1)
        model.partial_fit(rows)
    assert np.mean(alarms[40:]) == pytest.approx(share, rel=0.4)


@pytest.mark.parametrize("params", [{}, {"half_life": 200.0}, {"covariance_type": "diag"}], ids=str)
def test_automatic_detectors_find_outliers_before_and_after_they_are_learnt(params):
    X, y = with_outliers(n=1500)
    model = SPCOutlierDetector(**params)
    assert roc_auc_score(y, -model.fit(X).score_samples(X)) > 0.95
    model, scores = clone(model).partial_fit(X[:100]), []
    for rows in np.split(X[100:], 28):
        scores.append(model.score_samples(rows))
        model.partial_fit(rows)
    assert roc_auc_score(y[100:], -np.concatenate(scores)) > 0.95


@pytest.mark.parametrize("n", [200, 1000, 3000])
def test_after_fit_one_in_a_hundred_rows_is_reported_and_of_other_rows_about_as_many(n):
    X = gaussians(n + 3000, 3, 3, seed=1)
    model = SPCOutlierDetector().fit(X[:n])
    assert np.mean(model.predict(X[:n]) == -1) == pytest.approx(0.01, abs=0.005)
    assert np.mean(model.predict(X[n:]) == -1) < 0.03


@examples(20)
@given(X=streams(most_points=60), data=st.data())
def test_any_split_of_an_automatic_stream_gives_the_same_state_and_threshold(X, data):
    params = {"half_life": data.draw(st.sampled_from([None, 20.0])), "n_structures": 8}
    whole = SPCOutlierDetector(**params, contamination=0.1).partial_fit(X)
    cuts = data.draw(st.lists(st.integers(1, len(X)), max_size=4).map(sorted))
    parts = SPCOutlierDetector(**params, contamination=0.1)
    for rows in np.split(X, cuts):
        if len(rows):
            parts.partial_fit(rows)
    assert parts.offset_ == whole.offset_
    assert state(parts.model_) == state(whole.model_) == state(spclust.SPC(**params).fit(X))


def test_parameters_of_the_other_mode_are_refused_in_the_name_of_the_detector(X):
    with pytest.raises(ValueError, match=r"nlt_max=4\.0 of SPCOutlierDetector belongs to the mode"):
        SPCOutlierDetector(nlt_max=4.0).fit(X)
    with pytest.raises(ValueError, match="half_life=9 of SPCOutlierDetector belongs to the auto"):
        SPCOutlierDetector(half_life=9, scale=1.0).fit(X)


# The benchmark


def test_the_benchmark_runs_and_hides_nothing(tmp_path, capsys, monkeypatch):
    def not_installed():
        raise ImportError("river is not installed")

    cases = dict(benchmark.CASES)
    cases["phishing sites"] = (not_installed, None)
    monkeypatch.setattr(benchmark, "CASES", cases)
    names = ["breast cancer: malignant", "phishing sites"]
    file = tmp_path / "there" / "outliers.json"
    arguments = ["--cases", *names, "--methods", "SPC", "LOF", "--seeds", "1", "--out", str(file)]
    benchmark.main(arguments)
    printed, stored = capsys.readouterr().out, json.loads(file.read_text())
    assert "river is not installed" in printed
    measured = [one for one in stored["records"] if "auc" in one]
    assert len(measured) == 4  # two methods, two protocols
    for one in measured:
        assert one["auc"][0] > 0.8
        assert f"{one['auc'][0]:.3f} ± 0.000" in printed
        assert one["precision"][0] > 0.05
        assert one["us"][0] > 0


def test_streams_of_the_benchmark_have_few_outliers_of_the_right_classes():
    data = outlier_streams.digits()
    for case in (outlier_streams.rare_class(data, 3, 0), outlier_streams.one_class(data, 3, 0)):
        assert np.mean(case.outlier) == pytest.approx(0.05, abs=0.005)
    usual = outlier_streams.one_class(data, 3, 0).X
    known = {tuple(row) for row in data.X[data.y == 3]}
    assert sum(tuple(row) in known for row in usual) == np.sum(data.y == 3)
    again, other = (outlier_streams.rare_class(data, 3, seed).X for seed in (0, 1))
    assert np.array_equal(again, outlier_streams.rare_class(data, 3, 0).X)
    assert not np.array_equal(again, other)


def test_no_method_of_the_benchmark_sees_a_row_before_it_scores_it():
    class Spy:
        """Knows a row again that it has learnt."""

        def __init__(self, first, seed):
            self.known = set()

        def learn(self, X):
            self.known |= {tuple(row) for row in X}

        def score(self, X):
            assert not any(tuple(row) in self.known for row in X)
            return np.arange(len(X), dtype=float)

    X = np.random.default_rng(0).normal(size=(450, 3))
    case = outlier_streams.Case(X, np.arange(450) % 20 == 7)
    for protocol in benchmark.PROTOCOLS.values():
        assert protocol(Spy, case, 0).us > 0


def test_the_scale_of_the_benchmark_is_the_median_gap_between_different_rows():
    X = np.array([[0.0], [0.0], [1.0], [3.0], [7.0]])
    assert benchmark.median_gap(X) == 1.5  # gaps 1, 1, 2, 4
