import pytest
from numba import config, njit
from numba.core.ir import Scope

from spclust.core import linked
from spclust.core.compile import inner, paragraph

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


@inner
def doubled(x):
    return 2.0 * x


@paragraph
def until_above(limit, x):
    while x < limit:
        x = doubled(x)
    return x


def two_in_one(x):
    """The same function twice: its variables must not become one."""
    first = until_above(10.0, x)
    return first + until_above(100.0, x + 1.0)


def test_kernels_are_compiled_with_quick_copies_and_numba_is_as_it_was(monkeypatch):
    copied = []

    def spied(scope, memo, copy=linked._copy_of_scope):
        copied.append(scope)
        return copy(scope, memo)

    monkeypatch.setattr(linked, "_copy_of_scope", spied)
    assert linked.AS_A_KERNEL, "this Numba is of another make: kernels take longer to compile"
    assert njit(**linked.AS_A_KERNEL)(two_in_one)(3.0) == 12.0 + 128.0  # nothing from a cache
    assert copied
    assert not hasattr(Scope, "__deepcopy__")
