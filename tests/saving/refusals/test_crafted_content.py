"""Content that does not match, or that learning in the paper's mode cannot have produced."""

import numpy as np
import pytest

from spclust import SPC
from spclust.persistence import container
from tests.saving.crafted_models import KINDS, arrays_in, sealed, split, with_arrays
from tests.saving.refusals.common import (
    crafted_from,
    every_array_is_needed,
    refused,
    with_number,
)


@pytest.mark.parametrize("params", [{}, {"scale": 2.0}], ids=["automatic", "paper"])
def test_a_state_and_a_header_that_do_not_match_are_refused(X, params):
    header, body = split(SPC(10, **params).fit(X).to_bytes())
    for change in (
        {"n_features_in": 3},
        {"feature_names_in": ["a"]},
        {"feature_names_in": ["a", 1]},
        {"built_with": {**header["built_with"], "n_structures": 9}},
        {"built_with": {**header["built_with"], "covariance_type": "diag"}},
        {"built_with": {**header["built_with"], "m": 2.0}},
        {"built_with": {**header["built_with"], "scale": 1.0}},
        {"built_with": {**header["built_with"], "scale": "auto" if params else 2.0}},
        {"built_with": {**header["built_with"], "max_rank": 0}},
        {"built_with": {**header["built_with"], "fit": 1}},
        {"built_with": {"n_structures": 10}},
        {"parameters": {**header["parameters"], "nonsense": 1}},
        {"parameters": {**header["parameters"], "eps": "x"}},
        {"parameters": {**header["parameters"], "half_life": -1.0}},
        {"parameters": {**header["parameters"], "half_life" if params else "beta": 0.5}},
        {"last_seen": 5},
        {"state": None},
        {"state": {}},
        {"state": {**header["state"], "more": 1}},
        {"state": {**header["state"], "mode": "automatic" if params else "paper"}},
        {"arrays": header["arrays"][:-1]},
        {"arrays": [*header["arrays"], header["arrays"][-1]]},
        {"arrays": [*header["arrays"], {"name": "more", "dtype": "<f8", "shape": [0]}]},
        {"arrays": None},
    ):
        with pytest.raises(ValueError, match="Cannot load a model from these bytes: "):
            SPC.from_bytes(sealed({**header, **change}, body))
    for text in (b"[" * 100_000, b"{", b"[]", b"\xff", b'{"class": ' + b"9" * 5000 + b"}"):
        with pytest.raises(ValueError, match=r"its header is not (a )?JSON"):
            SPC.from_bytes(sealed(text, body))


def test_a_header_has_a_limit(X, monkeypatch):
    model = SPC(10).fit(X)
    data = model.to_bytes()
    monkeypatch.setattr(container, "_LONGEST_HEADER", 1000)
    with pytest.raises(ValueError, match=r"these bytes: its header has \d+ bytes, more than 1000"):
        SPC.from_bytes(data)
    with pytest.raises(ValueError, match="This SPC cannot be saved: its header has "):
        model.to_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_every_array_is_needed_and_has_its_shape_and_type(kind):
    every_array_is_needed(kind, least=15)


@pytest.mark.parametrize(
    ("kind", "name", "value", "sentence"),
    [
        ("full", "n_features", 4, "its array 'anchor'"),
        ("full", "n_features", 0, "parameters and its state do not match"),
        ("full", "n_structures", 7, "parameters and its state do not match"),
        ("full", "scale", 0.8, "parameters and its state do not match"),
        ("full", "mode", "automatic", "its header has no state, or not all of it"),
        ("full", "mode", None, "its header has no state, or not all of it"),
        ("full", "exponent", 2.5, "parameters and its state do not match"),
        ("full", "beta", -0.1, "parameters and its state do not match"),
        ("full", "w_min", 2.0, "parameters and its state do not match"),
        ("full", "covariance_type", "diag", "parameters and its state do not match"),
        ("full", "covariance_type", "auto", "'covariance_type' of its state is not a valid value"),
        ("full", "covariance_type", 0, "'covariance_type' of its state is not a valid value"),
        ("full", "gamma", {"float": "nan"}, "'gamma' of its state is not a valid value"),
        ("full", "seen", 2.5, "'seen' of its state is not a valid value"),
        ("full", "seen", 2**63, "'seen' of its state is not a valid value"),
        ("full", "in_logs", 1, "'in_logs' of its state is not a valid value"),
        ("full", "live", 8, "the numbers"),
        ("full", "live", 0, "the numbers"),
        ("full", "live", 5, "its array"),
        ("full", "grown", 7, "the numbers"),
        ("full", "grown", -1, "the numbers"),
        ("full", "seen", 2**54, "the numbers"),
        ("full", "seen", 61, "the counts"),
        ("full", "pruned", 1, "the counts"),
        ("full", "pruned", -1, "the numbers"),
        ("full", "merged", -1, "the numbers"),
        ("full", "evaluations", -1, "the numbers"),
        ("full", "rescans", -1, "the numbers"),
        ("full", "gap", 2.0, "the numbers"),
        ("full", "prune_from", 61, "the numbers"),
        ("full", "stale", 8, "the numbers"),
        ("full", "needed_rank", 1, "the numbers"),
        ("full", "rank_room", 1, "the numbers"),
        ("full", "direction_room", 1, "the numbers"),
        ("lowrank", "rank_room", 0, "the numbers"),
        ("lowrank", "rank_room", 13, "the numbers"),
        ("lowrank", "direction_room", 0, "the directions"),
        ("lowrank", "direction_room", -1, "the numbers"),
        ("lowrank", "needed_rank", 1000, "the numbers"),
        ("lowrank", "largest_rank", 0, "the ranks"),
        ("lowrank", "largest_rank", 1000, "the numbers"),
    ],
)
def test_scalars_that_kernels_rely_on_are_checked(kind, name, value, sentence):
    data = crafted_from(kind)
    header, body = split(data)
    assert header["state"][name] != value
    header["state"][name] = value
    refused(sealed(header, body), sentence)


