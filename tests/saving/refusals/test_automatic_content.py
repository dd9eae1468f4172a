"""States of the automatic mode that learning cannot have produced are refused in one sentence."""

import numpy as np
import pytest

from spclust import SPC
from spclust.persistence.schema import AutomaticScalars
from tests.saving.crafted_models import (
    AUTOMATIC_KINDS,
    arrays_in,
    model_of,
    sealed,
    split,
    with_arrays,
    works,
)
from tests.saving.refusals.common import (
    crafted_from,
    every_array_is_needed,
    refused,
    with_number,
)

FULL, DIAGONAL = "automatic full", "automatic diag"
MISMATCH = "parameters and its state do not match"


@pytest.mark.parametrize("kind", AUTOMATIC_KINDS)
def test_every_array_is_needed_and_has_its_shape_and_type(kind):
    every_array_is_needed(kind, least=19)


@pytest.mark.parametrize("kind", AUTOMATIC_KINDS)
@pytest.mark.parametrize("number", [np.nan, -np.inf, -1e300, np.inf, 1.7e308, 5e-324])
def test_any_odd_number_in_any_array_is_refused_or_works(kind, number):
    data = model_of(kind).to_bytes()
    header, arrays = arrays_in(data)
    for name, array in arrays.items():
        if array.dtype != np.float64 or array.size == 0:
            continue
        for at in (0, -1):
            odd = array.copy()
            odd.reshape(-1)[at] = number
            try:
                model = SPC.from_bytes(with_arrays(data, header, {**arrays, name: odd}))
            except ValueError as error:
                assert str(error).startswith("Cannot load a model from these bytes: ")  # noqa: PT017
            else:
                assert not np.isnan(number), name
                with np.errstate(all="ignore"):
                    works(model)


@pytest.mark.parametrize("name", AutomaticScalars._fields)
def test_every_scalar_is_needed_and_has_its_type(name):
    header, body = split(model_of(FULL).to_bytes())
    state, wanted = header["state"], AutomaticScalars.__annotations__[name]
    without = {other: value for other, value in state.items() if other != name}
    refused(sealed({**header, "state": without}, body), "no state, or not all of it")
    values = [None, "1", [], {}, {"float": "nan"}, {"float": "inf"}, 10**30]
    values += [1] if wanted is not int else [1.0, -1, 2**63]
    values += [True] if wanted is not bool else []
    for value in values:
        crafted = sealed({**header, "state": {**state, name: value}}, body)
        refused(crafted, f"{name!r} of its state is not a valid value")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("n_structures", 7, MISMATCH),
        ("n_features", 4, "its array"),
        ("n_features", 0, "the numbers"),
        ("diagonal", True, "its array"),
        ("exponent", 2.5, MISMATCH),
        ("half_life", -1.0, "the numbers"),
        ("live", 0, "the numbers"),
        ("live", 7, "the numbers"),
        ("live", 1, "its array"),
        ("seen", 0, "the numbers"),
        ("seen", 61, "the numbers|the counts"),
        ("seen", 2**54, "the numbers"),
        ("merged", 2**54, "the numbers"),
        ("removed", 2**54, "the numbers"),
        ("removed", 1000, "the counts"),
        ("measured", 2**54, "the numbers"),
        ("rescans", 2**54, "the numbers"),
        ("point_mass", 0.5, "the numbers"),
        ("mean_weight", 0.0, "the numbers"),
        ("weighted", 1, "not a valid value"),
        ("point_mass", -1.0, "the numbers"),
        ("renewal_due", 59, "the numbers"),
        ("metric_due", 59, "the numbers"),
        ("renewal_due", 2**60, "the numbers"),
        ("metric_due", 2**60, "the numbers"),
        ("calm", 0, "the numbers"),
        ("calm", 33, "the numbers"),
        ("window_began", 1e9, "the numbers"),
        ("near", 70, "the numbers"),
        ("strange", 70, "the numbers"),
        ("home_median", -1.0, "the numbers"),
        ("home_rare", -1.0, "the numbers"),
        ("clusters", 0, "the numbers"),
        ("clusters", 7, "the numbers"),
    ],
)
def test_scalars_that_kernels_rely_on_are_checked(name, value, sentence):
    header, body = split(model_of(FULL).to_bytes())
    assert header["state"][name] != value
    header["state"][name] = value
    refused(sealed(header, body), sentence)


