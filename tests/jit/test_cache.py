"""The kernels' cache on disk: never stale, filled by one process, never in the way."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from spclust.jit import cache
from spclust.jit.cache import compiled_once
from spclust.jit.decorators import kernel, part
from tests.jit.processes import KERNELS_TOLD, command, copy_of_sources, environment, output

# Spherical covariances have the kernels that compile fastest.
LEARN = """
import numpy as np
from spclust import SPC
X = np.random.default_rng(0).normal(size=(60, 2)) * 5
model = SPC(8, beta=0.1, w_min=0.1, scale=1.0, covariance_type="spherical").fit(X)
print(model.structures_.count.tolist(), model.labels_.tolist(), model._stream.pruned)
"""

# A small kernel, whose arithmetic is in another file.
MEASURE = """
import numpy as np
from spclust.formulas import typicality
print(typicality(np.full(2, 0.5), np.zeros(2), np.eye(2)))
"""

# The digest that kernels are named by, and those after changes that are asked for, line by line.
DIGESTS = """
import sys
from spclust.jit import cache
print(cache.DIGEST, flush=True)
for _ in sys.stdin:
    print(cache._digest_of_sources(), flush=True)
"""


def replace(file, old, new):
    code = file.read_text()
    assert old in code
    file.write_text(code.replace(old, new))


def test_a_change_in_a_part_reaches_the_kernels_that_call_it(tmp_path):
    """Numba alone looks at the caller's own file, and would go on running the old code."""
    env = environment(tmp_path / "cache", copy_of_sources(tmp_path))
    first, *kernels = output(KERNELS_TOLD + MEASURE, env).splitlines()
    assert "compiled _mahalanobis_sq" in kernels
    again, *kernels = output(KERNELS_TOLD + MEASURE, env).splitlines()
    assert again == first
    assert "loaded _mahalanobis_sq" in kernels
    assert not any(line.startswith("compiled") for line in kernels)
    file = tmp_path / "spclust" / "algorithm" / "typicality.py"
    replace(file, "        q += y * y\n", "        q += 2.0 * y * y\n")
    changed, *kernels = output(KERNELS_TOLD + MEASURE, env).splitlines()
    assert float(changed) < float(first)
    assert "compiled _mahalanobis_sq" in kernels


def test_what_has_kernels_imports_nothing_that_the_digest_leaves_out():
    package = Path(cache.__file__).parents[1]
    for file in package.rglob("*.py"):
        path = file.relative_to(package)
        code = file.read_text().replace("from spclust import ", "import spclust.")
        imported = set(re.findall(r"^ *(?:from|import) ([\w.]+)", code, re.MULTILINE))
        if path.parts[0] in (*cache.ROOMS, *cache.MODULES):
            parts = {name.split(".")[1] for name in imported if name.startswith("spclust.")}
            assert parts <= {*cache.ROOMS, *(name[:-3] for name in cache.MODULES)}, path
        else:
            assert not {"numba", "spclust.jit.decorators"} & imported, path


def test_the_digest_covers_every_file_and_setting_that_matter(tmp_path):
    """A constant of any module that kernels use may be part of a kernel."""
    sources = copy_of_sources(tmp_path)
    env = {**environment(tmp_path / "cache", sources), "SPCLUST_NUMBA_INTERNALS": "1"}
    without_internals = output(DIGESTS, {**env, "SPCLUST_NUMBA_INTERNALS": "0"}).strip()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command(DIGESTS), env=env, text=True, **pipes) as process:

        def digest():
            print(file=process.stdin, flush=True)
            return process.stdout.readline().strip()

        digests = [process.stdout.readline().strip()]
        assert digest() == digests[0]
        for name, old, new in (
            ("numerics/powers.py", '"""\n', '"""\n_UNUSED = 1.0\n'),
            ("tracking/events.py", "ENOUGH = 4.0", "ENOUGH = 5.0"),
            ("state/structures.py", '"""\n', '"""\n# Another comment.\n'),
        ):
            replace(sources / "spclust" / name, old, new)
            digests.append(digest())
        (sources / "spclust" / "numerics" / "other.py").write_text('"""Nothing."""\n')
        digests.append(digest())
        replace(sources / "spclust" / "live" / "guard.py", '"""\n', '"""\n_UNUSED = 1.0\n')
        assert digest() == digests[-1]
    assert all([*digests, without_internals])
    assert len({*digests, without_internals}) == len(digests) + 1


def test_of_two_processes_one_compiles_and_the_other_loads(tmp_path):
    env = environment(tmp_path)
    code = KERNELS_TOLD + "import spclust.formulas\ninput()\n" + MEASURE
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    processes = [subprocess.Popen(command(code), env=env, text=True, **pipes) for _ in range(2)]
    for process in processes:  # both have imported everything
        process.stdin.write("\n")
        process.stdin.flush()
    told = [process.communicate() for process in processes]
    assert [errors for _, errors in told] == ["", ""]
    first, second = (lines.splitlines() for lines, _ in told)
    assert first[0] == second[0]
    kernels = {line.split()[1] for line in first[1:]}
    assert {"_mahalanobis_sq", "_factor", "_nlt_from_log_odds"} <= kernels
    for name in kernels:
        states = sorted(line.split()[0] for line in first + second if line.endswith(f" {name}"))
        assert states == ["compiled", "loaded"], name


MADE_FOR_EACH_KIND = """
from spclust.jit.cache import compiled_once
from spclust.jit.decorators import specialised
def made(kind):
    def own_kind(x):
        return x + kind
    kernel = specialised(own_kind, str(kind))
    return kernel, compiled_once(kernel, 0.5)
"""