@pytest.mark.parametrize(
    ("kind", "name", "index", "number", "sentence"),
    [
        ("full", "count", 0, np.nan, "the counts"),
        ("full", "count", 0, 0.5, "the counts"),
        ("full", "count", -1, 2.0, "the counts"),
        ("full", "age", 0, 2.0**63, "the ages"),
        ("full", "age", 0, np.nan, "the ages"),
        ("full", "age", 0, 1.5, "the ages"),
        ("full", "recent", 0, 0.0, "the shares"),
        ("full", "recent", 0, np.nan, "the shares"),
        ("full", "recent", 0, 1e3, "the shares"),
        ("full", "id", 0, 60, "the ids"),
        ("full", "id", 0, -1, "the ids"),
        ("full", "id", slice(2), 3, "the ids"),
        ("full", "damping", 0, 0.0, "the weights"),
        ("full", "damping", 0, np.inf, "the weights"),
        ("full", "total", 0, 1e9, "the weights"),
        ("full", "total", 0, np.nan, "the weights"),
        ("full", "total", 0, -1.0, "the weights"),
        ("full", "anchor", (0, 0), np.inf, "the means"),
        ("full", "anchor", (-1, 0), np.nan, "the means"),
        ("full", "drift", (0, 0), np.nan, "the means"),
        ("full", "drift", (0, 0), 1e301, "the means"),
        ("full", "factor", (0, 0), np.inf, "the factors"),
        ("full", "covariance", (0, 0, 0), 0.5, "the covariances"),
        ("plane", "covariance", (0, 0, 1), np.nan, "the covariances"),
        ("diag", "covariance", (0, 0), 0.5, "the covariances"),
        ("diag", "factor", (0, 0), np.nan, "the factors"),
        ("spherical", "covariance", 0, np.inf, "the covariances"),
        ("spherical", "covariance", 0, 0.5, "the covariances"),
        ("lowrank", "covariance", 0, np.nan, "the covariances"),
        ("lowrank", "covariance", 0, -1.0, "the covariances"),
        ("lowrank", "factor", 0, 0.0, "the covariances"),
        ("lowrank", "factor", 0, np.nan, "the factors"),
        ("lowrank", "base", 0, 0.5, "the covariances"),
        ("lowrank", "base", -1, 2.0, "the covariances"),
        ("lowrank", "rank", 0, 1000, "the ranks"),
        ("lowrank", "rank", 0, -1, "the ranks"),
        ("lowrank", "rank", -1, 1, "the ranks"),
        ("lowrank", "rank", 0, 0, "its array"),
        ("lowrank", "directions", (0, slice(None)), 0.0, "the directions"),
        ("lowrank", "directions", (0, 0), np.nan, "the directions"),
        ("lowrank", "directions", (0, 0), 2.0, "the directions"),
        ("full", "least", 0, 0.0, "the covariances"),
        ("full", "least", -1, 2.0, "the covariances"),
        ("full", "renewals", 0, np.nan, "the covariances"),
        ("full", "renewals", -1, 1.0, "the covariances"),
        ("full", "odds", (0, 1), np.nan, "the distances"),
        ("full", "odds", (1, 0), np.nan, "the distances"),
        ("full", "odds", (0, 1), -1.0, "the distances"),
        ("full", "pair", 0, np.nan, "the distances"),
        ("full", "pair", ..., np.inf, "the distances"),
        ("full", "pair", 0, -1.0, "the distances"),
        ("full", "bound", 0, 1e300, "the distances"),
        ("full", "bound", 0, np.nan, "the distances"),
        ("full", "bound", 0, -1.0, "the distances"),
    ],
)
def test_numbers_that_kernels_rely_on_are_checked(kind, name, index, number, sentence):
    refused(with_number(crafted_from(kind), name, index, number), sentence)


def test_a_prune_that_would_leave_nothing_is_refused():
    data = crafted_from("full")
    header, arrays = arrays_in(data)
    arrays["total"][:] = 1e-9
    arrays["id"][:] = np.arange(len(arrays["id"])) + 1
    SPC.from_bytes(with_arrays(data, header, arrays))  # nothing is pruned before the next point
    header["state"]["prune_from"] = 1
    with pytest.raises(ValueError, match="the weights"):
        SPC.from_bytes(with_arrays(data, header, arrays))
    header["state"]["prune_from"] = 2
    SPC.from_bytes(with_arrays(data, header, arrays))


def test_a_state_that_could_not_be_loaded_is_not_saved(X):
    model = SPC(10, scale=1.0).fit(X)
    model._stream.structures.anchor[0] = np.nan
    with pytest.raises(ValueError, match="This SPC cannot be saved: the means of its structures"):
        model.to_bytes()


def test_a_number_of_threads_that_there_cannot_be_is_refused(X):
    header, arrays = arrays_in(data := SPC(10, scale=1.0).fit(X).to_bytes())
    header["parameters"]["n_jobs"] = 0
    refused(with_arrays(data, header, arrays), "n_jobs must not be 0")
