"""Numbers in the documents, from stored results: `python -m benchmarks.documents` rewrites them.

A number names its figure in a comment behind it: 0.38<!-- bench: SPC/2-D/50/batch 10,000 -->. A
comment above a table names those of its cells: <!-- cells: events: {row}/{column} -->, or a source
for each column after the first, separated by |; columns with an empty one are left alone. {row} and
{column} are the first cell of the row and the head of the column. A cell of several numbers has as
many terms, separated by &. A term is a figure, `a over b`, a quotient, or either `times` a factor.
Numbers keep their decimals; those that still agree stay as they are.
"""

import json
import re
import sys
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks import stored

ROOT = Path(__file__).parents[1]
NUMBER = r"\d(?:[\d,]*\d)?(?:\.\d+)?"
MARKED = re.compile(rf"({NUMBER})<!--\s*([\w-]+):\s*(.+?)\s*-->", re.S)
TABLE = re.compile(r"<!--\s*cells:\s*((?:(?!-->).)+?)\s*-->\n((?:\|[^\n]*(?:\n|$))+)", re.S)
IN_CELL = re.compile(rf"(?<![\w.,]){NUMBER}(?!\w)")
ROUNDED = 3  # digits of a whole number that ends with zeros, at least
MADE = ("reproduction.md",)  # by its own benchmark, as a whole


class Quoted(NamedTuple):
    """A number in a text, and its source."""

    start: int
    end: int
    number: str
    benchmark: str
    term: str


def pages() -> list[Path]:
    """The documents that may quote results."""
    found = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *ROOT.glob("docs/**/*.md")]
    return [page for page in found if page.name not in MADE]


def quoted(text: str) -> list[Quoted]:
    """All numbers that name their source, in the order of the text."""
    found = [
        Quoted(*one.span(1), one[1], one[2], " ".join(one[3].split()))
        for one in MARKED.finditer(text)
    ]
    for table in TABLE.finditer(text):
        found += _cells(table)
    return sorted(found)


def _cells(table: re.Match[str]) -> Iterator[Quoted]:
    lines = list(re.finditer(r"\|.*", table[2]))
    head = [_plain(cell[0]) for cell in re.finditer(r"[^|\n]+", lines[0][0])]
    templates = " ".join(table[1].split()).split("|")
    if len(templates) == 1:
        templates *= len(head) - 1
    for line in lines[2:]:
        first, *others = re.finditer(r"[^|\n]+", line[0])
        for column, template, cell in zip(head[1:], templates, others, strict=True):
            numbers = list(IN_CELL.finditer(cell[0])) if template.strip() else []
            benchmark, _, filled = template.strip().partition(": ")
            filled = filled.replace("{row}", _plain(first[0])).replace("{column}", column)
            terms = [term.strip() for term in filled.split("&")]
            if numbers and len(numbers) != len(terms):
                raise ValueError(f"{line[0]}: {cell[0].strip()!r} has not {len(terms)} numbers.")
            start = table.start(2) + line.start() + cell.start()
            for one, term in zip(numbers, terms, strict=False):
                span = (start + one.start(), start + one.end())
                yield Quoted(*span, one[0], benchmark, term)


def _plain(cell: str) -> str:
    return cell.strip().strip("`*")


@cache
def _figures(path: Path) -> dict[str, float]:
    content = json.loads(path.read_text(encoding="utf-8"))
    assert {"command", "date", "machine", "parameters", "figures"} <= set(content)
    found: dict[str, float] = content["figures"]
    return found


def value(benchmark: str, term: str, folder: Path = stored.FOLDER) -> float:
    """The value of a term: `a`, `a over b`, or either `times` a factor."""
    figures = _figures(folder / f"{benchmark}.json")
    quotient, _, factor = term.partition(" times ")
    above, _, below = quotient.partition(" over ")
    return figures[above] / (figures[below] if below else 1.0) * float(factor or 1.0)


def agrees(written: str, exact: float) -> bool:
    """True if the exact value, rounded to the digits that are written, is what is written.

    Zeros at the end of a whole number are no digits after the third: 2,540,000 may be 2,543,210.
    """
    number = Decimal(written.replace(",", ""))
    exponent = int(number.as_tuple().exponent)
    if exponent == 0:
        digits = str(number)
        exponent = max(0, len(digits) - max(ROUNDED, len(digits.rstrip("0"))))
    return abs(Decimal(repr(exact)) - number) <= Decimal("0.5").scaleb(exponent)


def updated(written: str, exact: float) -> str:
    """The exact value with as many decimals as are written; the same text if it still agrees."""
    if agrees(written, exact):
        return written
    digits = written.replace(",", "")
    decimals = len(digits.partition(".")[2])
    if not decimals and digits.endswith("0") and exact >= 10**ROUNDED:
        exact = float(f"{exact:.{max(ROUNDED, len(digits.rstrip('0')))}g}")
    text = f"{exact:,.{decimals}f}"
    return text if "," in written or len(digits) < len("1000") else text.replace(",", "")


def rewritten(text: str, folder: Path = stored.FOLDER) -> tuple[str, list[str]]:
    """The text with the numbers of the stored results, and a line for each that has changed."""
    parts, end, changes = [], 0, []
    for one in quoted(text):
        new = updated(one.number, value(one.benchmark, one.term, folder))
        parts += [text[end : one.start], new]
        end = one.end
        if new != one.number:
            changes.append(f"{one.number} -> {new} ({one.benchmark}: {one.term})")
    return "".join([*parts, text[end:]]), changes


def main() -> int:
    """Rewrite all documents, and print what has changed; return 1 if a figure is missing."""
    missing = False
    for page in pages():
        name, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
        try:
            new, changes = rewritten(text)
        except FileNotFoundError as error:
            print(f"{name}: {Path(error.filename).stem} is not stored", file=sys.stderr)
            missing = True
            continue
        except KeyError as error:
            print(f"{name}: no stored result has {error}", file=sys.stderr)
            missing = True
            continue
        if changes:
            page.write_text(new, encoding="utf-8")
        for change in changes:
            print(f"{name}: {change}")
    return int(missing)


if __name__ == "__main__":
    sys.exit(main())
