"""The commands that the README and the page about the command show, pasted into a shell."""

import os
import re
import shlex
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from spclust.cli import app
from tests.command.common import ENVIRONMENT

ROOT = Path(__file__).parents[2]


@pytest.fixture
def shell(tmp_path, quick):
    """A shell in which `spclust` is this one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "spclust").write_text(f'#!/bin/sh\nexec {shlex.join(quick)} "$@"\n')
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
    tour, _ = commands_in("README.md")
    assert len(re.findall(r"^spclust", tour, re.M)) == 5
    done = shell(tour)
    assert done.returncode == 0, done.stderr
    assert "20,000 rows" in done.stdout
    assert re.search(r"nmi 0\.9", done.stdout)
    assert re.search(r"birth +cluster 0", done.stdout)
    assert (tmp_path / "labels.csv").read_text().startswith("row,label,typicality\n1,")
    for name in ("stream.csv", "labels.csv", "model.spc", "model.png"):
        assert (tmp_path / name).stat().st_size > 0


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_readmes_service(shell, tmp_path):
    _, live = commands_in("README.md")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "stream.csv").write_text("x0,x1,class\n" + "1.5,2.0,0\n1.4,2.1,1\n" * 100)
    live = live.replace("spclust serve", f"spclust serve --port {port}").replace("8765", str(port))
    done = shell(f"{live}\nkill %1\nwait %1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == '{"rows":200,"bad_rows":0,"repeated":false}'
    assert "stopped after 200 rows" in done.stderr


def test_every_option_of_the_page_exists():
    from typer.main import get_command

    known = set()
    for command in get_command(app).commands.values():
        known |= {
            name for option in command.params for name in (*option.opts, *option.secondary_opts)
        }
    page = (ROOT / "docs" / "command.md").read_text()
    mentioned = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page))
    assert mentioned - known <= {"--help", "--install-completion", "--version"}


def test_every_command_is_on_the_page():
    from typer.main import get_command

    page = (ROOT / "docs" / "command.md").read_text()
    for name in get_command(app).commands:
        assert f"`spclust {name}" in page
