"""Saved models: what comes back is the same to the last bit, and nothing else comes back."""

import contextlib
import io
import os
import pickle
import pickletools
import re
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from spclust import SPC, durable, saving
from spclust.core import online
from spclust.core.stream import Stream
from spclust.core.structures import (
    CRAMPED,
    FACTOR,
    FEATURES,
    FREE,
    GROWN,
    IN_LOGS,
    LARGEST,
    LIVE,
    SEEN,
)
from tests.crafted_models import KINDS, corrupted, model_of, sealed, split
from tests.strategies import online_params, seeds, streams

ROOT = Path(__file__).parents[1]
COVARIANCES = ("full", "lowrank", "diag", "spherical")


class Renamed(SPC):
    """A class of its own, with all that SPC has."""


def pool_of(model):
    return model._stream.pool.tobytes()


def run(program, *arguments):
    """What a program of the tests prints, in a process of its own."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, ROOT / "tests" / program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    ).stdout


# What comes back


@settings(max_examples=60)
@given(streams(), online_params(most_structures=12), st.sampled_from(COVARIANCES), st.data())
def test_learning_goes_on_to_the_last_bit(X, params, covariance, data):
    cut = data.draw(st.integers(1, len(X)), label="cut")
    rank = data.draw(st.sampled_from([None, 1, 3]), label="max_rank")
    whole = SPC(**params, covariance_type=covariance, max_rank=rank).partial_fit(X[:cut])
    saved = whole.to_bytes()
    again = SPC.from_bytes(saved)
    assert again.to_bytes() == saved
    assert pool_of(again) == pool_of(whole)
    assert again._stream.pool.ctypes.data % 64 == 0
    assert again._stream.params == whole._stream.params
    assert np.array_equal(again.labels_, whole.labels_)
    for rows in (X[cut:], X):
        if len(rows):
            again.partial_fit(rows)
            whole.partial_fit(rows)
        assert pool_of(again) == pool_of(whole)
    assert np.array_equal(again.labels_, whole.labels_)
    again.learn_one(X[0])
    whole.learn_one(X[0])
    assert pool_of(again) == pool_of(whole)


@pytest.mark.parametrize("kind", KINDS)
def test_every_cut_of_a_stream_is_a_good_one(kind):
    covariance, d = KINDS[kind]
    X = np.random.default_rng(1).normal(scale=4.0, size=(70, d))
    params = {"beta": 0.1, "w_min": 0.1, "gamma": 0.02, "covariance_type": covariance}
    whole, broken = SPC(5, **params), SPC(5, **params)
    for row in X:
        whole.partial_fit(row[np.newaxis])
        broken = SPC.from_bytes(broken.partial_fit(row[np.newaxis]).to_bytes())
        assert pool_of(broken) == pool_of(whole)


def test_memory_that_grew_and_directions_that_were_given_up_come_back():
    X = np.random.default_rng(0).normal(scale=3.0, size=(150, 30))
    for rank in (None, 12):
        model = SPC(4, covariance_type="lowrank", max_rank=rank).fit(X)
        first = Stream(model._stream.params, 30).pool.size
        assert model._stream.pool.size > first
        again = SPC.from_bytes(model.to_bytes())
        assert pool_of(again.partial_fit(3.0 * X)) == pool_of(model.partial_fit(3.0 * X))


@pytest.mark.parametrize("covariance", COVARIANCES)
@given(seed=seeds)
@settings(max_examples=5)
def test_a_model_that_was_interrupted_before_it_pruned_comes_back(covariance, seed):
    X = np.random.default_rng(seed).normal(scale=4.0, size=(70, 3))
    learn_with_interrupts(SPC(7, beta=0.3, w_min=0.2, covariance_type=covariance), X)


@pytest.mark.parametrize("d", [2, 3])
@given(seed=seeds)
@settings(max_examples=5)
def test_a_model_that_was_interrupted_before_a_rare_union_comes_back(d, seed):
    """One that the quick ways do not cover, when a seat for it is already taken."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(70, d)) * 10.0 ** rng.uniform(0.0, 10.0, size=(70, 1))
    learn_with_interrupts(SPC(7, w_min=0.0, covariance_type="full"), X)


def learn_with_interrupts(model, X):
    """Interrupt a model whenever something rare is to be done; it comes to the same in the end."""
    whole, broken = clone(model).fit(X), model.fit(X[:5])
    while broken.n_samples_seen_ < len(X):
        with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            patch.setattr(online, "make_room", interrupt)
            broken.partial_fit(X[broken.n_samples_seen_ :])
        if broken._last.seen is None:  # interrupted
            broken = SPC.from_bytes(broken.to_bytes())
            assert len(broken.labels_) == 0
        if broken.n_samples_seen_ < len(X):
            broken.partial_fit(X[broken.n_samples_seen_ :][:1])
    assert pool_of(broken.partial_fit(X[:1])) == pool_of(whole.partial_fit(X[:1]))


