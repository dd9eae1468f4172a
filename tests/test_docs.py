"""What the documents claim exists, and the README's code runs as printed."""

import ast
import inspect
import re
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


def test_the_parameter_page_says_what_the_table_and_the_signature_say():
    defaults = inspect.signature(SPC).parameters
    for name, row in TABLE.items():
        symbol, default = row.symbol or "1", defaults[name].default
        line = f"| `{name}` | {symbol} | {default} | {row.allowed} | {row.meaning} |"
        assert line in read("docs/parameters.md").splitlines()
    assert set(defaults) == {*TABLE, "covariance_type", "max_rank", "track_every", "n_jobs"}


@pytest.mark.parametrize("name", TABLE)
def test_the_docstring_of_the_estimator_has_each_parameter_and_its_default(name):
    default = inspect.signature(SPC).parameters[name].default
    kind = "int" if isinstance(default, int) else "float"
    kind += " or None" if TABLE[name].optional else ""
    kind += ' or "auto"' if TABLE[name].automatic else ""
    default = '"auto"' if default == "auto" else default
    assert f"    {name} : {kind}, default {default}\n" in SPC.__doc__


def test_every_erratum_that_the_code_mentions_is_explained():
    explained = set(re.findall(r"^\| (E\d+) \|", read("docs/errata.md"), re.M))
    assert explained == {f"E{n}" for n in range(1, 13)}
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")]:
        mentioned = set(re.findall(r"\bE\d{1,2}\b", path.read_text()))
        assert mentioned - {"E501"} <= explained, path


def test_links_of_the_documents_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text()):
            assert (document.parent / link).exists(), f"{document.name}: {link}"


def test_the_readmes_code_does_what_it_says():
    code, _ = re.findall(r"```python\n(.+?)```", read("README.md"), re.S)  # the other is of Spark
    names = {}
    exec(code, names)
    model = names["model"]
    assert model.n_clusters_ == 2
    assert model.predict([[0.5, -0.5], [21.0, 18.0]]).tolist() == [0, 1]
    middle, home = model.score_samples([[10.0, 10.0], [0.0, 0.0]])
    assert middle < -1 < home
    assert np.isfinite(model.typicality(names["X"][:5])).all()


def test_the_code_of_living_with_a_stream_runs(capsys):
    names = {}
    for code in re.findall(r"```python\n(.+?)```", read("docs/living.md"), re.S):
        exec(code, names)
    assert "birth" in capsys.readouterr().out
    assert names["whole"].n_samples_seen_ == len(names["X"])
