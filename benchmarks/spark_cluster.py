"""A Spark cluster of several processes on this machine, and the list of its processes.

`local-cluster[2,1,1024]` has a driver (this Python and a JVM) and two executors, each a JVM of its
own with its own Python workers: the end of one of them loses the same state as on a real cluster.
"""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from spclust.spark import use_java

EXECUTOR = "CoarseGrainedExecutorBackend"
_DAEMON = "pyspark.daemon"

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
}


class Process(NamedTuple):
    """A process of the operating system."""

    pid: int
    parent: int
    resident: int  # bytes
    command: str


@contextmanager
def cluster(master: str, folder: Path, more: Mapping[str, str] | None = None) -> Iterator[Any]:
    """A session on a cluster whose files are in a folder."""
    from pyspark.sql import SparkSession

    use_java()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_WORKER_DIR"] = str(folder / "work")  # else in the folder of the package
    own = {"spark.local.dir": folder / "local", "spark.sql.warehouse.dir": folder / "warehouse"}
    builder = SparkSession.builder.master(master)
    for name, value in {**SETTINGS, **own, **(more or {})}.items():
        builder = builder.config(name, str(value))
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def family(root: int) -> list[Process]:
    """A process and all its descendants."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,rss=,args="],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    processes = [_process(line) for line in listed.splitlines()]
    found = [one for one in processes if one.pid == root]
    for one in found:  # the list grows during the loop
        found += [child for child in processes if child.parent == one.pid]
    return found


def _process(line: str) -> Process:
    pid, parent, kilobytes, *command = line.split(None, 3)
    return Process(int(pid), int(parent), 1024 * int(kilobytes), command[0] if command else "")


def roles(root: int) -> dict[str, list[Process]]:
    """The processes of the cluster whose driver is `root`, by role."""
    found: dict[str, list[Process]] = {
        "driver Python": [],
        "driver JVM": [],
        "executor JVMs": [],
        "Python workers": [],
    }
    for one in family(root):
        if one.pid == root:
            found["driver Python"].append(one)
        elif EXECUTOR in one.command:
            found["executor JVMs"].append(one)
        elif _DAEMON in one.command:
            found["Python workers"].append(one)
        elif "SparkSubmit" in one.command:
            found["driver JVM"].append(one)
    return found


def bind_executors(root: int, count: int) -> None:
    """Bind each executor, and the processes it starts from now on, to one core.

    Waits until there are `count` executors. Linux only.
    """
    while len(executors := roles(root)["executor JVMs"]) < count:
        time.sleep(0.2)
    for core, executor in zip(sorted(os.sched_getaffinity(0)), executors, strict=False):
        for thread in Path(f"/proc/{executor.pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {core})
