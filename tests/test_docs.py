"""What the documents claim exists, and the README's code does what it says."""

import ast
import inspect
import re
import sys
from numbers import Integral
from pathlib import Path

import numpy as np
import pytest

from spclust import SPC
from spclust.parameters import TABLE

ROOT = Path(__file__).parents[1]


def equation_table():
    rows = re.findall(
        r"^\| (.+?) \| .+? \| `(.+?)` \| `(.+?)` \|$", read("docs/explanation/equations.md"), re.M
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
    page = read("docs/reference/parameters.md").splitlines()
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
    explained = set(re.findall(r"^\| (E\d+) \|", read("docs/explanation/errata.md"), re.M))
    assert explained == {f"E{n}" for n in range(1, 13)}
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")]:
        mentioned = set(re.findall(r"\bE\d{1,2}\b", path.read_text()))
        assert mentioned - {"E501"} <= explained, path


MADE = ("generated", "auto_gallery")  # by the build of the site


def pages():
    return [
        path
        for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
        if not set(MADE) & set(path.parts)
    ]


def prose(text):
    """(number, line) outside of code blocks, tables, and lines that are one link or image."""
    # Code, formulas, and sources of numbers, which readers do not see.
    hidden = r"^```.*?^```|^\$\$.*?^\$\$|<!--.*?-->"
    text = re.sub(hidden, lambda part: "\n" * part[0].count("\n"), text, flags=re.M | re.S)
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.startswith(("    ", "|"))
        one_link = re.fullmatch(r"[-* ]*!?\[[^\]]*\]\([^)]*\)[.,:;]?", line)
        if not code and not one_link:
            yield number, line


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_lines_of_the_documents_are_at_most_100_characters_long(path):
    long = [number for number, line in prose(path.read_text()) if len(line) > 100]
    assert long == []


def test_prose_is_told_from_code_tables_and_links():
    code, table, link = "```\ncode\n```", "| a |\n    code", "![picture](x.png)\n- [link](y.md)"
    text = "\n".join([f"one<!-- {'x' * 100} -->", code, table, link, "see [z](z.md)"])
    assert [found for found in prose(text) if found[1]] == [(1, "one"), (9, "see [z](z.md)")]


def test_links_of_the_documents_lead_somewhere():
    for document in pages():
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text()):
            made = set(MADE) & set(Path(link).parts)  # tests/site checks these
            assert made or (document.parent / link).exists(), f"{document}: {link}"


def test_the_readmes_code_does_what_it_says():
    (code,) = re.findall(r"```python\n(.+?)```", read("README.md"), re.S)
    names = {}
    exec(code, names)
    model = names["model"]
    assert model.n_clusters_ == 2
    assert model.predict([[0.5, -0.5], [21.0, 18.0]]).tolist() == [1, 0]
    middle, home = model.score_samples([[10.0, 10.0], [0.0, 0.0]])
    assert middle < -3 < -1 < home
    assert np.isfinite(model.typicality(names["X"][:5])).all()
    (half_life,) = re.findall(r"SPC\(half_life=(\d+)\) for a stream that changes", code)
    assert SPC(half_life=int(half_life)).fit(names["X"]).n_clusters_ == 2


def test_the_code_about_tracking_and_merging_does_what_it_says(capsys):
    names = {}
    for page in ("docs/how-to/track_clusters.md", "docs/how-to/merge_models.md"):
        (code,) = re.findall(r"```python\n(.+?)```", read(page), re.S)
        exec(code, names)
    assert "birth" in capsys.readouterr().out
    assert names["whole"].n_samples_seen_ == len(names["X"])


KINDS = ("tutorials", "how-to", "explanation", "reference")
MOST_LINES = 180  # three screens; what `spclust reproduce` writes is longer


def test_every_page_is_of_one_kind_and_short():
    at_the_top = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert at_the_top == {"index.md"}
    for path in pages():
        if path.is_relative_to(ROOT / "docs") and path.parent != ROOT / "docs":
            assert path.parent.name in KINDS
            assert (
                path.name == "reproduction.md" or len(path.read_text().splitlines()) <= MOST_LINES
            )


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_is_in_the_index_of_its_kind(kind):
    index = read(f"docs/{kind}/index.md")
    entries = re.findall(r"^(?!:)([\w*/]+)$", index, re.M)
    for path in (ROOT / "docs" / kind).glob("*.md"):
        assert path.stem == "index" or any(path.match(f"{entry}.md") for entry in entries), path


def test_what_is_public_has_a_page_of_the_reference():
    """Modules with `__all__`, but for those that users do not import."""
    sys.path.insert(0, str(ROOT / "docs"))
    from extensions import public_api

    listed = {page.module for page in public_api.PAGES}
    inner = {"spclust.cli", "spclust.numerics.eight", "spclust.numerics.eight_python"}
    for path in (ROOT / "src" / "spclust").rglob("*.py"):
        if re.search("^__all__", path.read_text(), re.M):
            parts = path.relative_to(ROOT / "src").with_suffix("").parts
            assert ".".join(parts).removesuffix(".__init__") in listed | inner, path
    for page in public_api.PAGES:
        module = public_api.module_of(page)
        assert all(hasattr(module, name) for name in public_api.public_names(module))


def test_the_page_of_a_command_lists_all_its_options():
    sys.path.insert(0, str(ROOT / "docs"))
    from extensions import command_pages
    from typer.main import get_command

    from spclust.cli import app

    made = command_pages.pages()
    for name, command in get_command(app).commands.items():
        for parameter in command.params:
            for option in (*parameter.opts, *parameter.secondary_opts):
                shown = option.startswith("-") and not getattr(parameter, "hidden", False)
                assert not shown or f"`{option}`" in made[name], f"{name} {option}"
    assert set(made) == {*get_command(app).commands, "index"}
