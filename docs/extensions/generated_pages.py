"""Pages that are written from the code when the site is built: API, command and HTTP."""

import inspect
import re
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx

from extensions import command_pages, http_page, public_api

API = """# {title}

`{module}`: {sentence}

```{{eval-rst}}
.. currentmodule:: {module}

.. autosummary::
   :toctree: names

{names}
```
"""


def _api(folder: Path) -> None:
    entries = []
    for page in public_api.PAGES:
        module = public_api.module_of(page)
        names = [
            name
            for name in public_api.public_names(module)
            if not isinstance(getattr(module, name), ModuleType)
        ]
        listed = "\n".join(f"   {name}" for name in names)
        stem = page.module.replace(".", "_")
        (folder / f"{stem}.md").write_text(API.format(**page._asdict(), names=listed))
        entries.append(stem)
    toctree = "\n".join(entries)
    (folder / "index.md").write_text(
        "# Python\n\nEvery public class and function, by module.\n\n"
        f"```{{toctree}}\n:maxdepth: 2\n\n{toctree}\n```\n"
    )


def write_pages(docs: Path) -> None:
    """Write all of them anew, below `reference/generated`."""
    folder = docs / "reference" / "generated"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("api", "command"):
        (folder / name).mkdir(parents=True)
    _api(folder / "api")
    for name, text in command_pages.pages().items():
        (folder / "command" / f"{name}.md").write_text(text)
    (folder / "http.md").write_text(http_page.page())


def _only_ours(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool:
    """Leave out what classes inherit from scikit-learn, River, Spark and built-in types."""
    of = getattr(member, "fget", None) or getattr(member, "func", None) or member
    module = getattr(of, "__module__", None)
    if module is None:
        return skip or inspect.isroutine(of)
    return skip or not str(module).startswith("spclust")


def _readable(
    app: Sphinx, what: str, name: str, member: Any, options: Any, lines: list[str]
) -> None:
    """Escape the underscore of `n_clusters_`, else a link, and link to the pages that are named."""
    for number, line in enumerate(lines):
        escaped = re.sub(r"\b(n_clusters)_(?=[,)])", r"\1\_", line)
        lines[number] = re.sub(r"(?<![/`])docs/([\w/-]+)\.md", r":doc:`/\1`", escaped)


def _signature(
    app: Sphinx, what: str, name: str, member: Any, options: Any, text: str | None, returned: Any
) -> tuple[str, Any] | None:
    """The signature of a class as Python tells it: some inherit constructors of other libraries."""
    if what != "class" or text is None:
        return None
    try:
        signature = inspect.signature(member)
    except (TypeError, ValueError):
        return None
    plain = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty)), returned


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before sources are searched."""
    app.connect("config-inited", lambda app, config: write_pages(Path(app.srcdir)), priority=100)
    app.connect("autodoc-skip-member", _only_ours)
    for priority in (1, 900):  # before numpydoc, and after: it copies docstrings of properties
        app.connect("autodoc-process-docstring", _readable, priority=priority)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
