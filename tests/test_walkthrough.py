"""The walkthrough names the files that SPC().partial_fit(X) visits: all of them, each once."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARIES = ("jit/", "numerics/", "state/")  # named in one paragraph

TRACER = """
import sys
import numpy as np
from spclust import SPC

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(20, 1, (200, 2))])
model, visited = SPC(), set()

def note(frame, event, argument):
    if event == "call":
        visited.add((frame.f_code.co_filename, frame.f_code.co_name))

sys.setprofile(note)
model.partial_fit(X)
sys.setprofile(None)
for file, function in visited:
    print(file, function, sep="|")
"""


@pytest.fixture(scope="module")
def visited():
    """Functions, by file, that one call visits without compilation."""
    import spclust

    package = Path(spclust.__file__).parent
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(package.parent)}
    run = subprocess.run(
        [sys.executable, "-c", TRACER], env=env, capture_output=True, text=True, check=True
    )
    files = {}
    for line in run.stdout.splitlines():
        file, function = line.split("|")
        if Path(file).is_relative_to(package):
            files.setdefault(Path(file).relative_to(package).as_posix(), set()).add(function)
    return files


def page():
    return (ROOT / "docs/explanation/walkthrough.md").read_text()


def sections():
    """(number, file, text) of each section that is about a file."""
    parts = re.split(r"^## ", page(), flags=re.M)[1:]
    found = [(re.match(r"(\d+)\. `([\w/]+\.py)`: ", part), part) for part in parts]
    return [(int(match[1]), match[2], text) for match, text in found if match]


def test_sections_are_numbered_and_have_a_file_each():
    numbers, files, _ = zip(*sections(), strict=True)
    assert list(numbers) == list(range(1, len(numbers) + 1))
    assert len(set(files)) == len(files) <= 15


def test_the_call_visits_just_the_files_of_the_sections(visited):
    files = {file for file in visited if not file.startswith(LIBRARIES)}
    assert {file for _, file, _ in sections()} == files


def test_every_file_of_the_libraries_is_named_once(visited):
    introduction = page().split("\n## ")[0]
    named = re.findall(r"`(\w+\.py)`", introduction)
    assert len(set(named)) == len(named)
    for library in LIBRARIES:
        files = {path.name for path in (ROOT / "src/spclust" / library).glob("*.py")}
        assert files - {"__init__.py"} <= set(named)


def test_functions_named_in_a_section_exist_there_or_are_visited(visited):
    everything = set().union(*visited.values())
    for _, file, text in sections():
        source = (ROOT / "src/spclust" / file).read_text()
        for name in re.findall(r"`(\w+)`", text):
            here = re.search(rf"^\s*(def|class) {name}\b|^{name}\b.*=", source, re.M)
            assert here or name in everything or name in KNOWN, f"{name} in the section of {file}"


KNOWN = {"labels_", "SPC", "Params", "AutomaticStructures"}


def test_sections_name_most_functions_that_are_visited(visited):
    for _, file, text in sections():
        functions = {name for name in visited[file] if not name.startswith(("_", "<"))}
        unnamed = {name for name in functions if not re.search(rf"\b{name}\b", text)}
        assert len(unnamed) <= len(functions) / 2, f"{file}: {sorted(unnamed)}"


def test_functions_and_files_named_on_the_page_of_the_paper_exist():
    text = (ROOT / "docs/explanation/paper_mode.md").read_text()
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "src/spclust").rglob("*.py")]
    sources = "\n".join((ROOT / file).read_text() for file in files)
    for name in re.findall(r"`(?:Stream\.)?(\w+)`", text):
        assert name == "scale" or re.search(rf"^\s*(def|class) {name}\b", sources, re.M), name
    for file in re.findall(r"`((?:\w+/)*\w+\.py)`", text):
        assert file.startswith("tests/") or any(path.endswith(f"/{file}") for path in files), file
