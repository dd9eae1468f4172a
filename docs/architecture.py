"""Draw the rooms of `spclust` and what imports what: python docs/architecture.py.

Rooms are the packages and modules directly below `spclust`. The graph is the real one, found by
grimp, which comes with import-linter. An import that follows from a chain of others is left out.
Descriptions are the first lines of docstrings.
"""

import ast
from pathlib import Path
from textwrap import wrap
from xml.sax.saxutils import escape

import grimp

PACKAGE = Path(__file__).parents[1] / "src" / "spclust"
PICTURE = Path(__file__).parent / "images" / "architecture.svg"
EVERYWHERE = {"array_types", "version"}  # imported by nearly all, and without content

WIDTH, MARGIN, GAP = 1240, 12, 12
ROW, BOX, LINE = 112, 86, 13  # heights
LETTER, MOST_LINES = 6.0, 4  # width of a letter, and lines of a description
WIDEST = 420
STYLE = (
    "text { font-family: Helvetica, Arial, sans-serif; text-anchor: middle; fill: #222 } "
    ".name { font-size: 14px; font-weight: bold } .what { font-size: 11px; fill: #555 } "
    "rect.room { fill: #eef3f8; stroke: #0072B2; stroke-width: 1.2 } "
    "line { stroke: #777; stroke-width: 1.2; marker-end: url(#arrow) }"
)


def imports() -> dict[str, set[str]]:
    """The rooms that each room imports."""
    graph = grimp.build_graph("spclust", cache_dir=None)
    found: dict[str, set[str]] = {}
    for module in sorted(graph.modules - {"spclust"}):
        room = module.split(".")[1]
        inside = {name for name in graph.find_modules_directly_imported_by(module) if "." in name}
        found.setdefault(room, set()).update(name.split(".")[1] for name in inside)
    return {
        room: others - {room} - EVERYWHERE
        for room, others in sorted(found.items())
        if room not in EVERYWHERE
    }


def below(room: str, graph: dict[str, set[str]]) -> set[str]:
    """All rooms that a room imports, directly or not."""
    return set().union(*({other} | below(other, graph) for other in graph[room]))


def direct(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The graph without imports that follow from a chain of others."""
    return {
        room: others - set().union(*(below(other, graph) for other in others))
        for room, others in graph.items()
    }


def rows(graph: dict[str, set[str]]) -> list[list[str]]:
    """Rooms by height, the top first: each as high as those that import it allow."""

    def height(room: str) -> int:
        return 1 + max((height(other) for other in graph[room]), default=-1)

    def latest(room: str) -> int:
        importers = [latest(other) - 1 for other in graph if room in graph[other]]
        return min(importers, default=height(room))

    heights = {room: latest(room) for room in graph}
    found: list[list[str]] = []
    places: dict[str, float] = {}
    for level in range(max(heights.values()), -1, -1):
        here = [room for room in graph if heights[room] == level]
        centre = {
            room: [places[other] for other in graph if room in graph[other] and other in places]
            for room in here
        }
        here.sort(key=lambda room: (sum(centre[room]) / max(len(centre[room]), 1), room))
        places |= {room: (i + 1) / (len(here) + 1) for i, room in enumerate(here)}
        found.append(here)
    return [row for row in found if row]


def description(room: str) -> str:
    """What a room is for: the first sentence of its docstring."""
    file = PACKAGE / room / "__init__.py" if (PACKAGE / room).is_dir() else PACKAGE / f"{room}.py"
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0].split(". ")[0].rstrip(".").replace("`", "")


def boxes(layers: list[list[str]]) -> dict[str, tuple[float, float, float]]:
    """Left, top and width of the box of each room."""
    found = {}
    for number, layer in enumerate(layers):
        space = WIDTH - 2 * MARGIN - GAP * (len(layer) - 1)
        width = min(WIDEST, space / len(layer))
        start = (WIDTH - width * len(layer) - GAP * (len(layer) - 1)) / 2
        for i, room in enumerate(layer):
            found[room] = start + i * (width + GAP), MARGIN + number * ROW, width
    return found


def drawn() -> str:
    """The picture as SVG."""
    graph = direct(imports())
    layers = rows(graph)
    places = boxes(layers)
    parts = []
    for room, others in graph.items():
        left, top, width = places[room]
        for other in sorted(others):
            there, end, its_width = places[other]
            shift = (there + its_width / 2 - left - width / 2) / WIDTH
            x1, x2 = left + width * (0.5 + 0.6 * shift), there + its_width * (0.5 - 0.6 * shift)
            parts.append(f'<line x1="{x1:.1f}" y1="{top + BOX}" x2="{x2:.1f}" y2="{end - 3}"/>')
    for room, (left, top, width) in places.items():
        middle = f"{left + width / 2:.1f}"
        parts.append(
            f'<rect class="room" x="{left:.1f}" y="{top}" width="{width:.1f}" '
            f'height="{BOX}" rx="5"/>'
        )
        lines = wrap(description(room), int(width / LETTER))[:MOST_LINES]
        y = top + 20 + (MOST_LINES - len(lines)) * LINE // 2
        parts.append(f'<text class="name" x="{middle}" y="{y}">{room}</text>')
        for i, line in enumerate(lines):
            its_y = y + 17 + i * LINE
            parts.append(f'<text class="what" x="{middle}" y="{its_y}">{escape(line)}</text>')
    height = 2 * MARGIN + (len(layers) - 1) * ROW + BOX
    arrow = (
        '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#777"/></marker>'
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}">'
    )
    canvas = f'<rect width="{WIDTH}" height="{height}" fill="white"/>'
    lines = [head, f"<style>{STYLE}</style>", f"<defs>{arrow}</defs>", canvas, *parts, "</svg>"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    print(PICTURE)
