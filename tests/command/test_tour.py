"""The commands that the README and tutorials/production_pipe.md show, pasted into a shell."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from spclust.cli import app
from tests.command.common import COMMAND, ENVIRONMENT
from tests.ports import free_port

ROOT = Path(__file__).parents[2]


@pytest.fixture
def shell(tmp_path, quick):
    """A shell in which `spclust` is this one; what is killed has to be a process of its own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "spclust").write_text(
        "#!/bin/sh\n"
        f'case "$*" in *--follow*) exec {shlex.join(COMMAND)} "$@";; esac\n'
        f'exec {shlex.join(quick)} "$@"\n'
    )
    (folder / "spclust").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"

    def paste(text):
        return subprocess.run(
            ["bash", "-e", "-u", "-c", text],
            cwd=tmp_path,
            env={**ENVIRONMENT, "PATH": path},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return paste


def commands_in(document):
    return re.findall(r"```sh\n(.+?)```", (ROOT / document).read_text(), re.S)


def test_the_readmes_tour(shell, tmp_path):
    _, _, tour = commands_in("README.md")  # the others install, and call make
    assert len(re.findall(r"^spclust", tour, re.M)) == 5
    done = shell(tour)
    assert done.returncode == 0, done.stderr
    assert "20,000 rows" in done.stdout
    assert re.search(r"nmi 0\.9", done.stdout)
    assert re.search(r"birth +cluster 0", done.stdout)
    assert (tmp_path / "labels.csv").read_text().startswith("row,label,typicality\n1,")
    for name in ("stream.csv", "labels.csv", "model.spc", "model.png"):
        assert (tmp_path / name).stat().st_size > 0


END = "\x1e"  # of the output of a block


def rounded(text):
    """The text with ten digits of each number: the last ones depend on the processor."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda found: f"{float(found[0]):.10g}", text.rstrip("\n"))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_tutorial_of_a_pipe(shell):
    """All blocks of a shell but the first, in one; each `text` is what the one before prints."""
    page = (ROOT / "docs/tutorials/production_pipe.md").read_text()
    blocks = re.findall(r"```(sh|text)\n(.+?)```", page, re.S)
    assert "pip install" in blocks.pop(0)[1]
    script = f"\nprintf '{END}'\n".join(code for kind, code in blocks if kind == "sh")
    done = shell(script.replace("8765", str(free_port())))
    assert done.returncode == 0, done.stderr
    printed = iter(done.stdout.split(END))
    last = ""
    for kind, code in blocks:
        if kind == "sh":
            last = next(printed)
        else:
            assert rounded(last) == rounded(code)
    assert "going on after row" in done.stderr


def test_every_command_is_on_the_page():
    from typer.main import get_command

    page = (ROOT / "docs" / "reference" / "command.md").read_text()
    for name in get_command(app).commands:
        assert f"`spclust {name}" in page
