"""The benchmark in River's own evaluation: its scores are ARI, and a small run of it."""

import json

import numpy as np
import pytest
from benchmarks import river_evaluation
from benchmarks.quality.streams import generated
from river import base, utils
from sklearn.metrics import adjusted_rand_score


class Oracle(base.Clusterer):
    """Knows the labels of a stream in advance, and gives them in order."""

    def __init__(self, labels):
        self.labels = labels
        self._answers = iter(labels)

    def predict_one(self, x):
        return next(self._answers)

    def learn_one(self, x):
        pass


def test_the_score_is_the_adjusted_rand_index_of_rows_that_belong_to_a_cluster():
    rng = np.random.default_rng(0)
    y, labels = rng.integers(-1, 4, size=500), rng.integers(-1, 3, size=500)
    labels[250:] = y[250:]
    whole, last = (
        river_evaluation.ScoredRand(),
        utils.Rolling(river_evaluation.ScoredRand, window_size=250),
    )
    for true, label in zip(y.tolist(), labels.tolist(), strict=True):
        whole.update(true, label)
        last.update(true, label)
    known = y >= 0
    assert whole.get() == pytest.approx(adjusted_rand_score(y[known], labels[known]))
    assert 0.1 < whole.get() < 0.9
    assert last.get() == 1.0


def test_labels_are_those_before_learning_and_windows_are_apart():
    stream = generated("merging_splitting", 2, 900, seed=1)
    labels = stream.y.copy()
    labels[300:600] = np.random.default_rng(0).integers(3, size=300)
    entry = river_evaluation.Entry("oracle", lambda k: Oracle(labels.tolist()), standardised=False)
    record = river_evaluation.evaluated(entry, stream, window=300)
    assert record["windows"][0] == record["windows"][2] == 1.0
    assert abs(record["windows"][1]) < 0.1
    assert record["window"] == pytest.approx(np.mean(record["windows"]))
    known = stream.y >= 0
    assert record["whole"] == pytest.approx(adjusted_rand_score(stream.y[known], labels[known]))


def test_a_small_run_writes_every_number(tmp_path, capsys):
    file = tmp_path / "new" / "scores.json"
    options = ["--kinds", "stationary", "--dimensions", "2", "--points", "400"]
    river_evaluation.main([*options, "--seed", "3", "--output", str(file)])
    content = json.loads(file.read_text())
    assert (content["seed"], content["points"]) == (3, 400)
    names = [record["clusterer"] for record in content["records"]]
    assert names == [entry.name for entry in river_evaluation.ENTRIES]
    parameters = {record["clusterer"]: record["parameters"] for record in content["records"]}
    assert parameters["SPC"]["half_life"] == "500"
    assert parameters["CluStream"]["n_macro_clusters"] == "5"
    for record in content["records"]:
        assert -0.5 <= record["whole"] <= 1.0
        assert len(record["windows"]) == 1
    out = capsys.readouterr().out
    assert "stationary" in out
    assert "clustering_threshold" in out
