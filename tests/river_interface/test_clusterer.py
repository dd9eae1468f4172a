"""The clusterer: the same stream as the estimator has, and River's ways around it."""

import copy
import inspect
import pickle
import sys

import numpy as np
import pytest
from river import compose, evaluate, metrics, preprocessing

import spclust.river
from spclust.parameters import DEFAULTS, FIXED
from spclust.river import Cluster, MicroCluster, SPCAnomalyDetector
from tests import fixed
from tests.river_interface.paper import SPC
from tests.river_interface.streams import KINDS, as_points, learnt, pool, two_blobs

PRUNING = {"n_structures": 7, "beta": 0.3, "gamma": 0.05, "w_min": 0.2}


@pytest.mark.parametrize("params", [{}, PRUNING, {"min_samples": 3, "eps": 0.9, "scale": 2.0}])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_it_is_the_estimator_to_the_last_bit(params, kind, d):
    X, _ = two_blobs(d=d)
    params = {**params, "covariance_type": kind}
    ours, theirs = learnt(SPC(**params), as_points(X)), fixed.SPC(**params).partial_fit(X)
    assert pool(ours) == theirs._stream.structures.memory.tobytes()
    assert [ours.predict_one(x) for x in as_points(X)] == theirs.predict(X).tolist()
    assert ours.n_clusters == theirs.n_clusters_
    u = [list(ours.typicality_one(x).values()) for x in as_points(X[:20])]
    assert np.array_equal(u, theirs.typicality(X[:20]))


def test_memory_that_grows_while_pruning_is_the_one_that_is_learnt_into():
    X = np.random.default_rng(0).normal(scale=0.3, size=(400, 20))
    params = {**PRUNING, "nlt_max": 1e9, "covariance_type": "lowrank"}
    ours, theirs = SPC(**params), fixed.SPC(**params).partial_fit(X)
    for x in X:
        ours.learn_one({f"{j:02}": value for j, value in enumerate(x.tolist())})
    assert pool(ours) == theirs._stream.structures.memory.tobytes()


def test_before_anything_was_learnt():
    model = SPC()
    before = pickle.dumps(model)
    assert model.predict_one({"a": 1.0}) == model.predict_one({}) == -1
    assert model.typicality_one({"a": 1.0}) == {}
    assert model.centers == model.clusters == model.micro_clusters == {}
    assert model.n_clusters == 0
    assert pickle.dumps(model) == before


def test_reading_changes_nothing():
    points = as_points(two_blobs()[0])
    model, silent = SPC(n_structures=6), SPC(n_structures=6)
    for x in points:
        silent.learn_one(x)
        model.learn_one(x)
        before, given = pickle.dumps(model), dict(x)
        for asked in (x, {"a": x["a"]}, {**x, "new": 1.0}, {"b": np.nan}, {}):
            assert isinstance(model.predict_one(asked), int)
            model.typicality_one(asked)
        assert model.centers
        assert model.clusters
        assert model.micro_clusters
        assert pickle.dumps(model) == before
        assert x == given
    assert pool(model) == pool(silent)


def test_a_copy_learns_on_its_own_and_pickles_to_the_same_bytes():
    points = as_points(two_blobs()[0])
    model = learnt(SPC(n_structures=6), points[:100])
    bytes_then = pickle.dumps(model)
    copies = [copy.deepcopy(model), pickle.loads(bytes_then), model.clone(include_attributes=True)]
    learnt(model, points[100:])
    for other in copies:
        assert pickle.dumps(other) == bytes_then
        learnt(other, points[100:])
        assert pickle.dumps(other) == pickle.dumps(model)


def test_clusters_and_their_structures_add_up():
    X, _ = two_blobs()
    model = learnt(SPC(scale=2.0), as_points(X))
    assert model.n_clusters == len(model.centers) == len(model.clusters) == 2
    micro = model.micro_clusters
    for label, cluster in model.clusters.items():
        assert isinstance(cluster, Cluster)
        assert cluster.micro_clusters == tuple(i for i in micro if micro[i].cluster == label)
        assert cluster.count == sum(micro[i].count for i in cluster.micro_clusters)
        rows = X[[model.predict_one(x) == label for x in as_points(X)]]
        # Without decay a mean is that of the points taken in.
        assert np.allclose(list(cluster.center.values()), rows.mean(axis=0))
        assert model.centers[label] == cluster.center
    assert all(isinstance(one, MicroCluster) and 0 <= one.weight <= 1 for one in micro.values())
    assert sum(one.count for one in micro.values()) == len(X)
    assert list(micro) == sorted(micro)


