"""A command in a pseudo-terminal, and its screen, of which pictures for the documents are made.

`python -m tests.command.terminal` makes them anew, in docs/images.
"""

import re
import tempfile
import time
from pathlib import Path

import pexpect
import pyte
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.command.common import COMMAND, ENVIRONMENT, spclust

WIDTH, HEIGHT = 110, 32
IMAGES = Path(__file__).parents[2] / "docs" / "images"
DRIFTING = ["--n-structures", 60, "--scale", 1.5, "--beta", 0.02, "--gamma", 0.1]
DRIFTING += ["--nlt-max", 0.001, "--track-every", 25, "--columns", "x0,x1"]


class Terminal:
    """A command in a pseudo-terminal, and what its screen shows."""

    def __init__(self, *arguments, folder=None, command=COMMAND):
        self.screen = pyte.Screen(WIDTH, HEIGHT)
        self._stream = pyte.ByteStream(self.screen)
        environment = {**ENVIRONMENT, "TERM": "xterm-256color", "COLUMNS": str(WIDTH)}
        environment.pop("NO_COLOR", None)
        self.process = pexpect.spawn(
            command[0],
            [*command[1:], *map(str, arguments)],
            env=environment,
            cwd=folder,
            dimensions=(HEIGHT, WIDTH),
            timeout=60,
        )

    def svg(self, title):
        """The screen as a picture, with its colours."""
        rows = [row for row in range(HEIGHT) if self.screen.display[row].strip()]
        console = Console(record=True, width=WIDTH, file=open("/dev/null", "w"))  # noqa: SIM115
        for row in range(max(rows) + 1):
            line, cells = Text(), self.screen.buffer[row]
            for column in range(WIDTH):
                cell = cells[column]
                colour = _colour(cell.fg)
                line.append(cell.data, Style(color=colour, bold=cell.bold, italic=cell.italics))
            console.print(line, no_wrap=True)
        return console.export_svg(title=title)

    @property
    def text(self):
        return "\n".join(self.screen.display)

    def until(self, pattern, seconds=60.0):
        """Let it run until the screen shows something, which is returned."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.text)):
            assert time.monotonic() < end, self.text
            try:
                self._stream.feed(self.process.read_nonblocking(65536, timeout=1))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                break
        return found or re.search(pattern, self.text)

    def end(self):
        self.until(r"\0")
        self.process.close()
        return self.process.exitstatus


def _colour(name):
    """A colour of pyte as one of Rich."""
    if name == "default":
        return None
    return f"#{name}" if re.fullmatch("[0-9a-f]{6}", name) else {"brown": "yellow"}.get(name, name)


def main():
    with tempfile.TemporaryDirectory() as folder:
        stream, big = Path(folder, "stream.csv"), Path(folder, "big.csv")
        spclust("generate", "drifting", "--out", stream)
        spclust("generate", "blobs", "--rows", 5_000_000, "--out", big)
        given = f"watch {stream.name} -c x0,x1 --rate 5000 --half-life 200"  # as in README.md
        watch = Terminal(*given.split(), folder=folder)
        watch.until(r"(?s)1[4-9],\d\d\d rows.*events.*╰─+╯")
        (IMAGES / "watch.svg").write_text(watch.svg(f"spclust {given}"))
        bar = Terminal("cluster", big.name, "--n-structures", 50, "-c", "x0,x1", folder=folder)
        bar.until(r" [4-9]\d %")
        (IMAGES / "progress.svg").write_text(bar.svg("spclust cluster big.csv"))
        for terminal in (watch, bar):
            terminal.process.terminate(force=True)


if __name__ == "__main__":
    main()
