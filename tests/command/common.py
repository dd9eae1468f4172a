"""The command, as users run it and, where no process is needed, in this one."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from typer.testing import CliRunner

from spclust.cli import app
from tests.preloaded import Started

COMMAND = [sys.executable, "-m", "spclust.cli"]
ENVIRONMENT = {**os.environ, "PYTHONWARNINGS": "error", "COLUMNS": "120"}


def spclust(*arguments, command=COMMAND, **options):
    """A process of its own, with its output as bytes; `command` may be a preloaded one."""
    return subprocess.run(
        [*command, *map(str, arguments)],
        env=ENVIRONMENT,
        capture_output=True,
        timeout=120,
        **options,
    )


def started(*arguments, command=COMMAND, **options):
    start = subprocess.Popen if command is COMMAND else Started
    return start([*command, *map(str, arguments)], env=ENVIRONMENT, **options)


def run(*arguments, code=0):
    """In this process: what it prints, if it ends with this exit code."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


@contextmanager
def stdin_from(path):
    """Let standard input, the descriptor that the command reads, be a file for a while."""
    before = os.dup(0)
    with open(path, "rb") as file:
        os.dup2(file.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


def summary(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def blobs(rows=3000, d=2, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0.0, 60.0, (4, d))
    classes = rng.integers(0, 4, rows)
    return centres[classes] + rng.normal(size=(rows, d)), classes


def table(rows=3000, d=2, seed=0):
    """Columns x, y, ... of numbers, a name, and a class."""
    X, classes = blobs(rows, d, seed)
    columns = {"xyzuvw"[i]: X[:, i] for i in range(d)}
    names = [f"row-{i}" for i in range(rows)]
    return pa.table({**columns, "name": names, "class": [f"c{c}" for c in classes]})


def csv_file(path, rows=3000, **options):
    pacsv.write_csv(table(rows, **options), path)
    return Path(path)
