"""The built site reads without network, all its links lead somewhere, and the reference is whole.

`make docs` runs this after the build; without a built site it is skipped. The rule about hosts: a
page loads nothing from outside, neither scripts nor styles, fonts or pictures. A link that a reader
clicks leads to the project's own repository, or to one of the sources that are cited.
"""

import html
import re
import sys
from types import ModuleType
from urllib.parse import unquote

import pytest

from tests.site.built import SITE, in_styles, leaves_the_site, pages
from tests.test_docs import ROOT

if not (SITE / "index.html").exists():
    pytest.skip("no site was built: make docs", allow_module_level=True)

sys.path.insert(0, str(ROOT / "docs"))
from extensions import public_api

CITED = (
    "https://github.com/spclust/spclust",
    "https://github.com/gagolews/clustering-data-v1",
    "https://github.com/deric/clustering-benchmark",
    "https://github.com/CN-TU/py-temporal-silhouette",
    "https://github.com/ATISLabs/SCARGC.jl",
    "https://github.com/vlosing/driftDatasets",
    "https://github.com/Minqi824/ADBench",
    "https://doi.org/10.1109/TSP.2010.2053029",
    "https://riverml.xyz",
)


def test_there_are_pages_of_all_kinds():
    found = {page.path.relative_to(SITE).parts[0] for page in pages()}
    assert {"tutorials", "how-to", "explanation", "reference", "auto_gallery"} <= found
    assert len(pages()) > 100


def test_nothing_is_loaded_from_another_host():
    outside = [
        (page.path.name, link)
        for page in pages()
        for link in page.links
        if link.loads and leaves_the_site(link.target)
    ]
    outside += [
        (page.path.name, target)
        for page in pages()
        for style in page.styles
        for target in in_styles(style)
        if leaves_the_site(target)
    ]
    for sheet in SITE.rglob("*.css"):
        targets = in_styles(sheet.read_text("utf-8"))
        outside += [(sheet.name, target) for target in targets if leaves_the_site(target)]
    assert outside == []


def test_links_lead_to_the_project_or_to_cited_sources():
    outside = {
        link.target
        for page in pages()
        for link in page.links
        if leaves_the_site(link.target) and not link.target.startswith(CITED)
    }
    assert outside == set()


def test_internal_links_lead_somewhere():
    ids = {page.path: page.ids for page in pages()}
    broken = []
    for page in pages():
        for link in page.links:
            if leaves_the_site(link.target) or link.target.startswith(("mailto:", "javascript:")):
                continue
            path, _, anchor = unquote(link.target).partition("#")
            path = path.partition("?")[0]
            target = (page.path.parent / path).resolve() if path else page.path
            target = target / "index.html" if target.is_dir() else target
            missing = not target.exists()
            if missing or (anchor and target in ids and anchor not in ids[target]):
                broken.append((page.path.relative_to(SITE).as_posix(), link.target))
    assert broken == []


@pytest.mark.parametrize("page", public_api.PAGES, ids=lambda page: page.module)
def test_every_public_name_is_in_the_reference(page):
    module = public_api.module_of(page)
    names = [f"{page.module}.{name}" for name in public_api.public_names(module)
             if not isinstance(getattr(module, name), ModuleType)]  # fmt: skip
    assert names
    ids = {
        one for built in pages() if "generated/api" in built.path.as_posix() for one in built.ids
    }
    assert [name for name in names if name not in ids] == []


def test_every_command_and_option_is_in_the_reference():
    from typer.main import get_command

    from spclust.cli import app

    for name, command in get_command(app).commands.items():
        text = (SITE / "reference" / "generated" / "command" / f"{name}.html").read_text("utf-8")
        assert not re.search("\u2013[a-z]", text), "an option is printed with a dash"
        for parameter in command.params:
            for option in (*parameter.opts, *parameter.secondary_opts):
                if option.startswith("-") and not getattr(parameter, "hidden", False):
                    assert f">{html.escape(option)}<" in text, f"spclust {name} {option}"


def test_every_request_of_the_service_is_in_the_reference():
    from spclust.live.openapi import DESCRIPTION

    text = (SITE / "reference" / "generated" / "http.html").read_text("utf-8")
    for path, operations in DESCRIPTION["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}" in text


def test_every_gallery_script_has_a_page_with_a_picture():
    scripts = sorted((ROOT / "docs" / "gallery").glob("plot_*.py"))
    assert scripts
    for script in scripts:
        text = (SITE / "auto_gallery" / f"{script.stem}.html").read_text("utf-8")
        assert "_images/sphx_glr" in text or 'class="animation"' in text, script.name
