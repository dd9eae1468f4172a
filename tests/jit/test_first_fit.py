"""The first fit of all: told in one line, by four threads and two processes at once."""

import subprocess

import pytest

from tests.jit.processes import KERNELS_TOLD, Terminal, command, environment
from tests.jit.test_notice import LINE

# Spherical covariances have the kernels that compile fastest. Two points need three of them; more
# points, and labels, need eight more, which would take three times as long.
FIT_IN_THREADS = """
import threading
import numpy as np
from spclust import SPC
X, together, means = np.eye(2), threading.Barrier(4), []
def fit():
    together.wait()
    means.append(SPC(5, covariance_type="spherical").fit(X).structures_.mean.tolist())
threads = [threading.Thread(target=fit) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(means), [same == means[0] for same in means], means[0])
"""


@pytest.fixture(scope="module")
def first_fits(tmp_path_factory):
    """What two processes print: the first, on a terminal, compiles when the second begins."""
    cache = tmp_path_factory.mktemp("cache")
    first = Terminal(KERNELS_TOLD + FIT_IN_THREADS, cache)
    begun = first.wait_for("spclust compiles")
    second = subprocess.run(
        command(KERNELS_TOLD + FIT_IN_THREADS),
        env=environment(cache),
        text=True,
        capture_output=True,
    )
    assert (second.returncode, second.stderr) == (0, "")
    return first.lines(begun), second.stdout.splitlines(), cache


@pytest.mark.slow
def test_it_is_told_in_one_line(first_fits):
    line, answer, *kernels = first_fits[0]
    told = LINE.fullmatch(line)[1].split()
    assert told == [str(1 + k) for k in range(len(told))]
    # A kernel that the other process compiles meanwhile, or has for other types, is not told:
    # all but the first may be.
    assert 1 <= len(told) <= sum(kernel.startswith("compiled") for kernel in kernels)
    assert answer.startswith("4 [True, True, True, True]")


@pytest.mark.slow
def test_of_two_processes_one_compiles_the_kernel_that_learns(first_fits):
    (_, answer, *first), (other_answer, *second), cache = first_fits
    assert answer == other_answer
    states = [line.split()[0] for line in first + second if "learn_automatically" in line]
    assert states.count("compiled") == 1
    assert "loaded" in {line.split()[0] for line in second if "learn_automatically" in line}
    assert len(list(cache.rglob("*learn_automatically*.nbc"))) == 1


@pytest.mark.slow
def test_the_second_time_nothing_is_compiled_and_nothing_told(first_fits):
    (_, answer, *_), _, cache = first_fits
    again = Terminal(KERNELS_TOLD + FIT_IN_THREADS, cache).lines()
    assert again[0] == answer
    assert not any(line.startswith("compiled") for line in again)
