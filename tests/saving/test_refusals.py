"""What is no sound model is refused in one sentence, and nothing of it is run."""

import io
import pickle
import pickletools
import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from spclust import SPC
from spclust.persistence import container
from tests.saving.common import ROOT, Renamed, run, state_of
from tests.saving.crafted_models import (
    AUTOMATIC_KINDS,
    KINDS,
    STORED,
    arrays_in,
    corrupted,
    model_of,
    sealed,
    split,
    with_arrays,
)

FIRST = ROOT / "tests" / "data" / "model_v1.spc"

# Files that are damaged, or of something else


def test_what_has_learnt_nothing_cannot_be_saved(tmp_path):
    for save in (SPC().to_bytes, lambda: SPC().save(tmp_path / "model.spc")):
        with pytest.raises(NotFittedError):
            save()
    assert not list(tmp_path.iterdir())


def changed(data, at, new):
    return data[:at] + new + data[at + len(new) :]


REFUSALS = {
    "it is empty": lambda data: b"",
    "it is not a saved model of spclust": lambda data: pickle.dumps([1, 2, 3]),
    "it was cut short, to ": lambda data: data[: len(data) // 2],
    "it was cut short: ": lambda data: data[:10],
    r"it is damaged \(checksum mismatch\): take another copy": lambda data: changed(
        data, len(data) // 2, b"?"
    ),
    r"newer spclust \(format 5, this one reads up to 4\): upgrade spclust": lambda data: changed(
        data, 8, b"\x05"
    ),
    r"there is no format 0": lambda data: changed(data, 8, b"\x00"),
}


@pytest.mark.parametrize("sentence", REFUSALS)
def test_refusals_are_one_sentence_with_the_path(X, tmp_path, sentence):
    data = REFUSALS[sentence](SPC(10).fit(X).to_bytes())
    path = tmp_path / "модель.spc"
    path.write_bytes(data)
    for start, load in (
        (f"Cannot load {str(path)!r}: ", lambda: SPC.load(path)),
        ("Cannot load a model from these bytes: ", lambda: SPC.from_bytes(data)),
    ):
        with pytest.raises(ValueError, match=sentence) as caught:
            load()
        assert str(caught.value).startswith(start)
        assert str(caught.value).endswith(".")


def test_another_class_is_refused_and_the_right_one_is_not(X, tmp_path):
    model = Renamed(10).fit(X)
    model.save(tmp_path / "model.spc")
    assert type(Renamed.load(str(tmp_path / "model.spc"))) is Renamed
    with pytest.raises(ValueError, match="it holds a Renamed, not a SPC: use the class Renamed"):
        SPC.load(tmp_path / "model.spc")
    with pytest.raises(FileNotFoundError, match=r"none\.spc"):
        SPC.load(tmp_path / "none.spc")
    for version in (1, 2, 3, 4):
        other = sealed({"class": "checkpoint", "arrays": []}, b"", version)
        with pytest.raises(ValueError, match="it holds a checkpoint, not a SPC"):
            SPC.from_bytes(other)


# Content that does not match, or that learning cannot have produced


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
    data = model_of(kind).to_bytes()
    header, arrays = arrays_in(data)
    assert len(arrays) > 15
    for name, array in arrays.items():
        less, more = array[:-1], np.concatenate([array, array[:1]])
        another = np.ones(array.shape, "<i8" if array.dtype == "<f8" else "<f8")
        flat = array.reshape(-1, 1) if array.ndim == 1 else array.reshape(-1)
        for changed_one in (less, more, another, flat):
            if changed_one.shape == array.shape and changed_one.dtype == array.dtype:
                continue  # of nothing there is nothing to take away
            if name in ("nearest", "nlt", "first") and changed_one.dtype == array.dtype:
                continue  # any number of rows may have been learnt
            with pytest.raises(ValueError, match=rf"its array '{name}'|its labels do not match"):
                SPC.from_bytes(with_arrays(data, header, {**arrays, name: changed_one}))
        without = {other: arrays[other] for other in arrays if other != name}
        with pytest.raises(ValueError, match=rf"its array '{name}' is missing|arrays do not match"):
            SPC.from_bytes(with_arrays(data, header, without))
    with pytest.raises(ValueError, match="it holds arrays that belong to no state"):
        SPC.from_bytes(with_arrays(data, header, {**arrays, "more": arrays["age"]}))


def with_number(data, name, index, number):
    """A saved model in which one number of an array is another one."""
    header, arrays = arrays_in(data)
    assert np.any(arrays[name][index] != number)
    arrays[name][index] = number
    return with_arrays(data, header, arrays)


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
    with pytest.raises(ValueError, match=sentence):
        SPC.from_bytes(sealed(header, body))


def crafted_from(kind):
    """The bytes of a model, which can be loaded as they are."""
    data = model_of(kind).to_bytes()
    SPC.from_bytes(data)
    return data


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
    data = crafted_from(kind)
    with pytest.raises(ValueError, match=sentence):
        SPC.from_bytes(with_number(data, name, index, number))


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


# In files of versions 1 and 2 the scalars are numbers of the array `head`.
LIVE, SEEN, GROWN, KIND, RANK, DIRECTIONS, FREE, LARGEST, STALE, TIMED = (
    *(9, 10, 16, 18, 22, 23, 24, 25, 29, 30),
)


@pytest.mark.parametrize(
    ("kind", "name", "index", "number", "sentence"),
    [
        ("full", "head", 0, 1e6, r"it takes \d+ GB|do not match"),
        ("full", "head", 1, 4.0, "its array 'anchor' has another shape"),
        ("full", "head", 1, 2.0**40, r"it takes \d+ GB"),
        ("full", "head", LIVE, 11.0, "the numbers"),
        ("full", "head", LIVE, 0.0, "the numbers"),
        ("full", "head", LIVE, np.nan, "the numbers"),
        ("full", "head", GROWN, 10.0, "the numbers"),
        ("full", "head", SEEN, 2.5, "the numbers"),
        ("full", "head", SEEN, np.inf, "the numbers"),
        ("full", "head", SEEN, 301.0, "the counts"),
        ("full", "head", KIND, 1.0, "'covariance_type' of its state"),
        ("full", "head", KIND, np.nan, "'covariance_type' of its state"),
        ("full", "head", KIND, 2.0, "its array 'Sigma' has another shape"),
        ("full", "head", TIMED, -1.0, "'timed' of its state"),
        ("full", "head", TIMED, 0.5, "the numbers"),
        ("full", "head", STALE, 1e6, "the numbers"),
        ("full", "head", 3, np.nan, "'gamma' of its state"),
        ("lowrank", "head", RANK, 1e6, r"it takes \d+ GB|the numbers"),
        ("lowrank", "head", RANK, 0.0, "the numbers"),
        ("lowrank", "head", DIRECTIONS, 1e18, r"it takes \d+ GB"),
        ("lowrank", "head", FREE, 0.0, "the directions"),
        ("lowrank", "head", LARGEST, 0.0, "the ranks"),
        ("full", "count", 0, np.nan, "the counts"),
        ("full", "age", 0, 2.0**63, "the ages"),
        ("full", "id", 0, 300.0, "the ids"),
        ("full", "id", 0, 1.5, "the ids"),
        ("full", "id", 0, np.nan, "the ids"),
        ("full", "id", 0, 1e300, "the ids"),
        ("full", "mass", 0, 0.0, "the weights"),
        ("full", "total", 0, 1e9, "the weights"),
        ("full", "anchor", (0, 0, 0), np.inf, "the means"),
        ("full", "drift", (0, 0, 0), np.nan, "the means"),
        ("full", "whiten", (0, 0, 0), np.inf, "the factors"),
        ("full", "Sigma", (0, 0, 0), 0.5, "the covariances"),
        ("diag", "Sigma", (0, 0, 0), 0.5, "the covariances"),
        ("spherical", "Sigma", (0, 0, 0), np.inf, "the covariances"),
        ("lowrank", "Sigma", (0, 0, 0), np.nan, "the covariances"),
        ("lowrank", "rank", 0, 1000.0, "the ranks"),
        ("lowrank", "rank", 0, 0.5, "the ranks"),
        ("lowrank", "place", (0, 0), 1e6, "the directions"),
        ("lowrank", "place", (0, 0), -1.0, "the directions"),
        ("lowrank", "place", (slice(2), 0), 0.0, "the directions"),
        ("lowrank", "place", (0, 0), np.nan, "the ranks"),
        ("lowrank", "basis", ..., 0.0, "the directions"),
        ("full", "odds", ..., np.nan, "the distances"),
        ("full", "odds_back", ..., np.nan, "the distances"),
        ("full", "pair", (0, slice(None)), np.nan, "the distances"),
        ("full", "pair", ..., np.inf, "the distances"),
        ("full", "bound", 0, 1e300, "the distances"),
    ],
)
def test_numbers_of_version_2_are_checked(kind, name, index, number, sentence):
    data = (STORED / f"v2-{kind}.spc").read_bytes()
    SPC.from_bytes(data)
    with pytest.raises(ValueError, match=sentence):
        SPC.from_bytes(with_number(data, name, index, number))


# What belonged to an automatic mode that is no longer there.
AUTOMATIC, OF_RANK = {"owner", "origin", "unit", "scatter"}, {"rank", "base", "place", "basis"}


@pytest.mark.parametrize(
    ("path", "not_read"),
    [
        (FIRST, {"free", *OF_RANK}),
        (STORED / "v2-full.spc", {"free", *AUTOMATIC, *OF_RANK}),
        (STORED / "v2-lowrank.spc", {"free", "whiten", *AUTOMATIC}),
    ],
    ids=["first", "full", "lowrank"],
)
def test_every_array_of_an_earlier_version_is_needed(path, not_read):
    data = path.read_bytes()
    header, arrays = arrays_in(data)
    for name, array in arrays.items():
        without = {other: arrays[other] for other in arrays if other != name}
        with pytest.raises(ValueError, match="its header and its arrays do not match"):
            SPC.from_bytes(with_arrays(data, header, without))
        reshaped = array.reshape(-1) if array.ndim > 1 else array.reshape(-1, 1)
        crafted = with_arrays(data, header, {**arrays, name: reshaped})
        if name in not_read:
            SPC.from_bytes(crafted)
        else:
            with pytest.raises(ValueError, match=r"another shape|do not match|the directions"):
                SPC.from_bytes(crafted)


def test_a_few_bytes_cannot_ask_for_more_memory_than_there_is(X):
    header, body = split(SPC(1_000, scale=1.0).fit(X).to_bytes())
    header["built_with"]["n_structures"] = header["state"]["n_structures"] = 1_000_000
    with pytest.raises(ValueError, match=r"it takes \d+ GB, more than this machine has"):
        SPC.from_bytes(sealed(header, body))


@pytest.mark.parametrize("features", [2**31, 2**53])
def test_sizes_that_leave_the_range_of_integers_are_refused(features):
    header, body = split(crafted_from("full"))
    header["state"]["n_features"] = header["n_features_in"] = features
    with pytest.raises(ValueError, match=r"it takes \d+ GB, more than this machine has"):
        SPC.from_bytes(sealed(header, body))


# Any damage


def test_ten_thousand_damaged_models_are_refused():
    model = model_of("full")
    data, rng = model.to_bytes(), np.random.default_rng(0)
    same = 0
    for _ in range(10_000):
        damaged = corrupted(data, rng)
        try:
            again = SPC.from_bytes(damaged)
        except ValueError as error:
            if not re.fullmatch(r"Cannot load a model from these bytes: .+\.", str(error)):
                raise
        else:
            same += 1
            assert damaged == data
            assert state_of(again) == state_of(model)
    assert same < 1_000  # a stretch of zeros in zeros, an exchange of equals


def test_crafted_models_are_refused_or_work():
    present, automatic, stored = run("crafted_models.py", 0, 120).splitlines()
    of_modes = (present, len(KINDS), 500), (automatic, len(AUTOMATIC_KINDS), 500)
    for line, models, most in (*of_modes, (stored, 8, 800)):
        refused, worked = map(int, line.split())
        assert refused + worked == 120 * models
        assert refused > 300
        assert worked > 20
        assert refused < most


def test_nothing_in_a_saved_model_is_a_pickle(X, monkeypatch):
    data = SPC(10).fit(X).to_bytes()
    monkeypatch.setattr(pickle, "loads", None)
    monkeypatch.setattr(pickle, "load", None)
    monkeypatch.setattr(pickle, "Unpickler", None)
    SPC.from_bytes(data)
    with pytest.raises(ValueError, match=r"quotes|opcode"):
        list(pickletools.genops(io.BytesIO(data)))
    package = ROOT / "src" / "spclust"
    modules = [*package.glob("persistence/*.py"), package / "estimators" / "model_file.py"]
    assert len(modules) > 6
    for module in modules:
        assert not re.search(r"\bpickle\b|\beval\b|\bexec\b|np\.load\b", module.read_text())


def test_a_state_that_could_not_be_loaded_is_not_saved(X):
    model = SPC(10, scale=1.0).fit(X)
    model._stream.structures.anchor[0] = np.nan
    with pytest.raises(ValueError, match="This SPC cannot be saved: the means of its structures"):
        model.to_bytes()
