"""Values of features: what is taken, what is missing, what is refused."""

import collections
import decimal
import pickle

import numpy as np
import pytest

from spclust.river import SPC, SPCAnomalyDetector
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.stream import Stream
from tests.river_interface.streams import as_points, learnt, pool, two_blobs, what_was_learnt


@pytest.mark.parametrize("nothing", [{}, {"a": float("nan")}, {"a": None, "z": np.nan}])
def test_a_point_of_which_nothing_was_observed_is_passed_over(nothing):
    model = SPC()
    model.learn_one(nothing)
    assert model._known is None
    learnt(model, as_points(two_blobs()[0]))
    before = what_was_learnt(model)
    model.learn_one(nothing)
    assert model.predict_one(nothing) == -1
    assert model.typicality_one(nothing) == {}
    assert what_was_learnt(model) == before


def test_all_that_is_a_number_is_taken():
    forms = [True, np.bool_(True), 1, np.int8(1), np.float32(1), np.float64(1), decimal.Decimal(1)]
    same = learnt(SPC(), [{"a": 1.0, "b": i} for i in range(7)])
    taken = learnt(SPC(), [{"a": form, "b": i} for i, form in enumerate(forms)])
    assert pool(same) == pool(taken)
    assert [taken.predict_one({"a": form}) for form in forms] == [same.predict_one({"a": 1.0})] * 7


@pytest.mark.parametrize("model", [SPC(), SPCAnomalyDetector()], ids=["SPC", "anomalies"])
@pytest.mark.parametrize("where", ["a", "new"])
@pytest.mark.parametrize(
    ("value", "kind", "sentence"),
    [
        ("1.5", TypeError, "is '1.5', where a number is needed: leave it out or encode it"),
        (np.str_("1"), TypeError, ".*where a number is needed"),
        ([1.0], TypeError, r"is \[1.0\], where a number is needed"),
        (1j, TypeError, ".*where a number is needed"),
        (np.datetime64("2020-01-01"), TypeError, ".*where a number is needed"),
        (float("inf"), ValueError, "is infinite or too large"),
        (-np.float32("inf"), ValueError, "is infinite or too large"),
        (10**400, ValueError, "is infinite or too large"),
    ],
)
def test_what_is_no_number_is_refused_by_name_and_nothing_is_lost(
    model, where, value, kind, sentence
):
    bad = {"a": 1.0, "b": 2.0, where: value}
    for points in ([], as_points(two_blobs()[0])):
        tried = learnt(model.clone(), points)
        before = pickle.dumps(tried)
        with pytest.raises(kind, match=f"^Feature '{where}' {sentence}"):
            tried.learn_one(bad)
        assert pickle.dumps(tried) == before
    ask = tried.predict_one if isinstance(tried, SPC) else tried.score_one
    with pytest.raises(kind, match=f"^Feature '{where}' {sentence}"):
        ask(bad)
    with pytest.raises(TypeError, match="x must be a dictionary of features, but is 5"):
        tried.learn_one(5)
    assert pickle.dumps(tried) == before


@pytest.mark.parametrize(
    ("params", "stream"), [({}, AutomaticStream), ({"scale": 1.0}, Stream)], ids=str
)
def test_a_failure_after_new_features_leaves_the_old_ones(monkeypatch, params, stream):
    model = learnt(SPC(**params), as_points(two_blobs()[0]))
    before = pickle.dumps(model)

    def fail(*_):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(stream, "learn", fail)
        with pytest.raises(MemoryError):
            model.learn_one({"a": 1.0, "b": 2.0, "new": 3.0})
    assert pickle.dumps(model) == before
    model.learn_one({"a": 1.0, "b": 2.0, "new": 3.0})
    assert model._known.names == ("a", "b", "new")


def test_features_of_the_same_text_have_an_order_too():
    there, back = SPC(), SPC()
    there.learn_one({1: 5.0, "1": 6.0, "0": 7.0})
    back.learn_one({"0": 7.0, "1": 6.0, 1: 5.0})
    assert there._known.names == back._known.names == ("0", 1, "1")


@pytest.mark.parametrize("form", [collections.Counter, lambda x: collections.defaultdict(float, x)])
def test_what_a_dictionary_would_make_up_is_missing(form):
    points = [{"a": 1.0, "b": 2.0}, {"a": 3.0, "c": 5.0}, {"b": 4.0, "c": 1.0}]
    plain, odd = learnt(SPC(), points), SPC()
    for x in points:
        given = form(x)
        odd.learn_one(given)
        assert odd.predict_one(given) >= 0
        assert given == x
    assert what_was_learnt(odd) == what_was_learnt(plain)
    assert odd.predict_one(form({"y": 1.0, "z": 2.0})) == -1
    detector = learnt(SPCAnomalyDetector(), points[:1])
    far = form({"a": 100.0, "z": 1.0})
    assert detector.score_one(far) == detector.score_one({"a": 100.0})
    assert len(far) == 2


def test_where_all_is_noise_there_is_no_typicality():
    model = learnt(SPC(min_samples=40, scale=1.0), as_points(two_blobs()[0]))
    for x in ({"a": 1.0, "b": 2.0}, {"a": 1.0}):
        assert model.predict_one(x) == -1
        assert model.typicality_one(x) == {}
    assert model.centers == model.clusters == {}
