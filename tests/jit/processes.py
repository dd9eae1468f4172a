"""Python in a process of its own, with a cache of its own: what it compiles, and what it prints."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect

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


def environment(cache=None, sources=SOURCES, **more):
    """Environment variables with a cache in some folder; None is the cache of these tests."""
    plain = {**os.environ, "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
    if cache is not None:
        plain["NUMBA_CACHE_DIR"] = str(cache)
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


class Terminal:
    """Code that runs on a terminal, in a process of its own."""

    def __init__(self, code, cache):
        program, *arguments = command(code)
        self.child = pexpect.spawn(
            program, arguments, env=environment(cache), timeout=100, encoding="utf-8"
        )
        self.child.setwinsize(24, 200)

    def wait_for(self, text):
        """Wait until it has printed a text."""
        self.child.expect_exact(text)
        return self.child.before + text

    def lines(self, before=""):
        """Lines that it prints until it ends, behind what it has printed before."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        assert self.child.exitstatus == 0, self.child.before
        return (before + self.child.before).splitlines()


def copy_of_sources(folder):
    """A copy of the package, to be changed."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCES / "spclust", folder / "spclust", ignore=ignored)
    return folder