@pytest.mark.parametrize(
    ("kind", "name", "index", "number", "sentence"),
    [
        (FULL, "count", 0, np.nan, "the counts"),
        (FULL, "count", 0, 0.5, "the counts"),
        (FULL, "count", 0, 1e300, "the counts"),
        (FULL, "count", 0, 40.0, "the counts"),
        (FULL, "id", 0, 60, "the ids"),
        (FULL, "id", 0, -1, "the ids"),
        (FULL, "id", slice(2), 3, "the ids"),
        (FULL, "cluster", 0, -1, "the clusters"),
        (FULL, "cluster", 0, 6, "the clusters"),
        (FULL, "cluster", 0, 2**62, "the clusters"),
        (FULL, "mass", 0, 0.0, "the masses"),
        (FULL, "mass", 0, -1.0, "the masses"),
        (FULL, "mass", 0, np.nan, "the masses"),
        (FULL, "mass", 0, np.inf, "the masses"),
        (FULL, "cluster_mass", 0, -1.0, "the masses"),
        (FULL, "cluster_mass", 0, np.nan, "the masses"),
        (FULL, "cluster_clock", 0, np.nan, "the clocks"),
        (FULL, "cluster_clock", 0, np.inf, "the clocks"),
        (FULL, "missed", 0, np.nan, "array 'missed'"),
        (FULL, "clock_then", 0, np.inf, "array 'clock_then'"),
        (FULL, "mean", (0, 0), np.nan, "array 'mean'"),
        (FULL, "mean", (0, 0), -1e200, "the means"),
        (FULL, "z", (-1, 0), np.inf, "array 'z'"),
        (FULL, "scatter", (0, 0, 0), np.nan, "array 'scatter'"),
        (FULL, "scatter", (0, 0, 0), -1.0, "the scatters"),
        (FULL, "scatter", (0, 0, 1), 1e6, "the scatters"),
        (DIAGONAL, "scatter", (0, 0, 1), -1.0, "the scatters"),
        (FULL, "origin", 0, np.nan, "array 'origin'"),
        (FULL, "unit", 0, -1.0, "array 'unit'"),
        (FULL, "unit", 0, np.inf, "array 'unit'"),
        (FULL, "unit", 0, 3.0, "array 'unit'"),
        (FULL, "width", 0, -1.0, "array 'width'"),
        (FULL, "width", 0, np.nan, "array 'width'"),
        (FULL, "metric", (0, 1), 1.0, "the metric"),
        (FULL, "metric", (0, 0), np.nan, "array 'metric'"),
        (FULL, "metric", (0, 0), -1.0, "the metric"),
        (DIAGONAL, "metric", (0, 0), -1.0, "the metric"),
        (FULL, "reach", 0, -1.0, "the distances"),
        (FULL, "reach", 0, np.nan, "the distances"),
        (FULL, "recent", 0, np.nan, "the distances"),
        (FULL, "recent", -1, -1.0, "the distances"),
    ],
)
def test_numbers_that_kernels_rely_on_are_checked(kind, name, index, number, sentence):
    refused(with_number(crafted_from(kind), name, index, number), sentence)


def test_a_few_bytes_cannot_ask_for_more_memory_than_there_is(X):
    header, body = split(SPC(1_000).fit(X).to_bytes())
    header["built_with"]["n_structures"] = header["state"]["n_structures"] = 1_000_000
    header["state"]["n_features"] = header["n_features_in"] = 100
    refused(sealed(header, body), r"it takes \d+ GB, more than this machine has")


def test_a_model_of_many_features_comes_back():
    X = np.random.default_rng(0).normal(size=(5, 3000))
    model = SPC().fit(X)  # variances only: a few megabytes
    assert SPC.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("features", [10**6, 2**31, 2**53, 2**62])
def test_sizes_that_leave_the_range_of_integers_are_refused(features):
    header, body = split(model_of(FULL).to_bytes())
    header["state"]["n_features"] = header["n_features_in"] = features
    refused(sealed(header, body), r"it takes \d+ GB, more than this machine has")


def test_a_state_that_could_not_be_loaded_is_not_saved(X):
    model = SPC(10).fit(X)
    model._stream.structures.mass[0] = np.nan
    with pytest.raises(ValueError, match="This SPC cannot be saved: the masses of its structures"):
        model.to_bytes()
