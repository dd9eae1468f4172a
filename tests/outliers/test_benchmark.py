"""The benchmark of detectors: what it measures, and on which streams."""

import json

import numpy as np
import pytest
from benchmarks import outlier_streams
from benchmarks import outliers as benchmark


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


def test_figures_have_deviations_and_the_cost_beside_that_of_spc():
    costs = {"SPC": {"a": 10.0, "b": 20.0}, "LOF": {"a": 30.0, "b": 40.0}}
    records = [
        {"protocol": "stream", "case": case, "method": method}
        | {"auc": [0.8, 1.0], "precision": [0.5], "us": [us]}
        for method, of_case in costs.items()
        for case, us in of_case.items()
    ]
    found = benchmark.figures([*records, {"case": "c", "missing": "river is not installed"}])
    assert found["stream/a/LOF/auc"] == pytest.approx(0.9)
    assert found["stream/a/LOF/auc, deviation"] == pytest.approx(0.1)
    assert found["stream/LOF/us, most"] == 40.0
    assert found["stream/LOF/cost to that of SPC, least"] == 2.0
    assert found["stream/LOF/cost to that of SPC, most"] == 3.0
