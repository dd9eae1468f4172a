"""Scripts of the gallery: form of all of them, and results of the quickest ones."""

import ast
import re
import runpy
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.glob("plot_*.py"))
QUICK = ("structures_and_clusters", "merge_shards")  # the build of the site runs all


def test_there_are_scripts():
    assert len(SCRIPTS) >= 13
    assert (GALLERY / "GALLERY_HEADER.rst").read_text().startswith("Gallery\n=======\n")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_a_page_of_text_and_code(script):
    source = script.read_text(encoding="utf-8")
    title, underline, *text = ast.get_docstring(ast.parse(source)).splitlines()
    assert underline == "=" * len(title)
    assert len(" ".join(text)) > 100
    assert len(re.findall(r"^# %%$", source, re.M)) >= 2
    assert "plt.show()" in source
    assert len(source.splitlines()) <= 120


@pytest.mark.parametrize("name", QUICK)
def test_quick_scripts_run(name, monkeypatch, capsys):
    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.chdir(GALLERY)
    try:
        runpy.run_path(str(GALLERY / f"plot_{name}.py"))
        assert plt.get_fignums()
    finally:
        plt.close("all")
    assert capsys.readouterr().out
