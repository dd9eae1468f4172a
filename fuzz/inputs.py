"""Damaged and odd input files of all formats, and what the command does with each.

`python -m fuzz.inputs [COUNT] [SEED]` runs the command on COUNT files and prints every problem: a
crash, a traceback, a message that is not one sentence with the name of the file, a text in the
output that is not in the file. Each run is a forked process, so that a crash is seen.
"""

import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

_ROWS = 40
_SECONDS = 30  # a run that takes longer is a problem
_MEMORY = 8 << 30  # bytes of address space: a run that needs more is refused them
_NUMBERS = (0, 1, -1, 3, 7, 255, 4096, 2**31 - 1, -(2**31), 2**20)
_TOKENS = (
    *(b'"', b'""', b',"', b'"\n', b"\r", b"\r\n", b"\n", b",", b"\0", b"\xff\xfe", b"\xef\xbb\xbf"),
    *(b"1.7e308", b"1e999", b"nan", b"[/x]", b"\x1b[31m", b"{", b"]", b"\\ud800", b"\xc3"),
    *(b"9" * 400, b"[" * 2000, b'"x"', b"null", b"true", b": {}", "\u2028\u202e".encode()),
)
_GENERAL = ("cluster", "-c", "x,y", "--keep", "name", "--label", "class", "-q")


class Outcome(NamedTuple):
    """How a run of the command ended."""

    code: int  # exit code; minus the number of the signal if one ended it
    message: str  # standard error
    problem: str | None  # None: done, or refused as it should be


