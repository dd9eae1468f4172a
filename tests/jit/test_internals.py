"""What reaches into Numba: it gives the same results, leaves no trace, and can be switched off."""

import gc
import inspect
import json

import numpy as np
import pytest
from numba import config
from numba.core.errors import TypingError
from numba.core.types.functions import BaseFunction

from spclust.jit import internals
from spclust.jit.decorators import kernel, outlined, part
from tests.jit.processes import KERNELS_TOLD, environment, output

pytestmark = [
    pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled"),
    pytest.mark.skipif(not internals.ENABLED, reason="this Numba's internals are not used"),
]


@part
def doubled(x):
    return 2.0 * x


@outlined
def until_above(limit, x):
    while x < limit:
        x = doubled(x)
    return x


def two_in_one(x):
    """The same function twice: its variables must not become one."""
    first = until_above(10.0, x)
    return first + until_above(100.0, x + 1.0)


def of_many_types(x):
    """One operator for numbers of several types, and literals that are values, not types."""
    pair = (x, 3)
    return pair[0] + pair[1] + 3 / 2 + (3 + 4) + (True + 4)


def of_no_type(x):
    return x + "a" * x


def compiled(function):
    """A kernel that comes from no cache: it has no file."""
    names = {"until_above": until_above}
    exec(inspect.getsource(function), names)
    return kernel(names[function.__name__])


@pytest.fixture(autouse=True)
def numba_as_it_was():
    resolve = BaseFunction.get_call_type
    yield
    assert BaseFunction.get_call_type is resolve


def test_parts_are_linked_into_their_kernel():
    assert compiled(two_in_one)(3.0) == 12.0 + 128.0


def test_calls_are_resolved_once_for_their_types(monkeypatch):
    asked = []
    resolve = BaseFunction.get_call_type

    def spied(self, context, args, kws):
        asked.append((self, tuple(args)))
        return resolve(self, context, args, kws)

    with monkeypatch.context() as patch:
        patch.setattr(BaseFunction, "get_call_type", spied)
        result = compiled(of_many_types)(0.25)
    assert result == of_many_types(0.25)
    assert asked
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_again_afterwards(collecting):
    collects = gc.isenabled()
    try:
        (gc.enable if collecting else gc.disable)()
        with internals._lookups_remembered():
            assert not gc.isenabled()
        with pytest.raises(TypingError):
            compiled(of_no_type)(1)
        assert gc.isenabled() == collecting
    finally:
        (gc.enable if collects else gc.disable)()


def test_the_entry_point_of_a_kernel_is_called_without_a_search():
    double = compiled(of_many_types)
    assert double(0.25) == of_many_types(0.25)
    entry = internals.entry_point(double)
    assert entry is not double
    assert entry(0.5) == of_many_types(0.5)


@pytest.mark.parametrize(
    ("before", "variables"),
    [
        ("", {"SPCLUST_NUMBA_INTERNALS": "0"}),
        ("import numba\nnumba.__version__ = '0.60.0'\n", {}),
        ("import numba\nnumba.__version__ = '0.100.0'\n", {}),
        ("", {"NUMBA_DISABLE_JIT": "1"}),
    ],
)
def test_other_versions_are_left_alone_and_there_is_a_switch(before, variables, tmp_path):
    told = "from spclust.jit import internals\nimport sys\nprint(internals.ENABLED, internals.PART)"
    assert output(before + told, environment(tmp_path, **variables)) == "False {}\n"
    assert internals.ENABLED  # here
    assert internals.PART


FORMULAS = """
import numpy as np
from spclust import covariance_union, typicality
X = np.random.default_rng(0).normal(size=(40, 2)) * [5.0, 0.1]
S = covariance_union(np.eye(2), X[0], np.diag([9.0, 0.5]), X[1], X[2])
print([*S.ravel().tolist(), *typicality(X, X[3], S).tolist()])
"""


@pytest.mark.slow
def test_without_internals_the_results_differ_in_the_last_bits_only(tmp_path, capsys):
    """The compiler fuses multiplications and additions where it inlines: the one rounding less.

    All tests can be run without internals: SPCLUST_NUMBA_INTERNALS=0 make test.
    """
    env = environment(tmp_path, SPCLUST_NUMBA_INTERNALS="0")
    others, *kernels = output(KERNELS_TOLD + FORMULAS, env).splitlines()
    assert any("compiled _union" in line for line in kernels)
    assert not any("loaded" in line for line in kernels)
    exec(FORMULAS, {})  # with internals
    expected = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(json.loads(others), expected, rtol=1e-11, atol=1e-11)