def test_a_model_that_was_interrupted_before_its_memory_grew_comes_back(monkeypatch):
    X = np.random.default_rng(0).normal(scale=3.0, size=(100, 40))
    whole = SPC(3, covariance_type="lowrank").fit(X)
    broken = SPC(3, covariance_type="lowrank").fit(X[:1])
    monkeypatch.setattr(Stream, "_use", interrupt)
    with pytest.raises(KeyboardInterrupt):
        broken.partial_fit(X[1:])
    monkeypatch.undo()
    broken = SPC.from_bytes(broken.to_bytes())
    broken.partial_fit(X[broken.n_samples_seen_ :])
    assert pool_of(broken.partial_fit(X)) == pool_of(whole.partial_fit(X))


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("learn", ["fit", "partial_fit", "learn_one"])
def test_labels_survive_as_they_do_in_a_pickle(X, learn):
    model = SPC(10, eps=0.5).fit(X)
    if learn == "partial_fit":
        model.partial_fit(X[:70])
    if learn == "learn_one":
        for x in X[:70]:
            model.learn_one(x)
    again, pickled = SPC.from_bytes(model.to_bytes()), pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.structures_.label, pickled.structures_.label)
    assert np.array_equal(again._first, pickled._first)
    assert (again._first.size > 0) == (learn == "fit")
    if learn == "learn_one":
        for one in (again, pickled):
            with pytest.raises(AttributeError, match="one by one"):
                one.labels_  # noqa: B018
    else:
        assert again.labels_.dtype == pickled.labels_.dtype
        assert np.array_equal(again.labels_, pickled.labels_)


def test_a_little_of_a_large_model_is_a_small_file():
    X = np.random.default_rng(0).normal(size=(5, 40))
    model = SPC(500, covariance_type="full").fit(X)
    assert len(model.to_bytes()) < model._stream.pool.nbytes / 50


def test_joblib_and_pickle_still_know_everything(X, tmp_path):
    model = SPC(10, gamma=0.1).fit(X)
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    from_bytes = pickle.loads(pickle.dumps(SPC.from_bytes(model.to_bytes())))
    assert pool_of(again.partial_fit(X)) == pool_of(model.partial_fit(X))
    assert pool_of(from_bytes.partial_fit(X)) == pool_of(model)


# Parameters and features


def test_parameters_come_back_as_plain_numbers(X):
    params = {
        "n_structures": np.int32(10),
        "m": np.float32(1.7),
        "beta": np.float64(0.1),
        "min_samples": np.uint8(2),
        "scale": 3,
        "covariance_type": np.str_("diag"),
        "n_jobs": np.int64(1),
    }
    model = SPC(**params).fit(X)
    again = SPC.from_bytes(model.to_bytes())
    for name, value in again.get_params().items():
        assert value == model.get_params()[name]
        assert type(value) in (int, float, str, type(None))
    assert pool_of(again.partial_fit(X)) == pool_of(model.partial_fit(X))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 5e-324, 0.1, -0.0, 1.7e308])
def test_every_float_has_its_way_through_the_header(number):
    header = {"number": saving.plain(np.float64(number), "it")}
    back = saving.unplain(saving.decode(saving.encode(header, {})).header["number"])
    assert type(back) is float
    assert np.array([back]).tobytes() == np.array([number]).tobytes()


def test_a_change_that_is_not_allowed_is_not_allowed_after_loading(X):
    model = SPC(10).fit(X).set_params(scale=2.0, beta=0.5)
    again = SPC.from_bytes(model.to_bytes())
    with pytest.raises(ValueError, match=r"scale was changed from 1.0 to 2.0"):
        again.partial_fit(X)
    assert pool_of(again.set_params(scale=1.0).partial_fit(X)) == pool_of(
        model.set_params(scale=1.0).partial_fit(X)
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "Polars"])
def test_names_of_features_come_back(frame, X):
    table = frame({"скорость": X[:, 0], 'a "b"\n\U0001f40b\x00': X[:, 1]})
    model = SPC(10).fit(table)
    again = SPC.from_bytes(model.to_bytes())
    assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert again.feature_names_in_.dtype == object
    assert np.array_equal(again.predict(table), model.labels_)
    with pytest.raises(ValueError, match="feature names"):
        again.partial_fit(frame({"a": X[:, 0], "b": X[:, 1]}))
    assert not hasattr(SPC.from_bytes(SPC(10).fit(X).to_bytes()), "feature_names_in_")


