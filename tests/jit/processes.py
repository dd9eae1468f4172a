"""Python in a process of its own, with a cache of its own: what it compiles, and what it prints."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import spclust

SOURCES = Path(spclust.__file__).parents[1]

# Prints "compiled NAME" or "loaded NAME" for each kernel, after the code that follows it.
KERNELS_TOLD = """
import atexit
from spclust.jit import notice
kernels = []
def note(name, seconds, is_new):
    kernels.append(f"{'compiled' if is_new else 'loaded'} {name}")
notice.reports.append(note)
atexit.register(lambda: print("\\n".join(kernels)))
"""


def environment(cache, sources=SOURCES, **more):
    """Environment variables with a cache in some folder."""
    plain = {**os.environ, "PYTHONPATH": str(sources), "NUMBA_CACHE_DIR": str(cache)}
    plain["PYTHONDONTWRITEBYTECODE"] = "1"
    return {**plain, **more}


def command(code):
    """The command that runs code, with the warnings that tests treat as errors."""
    return [sys.executable, "-W", "error", "-c", code]


def output(code, env):
    """What code prints in a process of its own."""
    result = subprocess.run(command(code), env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def copy_of_sources(folder):
    """A copy of the package, to be changed."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCES / "spclust", folder / "spclust", ignore=ignored)
    return folder
