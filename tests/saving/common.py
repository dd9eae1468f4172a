"""What the tests of saved models share."""

import os
import subprocess
import sys
from pathlib import Path

from spclust import SPC

ROOT = Path(__file__).parents[2]
COVARIANCES = ("full", "lowrank", "diag", "spherical")


class Renamed(SPC):
    """A class of its own, with all that SPC has."""


def pool_of(model):
    return model._stream.pool.tobytes()


def run(program, *arguments):
    """What a program of the tests prints, in a process of its own."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, ROOT / "tests" / "saving" / program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    ).stdout
