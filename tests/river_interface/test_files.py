"""Files, tables and findings of River models: those of the estimator."""

from datetime import datetime, timedelta

import numpy as np
import pytest

import spclust
from spclust.river import SPC, SPCAnomalyDetector
from tests.river_interface.streams import as_points, learnt, two_blobs, what_was_learnt

MODES = [{}, {"half_life": 80}, {"scale": 1.0, "beta": 0.01, "eps": 0.9}]


@pytest.mark.parametrize("params", MODES)
@pytest.mark.parametrize("kind", [SPC, SPCAnomalyDetector])
def test_a_model_that_was_saved_goes_on_to_the_last_bit(tmp_path, kind, params):
    params = {name: value for name, value in params.items() if name in kind()._parameters()}
    points = as_points(two_blobs()[0])
    model = learnt(kind(n_structures=12, **params), points[:150])
    model.learn_one({"a": 1.0})  # the other feature is filled in
    model.learn_one({**points[0], "new": 3.0})
    model.save(tmp_path / "model.spc")
    again = kind.load(tmp_path / "model.spc")
    assert what_was_learnt(again)[0] == ("a", "b", "new")
    assert again._parameters() == model._parameters()
    for x in points[150:]:
        x["new"] = 2.0
        model.learn_one(x)
        again.learn_one(x)
    if kind is SPC:
        assert [again.predict_one(x) for x in points] == [model.predict_one(x) for x in points]
        assert again.clusters == model.clusters
    else:
        assert [again.score_one(x) for x in points] == [model.score_one(x) for x in points]


def test_river_and_scikit_learn_read_each_others_files(tmp_path):
    X = np.array([[x["a"], x["b"]] for x in as_points(two_blobs()[0])])
    model = learnt(SPC(half_life=200), as_points(two_blobs()[0]))
    model.save(tmp_path / "river.spc")
    estimator = spclust.SPC.load(tmp_path / "river.spc")
    assert estimator.feature_names_in_.tolist() == ["a", "b"]
    assert estimator.n_clusters_ == model.n_clusters == 2
    assert estimator.cluster_labels_.tolist() == sorted(model.clusters)
    spclust.SPC(track_every=50).partial_fit(X).save(tmp_path / "arrays.spc")
    again = SPC.load(tmp_path / "arrays.spc")
    assert again.n_clusters == 2
    assert again.predict_one({"x0": X[0, 0], "x1": X[0, 1]}) in again.clusters


@pytest.mark.parametrize("n_clusters", [None, 1])
def test_what_river_models_do_not_have_is_left_out(tmp_path, n_clusters):
    """A tracker would be the only one that reads clusters."""
    X = two_blobs()[0]
    model = spclust.SPC(half_life=100, track_every=70, n_clusters=n_clusters).partial_fit(X)
    assert model.n_clusters_ == (n_clusters or 2)
    model.save(tmp_path / "tracked.spc")
    again = SPC.load(tmp_path / "tracked.spc")
    assert again.n_clusters == len(again.describe()["label"]) == again.n_clusters == 2
    assert len(again.micro_clusters) == len(model.structures_)
    X[::3] += 300.0
    learnt(again, [{"x0": x, "x1": y} for x, y in X.tolist()])
    assert again.n_clusters == 4


def test_time_stamps_and_a_half_life_that_is_a_time_come_back(tmp_path):
    model = SPC(half_life=timedelta(seconds=30))
    points, start = as_points(two_blobs()[0]), datetime(2024, 1, 1)
    for i, x in enumerate(points[:100]):
        model.learn_one(x, start + timedelta(seconds=i))
    model.save(tmp_path / "model.spc")
    again = SPC.load(tmp_path / "model.spc")
    assert again.half_life == timedelta(seconds=30)
    for each in (model, again):
        each.learn_one(points[100], start + timedelta(seconds=200))
    assert again.micro_clusters == model.micro_clusters


def test_tables_and_findings_are_those_of_the_estimator():
    points = as_points(two_blobs()[0])
    model = learnt(SPC(n_structures=20), points)
    table = model.describe()
    assert table["label"].tolist() == sorted(model.clusters)
    for row, label in enumerate(table["label"].tolist()):
        assert dict(zip("ab", table["centre"][row], strict=True)) == pytest.approx(
            model.centers[label]
        )
    frame = model.describe("structures", as_="pandas")
    assert {"centre_a", "spread_b"} <= set(frame.columns)
    assert len(frame) == len(model.micro_clusters)
    early = learnt(SPC(), points[:3])
    assert [finding.code for finding in early.diagnose()] == ["too_early"]


def test_names_that_are_no_strings_are_shown_as_such():
    model = learnt(SPC(n_structures=5), [{0: float(i % 7), 1: float(i % 5)} for i in range(50)])
    assert {"centre_0", "spread_1"} <= set(model.describe(as_="pandas").columns)
    assert isinstance(model.diagnose(), list)


def test_what_cannot_be_saved_says_why(tmp_path):
    with pytest.raises(ValueError, match="This SPC has learnt nothing yet"):
        SPC().save(tmp_path / "model.spc")
    with pytest.raises(ValueError, match="has names of features as text, but 0 is no string"):
        learnt(SPC(), [{0: 1.0, 1: 2.0}]).save(tmp_path / "model.spc")
    (tmp_path / "broken.spc").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"Cannot load"):
        SPC.load(tmp_path / "broken.spc")
