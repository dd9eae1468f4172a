"""Links: to files outside of the documents, and none that a page would load from elsewhere."""

import os
import re
from typing import Any

from sphinx.application import Sphinx

SOURCE = "https://github.com/spclust/spclust/blob/main/"


def _to_the_repository(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace links to files that are not part of the site by links to the repository."""
    depth = docname.count("/") + 1

    def replaced(link: re.Match[str]) -> str:
        path = os.path.normpath(os.path.join("docs", *docname.split("/")[:-1], link[1]))
        return f"]({SOURCE}{path}{link[2] or ''})"

    leaving = rf"\]\(((?:\.\./){{{depth}}}[^)#\s]+)(#[^)\s]*)?\)"
    source[0] = re.sub(leaving, replaced, source[0])


def _without_outside_styles(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Remove the style sheet that Matplotlib's animations ask another host for.

    It has icons only, which the theme has, too.
    """
    if "body" in context:
        context["body"] = re.sub(
            r'<link rel="stylesheet"\s+href="https?://[^"]+">', "", context["body"]
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect both."""
    app.connect("source-read", _to_the_repository)
    app.connect("html-page-context", _without_outside_styles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
