"""The script that compares two versions of the code: it must notice the last bit, and nothing else.

What it compares is the streams of `golden_streams` and `golden_others`; here a few of them will do.
"""

import functools
import json

import numpy as np
import pytest

from tests import golden
from tests.golden_digests import digest
from tests.golden_streams.data import lines
from tests.golden_streams.learning import fitted, plain_stream

FEW = "structures-[12]"  # two streams


@pytest.fixture(name="file")
def file_of_few(tmp_path):
    assert golden.main(["record", str(tmp_path / "few.json"), "--only", FEW]) == 0
    return tmp_path / "few.json"


def test_the_same_code_gives_the_same_file_again(file, tmp_path, capsys):
    assert golden.main(["record", str(tmp_path / "again.json"), "--only", FEW]) == 0
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()
    streams = json.loads(file.read_text())["streams"]
    assert list(streams) == ["structures-1", "structures-2"]
    assert streams["structures-2"]["summary"] == {"points": 700, "structures": 2, "clusters": 1}
    capsys.readouterr()
    assert golden.main(["compare", str(file)]) == 0
    assert "2 streams compared, 0 differ." in capsys.readouterr().out


def test_what_differs_is_told_by_name(file, capsys, monkeypatch):
    content = json.loads(file.read_text())
    digests = content["streams"]["structures-1"]["digests"]
    digests["mean"], digests["gone"] = "another", "one"
    del digests["predict"]
    content["streams"]["never was"] = content["streams"]["structures-1"]
    file.write_text(json.dumps(content))
    capsys.readouterr()
    assert golden.main(["compare", str(file)]) == 1
    told = capsys.readouterr().out
    assert "structures-1: differs in 1 of 48: mean\n" in told
    assert "structures-1: lacks 1 of 48: gone\n" in told
    assert "structures-1: has in addition 1 of 48: predict\n" in told
    assert "never was: there is no such stream any more\n" in told
    assert "structures-2: " not in told
    assert "3 streams compared, 2 differ." in told
    assert golden.main(["compare", str(file), "--only", "structures-2"]) == 0


@pytest.mark.parametrize("change", [{"beta": 0.0101}, {"m": 1.500001}, {"min_samples": 3}])
def test_a_changed_parameter_is_noticed(change, tmp_path, capsys, monkeypatch):
    params = {"n_structures": 8, "beta": 0.01, "scale": 1.0, "eps": 0.95}
    of = functools.partial(plain_stream, data=lines, n=300, d=2, how=fitted)
    file = str(tmp_path / "one.json")
    monkeypatch.setitem(golden.STREAMS, "one", functools.partial(of, params=params))
    assert golden.main(["record", file, "--only", "one"]) == 0
    assert golden.main(["compare", file]) == 0
    monkeypatch.setitem(golden.STREAMS, "one", functools.partial(of, params=params | change))
    capsys.readouterr()
    assert golden.main(["compare", file]) == 1
    told = capsys.readouterr().out
    assert "one: differs in" in told
    learnt = "structures weight" in told
    assert learnt == ("min_samples" not in change)  # which has no part in learning
    assert ("labels" in told) == ("min_samples" in change)  # so small are the other changes


def test_a_stream_that_fails_is_told(tmp_path, file, capsys, monkeypatch):
    def failing(rng):
        yield "first", 1
        raise RuntimeError("no luck")

    monkeypatch.setitem(golden.STREAMS, "structures-1", failing)
    capsys.readouterr()
    assert golden.main(["compare", str(file)]) == 1
    assert "structures-1: failed: RuntimeError: no luck\n" in capsys.readouterr().out
    assert golden.main(["record", str(tmp_path / "other.json"), "--only", FEW]) == 1


def test_a_pattern_that_fits_nothing_is_refused(tmp_path):
    with pytest.raises(SystemExit):
        golden.main(["record", str(tmp_path / "none.json"), "--only", "no such stream"])


def test_digests_tell_the_last_bit_the_shape_and_the_type():
    x = np.linspace(0.1, 1.0, 6)
    different = [
        x,
        x.reshape(2, 3),
        np.nextafter(x, 2.0),
        np.zeros(6),
        -np.zeros(6),
        np.zeros(6, int),
        np.append(x[:5], np.nan),
        [x],
        {"x": x},
        None,
        "None",
        ["ab", "c"],
        ["a", "bc"],
    ]
    assert len({digest(value) for value in different}) == len(different)


def test_digests_do_not_tell_how_numbers_are_stored():
    x = np.arange(6.0).reshape(2, 3)
    for same in (x.astype("f"), x.astype(">f8"), np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2]):
        assert digest(same) == digest(x)
    assert digest(np.arange(3, dtype="u1")) == digest(np.arange(3))
    assert digest(np.float64(0.5)) == digest(0.5)
    assert digest(np.array([np.nan])) == digest(-np.array([np.nan]))
