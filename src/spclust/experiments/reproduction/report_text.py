"""Parts of the report in Markdown: tables, wrapped paragraphs, lists, ranges."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spclust.experiments.reproduction.runs import Scored

_WIDTH = 100  # characters of a line of Markdown
_DASH = "\u2013"  # en dash, between the ends of a range


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, without outer bars: lines are shorter."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(" | ".join(line) for line in lines)


def paragraph(text: str, indent: str = "", first: str = "") -> str:
    """Text wrapped to the width of the report."""
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def bullets(items: Sequence[str]) -> str:
    """A list of items."""
    return "\n".join(paragraph(item, "  ", "- ") for item in items)


def words(parameters: Mapping[str, Any]) -> str:
    """Parameters with four digits."""
    return ", ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in parameters.items()
    )


def mean_and_ends(runs: Sequence[Scored], score: str) -> str:
    """Mean of a score; the worst and the best in brackets, if they differ."""
    values = [run.scores[score] for run in runs]
    if max(values) - min(values) < 5e-4:
        return f"{np.mean(values):.3f}"
    return f"{np.mean(values):.3f} ({ends([f'{value:.3f}' for value in sorted(values)])})"


def ends(ordered: Sequence[str]) -> str:
    """The first and the last of ordered values; one of them if they are the same."""
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]}{_DASH}{ordered[-1]}"
