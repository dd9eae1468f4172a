"""Files of saved models: whole, whatever happens while they are written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spclust import SPC
from spclust.persistence import atomic_file
from tests.saving.common import ROOT, run, state_of

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
    assert state_of(SPC.load(link)) == state_of(model)


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

    monkeypatch.setattr(atomic_file.os, step, fail)
    with pytest.raises(type(error)):
        SPC(10).fit(X).save(path)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["model.spc"]
    assert path.read_bytes() == old


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from spclust.persistence.atomic_file import write_whole
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (15_000, 15_000))
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
    assert len(old) < 15_000 < len(other.read_bytes())
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
    atomic_file.write_whole(path, sources[0].read_bytes())
    output = run("killed_savers.py", path, *sources)
    found, others = np.array(output.split(), dtype=int).reshape(-1, 2).T
    assert len(found) == 200
    assert set(found) == {0, 1}
    # A killed process leaves its temporary file, if it had one, and the next one removes it.
    assert others.sum() > 10
    assert others.max() <= 2  # the next one may be killed before it does
    atomic_file.write_whole(path, sources[0].read_bytes())
    assert [p.name for p in folder.iterdir()] == ["model.spc"]
    assert SPC.load(path).n_structures == 5


def test_the_temporary_file_of_a_living_process_stays(X, tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "model.spc"
    with atomic_file._temporary(path) as file:
        SPC(5).fit(X).save(path)
        assert Path(file.name).exists()
    assert [p.name for p in tmp_path.iterdir()] == ["model.spc"]
