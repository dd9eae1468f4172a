"""What the documents claim exists, and the README's code runs as printed."""

import ast
import inspect
import re
from numbers import Integral
from pathlib import Path

import numpy as np
import pytest

from spclust import SPC
from spclust.parameters import TABLE

ROOT = Path(__file__).parents[1]


def equation_table():
    rows = re.findall(
        r"^\| (.+?) \| .+? \| `(.+?)` \| `(.+?)` \|$", read("docs/equations.md"), re.M
    )
    assert len(rows) == 20
    return rows


def read(path):
    return (ROOT / path).read_text()


def functions_in(path):
    tree = ast.parse(read(path))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_equation_has_one_home():
    numbers = [number for number, _, _ in equation_table() if number.isdigit()]
    assert numbers == [str(n) for n in range(1, 18)]


@pytest.mark.parametrize(("number", "function", "test"), equation_table())
def test_functions_and_tests_of_the_table_exist(number, function, test):
    for place in (function, test):
        path, name = place.split("::")
        assert name in functions_in(path), f"{place} of equation {number}"
    assert test.split("::")[1].startswith("test_")


@pytest.mark.parametrize(
    ("number", "function"),
    [row[:2] for row in equation_table() if row[0].isdigit() and row[1].startswith("src")],
)
def test_functions_name_their_equation(number, function):
    path, name = function.split("::")
    docstring = ast.get_docstring(functions_in(path)[name])
    assert re.search(rf"(?<!\d){number}(?!\d)", docstring), f"{name} does not mention Eq. {number}"


def test_the_parameter_page_says_what_the_table_says():
    page = read("docs/parameters.md").splitlines()
    for name, row in TABLE.items():
        symbol = row.symbol or "none"
        assert f"| `{name}` | {symbol} | {row.default} | {row.allowed} | {row.meaning} |" in page


def test_the_signature_of_the_estimator_is_the_table():
    defaults = {name: row.default for name, row in inspect.signature(SPC).parameters.items()}
    assert defaults == {name: row.default for name, row in TABLE.items()}


@pytest.mark.parametrize(("name", "row"), TABLE.items())
def test_the_docstring_of_the_estimator_has_each_parameter_and_its_default(name, row):
    kinds = ["int" if row.kind is Integral else "float"]
    kinds += ["timedelta"] if row.duration else []
    kinds += [f'"{word}"' for word in row.words]
    kinds += ["None"] if row.optional else []
    kind = " or ".join([", ".join(kinds[:-1]), kinds[-1]]) if len(kinds) > 1 else kinds[0]
    if row.kind is str:
        kind = "{" + ", ".join(f'"{word}"' for word in row.words) + "}"
    default = f'"{row.default}"' if isinstance(row.default, str) else row.default
    assert f"    {name} : {kind}, default {default}\n" in SPC.__doc__


def test_every_erratum_that_the_code_mentions_is_explained():
    explained = set(re.findall(r"^\| (E\d+) \|", read("docs/errata.md"), re.M))
    assert explained == {f"E{n}" for n in range(1, 13)}
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")]:
        mentioned = set(re.findall(r"\bE\d{1,2}\b", path.read_text()))
        assert mentioned - {"E501"} <= explained, path


def pages():
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]


def prose(text):
    """(number, line) outside of code blocks, tables, and lines that are one link or image."""
    text = re.sub(
        r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S
    )
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.startswith(("    ", "|"))
        one_link = re.fullmatch(r"[-* ]*!?\[[^\]]*\]\([^)]*\)[.,:;]?", line)
        if not code and not one_link:
            yield number, line


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_lines_of_the_documents_are_at_most_100_characters_long(path):
    long = [number for number, line in prose(path.read_text()) if len(line) > 100]
    assert long == []


def test_prose_is_told_from_code_tables_and_links():
    code, table, link = "```\ncode\n```", "| a |\n    code", "![picture](x.png)\n- [link](y.md)"
    text = "\n".join(["one", code, table, link, "see [z](z.md)"])
    assert [found for found in prose(text) if found[1]] == [(1, "one"), (9, "see [z](z.md)")]


def test_links_of_the_documents_lead_somewhere():
    for document in pages():
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text()):
            assert (document.parent / link).exists(), f"{document.name}: {link}"


def test_the_readmes_code_does_what_it_says():
    code, _ = re.findall(r"```python\n(.+?)```", read("README.md"), re.S)  # the other is of Spark
    default, *others = code.split("\nmodel = SPC(half_life")
    names = {}
    exec(default, names)
    model = names["model"]
    assert model.n_clusters_ == 2
    assert model.predict([[0.5, -0.5], [21.0, 18.0]]).tolist() == [1, 0]
    middle, home = model.score_samples([[10.0, 10.0], [0.0, 0.0]])
    assert middle < -3 < -1 < home
    assert np.isfinite(model.typicality(names["X"][:5])).all()
    (rest,) = others
    fading, paper = f"model = SPC(half_life{rest}".split("\nmodel = SPC(scale")
    exec(fading, names)
    assert names["model"].half_life == 500
    assert names["model"].n_clusters_ == 2
    exec(f"model = SPC(scale{paper}", names)
    assert names["model"].scale == 1.0
    assert names["model"].n_clusters_ == 2


def test_the_code_of_living_with_a_stream_runs(capsys):
    names = {}
    for code in re.findall(r"```python\n(.+?)```", read("docs/living.md"), re.S):
        exec(code, names)
    assert "birth" in capsys.readouterr().out
    assert names["whole"].n_samples_seen_ == len(names["X"])
