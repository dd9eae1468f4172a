"""What reaches into Numba, for tested versions only: kernels compile in half the time.

SPCLUST_NUMBA_INTERNALS=0 switches all of it off; results are the same.
"""

import os
from typing import Any

import numba

TESTED = ("0.61", "0.62", "0.63", "0.64", "0.65", "0.66", "0.67", "0.68")
ENABLED = (
    os.environ.get("SPCLUST_NUMBA_INTERNALS", "1") != "0"
    and ".".join(numba.__version__.split(".")[:2]) in TESTED
    and not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
)

# Options of `njit`. Without reference counts, views of arrays cost nothing. All are given always:
# a function takes over those that are not from the one that first calls it.
NO_ALLOCATION: dict[str, Any] = {"_nrt": False} if ENABLED else {}
ALLOCATION: dict[str, Any] = {"_nrt": True} if ENABLED else {}
INLINED: dict[str, Any] = {"forceinline": True} if ENABLED else {}
OUTLINED: dict[str, Any] = {"forceinline": False} if ENABLED else {}
KERNEL: dict[str, Any] = {"no_cpython_wrapper": False, "no_cfunc_wrapper": False, **OUTLINED}
PART: dict[str, Any] = {}

if ENABLED:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
        """Code that waits to be linked into a kernel: there is nothing in it to call.

        Numba would optimise every part and make machine code of it, and do all that again in the
        kernel that it is linked into.
        """

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            return 0

        @property
        def codegen(self) -> Any:
            """Whoever asks wants to give the code its environment, which no part looks at."""
            return self

        def set_env(self, name: str, environment: Any) -> None:
            pass

    class _PartCompiler(Compiler):  # type: ignore[misc]
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.state.library = _PartLibrary(self.state.targetctx.codegen(), "part")

    PART = {"pipeline_class": _PartCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def entry_point(dispatcher: Any) -> Any:
    """The machine code of a kernel that is compiled for one signature.

    To look up which code suits the arguments takes as long as to hand them over.
    """
    if not ENABLED:
        return dispatcher
    return next(iter(dispatcher.overloads.values())).entry_point


def declare_attributes(kind: type, type_of: Any, read: Any) -> None:
    """Teach Numba the attributes of a type: type_of(kind, name), and `read`, which lowers them."""
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import infer_getattr, lower_getattr_generic

    @infer_getattr
    class Attributes(AttributeTemplate):  # type: ignore[misc]
        key = kind

        def generic_resolve(self, instance: Any, name: str) -> Any:
            return type_of(instance, name)

    lower_getattr_generic(kind)(read)
