"""Files that are damaged, or of something else, are refused in one sentence."""

import io
import pickle
import pickletools
import re

import pytest
from sklearn.exceptions import NotFittedError

from spclust import SPC
from tests.saving.common import ROOT, Renamed
from tests.saving.crafted_models import sealed


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
    r"newer spclust \(format 6, this one reads up to 5\): upgrade spclust": lambda data: changed(
        data, 8, b"\x06"
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
