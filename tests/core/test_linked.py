import pytest
from numba import config
from numba.core.ir import Scope

from spclust.core.compile import inner, kernel, paragraph
from spclust.core.linked import AS_A_KERNEL

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


@inner
def doubled(x):
    return 2.0 * x


@paragraph
def until_above(limit, x):
    while x < limit:
        x = doubled(x)
    return x


@kernel
def two_in_one(x):
    """The same function twice: its variables must not become one."""
    first = until_above(10.0, x)
    return first + until_above(100.0, x + 1.0)


def test_numba_is_as_it_was_after_a_kernel_is_compiled():
    assert AS_A_KERNEL, "this Numba is of another make: kernels take longer to compile"
    assert two_in_one(3.0) == 12.0 + 128.0
    assert not hasattr(Scope, "__deepcopy__")
