"""Bodies that are too long, stand for more than they have, or are damaged."""

import gzip
import json
import time
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest
from fuzz.inputs import mutants, valid_files

from tests.live.attacks.common import (
    MOST_MEMORY,
    head,
    new_lines,
    status_of,
)
from tests.live.common import (
    ARROW,
    CSV,
    JSON,
    NDJSON,
    SECONDS,
    arrow,
    needs_a_server,
)

pytestmark = needs_a_server

GIGABYTE = 10**9  # bytes of a body that is too long
KINDS = {".csv": CSV, ".tsv": "text/tab-separated-values", ".ndjson": NDJSON, "json": JSON}


@pytest.mark.parametrize("path", ["/learn", "/score", "/healthz"])
def test_a_long_body_is_refused_before_it_is_sent(service, path):
    """It is answered at once, and then not read for long."""
    with service.socket() as connection:
        began = time.monotonic()
        connection.sendall(head(path, **{"Content-Length": GIGABYTE}))
        start = connection.recv(4096)
        assert status_of(start) == (405 if path == "/healthz" else 413)
        assert flood(connection, b"x" * 100_000, GIGABYTE) < GIGABYTE // 4
        assert time.monotonic() - began < SECONDS


def flood(connection, part, most):
    """Send a part again and again, until it is not taken any more; return how much was."""
    total = 0
    with suppress(OSError):
        while total < most:
            connection.sendall(part)
            total += len(part)
    return total


