"""Properties that all baselines share."""

import copy
import inspect
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from spclust.experiments.baselines import CluStream, DenStream, DStream, StreamSoNG
from tests.baselines.common import MODELS, moving_blobs, state

OUTSIDE_THE_SUITE = [
    estimator_checks.check_dataframe_column_names_consistency,
    estimator_checks.check_inplace_ensure_writeable,
]


@pytest.fixture(params=MODELS, ids=repr)
def model(request):
    return clone(request.param)


@pytest.fixture(name="stream")
def the_stream():
    return moving_blobs()


@parametrize_with_checks(MODELS, xfail_strict=True)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", OUTSIDE_THE_SUITE, ids=lambda check: check.__name__)
def test_scikit_learns_checks_outside_its_suite(check, model):
    check(type(model).__name__, model)


@pytest.mark.parametrize(("size", "d"), [(1, 2), (7, 2), (399, 2), (11, 30)])
def test_batches_make_no_difference(model, size, d):
    stream = moving_blobs(d=d)
    whole = clone(model).fit(stream)
    for at in range(0, len(stream), size):
        model.partial_fit(stream[at : at + size])
    assert state(model) == state(whole)
    assert np.array_equal(model.predict(stream), whole.labels_)


def test_reading_changes_nothing(model, stream):
    other = clone(model)
    for at in range(0, len(stream), 20):
        model.partial_fit(stream[at : at + 20])
        other.partial_fit(stream[at : at + 20])
        before = state(model)
        labels = model.predict(stream[::7])
        assert np.array_equal(labels, model.predict(stream[::7]))
        assert state(model) == before
    assert state(model) == state(other)
    assert np.array_equal(model.predict(stream), other.predict(stream))


def test_the_stream_changes_something(model, stream):
    """Else the two tests above could not fail."""
    before = state(model.fit(stream[:200]))
    assert state(model.partial_fit(stream[200:])) != before
    assert state(clone(model).fit(stream[::-1])) != state(model)


def test_labels_are_those_after_the_stream(model, stream):
    labels = model.fit_predict(stream)
    assert labels.dtype == np.int64
    assert np.array_equal(labels, model.predict(stream))
    assert labels.min() >= -1
    model.partial_fit(stream[:1])
    assert not hasattr(model, "labels_")


def test_fit_starts_a_new_stream(model, stream):
    fresh = clone(model).fit(stream)
    model.fit(stream[:, :1]).partial_fit(stream[:50, :1])
    assert state(model.fit(stream)) == state(fresh)
    assert model.n_features_in_ == 2


def test_single_points_are_labelled_from_the_first_one_on(model, stream):
    for x in stream[:30]:
        label = model.partial_fit(x[np.newaxis]).predict(x[np.newaxis])
        assert label.shape == (1,)


def test_predict_before_fit_is_refused(model, stream):
    with pytest.raises(NotFittedError):
        model.predict(stream)
    with pytest.raises(ValueError, match="NaN at row 0"):
        model.partial_fit([[np.nan, 0.0]])
    with pytest.raises(NotFittedError):
        model.predict(stream)
    assert not hasattr(model, "n_features_in_")


def test_a_copy_and_a_pickle_learn_on_their_own(model, stream):
    model.fit(stream[:100])
    before = state(model)
    for other in (copy.copy(model), pickle.loads(pickle.dumps(model))):
        other.partial_fit(stream[100:])
        assert state(model) == before
        assert state(other) == state(clone(model).fit(stream))


def test_parameters_cannot_change_in_the_middle_of_a_stream(model, stream):
    name = next(iter(inspect.signature(type(model)).parameters))
    model.fit(stream)
    before = state(model)
    value = model.get_params()[name]
    model.set_params(**{name: value + 1})
    with pytest.raises(ValueError, match=f"{name} was changed from .* set it back, or call fit"):
        model.partial_fit(stream)
    assert state(model) == before
    model.set_params(**{name: value}).partial_fit(stream)


@pytest.mark.parametrize("model", [one for one in MODELS if hasattr(one, "hard")], ids=repr)
def test_hard_may_change_at_any_time(model, stream):
    model = clone(model).fit(stream)
    soft, hard = model.set_params(hard=False).predict(stream), model.set_params(hard=True)
    labelled = soft >= 0
    assert labelled.any()
    assert hard.predict(stream).min() >= 0
    assert np.array_equal(hard.predict(stream)[labelled], soft[labelled])


