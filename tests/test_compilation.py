"""The kernels' cache on disk: never stale, never in the way."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import spclust
from spclust.jit.decorators import kernel, leaf

LEARN = """
import numpy as np
from spclust import SPC
X = np.random.default_rng(0).normal(size=(60, 2)) * 5
model = SPC(8, beta=0.1, w_min=0.1).fit(X)
print(model.structures_.count.tolist(), model.labels_.tolist(), model._stream.pruned)
"""

READ_A_DISTANCE = """
import numpy as np
from spclust.algorithm import clustering as offline
from spclust.state.kinds import FULL
from spclust.state.structures import LIVE, empty_pool, view
from spclust.parameters import Params
pool = empty_pool(Params(1, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0), 1)
pool[LIVE] = 1
view(pool).whiten[:] = 1.0
least = np.empty((1, 1))
least_nlt = offline.readers(FULL).least_nlt
least_nlt(pool, np.ones(1), np.zeros(1, np.int64), least, offline.reading_memory(view(pool)))
print(float(least[0, 0]))
print(sum(least_nlt.stats.cache_hits.values()))
"""


def run(folder):
    result = subprocess.run(
        [sys.executable, "-c", READ_A_DISTANCE],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    value, hits = result.stdout.split()
    return float(value), int(hits)


def copy_of_the_package(folder):
    source = Path(spclust.__file__).parent
    shutil.copytree(source, folder / "spclust", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_a_change_in_one_kernel_reaches_the_kernels_that_call_it(tmp_path):
    """Numba alone looks at the caller's own file, and would go on running the old code."""
    folder = copy_of_the_package(tmp_path)
    first, _ = run(folder)
    again, hits = run(folder)
    assert again == first
    assert hits == 1
    leaf = folder / "spclust" / "core" / "distances.py"
    code = leaf.read_text()
    assert "squares += a * a\n" in code
    leaf.write_text(code.replace("squares += a * a\n", "squares += 2.0 * a * a\n"))
    changed, hits = run(folder)
    assert changed > first
    assert hits == 0


MADE_FOR_EACH_KIND = """
from spclust.jit.decorators import address_of, compiled_once, kernel_of
def made(kind):
    @kernel_of(kind)
    def own_kind(x):
        return x + kind
    return compiled_once(own_kind, 0.5)
"""


def test_kernels_of_two_kinds_that_two_processes_compiled_are_told_apart(tmp_path):
    """Each process numbers its functions from 1: what they are called must tell the kind."""
    (tmp_path / "made.py").write_text(MADE_FOR_EACH_KIND)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}

    def told(code):
        command = [sys.executable, "-c", f"from made import address_of, made\n{code}"]
        return subprocess.run(command, env=environment, capture_output=True, check=True).stdout

    told("made(1)")
    told("made(2)")
    hits = "sum(one.stats.cache_hits.values()), sum(two.stats.cache_hits.values())"
    places = "address_of(one) == address_of(two)"
    answers = told(f"one, two = made(1), made(2)\nprint({hits}, {places}, one(0.0), two(0.0))")
    assert answers.split() == [b"1", b"1", b"False", b"1.0", b"2.0"]


def test_a_kernel_that_cannot_be_kept_on_disk_works_all_the_same():
    names = {}
    exec("def double(x):\n    return 2.0 * x", names)  # code without a file has no cache
    double = kernel(names["double"])
    assert double(21.0) == 42.0
    assert not double.stats.cache_path


def test_a_part_has_machine_code_of_its_own_only_if_python_calls_it():
    names = {}
    exec(
        "def double(x):\n    return 2.0 * x\ndef fourfold(x):\n    return double(double(x))", names
    )
    double = names["double"] = leaf(names["double"])
    assert kernel(names["fourfold"])(10.0) == 40.0
    assert not double.signatures
    assert double(21.0) == 42.0
    assert double.signatures


def test_kernels_are_plain_python_where_compilation_is_switched_off():
    """To step through them; they give what the compiled ones give."""
    output = []
    for off in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": off, "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-c", LEARN]
        output.append(
            subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        )
    assert output[0] == output[1]


FIRST_IN_FOUR_THREADS = """
import threading
import numpy as np
from spclust import SPC
X, together, counts = np.random.default_rng(0).normal(size=(30, 2)), threading.Barrier(4), []
def fit():
    together.wait()
    counts.append(len(SPC(5).fit(X).structures_))
threads = [threading.Thread(target=fit) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(counts)
"""


def test_several_threads_may_be_the_first_to_need_a_kernel():
    command = [sys.executable, "-c", FIRST_IN_FOUR_THREADS]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[5, 5, 5, 5]", result.stderr
