"""What a model tells about itself: tables of structures and clusters, and what looks wrong."""

import builtins
import importlib
import pickle
import re
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from spclust import datasets
from spclust.covariance import export
from spclust.inspection import description as describing
from tests.fixed import SPC
from tests.strategies import online_params, streams

AUTOMATIC = {"scale": "auto", "eps": "auto"}
KINDS = ["full", "lowrank", "diag", "spherical"]


def state(model):
    return model._stream.structures.memory.tobytes()


def two_gaussians(d=2, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 20.0 * rng.integers(2, size=(n, 1))


# describe


@pytest.mark.parametrize("kind", KINDS)
@given(X=streams(most_points=80), params=online_params(most_structures=12))
def test_structures_are_described_as_they_are(kind, X, params):
    model = SPC(**params, covariance_type=kind).fit(X)
    before = state(model)
    told, known = model.describe("structures"), model.structures_
    for name in ("id", "count", "weight", "age"):
        assert np.array_equal(told[name], getattr(known, name))
    assert np.array_equal(told["cluster"], known.label)
    assert np.array_equal(told["centre"], known.mean)
    variances = np.einsum("kcc->kc", known.covariance)
    np.testing.assert_allclose(told["spread"] ** 2, variances, rtol=1e-9)
    assert state(model) == before


@given(X=streams(), params=online_params(most_structures=12))
def test_nearest_clusters_are_those_that_a_larger_eps_reaches_first(X, params):
    model = SPC(**params, eps=0.5).fit(X)
    told = model.describe("structures")
    if model.n_clusters_ == 1:
        assert (told["nearest"] == -1).all()
        assert np.isnan(told["distance"]).all()
        return
    assert (told["nearest"] != told["cluster"]).all()
    np.testing.assert_allclose(told["distance"], 1 - np.exp(-told["nlt"]))
    closest = np.argmin(told["nlt"])
    nlt = told["nlt"][closest]
    if nlt < 30.0:  # just below it nothing changes, just above it two clusters become one
        assert model.clustering(nlt=nlt * (1 - 1e-9)).max() + 1 == model.n_clusters_
        joined = model.clustering(nlt=nlt * (1 + 1e-9))
        ours, theirs = told["cluster"][closest], told["nearest"][closest]
        assert len(set(joined[np.isin(told["cluster"], [ours, theirs])])) == 1


@given(X=streams(), params=online_params(most_structures=12))
def test_clusters_are_what_their_structures_add_up_to(X, params):
    model = SPC(**params, min_samples=2).fit(X)
    one, all_of_them = model.describe("structures"), model.describe()
    assert all_of_them["label"].tolist() == list(range(model.n_clusters_))
    others = model.n_clusters_ - (one["cluster"] >= 0)
    assert np.array_equal(one["nearest"] >= 0, others > 0)  # noise has one, but is none
    for row, label in enumerate(all_of_them["label"]):
        own = one["cluster"] == label
        assert all_of_them["structures"][row] == own.sum()
        assert all_of_them["count"][row] == one["count"][own].sum()
        assert all_of_them["weight"][row] == pytest.approx(one["weight"][own].sum())
        assert all_of_them["age"][row] == one["age"][own].max()
        share = one["count"][own] / one["count"][own].sum()
        centre = share @ one["centre"][own]
        np.testing.assert_allclose(all_of_them["centre"][row], centre, atol=1e-8)
        squares = share @ (one["spread"][own] ** 2 + (one["centre"][own] - centre) ** 2)
        np.testing.assert_allclose(all_of_them["spread"][row] ** 2, squares, rtol=1e-6)
        np.testing.assert_equal(all_of_them["nlt"][row], one["nlt"][own].min())
        assert all_of_them["nearest"][row] in one["nearest"][own]


def test_the_description_of_two_gaussians_is_right():
    told = SPC(scale=2.0).fit(two_gaussians()).describe()
    order = np.argsort(told["centre"][:, 0])
    np.testing.assert_allclose(told["centre"][order], [[0, 0], [20, 20]], atol=0.2)
    assert told["count"].sum() == 2000
    assert told["nearest"][order].tolist() == order[::-1].tolist()
    assert ((told["spread"] > 1.0) & (told["spread"] < 4.0)).all()  # with that of fresh ones, 2


@pytest.mark.parametrize(("as_", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
@pytest.mark.parametrize("what", ["clusters", "structures"])
def test_frames_have_a_column_for_each_feature(as_, frame, what):
    X = two_gaussians()
    model = SPC(scale=2.0).fit(frame({"speed": X[:, 0], "load": X[:, 1]}))
    before = state(model)
    arrays, told = model.describe(what), model.describe(what, as_=as_)
    assert isinstance(told, frame)
    assert list(told.columns) == [
        *(name for name in arrays if name not in ("centre", "spread")),
        *("centre_speed", "centre_load", "spread_speed", "spread_load"),
    ]
    assert np.array_equal(told["centre_load"].to_numpy(), arrays["centre"][:, 1])
    assert np.array_equal(told["spread_speed"].to_numpy(), arrays["spread"][:, 0])
    unnamed = SPC(scale=2.0).fit(X).describe(what, as_=as_)
    assert {"centre_x0", "spread_x1"} <= set(unnamed.columns)
    assert state(model) == before


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
@pytest.mark.parametrize("n_structures", [4, 40])
def test_spreads_of_an_automatic_scale_are_those_of_the_points(kind, n_structures):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2000)
    X = rng.normal(size=(2000, 3)) * [1.0, 0.1, 50.0] + np.outer(y, [90.0, 9.0, 4500.0])
    model = SPC(n_structures, **AUTOMATIC, covariance_type=kind).fit(X)
    one, told = model.describe("structures"), model.describe()
    assert np.all((one["spread"] == 0.0).all(axis=1) == (one["count"] == 1))
    assert told["count"].tolist() == [np.sum(model.labels_ == k) for k in told["label"]]
    for k, spread in zip(told["label"], told["spread"], strict=True):
        np.testing.assert_allclose(spread, X[model.labels_ == k].std(axis=0), rtol=1e-4)


def test_what_describe_does_not_know_it_refuses(monkeypatch):
    model = SPC(scale=2.0).fit(two_gaussians(n=100))
    with pytest.raises(ValueError, match='"clusters" or "structures", but is \'points\''):
        model.describe("points")
    with pytest.raises(ValueError, match='"pandas" or "polars", but is \'R\''):
        model.describe(as_="R")

    def nothing_is_installed(name):
        raise ImportError(name)

    monkeypatch.setattr(describing, "import_module", nothing_is_installed)
    with pytest.raises(ImportError, match="needs polars: install it with pip install polars"):
        model.describe(as_="polars")
    for method in (SPC().describe, SPC().diagnose):
        with pytest.raises(NotFittedError):
            method()


@pytest.mark.parametrize("kind", ["auto", "diag", "spherical"])
def test_a_thousand_features_take_no_matrix(kind, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1024)) + 20.0 * rng.integers(2, size=(60, 1))
    model = SPC(8, scale=40.0, covariance_type=kind).fit(X)
    expected = np.sqrt(np.einsum("kcc->kc", model.structures_.covariance))
    monkeypatch.setattr(export.Covariances, "dense", lambda _: pytest.fail("dense"))
    tracemalloc.start()
    told, sentences = model.describe("structures"), model.diagnose()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_allclose(told["spread"], expected, rtol=1e-9)
    assert peak < 8 * 1024 * 1024 / 2  # half of one matrix, for eight structures
    assert isinstance(sentences, list)
    assert len(model.describe()["label"]) == model.n_clusters_


def test_huge_and_far_numbers_are_described_too():
    X = two_gaussians(n=300)
    plain = SPC(scale=2.0).fit(X).describe()
    far = SPC(scale=2.0).fit(np.round(X * 2**20) / 2**20 + 1e8).describe()
    np.testing.assert_allclose(far["centre"] - 1e8, plain["centre"], atol=1e-4)
    np.testing.assert_allclose(far["spread"], plain["spread"], rtol=1e-4)
    huge = SPC(scale=2e140).fit(X * 1e140).describe()
    np.testing.assert_allclose(huge["spread"], 1e140 * plain["spread"], rtol=1e-6)


# diagnose


def codes(model):
    before = state(model)
    found = model.diagnose()
    assert state(model) == before
    for sentence in found:
        assert sentence.endswith(".")
        assert "nan" not in sentence
        assert "inf" not in sentence
    return [finding.code for finding in found]


def advised(sentence, name):
    return float(re.search(rf"{name}(?:=\S+)?, to about ([\d.e+-]*\d)", sentence)[1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("d", "scale"), [(2, 2.0), (10, 5.0)])
@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_a_wrong_scale_is_told_and_the_advice_leads_to_a_right_one(kind, d, scale, factor):
    X = two_gaussians(d)
    assert codes(SPC(scale=scale, covariance_type=kind).fit(X)) == []
    wrong = SPC(scale=scale * factor, covariance_type=kind).fit(X)
    assert codes(wrong) == ["scale_too_small" if factor < 1 else "scale_too_large"]
    better = advised(wrong.diagnose()[0], "scale")
    assert scale / 4 < better < scale * 4
    assert codes(SPC(scale=better, covariance_type=kind).fit(X)) == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [0.8, 1.0, 1.25])
def test_waves_with_the_papers_parameters_are_well(seed, scale):
    X, _ = datasets.make_sine(seed=seed)
    model = SPC(30, m=1.4, gamma=0.1, beta=0.05, eps=0.95, scale=scale)
    for rows in np.split(X, 10):
        assert codes(model.partial_fit(rows)) == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("d", "scale"), [(1, 1.0), (2, 1.5), (5, 4.0), (20, 9.0)])