def test_every_parameter_has_a_range_that_admits_its_default(model):
    parameters = inspect.signature(type(model)).parameters
    assert {*model._ranges, "hard"} == {*parameters, "hard"}
    for name, row in model._ranges.items():
        assert row.admits(parameters[name].default), name


def test_booleans_are_no_numbers(model, stream):
    for name in model._ranges:
        with pytest.raises(ValueError, match=f"^{name} of .* must be .*, but is True"):
            clone(model).set_params(**{name: True}).fit(stream)


@pytest.mark.parametrize("method", ["fit", "partial_fit", "fit_predict"])
@pytest.mark.parametrize(
    "value",
    [np.nan, np.inf, -1.0, "much", [1.0], object()],
    ids=["nan", "inf", "negative", "text", "list", "object"],
)
def test_bad_parameters_are_refused_in_one_sentence(model, stream, value, method):
    for name in model.get_params():
        sentence = f"^{name} of {type(model).__name__} must be .*, but is {re.escape(repr(value))}"
        with pytest.raises(ValueError, match=sentence):
            getattr(clone(model).set_params(**{name: value}), method)(stream)


def test_none_is_refused_except_where_the_signature_has_it(model, stream):
    for name, parameter in inspect.signature(type(model)).parameters.items():
        if parameter.default is not None:
            with pytest.raises(ValueError, match=f"^{name} of .* must be .*, but is None"):
                clone(model).set_params(**{name: None}).fit(stream)


@pytest.mark.parametrize(
    ("model", "name", "good", "bad"),
    [
        (DStream(), "side", [1e-150, 1e150], [0.99e-150, 1.01e150]),
        (DStream(), "decay", [1e-9, 1], [0.0, 1.01]),
        (DStream(), "dense", [1.01], [1.0]),
        (DStream(), "sparse", [0.01, 0.99], [0.0, 1.0]),
        (DStream(), "protection", [0.0], [-0.01]),
        (DStream(), "gap", [None, 1], [0, 1.0]),
        (DStream(), "n_cells", [None, 1, 10**400], [0, 2.0, -(10**400)]),
        (DStream(), "mass", ["actual", "steady"], ["Actual", ""]),
        (StreamSoNG(), "m", [1.01], [1.0]),
        (StreamSoNG(), "outlier", [0.0, 1.0], [-0.01, 1.01]),
        (StreamSoNG(), "n_open", [1, np.int64(3)], [0, 3.0]),
        (StreamSoNG(), "seed", [0], [-1]),
        (StreamSoNG(), "hard", [True, np.False_], [0, 1, "yes"]),
        (DenStream(), "beta", [0.21, 1.0], [0.0, 1.01]),
        (DenStream(), "decay", [0.0, np.float32(0.5)], [-0.01]),
        (CluStream(), "n_micro_clusters", [2], [1]),
        (CluStream(), "seed", [0, 2**32 - 1], [2**32]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_ends_of_ranges(model, stream, name, good, bad):
    for value in good:
        clone(model).set_params(**{name: value}).fit(stream[:50])
    for value in bad:
        with pytest.raises(ValueError, match=f"^{name} of "):
            clone(model).set_params(**{name: value}).fit(stream[:50])


def test_far_numbers_are_learnt_and_too_far_ones_refused(model):
    model.fit([[1e150, 0.0], [-1e150, 1.0], [0.0, -1e150]] * 5)
    assert model.predict([[1e150, -1e150]]).shape == (1,)
    with pytest.raises(ValueError, match=r"X holds 1e\+151 at row 1, column 0"):
        model.partial_fit([[0.0, 0.0], [1e151, 0.0]])


def test_every_parameter_is_explained(model):
    for name, parameter in inspect.signature(type(model)).parameters.items():
        line = rf"    {name} : .*, default {re.escape(repr(parameter.default))}\n".replace("'", '"')
        assert re.search(line, type(model).__doc__), name


def test_copies_of_one_point_are_one_cluster(model):
    labels = model.fit_predict(np.full((60, 3), 0.25))
    assert len(set(labels)) == 1
