"""The fuzzer as a command: `make fuzz` runs it for longer."""

import subprocess
import sys

import pytest
from fuzz.trials import KINDS

from tests.saving.common import ROOT


@pytest.mark.slow
def test_a_share_of_an_hour_in_two_processes():
    command = (sys.executable, "-m", "fuzz", "--only", "corrupted", "--processes", "2")
    done = subprocess.run(
        [*command, "--minutes", "0.1", "--seed", "7"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = (line for line in done.stdout.splitlines() if "corrupted models" in line)
    (wanted,) = (kind.in_an_hour for kind in KINDS if kind.name == "corrupted models")
    assert str(-(-wanted // 600)) in row.split()
