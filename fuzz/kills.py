"""A run of the command that is killed at a random moment, and resumed: the same outputs, or not.

    python -m fuzz.kills [--trials 100] [--seed 0]

Everything about a trial follows from its seed, but for how far the run is when it is killed.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.preloaded import Started, preloaded

from spclust.tables import open_writer

INPUTS = ("csv", "csv.gz", "ndjson", "parquet", "arrow", "stdin", "parts")
OUTPUTS = ("csv", "tsv.gz", "ndjson", "ndjson.zst", "arrows", "arrows.lz4")
FILES = ("events.ndjson", "bad.ndjson", "model.spc")  # written besides the labels
COMMAND = (sys.executable, "-m", "spclust.cli")
MOST_KILLS = 3


class Trial(NamedTuple):
    """What happened in a trial."""

    seed: int
    input: str
    output: str
    kills: int  # of MOST_KILLS, before the run was finished
    resumed: bool  # from a checkpoint, at least once
    failure: str  # "" if all outputs are those of an undisturbed run


def trial(
    seed: int,
    command: Sequence[str] = COMMAND,
    popen: "type[subprocess.Popen[bytes]]" = subprocess.Popen,
) -> Trial:
    """Kill a run by SIGKILL, resume it, and compare its outputs with those of an undisturbed run.

    `command` may be one that starts faster, by means of its own kind of `popen`.
    """
    draw = random.Random(seed)
    given, output = draw.choice(INPUTS), draw.choice(OUTPUTS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stdin = _write_input(folder, given, draw)
        options = _options(folder, given, output, draw)

        def started() -> "subprocess.Popen[bytes]":
            with open(stdin, "rb") as source:
                arguments, pipe = [*command, *options], subprocess.PIPE
                return popen(arguments, stdin=source, stdout=subprocess.DEVNULL, stderr=pipe)

        # The undisturbed run has checkpoints, too: it writes to the same paths, and takes as long.
        began, process = time.perf_counter(), started()
        _, errors = process.communicate()
        if process.returncode:
            return Trial(seed, given, output, 0, False, f"undisturbed: {errors.decode().strip()}")
        seconds = time.perf_counter() - began
        expected = _taken(folder, output)
        for path in folder.glob("run.ck*"):
            path.unlink()
        kills, resumed = 0, False
        while True:
            resumed = resumed or (folder / "run.ck").exists()
            process = started()
            if kills < MOST_KILLS:
                _wait(folder / "run.ck", process, draw.uniform(0.0, seconds), draw.random() < 0.7)
                process.kill()  # nothing happens if it has ended
            _, errors = process.communicate()
            if process.returncode == 0:
                break
            if process.returncode > 0:
                failure = f"exit code {process.returncode}: {errors.decode().strip()}"
                return Trial(seed, given, output, kills, resumed, failure)
            kills += 1
        found = _taken(folder, output)
        differing = [name for name in expected if found[name] != expected[name]]
        failure = f"{', '.join(differing)} differ" if differing else ""
        return Trial(seed, given, output, kills, resumed, failure)


def _wait(
    checkpoint: Path, process: "subprocess.Popen[bytes]", seconds: float, is_short: bool
) -> None:
    """Wait for some time; if that is to be short, from the next checkpoint on."""

    def age() -> int:
        return checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0

    before, deadline = age(), time.perf_counter() + seconds
    while is_short and age() == before and process.poll() is None:
        time.sleep(0.001)
    if is_short:
        deadline = time.perf_counter() + seconds / 20
    while time.perf_counter() < deadline and process.poll() is None:
        time.sleep(0.001)


def _write_input(folder: Path, kind: str, draw: random.Random) -> str:
    """Write clusters with some bad rows; the file that is standard input."""
    rows, rng = draw.randrange(20_000, 60_000), np.random.default_rng(draw.randrange(2**32))
    centres = rng.uniform(0.0, 60.0, (4, 2))
    X = centres[rng.integers(0, 4, rows)] + rng.normal(size=(rows, 2))
    x = X[:, 0].copy()
    x[rng.integers(0, rows, rows // 1000)] = np.inf
    names = [f"row-{i}" * (i % 3) for i in range(rows)]
    table = pa.table({"x": x, "y": X[:, 1], "name": names})
    if kind == "parts":
        for number in range(3):
            part = table.slice(number * rows // 3, (number + 1) * rows // 3 - number * rows // 3)
            _write(part, folder / f"part-{number}.csv")
    elif kind == "parquet":
        pq.write_table(table, folder / "in.parquet", row_group_size=7000)
    elif kind == "stdin":
        _write(table, folder / "stdin.csv")
        return str(folder / "stdin.csv")
    else:
        _write(table, folder / f"in.{kind}")
    return os.devnull


def _write(table: pa.Table, path: Path) -> None:
    writer = open_writer(str(path))
    writer.add(table)
    writer.close()


def _options(folder: Path, given: str, output: str, draw: random.Random) -> list[str]:
    source = str(folder / ("part-*.csv" if given == "parts" else f"in.{given}"))
    source = "-" if given == "stdin" else source
    events, bad, model = (str(folder / name) for name in FILES)
    options = ["cluster", source, "-c", "x,y", "--keep", "name", "-q", "--typicality", "--outlier"]
    options += ["--out", str(folder / f"labels.{output}"), "--events", events, "--save", model]
    options += ["--on-bad-row", "collect", bad, "--checkpoint", str(folder / "run.ck")]
    options += ["--batch", str(draw.choice([700, 1000, 2048])), "--every", "3000"]
    options += ["--read-bytes", str(draw.choice([5000, 50_000, 1_000_000]))]
    if draw.random() < 0.5:
        options += ["--scale", "1", "--n-structures", "20"]
    if draw.random() < 0.5:
        options += ["--standardise", "--warmup", "1500"]
    return options


def _taken(folder: Path, output: str) -> dict[str, bytes]:
    """Contents of all outputs, which are removed."""
    found = {}
    for name in (f"labels.{output}", *FILES):
        found[name] = (folder / name).read_bytes()
        (folder / name).unlink()
    return found


def main() -> None:
    """Run trials, and print those that failed and a summary."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.kills", description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the first trial")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    with preloaded("tests.command.imported") as python:
        for seed in range(given.seed, given.seed + given.trials):
            done = trial(seed, [*python, "-m", "spclust.cli"], Started)
            counts += Counter(trials=1, kills=done.kills, resumed=done.resumed)
            if done.failure:
                counts["failures"] += 1
                print(json.dumps(done._asdict()), flush=True)
    print(json.dumps(counts))
    sys.exit(counts["failures"] > 0)


if __name__ == "__main__":
    main()