@pytest.mark.parametrize("size", [50_000, 4])
def test_a_long_body_without_a_length_is_refused_early(service, size):
    """In chunks of many bytes, or of a few each."""
    part = b"%x\r\n%s\r\n" % (size, b"x" * size)
    before, highest = service.memory(), 0
    with service.socket() as connection:
        connection.sendall(head(**{"Transfer-Encoding": "chunked"}))
        block = part * (200_000 // len(part))
        taken = 0
        with suppress(OSError):
            for number in range(GIGABYTE // len(block)):
                connection.sendall(block)
                taken += len(block)
                if number % 50 == 0:
                    highest = max(highest, service.memory())
        assert taken < GIGABYTE // 4
        with suppress(ConnectionError):
            assert status_of(connection.recv(4096)) in (413, None)
    assert highest < before + MOST_MEMORY


def test_a_gzip_bomb_is_refused(service):
    bomb = gzip.compress(bytes(200_000_000))
    assert len(bomb) < 300_000
    for path in ("/learn", "/score"):
        before = service.memory()
        answer, said = new_lines(
            service, lambda path=path: service.post(path, bomb, Content_Encoding="gzip")
        )
        assert len(said) == 1
        assert answer.status == 413
        assert answer.error == "The body has more than 16,000,000 bytes when it is decompressed."
        assert service.memory() < before + MOST_MEMORY


def nulls(cells):
    """A column of nulls has no bytes, however many there are."""
    return pa.Array.from_buffers(pa.null(), cells, [None])


def null_rows(rows):
    return arrow(pa.table({"x": nulls(rows), "y": nulls(rows)}))


def nested_nulls():
    many = pa.ListArray.from_arrays(pa.array([0, 2**31 - 2], pa.int32()), nulls(2**31 - 2))
    return arrow(pa.table({"x": many, "y": [1.0]}))


def repeated_text():
    text = pa.DictionaryArray.from_arrays(np.zeros(100_000, np.int32), pa.array(["z" * 10**6]))
    return arrow(pa.table({"x": text, "y": np.zeros(100_000)}))


BOMBS = {
    "compressed Arrow": (
        lambda: arrow(
            pa.table({"x": np.zeros(10**7), "y": np.zeros(10**7)}),
            options=pa.ipc.IpcWriteOptions(compression="zstd"),
        ),
        ARROW,
        422,
        "has compressed buffers",
    ),
    "rows without bytes": (lambda: null_rows(2 * 10**9), ARROW, 422, "2,000,000,000 rows"),
    "bad rows without bytes": (lambda: null_rows(10**6), ARROW, 422, "10,000 bad rows"),
    "cells without bytes": (nested_nulls, ARROW, 422, "is of type list"),
    "a text of many cells": (repeated_text, ARROW, 422, "has large dictionaries"),
    "many rows": (lambda: b"x,y\n" + b"1,2\n" * 1_000_001, CSV, 413, "1,000,000 rows"),
    "many bad rows": (lambda: b"x,y\n" + b"1,\n" * 20_000, CSV, 422, "10,000 bad rows"),
    "many columns": (
        lambda: ",".join(f"c{i}" for i in range(100_000)).encode() + b",x,y\n",
        CSV,
        413,
        "100,002 columns",
    ),
    "many columns twice": (
        lambda: ",".join(f"c{i}" for i in range(100_000)).encode() + b",last,last\n",
        CSV,
        422,
        "has two columns 'last'",
    ),
    "an array of nothing": (lambda: b"[" + b"{}," * 3_000_000 + b"{}]", JSON, 413, "post NDJSON"),
    "a line of lists": (
        lambda: b'{"x": [' + b"[]," * 3_000_000 + b"[]]}",
        NDJSON,
        413,
        "A line of",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bodies_that_stand_for_more_than_they_have_are_refused(service, name):
    make, kind, status, sentence = BOMBS[name]
    body = make()
    before, began = service.memory(), time.monotonic()
    for path in ("/learn", "/score"):
        answer, said = new_lines(service, lambda path=path: service.post(path, body, kind))
        assert [line[:42] for line in said] == [
            f"spclust: refused POST {path} from 127.0.0.1: "[:42]
        ]
        if path == "/score" and status == 422 and "bad rows" in sentence:
            status, sentence = 422, "row 1"  # which is enough
        assert answer.status == status, answer.body[:300]
        assert sentence in answer.error
        assert service.memory() < before + 2 * MOST_MEMORY
    assert time.monotonic() - began < SECONDS


def test_damaged_bodies_are_refused_in_one_sentence(service):
    """Or accepted, if they can be read: never with a traceback."""
    rng, statuses = np.random.default_rng(0), set()
    connection, posted = service.connection(), 0
    for name, data in mutants(rng):
        ending = name[name.rindex(".") :]
        kind = KINDS.get(ending, ARROW)
        if ending in (".parquet", ".gz"):
            continue
        if ending == ".ndjson" and posted % 2:
            kind = JSON
        path = "/learn" if posted % 3 else "/score"
        connection.request("POST", path, data, {"Content-Type": kind})
        answer = connection.getresponse()
        told = json.loads(answer.read())
        statuses.add(answer.status)
        assert answer.status in (200, 400, 413, 422), (name, told)
        if answer.status != 200:
            assert told["error"].endswith("."), told
            assert "\n" not in told["error"]
        posted += 1
        if posted == 500:
            break
    connection.close()
    assert statuses >= {200, 400, 422}


def test_random_bytes_are_refused_for_each_content_type(service):
    rng = np.random.default_rng(1)
    seen = set()
    for kind in (*KINDS.values(), ARROW, "text/plain", "x" * 1000, "application/json;;;="):
        for size in (1, 30, 1000, 100_000):
            body = rng.bytes(size)
            for encoding in ("identity", "gzip"):
                answer = service.post("/learn", body, kind, Content_Encoding=encoding)
                seen.add(answer.status)
                assert answer.status in (200, 400, 413, 415, 422), answer
                assert answer.status != 200 or answer.json()["rows"] == 0  # bad rows, left out
    assert seen >= {400, 415, 422}


def test_the_valid_files_of_the_fuzzer_are_accepted(service):
    accepted = 0
    for name, data in valid_files(np.random.default_rng(0)).items():
        if name.endswith((".parquet", ".gz", "zstd.arrows")):
            continue
        kind = KINDS.get(name[name.rindex(".") :], ARROW)
        answer = service.post("/learn", data, kind)
        assert answer.json() == {"rows": 40, "bad_rows": 0, "repeated": False}, name
        accepted += 1
    assert accepted >= 8
