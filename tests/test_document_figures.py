"""Numbers in the documents are those that benchmarks stored, or are listed as having no source.

`0.38<!-- bench: SPC/2-D/50/batch 10,000 -->`: the number is the figure of that name in
docs/results/bench.json, rounded as it is written. `a over b` is a quotient, `a times 1e-6` has
another unit. docs/results/unsourced.toml lists benchmarks whose results are not stored yet,
measured numbers without a source, with the command that measures them, and numbers that only look
measured, with the reason.
"""

import json
import re
import tomllib
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
from benchmarks import reproduction, stored

from spclust.experiments.reproduction import report

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
NUMBER = r"\d[\d,]*(?:\.\d+)?"
MARKED = re.compile(rf"({NUMBER})<!--\s*([\w-]+):\s*(.+?)\s*-->", re.S)
UNITS = (
    r"microseconds|milliseconds|seconds|minutes|hours|us|ms|s|kB|MB|GB|TB|%|times|GFLOP/s|GB/s|"
    r"(?:million |thousand )?(?:rows|points|messages|lines)(?: a second|/s)"
)
MEASURED = re.compile(rf"(?<![\w.,^(=-])({NUMBER})\s?({UNITS})(?![\w/])")
SCORE = re.compile(r"\b(NMI|ARI|AUC|purity)(?: of)? (\d?\.\d+|1\.0+)")
CELL = re.compile(r"(?<=\|) *(\d*\.\d+) *(?=\|)")
MADE = ("reproduction.md",)  # compared as a whole


def pages():
    found = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *ROOT.glob("docs/**/*.md")]
    return [page for page in found if page.name not in MADE]


def words(page):
    """The text without code, with white space as one space outside of tables."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    text = re.sub(r"`[^`]*`", "`code`", text)
    return re.sub(r" +", " ", re.sub(r"(?<![|\n])\n(?![\n|])", " ", text))


@cache
def figures(name):
    content = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    assert {"command", "date", "machine", "parameters", "figures"} <= set(content)
    return content["figures"]


def value(name, term):
    """The value of `a`, `a over b` or either `times` a factor."""
    term, _, factor = term.partition(" times ")
    above, _, below = term.partition(" over ")
    found = figures(name)
    return found[above] / (found[below] if below else 1.0) * float(factor or 1.0)


def agrees(written, exact):
    """True if the exact value, rounded to the digits that are written, is what is written.

    Zeros at the end of a whole number are no digits: 60 may be 58.
    """
    number = Decimal(written.replace(",", ""))
    exponent = number.as_tuple().exponent
    if exponent == 0 and number:
        exponent = len(str(number)) - len(str(number).rstrip("0"))
    unit = Decimal(1).scaleb(exponent)
    return abs(Decimal(repr(exact)) - number) <= unit / 2


def marked(text):
    return MARKED.findall(text)


def looking_measured(text):
    """Numbers with a unit, scores and decimal cells that have no source, as they are written."""
    text = re.sub(r"<!--.*?-->", "", MARKED.sub(" ", text), flags=re.S)
    found = [f"{number} {unit}" for number, unit in MEASURED.findall(text)]
    found += [f"{score} {number}" for score, number in SCORE.findall(text)]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return found + [cell for line in lines for cell in CELL.findall(line)]


@cache
def unsourced():
    """Benchmarks to run, by name, with the command; groups of numbers, each with the reason."""
    content = tomllib.loads((RESULTS / "unsourced.toml").read_text(encoding="utf-8"))
    groups = content["group"]
    assert all(set(group) == {"why", "numbers"} and len(group["why"]) > 20 for group in groups)
    return content["to_run"], groups


def sources():
    """(page, number, benchmark, term) of all numbers that name their source."""
    for page in pages():
        for number, name, term in marked(page.read_text(encoding="utf-8")):
            yield page.relative_to(ROOT).as_posix(), number, name, " ".join(term.split())


def test_numbers_are_those_of_the_stored_results():
    to_run, _ = unsourced()
    for page, number, name, term in sources():
        if (RESULTS / f"{name}.json").is_file():
            assert name not in to_run, f"{name} is stored: take it from the list"
            exact = value(name, term)
            assert agrees(number, exact), f"{page}: {number} is {exact:.6g} in {name}, {term}"
        else:
            assert name in to_run, f"{page}: {name} is neither stored nor listed as to be run"


def test_one_figure_is_written_in_one_way():
    written = {}
    for page, number, *source in sources():
        first = written.setdefault(tuple(source), (number, page))
        assert number == first[0], f"{source}: {number} in {page}, {first[0]} in {first[1]}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_looks_measured_has_a_source_or_is_listed(page):
    listed = {number for group in unsourced()[1] for number in group["numbers"]}
    missing = [number for number in looking_measured(words(page)) if number not in listed]
    assert missing == [], "give them a source, or list them in docs/results/unsourced.toml"


def test_the_list_has_nothing_that_no_page_has():
    there = {number for page in pages() for number in looking_measured(words(page))}
    listed = [number for group in unsourced()[1] for number in group["numbers"]]
    assert [number for number in listed if number not in there] == []
    assert len(listed) == len(set(listed))


def test_the_page_of_the_reproduction_is_made_of_its_results():
    content = json.loads((RESULTS / "reproduction.json").read_text(encoding="utf-8"))
    made = reproduction.text(content["results"], "images")
    page = reproduction.page().read_text(encoding="utf-8")
    assert reproduction.comparable(page) == reproduction.comparable(made)
    assert reproduction.comparable(page) != reproduction.comparable(made.replace("0.9", "0.8"))
    assert report.NOT_PUBLISHED not in page


@pytest.mark.parametrize(
    ("written", "exact", "same"),
    [
        ("0.38", 0.384, True),
        ("0.38", 0.386, False),
        ("60", 57.6, True),
        ("61", 60.4, False),
        ("1,024", 1024.3, True),
        ("1.0", 0.94, False),
        ("0", 0.4, True),
    ],
)
def test_rounding(written, exact, same):
    assert agrees(written, exact) == same


def test_numbers_are_found_and_sources_are_read(tmp_path, monkeypatch):
    text = (
        "a point costs 0.38<!-- bench: SPC/2-D --> microseconds, 61<!-- bench: B over\nSPC/2-D -->"
        " times less; it takes 7 s, NMI 0.9, 100 points\n| a | 0.26 | 30 |\n"
    )
    assert marked(text)[0] == ("0.38", "bench", "SPC/2-D")
    assert looking_measured(text) == ["7 s", "NMI 0.9", "0.26"]
    monkeypatch.setattr("tests.test_document_figures.RESULTS", tmp_path)
    monkeypatch.setattr("sys.argv", ["/somewhere/benchmarks/__main__.py", "--store", "/data/x"])
    made = {"SPC/2-D": 0.38, "B": 23.0, "none": float("nan")}
    path = stored.store("made_up", made, {"rows": 3, "folder": Path("/data/x")}, tmp_path)
    content = json.loads(path.read_text())
    assert content["command"] == "python -m benchmarks --store x"
    assert content["parameters"] == {"rows": 3, "folder": "x"}
    assert value("made_up", "B over SPC/2-D times 10") == pytest.approx(230 / 0.38)
    assert "none" not in content["figures"]
