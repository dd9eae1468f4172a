"""Numbers in the documents are those that benchmarks stored, or nothing that a machine measures.

`benchmarks/documents.py` says how a number names its source. docs/results/unsourced.toml lists
numbers that only look measured, with the reason.
"""

import json
import math
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from benchmarks import documents, reproduction, stored
from benchmarks.documents import NUMBER, ROOT, agrees, pages, quoted, rewritten, updated, value

from spclust.experiments.reproduction import report

RESULTS = stored.FOLDER
UNITS = (
    r"microseconds|milliseconds|seconds|minutes|hours|us|ms|s|kB|MB|GB|TB|%|times|GFLOP/s|GB/s|"
    r"(?:million |thousand )?(?:rows|points|messages|lines)(?: a second|/s)"
)
MEASURED = re.compile(rf"(?<![\w.,^(=-])({NUMBER})\s?({UNITS})(?![\w/])")
SCORE = re.compile(r"\b(NMI|ARI|AUC|purity)(?: of)? (\d?\.\d+|1\.0+)")
CELL = re.compile(r"(?<=\|) *(\d*\.\d+) *(?=\|)")


def without_sources(text):
    """The text without the numbers that name their source, and without comments."""
    parts, end = [], 0
    for one in quoted(text):
        parts.append(text[end : one.start])
        end = one.end
    return re.sub(r"<!--.*?-->", "", " ".join([*parts, text[end:]]), flags=re.S)


def words(text):
    """The text without code, with white space as one space outside of tables."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    text = re.sub(r"`[^`]*`", "`code`", text)
    return re.sub(r" +", " ", re.sub(r"(?<![|\n])\n(?![\n|])", " ", text))


def looking_measured(text):
    """Numbers with a unit, scores and decimal cells that have no source, as they are written."""
    text = words(without_sources(text))
    found = [f"{number} {unit}" for number, unit in MEASURED.findall(text)]
    found += [f"{score} {number}" for score, number in SCORE.findall(text)]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return found + [cell for line in lines for cell in CELL.findall(line)]


@cache
def listed():
    """Numbers that only look measured."""
    content = tomllib.loads((RESULTS / "unsourced.toml").read_text(encoding="utf-8"))
    groups = content["group"]
    assert all(set(group) == {"why", "numbers"} and len(group["why"]) > 20 for group in groups)
    return [number for group in groups for number in group["numbers"]]


def sources():
    """(page, number, benchmark, term) of all numbers that name their source."""
    for page in pages():
        for one in quoted(page.read_text(encoding="utf-8")):
            yield page.relative_to(ROOT).as_posix(), one.number, one.benchmark, one.term


def test_numbers_are_those_of_the_stored_results():
    for page, number, benchmark, term in sources():
        exact = value(benchmark, term)
        assert agrees(number, exact), f"{page}: {number} is {exact:.6g} in {benchmark}, {term}"


def test_one_figure_is_written_in_one_way():
    written = {}
    for page, number, *source in sources():
        first = written.setdefault(tuple(source), (number, page))
        assert number == first[0], f"{source}: {number} in {page}, {first[0]} in {first[1]}"


def test_stored_results_are_quoted():
    names = {path.stem for path in RESULTS.glob("*.json")} - {"reproduction"}
    assert names == {benchmark for _, _, benchmark, _ in sources()}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_looks_measured_has_a_source_or_is_listed(page):
    found = looking_measured(page.read_text(encoding="utf-8"))
    missing = [number for number in found if number not in listed()]
    assert missing == [], "give them a source, or list them in docs/results/unsourced.toml"


def test_the_list_has_nothing_that_no_page_has():
    texts = [page.read_text(encoding="utf-8") for page in pages()]
    there = {number for text in texts for number in looking_measured(text)}
    assert [number for number in listed() if number not in there] == []
    assert len(listed()) == len(set(listed()))


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
        ("60", 59.6, True),
        ("60", 58.0, False),
        ("2,540,000", 2543210.0, True),
        ("2,500,000", 2543210.0, False),
        ("10", 9.2, False),
        ("1,024", 1024.3, True),
        ("1.0", 0.94, False),
        ("0", 0.4, True),
    ],
)
def test_rounding(written, exact, same):
    assert agrees(written, exact) == same


@pytest.mark.parametrize(
    ("written", "exact", "new"),
    [
        ("0.38", 0.384, "0.38"),
        ("0.38", 1.3, "1.30"),
        ("10", 9.2, "9"),
        ("60", 74.6, "75"),
        ("40", 41.48, "41"),
        ("61", 60.4, "60"),
        ("980", 1016.7, "1,020"),
        ("2,600,000", 2543210.0, "2,540,000"),
        ("1024", 2048.4, "2048"),
    ],
)
def test_numbers_are_updated_with_their_digits(written, exact, new):
    assert updated(written, exact) == new
    assert agrees(new, exact)


TEXT = """a point costs 0.38<!-- made_up: SPC/2-D --> microseconds, 61<!-- made_up: B over
SPC/2-D --> times less; it takes 7 s, NMI 0.9, 100 points

