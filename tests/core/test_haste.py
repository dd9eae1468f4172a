import gc

import pytest
from numba import config, njit
from numba.core.errors import TypingError
from numba.core.ir import Scope
from numba.core.types.functions import BaseFunction

from spclust.jit import haste
from spclust.jit.decorators import inner, paragraph

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


def of_many_types(x):
    """One operator for numbers of several types, and literals that are values, not types."""
    pair = (x, 3)
    return pair[0] + pair[1] + 3 / 2 + (3 + 4) + (True + 4)


def of_no_type(x):
    return x + "a" * x


def compiled(function):
    """Anew each time: nothing comes from a cache."""
    assert haste.AS_A_KERNEL, "this Numba is of another make: kernels take longer to compile"
    return njit(**haste.AS_A_KERNEL)(function)


@pytest.fixture(autouse=True)
def numba_as_it_was():
    resolve = BaseFunction.get_call_type
    yield
    assert not hasattr(Scope, "__deepcopy__")
    assert BaseFunction.get_call_type is resolve


def test_scopes_are_not_copied_in_depth(monkeypatch):
    copied = []

    def spied(scope, memo, copy=haste._copy_of_scope):
        copied.append(scope)
        return copy(scope, memo)

    monkeypatch.setattr(haste, "_copy_of_scope", spied)
    assert compiled(two_in_one)(3.0) == 12.0 + 128.0
    assert copied


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
        with haste._haste():
            assert not gc.isenabled()
        with pytest.raises(TypingError):
            compiled(of_no_type)(1)
        assert gc.isenabled() == collecting
    finally:
        (gc.enable if collects else gc.disable)()
