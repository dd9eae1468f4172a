"""Every code block of the README and of the documents runs, or is the output of one that does.

A page's blocks of Python run in order, in one namespace. A block `text` after a block that ran is
what it prints. Where a page needs a server, another test runs it, which `ELSEWHERE` names.
"""

import contextlib
import io
import re
import shlex
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.main import get_command

from spclust.cli import app
from tests.test_docs import ROOT, pages

ELSEWHERE = {  # blocks that another test runs, by page and language
    ("docs/how-to/spark.md", "python"): "tests/spark/test_documents.py",
    ("docs/how-to/dask.md", "python"): "tests/spark/test_documents.py",
    ("docs/how-to/river.md", "python"): "tests/river_interface/test_page.py",
    ("docs/how-to/service.md", "python"): "tests/live/test_service_page.py",
    ("docs/how-to/sources.md", "python"): "tests/brokers/test_page.py",
    ("docs/how-to/own_algorithm.md", "python"): "tests/reproduce/test_contestants.py",
    ("docs/how-to/own_algorithm.md", "console"): "tests/reproduce/test_contestants.py",
    ("README.md", "python"): "tests/test_docs.py",
    ("docs/how-to/track_clusters.md", "python"): "tests/test_docs.py",
    ("docs/how-to/merge_models.md", "python"): "tests/test_docs.py",
    ("docs/how-to/outliers.md", "python"): "tests/test_figures.py",
    ("docs/explanation/paper_mode.md", "python"): "tests/test_figures.py",
    ("README.md", "sh"): "tests/command/test_tour.py",
    ("docs/tutorials/production_pipe.md", "sh"): "tests/command/test_tour.py",
    ("docs/tutorials/production_pipe.md", "text"): "tests/command/test_tour.py",
}
NOT_RUN = {  # and why
    ("CONTRIBUTING.md", ""): "compares two checkouts, as a release does",
    ("docs/how-to/compile_ahead.md", "dockerfile"): "builds an image; its command is tested",
    ("docs/reference/messages.md", "text"): "a sentence of a run that reads Kafka",
}
DIRECTIVES = ("{toctree}",)


class Block(NamedTuple):
    page: str
    language: str
    code: str


def blocks():
    found = []
    for path in pages():
        page = path.relative_to(ROOT).as_posix()
        for language, code in re.findall(r"^```([^\n]*)\n(.*?)^```", path.read_text(), re.M | re.S):
            if language not in DIRECTIVES:
                found.append(Block(page, language, code))
    return found


def pages_run_here():
    return sorted(
        {one.page for one in blocks() if one.language == "python"}
        - {page for page, language in ELSEWHERE if language == "python"}
    )


def test_every_block_is_of_a_kind_that_is_tested():
    known = {*ELSEWHERE, *NOT_RUN}
    known |= {(page, kind) for page in pages_run_here() for kind in ("python", "text")}
    others = {(one.page, one.language) for one in blocks()} - known
    assert {language for _, language in others} <= {"sh", "toml"}  # both below
    there = {(one.page, one.language) for one in blocks()}
    assert {*ELSEWHERE, *NOT_RUN} <= there


@pytest.mark.parametrize("page", pages_run_here())
def test_the_python_of_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if any("matplotlib" in one.code for one in blocks() if one.page == page):
        pytest.importorskip("matplotlib").use("Agg")
    names, printed = {}, ""
    for one in blocks():
        if one.page == page and one.language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(one.code, page, "exec"), names)
            printed = output.getvalue()
        elif one.page == page and one.language == "text":
            assert printed == one.code


@pytest.mark.parametrize("place", ELSEWHERE, ids=" ".join)
def test_what_runs_elsewhere_is_named_there(place):
    page, _ = place
    assert page.removeprefix("docs/") in (ROOT / ELSEWHERE[place]).read_text()


def commands():
    """(page, words) of each call of `spclust` in a block of a shell."""
    for one in blocks():
        if one.language == "sh":
            joined = one.code.replace("\\\n", " ")
            for call in re.findall(r"(?:^|[|\"=;] *)(spclust [^|\"&;>\n]+)", joined, re.M):
                yield one.page, shlex.split(call, comments=True)


def test_every_call_of_the_command_has_options_that_exist():
    known = get_command(app).commands
    calls = list(commands())
    assert len(calls) > 15
    for page, (_, name, *words) in calls:
        assert name in known, f"{page}: spclust {name}"
        options = {
            option for one in known[name].params for option in (*one.opts, *one.secondary_opts)
        }
        used = {word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
        assert used <= options, f"{page}: spclust {name} {sorted(used - options)}"


def test_every_option_that_a_page_mentions_exists():
    known = {"--help", "--version", "--install-completion"}
    for command in get_command(app).commands.values():
        known |= {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    for page in ("command", "input", "output", "events", "messages", "http"):
        text = (ROOT / f"docs/reference/{page}.md").read_text()
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known, page


def test_options_in_files_exist():
    known = get_command(app).commands
    everywhere = {
        option for command in known.values() for one in command.params for option in one.opts
    }
    found = [one for one in blocks() if one.language == "toml"]
    assert found
    for one in found:
        for key, value in tomllib.loads(one.code).items():
            names = {option for each in known[key].params for option in each.opts} if (
                isinstance(value, dict)
            ) else everywhere  # fmt: skip
            keys = value if isinstance(value, dict) else [key]
            assert {f"--{name}" for name in keys} <= names, one.page


def test_targets_of_make_exist():
    makefile = (ROOT / "Makefile").read_text()
    for path in [*pages(), Path(ROOT / "benchmarks" / "README.md")]:
        for target in re.findall(r"(?:`|^)make ([a-z][a-z-]*)", path.read_text(), re.M):
            assert re.search(rf"^{target}:", makefile, re.M), f"{path.name}: make {target}"


def test_the_command_of_the_image_is_one():
    (code,) = (one.code for one in blocks() if one.language == "dockerfile")
    assert "python -m spclust.compilation --features 2 10" in code
    assert '"--features"' in (ROOT / "src/spclust/compilation.py").read_text()
