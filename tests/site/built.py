"""The built site: its pages, what they load, where they link to."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

SITE = Path(__file__).parents[2] / "output" / "docs"


class Link(NamedTuple):
    """A reference from a page: `loads` is true if a browser follows it without a click."""

    tag: str
    target: str
    loads: bool


class Page(HTMLParser):
    """Links and ids of a page."""

    def __init__(self, path):
        super().__init__()
        self.path, self.ids, self.links, self.styles = path, set(), [], []
        self._style = False
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        found = {name: value or "" for name, value in attributes}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        self._style = tag == "style"
        self.styles.append(found.get("style", ""))
        for name in ("href", "src", "data", "poster"):
            if name in found and not found[name].startswith("data:"):
                self.links.append(Link(tag, found[name], loads=tag != "a"))
        for one in found.get("srcset", "").split(","):
            if one.strip():
                self.links.append(Link(tag, one.split()[0], loads=True))

    def handle_data(self, data):
        if self._style:
            self.styles.append(data)


@cache
def pages():
    parts = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)
    return [Page(path) for path in parts]


def leaves_the_site(target):
    return re.match(r"(?:[a-z]+:)?//", target) is not None


def in_styles(text):
    """What a style sheet loads."""
    return re.findall(r"url\(\s*[\"']?(?!data:|#)([^\"')]+)", text) + re.findall(
        r"@import\s+[\"']([^\"']+)", text
    )
