"""A file cannot make loading take more memory than it should."""

import os
import resource
from contextlib import suppress
from threading import Thread

import numpy as np
import pytest

from spclust import SPC, river
from spclust.persistence.container import MAGIC
from tests.command.common import run
from tests.saving.crafted_models import PREFIX, model_of


def prefix(length):
    return PREFIX.pack(MAGIC, 4, length, 100)


def error_of_pipe(start, then=b""):
    """The error of loading from a pipe that has a start, and then the same without an end."""
    read, write = os.pipe()

    def feed():
        with open(write, "wb", buffering=0) as pipe, suppress(BrokenPipeError):
            pipe.write(start)
            while then:
                pipe.write(then)

    feeder = Thread(target=feed)
    feeder.start()
    try:
        with pytest.raises(ValueError, match=r"Cannot load '/dev/fd/\d+': [^\n]+\.") as caught:
            SPC.load(f"/dev/fd/{read}")
    finally:
        os.close(read)
        feeder.join()
    return str(caught.value)


def test_a_file_without_an_end_is_not_read_to_its_end():
    with pytest.raises(ValueError, match="Cannot load '/dev/zero': it is not a saved model"):
        SPC.load("/dev/zero")
    assert "it is not a saved model of spclust" in run("info", "/dev/zero", code=1).output
    assert "checksum" in error_of_pipe(prefix(1000), bytes(1000))
    assert "more than it may have" in error_of_pipe(prefix(2**60), bytes(1000))
    assert "cut short, to 28 of 1000000000 bytes" in error_of_pipe(prefix(10**9))


@pytest.mark.parametrize("kind", ["plane", "lowrank", "automatic full"])
def test_the_caller_can_lower_the_limit(kind, tmp_path):
    path, model = tmp_path / "model.spc", model_of(kind)
    model.save(path)
    assert SPC.load(path, max_bytes=10**7).n_samples_seen_ == 60
    assert river.SPC.load(path, max_bytes=10**7).n_clusters > 0
    large = SPC(1000, **({"scale": 1.0} if kind != "automatic full" else {}))
    large.fit(np.random.default_rng(0).normal(size=(60, 20))).save(path)
    assert SPC.load(path).n_samples_seen_ == 60
    for load in (SPC.load, river.SPC.load):
        with pytest.raises(ValueError, match=r"it takes \d+ bytes, more than max_bytes=1000000 al"):
            load(path, max_bytes=10**6)
    with pytest.raises(ValueError, match="more than it may have"):
        SPC.load(path, max_bytes=1000)


@pytest.mark.parametrize("params", [{"scale": 1.0}, {}], ids=repr)
def test_memory_of_structures_that_are_not_there_is_not_touched(params):
    X = np.random.default_rng(0).normal(size=(50, 2))
    n = 6000 if params else 800_000  # the state takes about 1 GB, or 0.2 GB
    data = SPC(n, **params).partial_fit(X).to_bytes()
    assert len(data) < 100_000
    pid = os.fork()
    if pid == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        model = SPC.from_bytes(data)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # in kB
        os._exit(0 if grown < 100_000 and model.n_samples_seen_ == 50 else 1)
    assert os.waitpid(pid, 0)[1] == 0