<!-- cells: made_up: {row}/{column} & {row}/wrong | -->
| | births | |
|---|---|---|
| `h = 3` | 0.9 (4) | 0.26 |
| h = 5 | | 30 |
"""


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/benchmarks/__main__.py", "--store", "/data/x"])
    made = {"SPC/2-D": 0.4, "B": 23.0, "h = 3/births": 0.97, "h = 3/wrong": 12.0, "none": math.nan}
    stored.store("made_up", made, {"rows": 3, "folder": Path("/data/x"), "data": "/d/y"}, tmp_path)
    return tmp_path


def test_results_are_stored_with_their_command(results):
    content = json.loads((results / "made_up.json").read_text())
    assert content["command"] == "python -m benchmarks --store x"
    assert content["parameters"] == {"rows": 3, "folder": "x", "data": "y"}
    assert value("made_up", "B over SPC/2-D times 10", results) == pytest.approx(230 / 0.4)
    assert "none" not in content["figures"]


def test_numbers_are_found_and_sources_are_read():
    found = [(one.number, one.benchmark, one.term) for one in quoted(TEXT)]
    assert found == [
        ("0.38", "made_up", "SPC/2-D"),
        ("61", "made_up", "B over SPC/2-D"),
        ("0.9", "made_up", "h = 3/births"),
        ("4", "made_up", "h = 3/wrong"),
    ]
    assert looking_measured(TEXT) == ["7 s", "NMI 0.9", "0.26"]


def test_documents_are_rewritten_from_the_results(results):
    new, changes = rewritten(TEXT, results)
    assert "costs 0.40<!--" in new
    assert "microseconds, 58<!--" in new  # 57.5
    assert "| `h = 3` | 1.0 (12) | 0.26 |" in new
    assert changes[0] == "0.38 -> 0.40 (made_up: SPC/2-D)"
    assert len(changes) == 4
    assert rewritten(new, results) == (new, [])


def test_cells_must_have_a_number_for_each_term():
    with pytest.raises(ValueError, match="has not 2 numbers"):
        quoted(TEXT.replace("0.9 (4)", "0.9"))


def test_figures_that_are_not_stored_are_named(results, monkeypatch, capsys):
    page = results / "page.md"
    monkeypatch.setattr(documents, "ROOT", results)
    monkeypatch.setattr(documents, "pages", lambda: [page])
    page.write_text("1<!-- bench: no such figure -->", encoding="utf-8")
    assert documents.main() == 1
    page.write_text("1<!-- made_up: B -->", encoding="utf-8")
    assert documents.main() == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == "page.md: no stored result has 'no such figure'"
    assert second == "page.md: made_up is not stored"
