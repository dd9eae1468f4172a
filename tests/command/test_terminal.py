"""On a real terminal, of which pyte keeps the screen: the progress bar and the live view."""

import pytest

from tests.command.common import csv_file, run, spclust
from tests.command.terminal import DRIFTING, Terminal


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return csv_file(tmp_path_factory.mktemp("data") / "big.csv", 400_000)


def test_the_progress_bar_tells_rows_rate_structures_clusters_and_time_left(data, quick):
    given = ("cluster", data, "--n-structures", 50, "--batch", 200)
    terminal = Terminal(*given, command=quick)
    shown = terminal.until(
        r"([\d,]+) rows, ([\d,]+)/s, 50 structures, \d+ clusters\s+.*?(\d+) % +(\d:\d\d:\d\d|-:-)"
    )
    assert shown, terminal.text
    assert 0 < int(shown[3]) <= 100
    assert terminal.end() == 0
    assert "400,000 rows in" in terminal.text
    assert "structures" in terminal.text


def test_ctrl_c_on_the_terminal(data, tmp_path):
    terminal = Terminal("cluster", data, "--batch", 50, "--save", tmp_path / "m.spc")
    assert terminal.until(r"\d rows, ")
    terminal.process.sendintr()
    assert terminal.end() == 130
    assert "everything is saved" in terminal.text
    assert (tmp_path / "m.spc").exists()


def test_nothing_but_the_summary_where_there_is_no_terminal(data, quick):
    done = spclust("cluster", data, "-q", command=quick)
    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)


def test_watch_shows_clusters_and_events(tmp_path, quick):
    run("generate", "drifting", "--rows", 6000, "-o", tmp_path / "d.csv")
    given = ("watch", tmp_path / "d.csv", "--rate", 4000, "--batch", 100, *DRIFTING)
    terminal = Terminal(*given, command=quick)
    assert terminal.until(r"rows/s"), terminal.text
    assert terminal.until(r"[\d,]+ rows +[\d,]+/s +\d+ structures +\d+ clusters"), terminal.text
    assert terminal.until(r"birth +cluster \d+ +at"), terminal.text
    assert terminal.end() == 0
    assert "6,000 rows" in terminal.text
    assert "events" in terminal.text
