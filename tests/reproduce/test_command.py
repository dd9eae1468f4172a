"""The whole command, at a tiny size, as a user runs it."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from spclust import metrics
from spclust.experiments.reproduction import runs
from spclust.experiments.reproduction.runs import (
    AUTOMATIC,
    PAPER,
    Run,
    cached_experiment,
    labels_after,
)
from spclust.experiments.reproduction.search_space import ALGORITHMS
from tests.command.common import run

SEEDS = 1
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
TITLES = {
    "aggregation": "Aggregation",
    "sine": "Sine",
    "highdim": "1,024 dimensions",
    "overlapping": "Overlapping",
}


def spclust(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "spclust.cli", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=400,
    )


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduction")
    data = os.environ.get("SPCLUST_DATA", Path(__file__).parents[3] / "shared" / "data")
    size = ("--seeds", SEEDS, "--jobs", 1)  # test_modules.py has several processes
    done = spclust("reproduce", "--out", folder, *size, SPCLUST_DATA=str(data), **NO_NETWORK)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(folder / "report.html")
    assert "running" in done.stderr  # progress
    return folder


@pytest.fixture(scope="module")
def results(out):
    return json.loads((out / "results.json").read_text())


def test_all_six_and_the_automatic_mode_are_in_all_four_experiments(results):
    seen = {(r["run"]["experiment"], r["run"]["entry"], r["run"]["seed"]) for r in results}
    assert seen == {
        (key, entry, seed)
        for key in TITLES
        for entry in (PAPER, AUTOMATIC, *ALGORITHMS)
        for seed in range(SEEDS)
    }


@pytest.mark.parametrize("entry", [PAPER, AUTOMATIC, *ALGORITHMS])
def test_scores_are_those_of_the_metrics_recomputed(results, entry):
    (found,) = (
        r
        for r in results
        if (r["run"]["experiment"], r["run"]["entry"], r["run"]["seed"])
        == ("overlapping", entry, 0)
    )
    done = Run(**found["run"])
    X, y = cached_experiment("overlapping").stream(0)
    make = ALGORITHMS["SPC" if entry in (PAPER, AUTOMATIC) else entry].make
    labels = labels_after(make(**done.parameters), X)
    assert found["scores"] == pytest.approx(
        {name: metrics.SCORES[name](y, labels) for name in ("purity", "nmi", "ari")}
    )


@pytest.mark.parametrize("key", TITLES)
def test_the_reports_numbers_are_those_of_the_results(out, results, key):
    text = (out / "report.md").read_text()
    chapter = text.split(f"## {TITLES[key]}\n")[1].split("\n## ")[0]
    for entry in (PAPER, AUTOMATIC, *ALGORITHMS):
        row = re.search(rf"^{re.escape(entry)} \| (.*)$", chapter, re.M)[1]
        cells = [cell.strip() for cell in row.split("|")]
        own = [
            r["scores"]
            for r in results
            if (r["run"]["experiment"], r["run"]["entry"]) == (key, entry)
        ]
        for cell, score in zip(cells, ("purity", "nmi", "ari"), strict=False):
            values = [each[score] for each in own]
            assert float(cell.split()[0]) == pytest.approx(np.mean(values), abs=6e-4)
            if "\u2013" in cell:
                ends = re.findall(r"-?[\d.]+", cell)[1:]
                assert [float(end) for end in ends] == pytest.approx(
                    [min(values), max(values)], abs=6e-4
                )


def test_the_report_has_short_lines(out):
    """All but those of tables and pictures, which cannot be wrapped."""
    lines = (out / "report.md").read_text().splitlines()
    assert max(len(line) for line in lines if " | " not in line and "![" not in line) <= 100


def test_the_report_needs_nothing_but_itself(out):
    html = (out / "report.html").read_text()
    assert html.count('src="data:image/png;base64,') == 6
    assert html.count("<table>") == 2 * len(TITLES) + 2
    assert not re.search(r'(src|href)="(?!data:)', html)
    assert "http" not in re.sub(r"base64,[^\"]*", "", html)
    for name in (*TITLES, "circles", "merging"):
        assert (out / "figures" / f"{name}.png").stat().st_size > 10_000
        assert (out / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")


def test_without_the_published_files_the_report_says_so_loudly(tmp_path, monkeypatch):
    nowhere = {"SPCLUST_DATA": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for name, value in {**nowhere, **NO_NETWORK}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(runs, "_experiments", {})  # as in a new process
    monkeypatch.setattr(urllib.request, "_opener", None)  # which keeps the proxies it was made with
    only = ("--only", "aggregation", "--seeds", 1, "--jobs", 1, "--out", tmp_path / "out")
    run("reproduce", *only)
    text = (tmp_path / "out" / "report.md").read_text()
    assert "**Aggregation: this is NOT the published set.**" in text
    assert "## Sine" not in text


def test_an_unknown_experiment_is_one_sentence():
    said = run("reproduce", "--only", "nothing", code=1).stderr
    assert said.startswith("spclust: There is no experiment 'nothing': there are aggregation")
    assert len(said.splitlines()) == 1
