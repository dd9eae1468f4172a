"""Options from a file, and lines of the log."""

import json
import logging
from datetime import datetime

import pytest

from spclust import SPC
from tests.command.common import csv_file, run, summary


@pytest.fixture
def data(tmp_path):
    return csv_file(tmp_path / "a.csv", 500)


def config(folder, text):
    (folder / "spclust.toml").write_text(text)
    return "--config", folder / "spclust.toml"


def test_options_come_from_the_file_and_the_command_line_wins(tmp_path, data):
    file = config(
        tmp_path,
        'columns = ["x", "y"]\nn_structures = 20\nrate = 100.0\n'
        '[cluster]\nhalf-life = 300\nbatch = 50\njson = true\nlabel = "class"\n'
        f'on-bad-row = "collect {tmp_path / "bad.ndjson"}"\nsave = "{tmp_path / "m.spc"}"\n'
        "[watch]\nn-structures = 7\n",
    )
    found = json.loads(run("cluster", data, *file).stdout)
    assert found["columns"] == ["x", "y"]
    assert found["scores"]
    model = SPC.load(tmp_path / "m.spc")
    assert (model.n_structures, model.half_life) == (20, 300)
    run("cluster", data, *file, "--n-structures", 30, "--half-life", 200)
    model = SPC.load(tmp_path / "m.spc")
    assert (model.n_structures, model.half_life) == (30, 200)
    assert (tmp_path / "bad.ndjson").exists()


def test_a_single_text_is_a_list_of_one(tmp_path, data):
    found = summary("cluster", data, *config(tmp_path, '[cluster]\ncolumns = "y,x"\n'))
    assert found["columns"] == ["y", "x"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("half_lief = 3\n", "has no option 'half_lief' of any command: did you mean 'half-life'?"),
        ("[cluster]\nhost = 'x'\n", "spclust cluster has no option 'host'"),
        ("[clusters]\n", "has a table [clusters], which is no command: did you mean 'cluster'?"),
        ("[cluster]\nbatch = 'ten'\n", "[cluster] batch is a whole number, not 'ten'"),
        ("batch = 1.5\n", "batch is a whole number, not 1.5"),
        ("batch = 0\n", "batch is at least 1, not 0"),
        ("[cluster]\nfollow = 1\n", "[cluster] follow is true or false, not 1"),
        ("[cluster]\nout = ['a']\n", "[cluster] out is text or a number, not ['a']"),
        ("[cluster]\nformat = 'excel'\n", "[cluster] format is one of csv, tsv"),
        ("[cluster\n", "is no TOML"),
    ],
)
def test_mistakes_are_one_sentence_with_file_and_name(tmp_path, data, text, sentence):
    said = run("cluster", data, *config(tmp_path, text), code=2).output
    said = " ".join(said.replace("│", " ").split())
    assert sentence in said
    assert "spclust.toml'" in said.replace(" ", "")


def test_a_file_that_is_not_there(tmp_path, data):
    said = run("cluster", data, "--config", tmp_path / "none.toml", code=2).output
    assert "No such file" in " ".join(said.replace("│", " ").split())


def test_lines_of_the_log_are_sentences_or_json_from_a_level_on(tmp_path, data):
    given = ("cluster", data, "--checkpoint", tmp_path / "ck", "-q")
    run(*given)
    assert run(*given).stderr == "spclust: going on after row 500, from the checkpoint.\n"
    assert run(*given, "--log-level", "warning").stderr == ""
    (line,) = map(json.loads, run(*given, "--log-json").stderr.splitlines())
    assert datetime.fromisoformat(line.pop("time")).year > 2000
    assert line == {"level": "info", "message": "going on after row 500, from the checkpoint."}
    (line,) = run("cluster", data, "-c", "q", "--log-json", code=1).stderr.splitlines()
    assert json.loads(line)["level"] == "error"
    file = config(tmp_path, 'log-level = "error"\nlog_json = true\n')
    assert run(*given, *file).stderr == ""
    assert logging.getLogger("spclust").level == logging.NOTSET  # as it was
