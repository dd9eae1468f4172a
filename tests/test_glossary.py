"""One concept has one word: the code uses none of the synonyms that the glossary forbids."""

import ast
import io
import keyword
import re
import tokenize
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "spclust"
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")  # of snake_case and CamelCase


class Synonym(NamedTuple):
    words: tuple[str, ...]
    room: str  # "" is the whole package


def tables():
    """The rows of both tables, as lists of cells: terms, and exceptions."""
    terms, exceptions = (ROOT / "docs/reference/glossary.md").read_text().split("## Exceptions")
    return rows_of(terms), rows_of(exceptions)


def rows_of(text):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@cache
def synonyms():
    """What the column "not" forbids."""
    forbidden = set()
    for row in tables()[0]:
        for item in filter(None, row[3].split(", ")):
            word, room = re.fullmatch(r"([a-z -]+?)(?: \((\w+)\))?", item).groups()
            forbidden.add(Synonym(tuple(words_in(word)), room or ""))
    return sorted(forbidden)


def words_in(text):
    return [part.lower() for part in PARTS.findall(text)]


def docstrings(source):
    """Line of each docstring."""
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            yield node.body[0].lineno


def texts(source):
    """(line, words) of all names, comments and docstrings."""
    documented = set(docstrings(source))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
        docstring = token.type == tokenize.STRING and token.start[0] in documented
        if name or docstring or token.type == tokenize.COMMENT:
            yield token.start[0], words_in(token.string)


def occurrences(synonym, words):
    size = len(synonym.words)
    for start in range(len(words) - size + 1):
        here = words[start : start + size]
        last, expected = here[-1], synonym.words[-1]
        alike = last in (expected, expected + "s", expected + "es")
        if alike and tuple(here[:-1]) == synonym.words[:-1]:
            yield " ".join(here)


def exceptions():
    return [(tuple(words_in(word)), where.strip("`")) for word, where, _ in tables()[1]]


def found_in(path):
    """(synonym, line, text) of what is forbidden in a file, exceptions included."""
    place = path.relative_to(SOURCE).as_posix()
    source = path.read_text()
    for line, words in texts(source):
        for synonym in synonyms():
            if not synonym.room or place.startswith(synonym.room + "/"):
                for text in occurrences(synonym, words):
                    yield synonym, f"{place}:{line}: {text}"


@pytest.fixture(scope="module")
def found():
    return [hit for path in sorted(SOURCE.rglob("*.py")) for hit in found_in(path)]


def test_the_code_uses_no_synonym(found):
    allowed = exceptions()
    wrong = [
        place
        for synonym, place in found
        if not any(synonym.words == words and place.startswith(where) for words, where in allowed)
    ]
    assert wrong == []


@pytest.mark.parametrize(("words", "where"), exceptions())
def test_every_exception_is_needed(words, where, found):
    assert any(synonym.words == words and place.startswith(where) for synonym, place in found)


def test_the_glossary_has_its_columns():
    terms, excepted = tables()
    assert all(len(row) == 5 and row[0] and row[4] for row in terms)
    assert all(len(row) == 3 and all(row) for row in excepted)
    assert len({row[0] for row in terms}) == len(terms)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("the_mass = 1", ["mass"]),
        ("class MicroClusters: ...", ["micro clusters"]),
        ("# takes in a point", ["takes in"]),
        ('def f():\n    """Masses of clusters."""', ["masses"]),
        ('x = "mass"\nmassive = 1', []),
    ],
)
def test_the_search_finds_parts_of_names_comments_and_docstrings(source, expected):
    found = [
        text
        for _, words in texts(source)
        for synonym in synonyms()
        if synonym.room in ("", "algorithm")
        for text in occurrences(synonym, words)
    ]
    assert found == expected