@pytest.mark.parametrize("n_structures", [20, 60])
def test_blobs_with_a_sensible_scale_are_well(seed, d, scale, n_structures):
    middles = 15.0 * np.sqrt(d) * np.random.default_rng(seed).permutation(4)[:, np.newaxis]
    X, _ = make_blobs(1500, d, centers=np.repeat(middles, d, axis=1), random_state=seed)
    assert codes(SPC(n_structures, scale=scale).fit(X)) == []


def test_streams_that_forget_and_clusters_of_one_structure_each_are_well():
    X, *_ = datasets.make_drifting()
    assert codes(SPC(scale=1.0, beta=0.01, gamma=0.01).fit(X)) == []
    corners = np.array([[0, 0], [20, 0], [0, 20], [20, 20], [40, 40]])
    X, _ = make_blobs(1000, 2, centers=corners, random_state=0)
    assert codes(SPC(5).fit(X)) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit", [1e-4, 1e-3, 1e3, 1e6])
def test_features_in_different_units_are_named(kind, unit):
    X = two_gaussians() * [1.0, unit]
    frame = pd.DataFrame(X, columns=["metres", "other"])
    model = SPC(scale=2.0, covariance_type=kind).fit(frame)
    assert codes(model) == ["unequal_features"]
    larger, smaller = ("other", "metres") if unit > 1 else ("metres", "other")
    told = model.diagnose()[0]
    assert re.match(rf"Feature '{larger}' varies \S+ times as much as feature '{smaller}'", told)
    ratio = float(re.search(r"varies (\S+) times", told)[1])
    assert max(unit, 1 / unit) / 4 < ratio < max(unit, 1 / unit) * 4
    assert codes(SPC(scale=0.3).fit(StandardScaler().fit_transform(X))) == []