def test_what_is_no_number_cannot_be_saved(X):
    class Extended(SPC):
        def __init__(self, n_structures=5, *, extra=None):
            super().__init__(n_structures)
            self.extra = extra

    model = Extended(extra=(1, 2)).fit(X)
    with pytest.raises(TypeError, match=r"extra of Extended is \(1, 2\), which cannot be saved"):
        model.to_bytes()
    again = Extended.from_bytes(model.set_params(extra=2.5).to_bytes())
    assert (again.n_structures, again.extra) == (5, 2.5)


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
    r"newer spclust \(format 2, this one reads up to 1\): upgrade spclust": lambda data: changed(
        data, 8, b"\x02"
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
    model._stream.pool[32] = np.nan
    with pytest.raises(ValueError, match="This SPC cannot be saved: the means of its structures"):
        model.to_bytes()


# Files


def test_a_file_is_replaced_whole(X, tmp_path):
    path = tmp_path / "model.spc"
    path.touch(mode=0o640)
    link = tmp_path / "link.spc"
    link.symlink_to(path)
    for n in (5, 10):
        model = SPC(n).fit(X)
        model.save(str(link) if n == 5 else link)
        assert path.read_bytes() == model.to_bytes()
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.spc", "model.spc"]
    assert pool_of(SPC.load(link)) == pool_of(model)


def test_a_name_may_be_as_long_as_the_system_allows(X, tmp_path):
    SPC(5).fit(X).save(tmp_path / ("m" * 255))
    assert len(list(tmp_path.iterdir())) == 1


def test_if_a_file_cannot_be_written_one_sentence_says_so(X, tmp_path):
    model = SPC(5).fit(X)
    for path, error in (
        (tmp_path / "nowhere" / "model.spc", FileNotFoundError),
        (tmp_path, OSError),
        (Path("/dev/null"), OSError),
    ):
        with pytest.raises(error, match=re.escape(f"Nothing was saved to {str(path)!r}")):
            model.save(path)
    assert not list(tmp_path.iterdir())
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), KeyboardInterrupt()])
def test_whatever_fails_the_old_file_stays(X, tmp_path, monkeypatch, step, error):
    path = tmp_path / "model.spc"
    SPC(5).fit(X).save(path)
    old = path.read_bytes()

    def fail(*_):
        raise error

    monkeypatch.setattr(durable.os, step, fail)
    with pytest.raises(type(error)):
        SPC(10).fit(X).save(path)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["model.spc"]
    assert path.read_bytes() == old


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from spclust.durable import write_whole
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write_whole(sys.argv[1], Path(sys.argv[2]).read_bytes())
except OSError as error:
    print(error)
"""


def test_a_full_disk_costs_nothing_but_the_new_model(X, tmp_path):
    pytest.importorskip("resource")
    path, other = tmp_path / "model.spc", tmp_path / "other.spc"
    SPC(5).fit(X).save(path)
    SPC(60).fit(X).save(other)
    old = path.read_bytes()
    assert len(old) < 20_000 < len(other.read_bytes())
    output = subprocess.run(
        [sys.executable, "-c", FULL_DISK, path, other],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"Nothing was saved to {str(path)!r}, which is as it was: File too large." in output
    assert path.read_bytes() == old
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_process_leaves_a_whole_model(X, tmp_path):
    sources = [tmp_path / "first", tmp_path / "second"]
    for n, source in zip((5, 40), sources, strict=True):
        SPC(n).fit(X).save(source)
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "model.spc"
    durable.write_whole(path, sources[0].read_bytes())
    output = run("killed_savers.py", path, *sources)
    found, others = np.array(output.split(), dtype=int).reshape(-1, 2).T
    assert len(found) == 200
    assert set(found) == {0, 1}
    # A killed process leaves its temporary file, if it had one, and the next one removes it.
    assert others.sum() > 10
    assert others.max() <= 2  # the next one may be killed before it does
    durable.write_whole(path, sources[0].read_bytes())
    assert [p.name for p in folder.iterdir()] == ["model.spc"]
    assert SPC.load(path).n_structures == 5


def test_the_temporary_file_of_a_living_process_stays(X, tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "model.spc"
    with durable._temporary(path) as file:
        SPC(5).fit(X).save(path)
        assert Path(file.name).exists()
    assert [p.name for p in tmp_path.iterdir()] == ["model.spc"]


# For ever


def test_a_model_of_format_1_can_be_read_for_ever():
    """The file was written when there was no other format; no version may change what it says."""
    model = SPC.load(ROOT / "tests" / "data" / "model_v1.spc")
    assert model.get_params()["n_structures"] == 5
    assert model.get_params()["beta"] == 0.01
    assert model.feature_names_in_.tolist() == ["length", "größe"]
    assert model.n_samples_seen_ == 60
    assert model.structures_.count.tolist() == COUNTS
    assert model.predict(pd.DataFrame(POINTS, columns=["length", "größe"])).tolist() == CLUSTERS
    assert model.labels_.tolist() == [0] * 30 + [1] * 30
    assert model.partial_fit(
        pd.DataFrame(POINTS, columns=["length", "größe"])
    ).n_samples_seen_ == 60 + len(POINTS)


POINTS = [[0.0, 0.0], [10.0, 10.0], [1.0, -1.0], [9.0, 12.0]]
CLUSTERS, COUNTS = [0, 1, 0, 1], [29, 1, 28, 1, 1]