def test_noise_has_no_center():
    model = learnt(SPC(min_samples=3, scale=2.0), as_points(two_blobs()[0]))
    model.learn_one({"a": 500.0, "b": 500.0})
    assert model.predict_one({"a": 500.0, "b": 500.0}) == -1
    assert set(model.centers) == set(range(model.n_clusters))


def scaled():
    return preprocessing.StandardScaler() | SPC(scale=0.5)


@pytest.mark.parametrize("metric", [metrics.AdjustedRand(), metrics.Completeness()])
def test_progressive_validation_with_the_true_clusters(metric):
    X, y = two_blobs()
    stream = list(zip(as_points(X), y.tolist(), strict=True))
    evaluate.progressive_val_score(iter(stream), scaled(), metric)
    assert metric.get() > 0.9


@pytest.mark.parametrize("model", [scaled(), SPC()])
def test_progressive_validation_with_centers(model):
    X, y = two_blobs()
    stream = list(zip(as_points(X), y.tolist(), strict=True))
    metric = evaluate.progressive_val_score(iter(stream), model.clone(), metrics.Silhouette())
    assert 0 < metric.get() < 0.3


def test_in_a_pipeline_it_sees_what_the_steps_before_it_make_of_a_point():
    points = as_points(two_blobs(d=3)[0])
    model = compose.Select("a", "c") | preprocessing.StandardScaler() | SPC(scale=0.3)
    learnt(model, points)
    assert set(model["SPC"].centers[0]) == {"a", "c"}
    assert model.predict_one(points[0]) != model.predict_one(points[1])
    assert not hasattr(model["SPC"], "score_one")


def test_parameters_in_flight_count_from_the_next_point_on():
    X, _ = two_blobs()
    ours, theirs = learnt(SPC(**PRUNING), as_points(X[:150])), fixed.SPC(**PRUNING)
    theirs.partial_fit(X[:150])
    changed = {"beta": 0.01, "gamma": 0.2, "w_min": 0.05, "nlt_max": 1.0}
    ours.mutate(changed)
    learnt(ours, as_points(X[150:]))
    theirs.set_params(**changed).partial_fit(X[150:])
    assert pool(ours) == theirs._stream.structures.memory.tobytes()
    ours.mutate({"eps": 0.0})
    assert ours.n_clusters == len(ours.micro_clusters)
    ours.mutate({"min_samples": 2})
    assert ours.n_clusters == 0


@pytest.mark.parametrize(
    ("name", "value"), [("m", 2.0), ("n_structures", 5), ("scale", 2.0), ("max_rank", 1)]
)
def test_the_others_stay_what_they_are_once_something_was_learnt(name, value):
    model = SPC()
    setattr(model, name, value)
    setattr(model, name, SPC()._get_params()[name])
    learnt(model, as_points(two_blobs()[0]))
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="mutable"):
        model.mutate({name: value})
    with pytest.raises(ValueError, match=f"^{name} cannot be changed .* clone.*new model.$"):
        setattr(model, name, value)
    assert pickle.dumps(model) == before
    assert model.clone({name: value})._get_params()[name] == value


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("m", 1.0, r"m of SPC must be a number in the range \(1, 100\], but is 1.0"),
        ("n_structures", 0, "n_structures of SPC must be an integer"),
        ("eps", 1.5, "eps of SPC must be"),
        ("covariance_type", "round", "covariance_type of SPC must be one of 'auto', 'full'"),
        ("max_rank", 0, r"max_rank of SPC must be None or an integer in .*\[1, inf\), but is 0"),
        ("max_rank", True, "max_rank of SPC must be None"),
    ],
)
def test_a_parameter_out_of_range_is_refused_at_once(name, value, sentence):
    with pytest.raises(ValueError, match=sentence):
        SPC(**{name: value})


@pytest.mark.parametrize("model", [spclust.river.SPC, SPCAnomalyDetector])
def test_defaults_are_those_of_the_parameter_table(model):
    defaults = {name: one.default for name, one in inspect.signature(model).parameters.items()}
    assert defaults == {name: DEFAULTS[name] for name in defaults}
    assert model()._get_params() == defaults
    assert model()._mutable_attributes == set(defaults) - set(FIXED)


def test_memory_is_bounded():
    points = as_points(np.random.default_rng(0).normal(scale=9.0, size=(3000, 3)))
    model = learnt(SPC(), points[:500])
    size = model._raw_memory_usage
    learnt(model, points[500:])
    assert model._raw_memory_usage == size < 200_000


def test_without_river_one_sentence_says_what_to_do(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "river"]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith("spclust.river")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(ImportError, match=r"needs River: .* pip install 'spclust\[river\]'\.$"):
        import spclust.river  # noqa: F401
