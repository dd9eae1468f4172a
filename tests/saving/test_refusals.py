"""What is no sound model is refused in one sentence, and nothing of it is run."""

import io
import pickle
import pickletools
import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from spclust import SPC
from spclust.state.structures import (
    CRAMPED,
    FACTOR,
    FEATURES,
    FREE,
    GROWN,
    IN_LOGS,
    LARGEST,
    LIVE,
    SEEN,
    view,
)
from tests.saving.common import ROOT, Renamed, pool_of, run
from tests.saving.crafted_models import KINDS, corrupted, model_of, sealed, split

# What is refused


def test_what_has_learnt_nothing_cannot_be_saved(tmp_path):
    for save in (SPC().to_bytes, lambda: SPC().save(tmp_path / "model.spc")):
        with pytest.raises(NotFittedError):
            save()
    assert not list(tmp_path.iterdir())


def changed(data, at, new):
    return data[:at] + new + data[at + len(new) :]


REFUSALS = {
    "it is empty": lambda data: b"",
    "it is no saved model of spclust": lambda data: pickle.dumps([1, 2, 3]),
    "it was cut short, to ": lambda data: data[: len(data) // 2],
    "it was cut short: ": lambda data: data[:10],
    "it is damaged ": lambda data: changed(data, len(data) // 2, b"?"),
    r"newer spclust \(format 3, this one reads up to 2\): upgrade spclust": lambda data: changed(
        data, 8, b"\x03"
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


def test_a_state_and_a_header_that_do_not_go_together_are_refused(X):
    header, body = split(SPC(10).fit(X).to_bytes())
    for change in (
        {"n_features_in": 3},
        {"feature_names_in": ["a"]},
        {"built_with": {**header["built_with"], "n_structures": 9}},
        {"built_with": {**header["built_with"], "covariance_type": "diag"}},
        {"built_with": {**header["built_with"], "m": 2.0}},
        {"parameters": {**header["parameters"], "nonsense": 1}},
        {"parameters": {**header["parameters"], "eps": "x"}},
        {"last_seen": 5},
        {"arrays": header["arrays"][:-1]},
        {"arrays": [*header["arrays"], header["arrays"][-1]]},
        {"arrays": [*header["arrays"], *(a for a in header["arrays"] if a["shape"][0] == 0)]},
        {"arrays": None},
    ):
        with pytest.raises(ValueError, match="Cannot load a model from these bytes: "):
            SPC.from_bytes(sealed({**header, **change}, body))
    for text in (b"[" * 100_000, b"{", b"[]", b"\xff", b'{"class": ' + b"9" * 5000 + b"}"):
        with pytest.raises(ValueError, match="its header is no JSON"):
            SPC.from_bytes(sealed(text, body))


def with_number(data, name, index, number):
    """A saved model in which one number of an array is another one."""
    header, body = split(data)
    start = 0
    for row in header["arrays"]:
        size = int(np.prod(row["shape"]))
        if row["name"] == name:
            array = np.frombuffer(body, "<f8", size, start).reshape(row["shape"]).copy()
            assert np.any(array[index] != number)
            array[index] = number
            return sealed(header, body[:start] + array.tobytes() + body[start + array.nbytes :])
        start += size * int(row["dtype"][-1])
    raise AssertionError(name)


@pytest.mark.parametrize(
    ("kind", "name", "index", "number", "sentence"),
    [
        ("full", "head", FEATURES, 4.0, "the numbers"),
        ("full", "head", FACTOR, 5.0, "the numbers"),
        ("full", "head", LIVE, 8.0, "the numbers"),
        ("full", "head", LIVE, 0.0, "the numbers"),
        ("full", "head", GROWN, 7.0, "the numbers"),
        ("full", "head", CRAMPED, 1.0, "the numbers"),
        ("full", "head", IN_LOGS, 0.5, "the numbers"),
        ("full", "head", SEEN, 2.5, "the numbers"),
        ("full", "head", SEEN, 61.0, "the clocks"),
        ("lowrank", "head", FREE, 1e6, "the numbers"),
        ("lowrank", "head", LARGEST, 0.0, "the ranks"),
        ("full", "count", 0, np.nan, "the clocks"),
        ("full", "age", 0, 2.0**63, "the clocks"),
        ("full", "id", 0, 60.0, "the ids"),
        ("full", "id", 0, 1.5, "the ids"),
        ("full", "mass", 0, 0.0, "the weights"),
        ("full", "total", 0, 1e9, "the weights"),
        ("full", "anchor", (0, 0, 7), np.inf, "the means"),
        ("full", "drift", (0, 0, 0), np.nan, "the means"),
        ("full", "whiten", (0, 0, 7), 2.0, "the spreads"),
        ("full", "whiten", (0, 0, 0), np.inf, "the factors"),
        ("full", "Sigma", (0, 0, 0), 0.5, "the spreads"),
        ("plane", "Sigma", (0, 0, 1), np.nan, "the spreads"),
        ("diag", "Sigma", (0, 0, 0), 0.5, "the spreads"),
        ("spherical", "Sigma", (0, 0, 0), np.inf, "the spreads"),
        ("lowrank", "Sigma", (0, 0, 0), np.nan, "the spreads"),
        ("lowrank", "rank", 0, 1000.0, "the ranks"),
        ("lowrank", "place", (0, 0), 1e6, "the directions"),
        ("lowrank", "place", (0, 0), -1.0, "the directions"),
        ("lowrank", "free", 0, 0.5, "the directions"),
        ("full", "odds", (0, 1), np.nan, "the distances"),
        ("full", "odds_back", (0, 1), np.nan, "the distances"),
        ("full", "pair", (0, slice(None)), np.nan, "the distances"),
        ("full", "pair", ..., np.inf, "the distances"),
        ("full", "pair", (0, 1), -1.0, "the distances"),
        ("full", "bound", 0, 1e300, "the distances"),
        ("full", "connection", 0, 1e300, "the distances"),
    ],
)
def test_numbers_that_machine_code_relies_on_are_checked(kind, name, index, number, sentence):
    data = model_of(kind)[0].to_bytes()
    SPC.from_bytes(data)
    with pytest.raises(ValueError, match=sentence):
        SPC.from_bytes(with_number(data, name, index, number))


def test_a_few_bytes_cannot_ask_for_more_memory_than_there_is(X):
    header, body = split(SPC(1_000).fit(X).to_bytes())
    numbers = np.frombuffer(body[:256], "<f8").copy()
    numbers[0] = 1e6  # structures
    header["built_with"]["n_structures"] = 1_000_000
    with pytest.raises(ValueError, match=r"it takes \d+ GB, more than this machine has"):
        SPC.from_bytes(sealed(header, numbers.tobytes() + body[256:]))


def test_ten_thousand_damaged_models_are_refused():
    model, _ = model_of("full")
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
            assert pool_of(again) == pool_of(model)
    assert same < 1_000  # a stretch of zeros in zeros, an exchange of equals


def test_crafted_models_are_refused_or_work():
    refused, worked = map(int, run("crafted_models.py", 0, 120).split())
    assert refused + worked == 120 * len(KINDS)
    assert refused > 300
    assert worked > 20


def test_nothing_in_a_saved_model_is_a_pickle(X, monkeypatch):
    data = SPC(10).fit(X).to_bytes()
    monkeypatch.setattr(pickle, "loads", None)
    monkeypatch.setattr(pickle, "load", None)
    monkeypatch.setattr(pickle, "Unpickler", None)
    SPC.from_bytes(data)
    with pytest.raises(ValueError, match=r"quotes|opcode"):
        list(pickletools.genops(io.BytesIO(data)))
    for module in ("saving", "savable", "snapshots", "soundness", "durable"):
        source = (ROOT / "src" / "spclust" / f"{module}.py").read_text()
        assert not re.search(r"\bpickle\b|\beval\b|\bexec\b|np\.load\b", source)


def test_a_state_that_could_not_be_loaded_is_not_saved(X):
    model = SPC(10).fit(X)
    model._stream.pool[-1] = 0.0
    view(model._stream.pool).anchor[0] = np.nan
    with pytest.raises(ValueError, match="This SPC cannot be saved: the means of its structures"):
        model.to_bytes()