def test_kernels_of_two_kinds_that_two_processes_compiled_are_told_apart(tmp_path):
    """Each process numbers its functions from 1: their names must tell the kind."""
    (tmp_path / "made.py").write_text(MADE_FOR_EACH_KIND)
    env = environment(tmp_path)
    env["PYTHONPATH"] += f":{tmp_path}"
    assert output("from made import made\nprint(made(1)[1](0.0))", env) == "1.0\n"
    assert output("from made import made\nprint(made(2)[1](0.0))", env) == "2.0\n"
    answers = output(
        "from made import made\n"
        "(one, first), (two, second) = made(1), made(2)\n"
        "print(sum(one.stats.cache_hits.values()), sum(two.stats.cache_hits.values()))\n"
        "print(first(0.0), second(0.0))",
        env,
    )
    assert answers.split() == ["1", "1", "1.0", "2.0"]


# Lets even root be refused what permissions do not allow: it drops CAP_DAC_OVERRIDE.
UNPRIVILEGED = """
import ctypes, os, sys
if os.getuid() == 0:
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-W", "error", "-c", *sys.argv[1:]])
"""
DOUBLE = """
from spclust.jit.decorators import kernel
@kernel
def double(x):
    return 2.0 * x
"""
LOADED = "sum(double.stats.cache_hits.values())"
USE_DOUBLE = f"""
import os, sys
from double import double
print(double(21.0), {LOADED}, os.access(sys.argv[1], os.W_OK))
"""


@pytest.mark.parametrize("place", ["NUMBA_CACHE_DIR", "__pycache__"])
def test_machine_code_that_may_only_be_read_is_used(place, tmp_path):
    """By a user with a home, and by one without any place to write but for temporary files."""
    sources, cache, temporary = (tmp_path / name for name in ("sources", "cache", "temporary"))
    sources.mkdir()
    temporary.mkdir()
    (sources / "double.py").write_text(DOUBLE)
    env = environment(cache if place == "NUMBA_CACHE_DIR" else None, TMPDIR=str(temporary))
    env["PYTHONPATH"] += f":{sources}"
    env.pop("XDG_CACHE_HOME", None)
    filled = cache if place == "NUMBA_CACHE_DIR" else sources
    program = [sys.executable, "-c", UNPRIVILEGED, USE_DOUBLE, str(filled)]

    def used(home):
        run = subprocess.run(program, env={**env, "HOME": str(home)}, capture_output=True)
        assert run.stderr == b""
        return run.stdout.split()

    assert used(tmp_path) == [b"42.0", b"0", b"True"]
    folders = [path for path in (sources, *tmp_path.rglob("*")) if path.is_dir()]
    folders.remove(temporary)
    for folder in folders:
        folder.chmod(0o555)
    try:
        (home := tmp_path / "home").mkdir()
        doubled, loaded, writable = used(home)
        if writable == b"True":
            pytest.skip("permissions do not keep this user from writing")
        assert (doubled, loaded) == (b"42.0", b"1")
        assert list(home.rglob("*.nbi"))
        assert used(sources) == [b"42.0", b"1", b"False"]
        assert list(temporary.iterdir()) == []
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_a_kernel_that_is_compiled_once_takes_no_other_types():
    names = {}
    exec("def double(x):\n    return 2.0 * x", names)
    double = kernel(names["double"])
    once = compiled_once(double, 0.5)
    assert once(21.0) == 42.0
    with pytest.raises(TypeError, match="No matching definition"):
        once("21")
    assert len(double.signatures) == 1


def test_a_kernel_that_cannot_be_kept_on_disk_works_all_the_same():
    names = {}
    exec("def double(x):\n    return 2.0 * x", names)  # code without a file has no cache
    double = kernel(names["double"])
    assert double(21.0) == 42.0
    assert double(21) == 42.0
    assert len(double.signatures) == 2
    assert not double.stats.cache_path


def test_a_part_is_compiled_into_kernels():
    names = {}
    exec(
        "def double(x):\n    return 2.0 * x\ndef fourfold(x):\n    return double(double(x))", names
    )
    names["double"] = part(names["double"])
    assert kernel(names["fourfold"])(10.0) == 40.0


def test_a_file_system_without_locks_is_no_error(tmp_path):
    code = """
import fcntl
def refuse(*_):
    raise OSError("no locks here")
fcntl.flock = refuse
"""
    first, *kernels = output(code + KERNELS_TOLD + MEASURE, environment(tmp_path)).splitlines()
    assert 0.0 < float(first) < 1.0
    assert "compiled _mahalanobis_sq" in kernels


QUIET = "import warnings\nwarnings.simplefilter('ignore')\n"  # of divisions by 0
OF_MODES = {
    "the paper's": LEARN,
    "automatic": LEARN.replace("beta=0.1, w_min=0.1, scale=1.0", "half_life=5"),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What a process prints in which compilation is switched off, by mode."""
    env = environment(tmp_path_factory.mktemp("cache"), NUMBA_DISABLE_JIT="1")
    lines = output(QUIET + "".join(OF_MODES.values()), env).splitlines()
    return dict(zip(OF_MODES, lines, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("mode", OF_MODES)
def test_kernels_are_plain_python_where_compilation_is_switched_off(mode, plain, capsys):
    """To step through them; they give what the compiled ones give."""
    exec(OF_MODES[mode], {})
    assert capsys.readouterr().out.splitlines() == [plain[mode]]