def test_a_constant_feature_is_no_matter_of_units():
    X = np.column_stack([two_gaussians(), np.full(2000, 3.5)])
    assert codes(SPC(scale=2.0).fit(X)) == []


def test_too_few_points_are_told_first():
    X = two_gaussians()
    assert codes(SPC(30, scale=1e-3).fit(X[:29])) == ["too_early"]
    assert codes(SPC(30, scale=2.0).fit(X[:30])) == []
    assert codes(SPC(1).fit(X[:1])) == []


def test_points_that_are_all_equal_are_told():
    assert codes(SPC(10).fit(np.full((50, 2), 7.0))) == ["no_difference"]


def test_a_cut_that_joins_or_parts_everything_is_told():
    model = SPC(scale=2.0).fit(two_gaussians())
    assert codes(model) == []
    assert codes(model.set_params(eps=1.0)) == ["one_cluster"]
    assert codes(model.set_params(eps=1e-6)) == ["all_alone"]
    eps = float(re.search(r"to about ([\d.]*\d)", model.diagnose()[0])[1])
    assert codes(model.set_params(eps=eps)) == []
    assert codes(model.set_params(min_samples=31)) == ["all_noise"]


def test_pruning_that_takes_too_much_is_told_and_the_advice_helps():
    X = two_gaussians()
    greedy = {"scale": 0.5, "w_min": 0.2, "nlt_max": 0.0}
    model = SPC(30, **greedy).fit(X)
    assert codes(model)[-1] == "forgotten"
    w_min = advised(model.diagnose()[-1], "w_min")
    assert "forgotten" not in codes(SPC(30, **{**greedy, "w_min": w_min}).fit(X))


def test_a_structure_that_holds_nearly_all_points_is_told():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 30, size=(1000, 2))
    X[rng.random(1000) < 0.96] = 15.0  # one spot, over and over
    model = SPC(12, scale=5.0).fit(X)
    assert codes(model) == ["one_holds_all"]
    assert "97% of the points" in model.diagnose()[0]


def test_findings_are_strings_with_a_code_that_survive_pickling():
    (finding,) = SPC(30).fit(np.eye(3)).diagnose()
    assert isinstance(finding, str)
    again = pickle.loads(pickle.dumps(finding))
    assert (again, again.code) == (finding, "too_early")


@given(X=streams(), params=online_params())
def test_any_model_can_be_diagnosed(X, params):
    assert len(codes(SPC(**params).fit(X))) <= 3


def test_frames_are_imported_only_when_they_are_asked_for(monkeypatch):
    original = builtins.__import__

    def refuse(name, *rest):
        if name.split(".")[0] in ("pandas", "polars"):
            pytest.fail(f"{name} was imported")
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    importlib.reload(describing)
    assert len(SPC(scale=2.0).fit(two_gaussians(n=99)).describe()["label"])