def valid_files(rng: np.random.Generator) -> dict[str, bytes]:
    """Files of all formats, by name: numbers, texts, classes, and columns of odd types."""
    centres = 20.0 * rng.integers(0, 3, _ROWS)
    names = [None if i % 9 == 4 else f"row-{i}" * (i % 4) for i in range(_ROWS)]
    plain = {
        "x": centres + rng.normal(size=_ROWS),
        "y": rng.normal(size=_ROWS),
        "name": pa.array(names, pa.string()),
        "class": [f"c{int(c)}" for c in centres],
    }
    typed = pa.table(
        {
            **plain,
            "y": pa.array(rng.integers(0, 9, _ROWS), pa.int32()),
            "class": pa.array(plain["class"]).dictionary_encode(),
            "tags": [[f"t{j}" for j in range(i % 3)] for i in range(_ROWS)],
            "pair": [{"a": i, "b": str(i)} for i in range(_ROWS)],
            "long": pa.array(names, pa.large_string()),
        }
    )
    simple = pa.table(plain)
    files = {}
    for name, table in {"plain": simple, "typed": typed}.items():
        for ending, codec in ((".arrow", None), (".arrows", None), ("-zstd.arrows", "zstd")):
            sink, options = io.BytesIO(), pa.ipc.IpcWriteOptions(compression=codec)
            new = pa.ipc.new_file if ending == ".arrow" else pa.ipc.new_stream
            with new(sink, table.schema, options=options) as writer:
                writer.write_table(table, max_chunksize=_ROWS // 2)
            files[name + ending] = sink.getvalue()
        for codec in ("none", "snappy"):
            sink = io.BytesIO()
            pq.write_table(table, sink, row_group_size=_ROWS // 2, compression=codec)
            files[f"{name}-{codec}.parquet"] = sink.getvalue()
    sink = io.BytesIO()
    pacsv.write_csv(simple, sink)
    files["quoted.csv"] = sink.getvalue()
    files["plain.csv"] = files["quoted.csv"].replace(b'"', b"")
    files["plain.tsv"] = files["plain.csv"].replace(b",", b"\t").replace(b"\n", b"\r\n")
    files["plain.csv.gz"] = pa.compress(files["plain.csv"], "gzip", asbytes=True)
    lines = (json.dumps(row) for row in simple.to_pylist())
    files["plain.ndjson"] = "\n".join(lines).encode()
    return files


def mutants(rng: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of damaged files, without end."""
    files = valid_files(rng)
    names = list(files)
    while True:
        name = names[rng.integers(len(names))]
        data = bytearray(files[name])
        is_text = name.endswith((".csv", ".tsv", ".ndjson"))
        for _ in range(rng.integers(1, 5)):
            kinds = _TEXT_MUTATIONS if is_text else _MUTATIONS
            data = kinds[rng.integers(len(kinds))](rng, data)
        yield name, bytes(data)


_Mutation = Callable[[np.random.Generator, bytearray], bytearray]


def _flip(rng: np.random.Generator, data: bytearray) -> bytearray:
    """A few bytes replaced: anywhere, or near the end, where footers are."""
    first = max(len(data) - 1500, 0) if rng.random() < 0.5 else 0
    for at in rng.integers(first, max(len(data), 1), rng.integers(1, 9)):
        data[at : at + 1] = bytes([rng.integers(256)])
    return data


def _truncate(rng: np.random.Generator, data: bytearray) -> bytearray:
    return data[: rng.integers(len(data) + 1)]


def _splice(rng: np.random.Generator, data: bytearray) -> bytearray:
    """A part replaced by another one, which may be of another length."""
    a, b, c, d = rng.integers(0, len(data) + 1, 4)
    a, c = max(a, b - 200), max(c, d - 200)
    return data[:a] + data[c:d] + data[b:] if a <= b else data[:b] + data[a:]


def _forge(rng: np.random.Generator, data: bytearray) -> bytearray:
    """A number where lengths and offsets are: at a multiple of four bytes."""
    at = 4 * int(rng.integers(len(data) // 4 + 1))
    size = int(rng.choice((4, 8)))
    number = int(rng.choice(_NUMBERS)) if rng.random() < 0.7 else int(rng.integers(0, 500))
    data[at : at + size] = number.to_bytes(size, "little", signed=True)
    return data


def _insert(rng: np.random.Generator, data: bytearray) -> bytearray:
    at = rng.integers(len(data) + 1)
    return data[:at] + _TOKENS[rng.integers(len(_TOKENS))] + data[at:]


_MUTATIONS: tuple[_Mutation, ...] = (_flip, _forge, _forge, _forge, _splice, _truncate)
_TEXT_MUTATIONS: tuple[_Mutation, ...] = (_flip, _splice, _truncate, _insert, _insert, _insert)


def arguments_for(rng: np.random.Generator, name: str) -> list[str]:
    """Arguments of the command for a file, which is in the current folder."""
    more = ["--on-bad-row", "skip", "--read-bytes", str(rng.choice((64, 1000, 100_000)))]
    if name.startswith("typed") and rng.random() < 0.5:
        more += ["--keep", str(rng.choice(("tags", "pair", "long", "class")))]
    return [*_GENERAL, *more, "--out", "labels.ndjson", name]


def load() -> None:
    """Import and load what the command needs, before processes are forked."""
    from spclust import SPC
    from spclust.cli import app

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.csv")
        Path(path).write_text("x,y,name,class\n1,2,a,b\n3,4,c,d\n", encoding="utf-8")
        out = os.path.join(folder, "out.ndjson")
        app([*_GENERAL, "--out", out, path], standalone_mode=False)
    SPC().fit(np.eye(50, 2)).predict(np.eye(2))


def outcome(
    name: str, data: bytes, arguments: list[str], folder: str, *, anew: bool = False
) -> Outcome:
    """Write a file to a folder, run the command there, and judge.

    In a forked process, or in one that is started anew, as by a shell.
    """
    for old in os.listdir(folder):
        os.remove(os.path.join(folder, old))
    Path(folder, name).write_bytes(data)
    code = _started(arguments, folder) if anew else _forked(arguments, folder)
    message = Path(folder, "stderr").read_text(encoding="utf-8", errors="replace")
    return Outcome(code, message, _problem(name, data, code, message, folder))


def _started(arguments: list[str], folder: str) -> int:
    command = [sys.executable, "-m", "spclust.cli", *arguments]
    with open(Path(folder, "stdout"), "wb") as out, open(Path(folder, "stderr"), "wb") as err:
        try:
            run = subprocess.run(
                command, cwd=folder, stdout=out, stderr=err, check=False, timeout=_SECONDS
            )
        except subprocess.TimeoutExpired:
            return -signal.SIGALRM  # which ends a forked process that takes as long
        return run.returncode


def _forked(arguments: list[str], folder: str) -> int:
    with warnings.catch_warnings(action="ignore"):  # of threads of PyArrow's memory allocator
        pid = os.fork()
    if pid == 0:
        _run(arguments, folder)
    status = os.waitpid(pid, 0)[1]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _run(arguments: list[str], folder: str) -> None:
    """Be the command: the last thing that a forked process does."""
    code = 1
    try:
        os.chdir(folder)
        for place, file in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), place)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(_SECONDS)
        from spclust.cli import app

        app(arguments)
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _problem(name: str, data: bytes, code: int, message: str, folder: str) -> str | None:
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    if "Traceback" in message:
        return "traceback"
    if code == 1:
        if not message.startswith("spclust: ") or message.count("\n") != 1:
            return "not one sentence"
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", message):
            return "control characters"
        return None if name in message else "the file is not named"
    if code != 0:
        return f"exit code {code}"
    if message:
        return "done, but with a message"
    return _foreign_text(name, data, folder)


def _foreign_text(name: str, data: bytes, folder: str) -> str | None:
    """What is wrong if a kept text is not part of the file, of one that is not compressed."""
    if name.endswith(("zstd.arrows", "snappy.parquet", ".gz", ".ndjson")):
        return None
    data = data.replace(b'"', b"")  # those of CSV are not part of a text
    for line in Path(folder, "labels.ndjson").read_text(encoding="utf-8").split("\n")[:-1]:
        text = (json.loads(line)["name"] or "").replace('"', "")
        if text.encode() not in data and not re.fullmatch(r"[-+.\w]*", text):
            return "foreign text in the output"
    return None


def main(count: int = 1000, seed: int = 0) -> int:
    """Run the command on some files and print all problems; return how many there are."""
    load()
    rng, counts, problems = np.random.default_rng(seed), Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, data) in zip(range(count), mutants(rng), strict=False):
            arguments = arguments_for(rng, name)
            result = outcome(name, data, arguments, folder)
            counts["done" if result.code == 0 else "refused"] += 1
            if result.problem is not None:
                problems += 1
                kept = Path(tempfile.gettempdir(), f"fuzz-{seed}-{number}-{name}")
                kept.write_bytes(data)
                print(f"{result.problem}: {kept}\n  {' '.join(arguments)}\n  ", end="")
                print((result.message.strip().splitlines() or [""])[-1][:300])
    print(f"{count} files: {dict(counts)}, {problems} problems")
    return problems


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
