"""Use of Numba's internals, for tested versions only: kernels compile in half of the time.

SPCLUST_NUMBA_INTERNALS=0 switches it off: a longer first call, and the same results up to rounding.
"""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core.pythonapi import PythonAPI

TESTED = ("0.61", "0.62", "0.63", "0.64", "0.65", "0.68")
ENABLED = (
    os.environ.get("SPCLUST_NUMBA_INTERNALS", "1") != "0"
    and ".".join(numba.__version__.split(".")[:2]) in TESTED
    and not numba.config.DISABLE_JIT
)

# Options of `njit`. Without reference counts, views of arrays cost nothing. All are given always:
# a function takes over those that are not from the one that first calls it.
NO_ALLOCATION: dict[str, Any] = {"_nrt": False} if ENABLED else {}
ALLOCATION: dict[str, Any] = {"_nrt": True} if ENABLED else {}
INLINED: dict[str, Any] = {"forceinline": True} if ENABLED else {}
OUTLINED: dict[str, Any] = {"forceinline": False} if ENABLED else {}
KERNEL: dict[str, Any] = {}
PART: dict[str, Any] = {}

if ENABLED:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.types.functions import BaseFunction
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import infer_getattr, lower_getattr_generic

    class _PartLibrary(JITCodeLibrary):
        """Code that is only linked into kernels, never called by itself.

        Numba would optimise every part and generate machine code for it, and do all that again in
        the kernel that it is linked into.
        """

        def _optimize_final_module(self) -> None: ...

        def _finalize_final_module(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            return 0

        @property
        def codegen(self) -> Any:
            """Numba needs it to set the environment of the code, which no part reads."""
            return self

        def set_env(self, name: str, environment: Any) -> None: ...

    class _PartCompiler(Compiler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.state.library = _PartLibrary(self.state.targetctx.codegen(), "part")

    @contextmanager
    def _lookups_remembered() -> Iterator[None]:
        """Resolve what an operation returns for some types only once, and collect garbage later.

        For each `x + y` Numba tries all that `+` may mean, up to sets and strings.
        """
        resolve, found, collecting = BaseFunction.get_call_type, {}, gc.isenabled()

        def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
            key = self, tuple(args), tuple(sorted(kws.items()))
            if key not in found:
                found[key] = resolve(self, context, args, kws)
            return found[key]

        gc.disable()
        BaseFunction.get_call_type = get_call_type
        try:
            yield
        finally:
            BaseFunction.get_call_type = resolve
            if collecting:
                gc.enable()

    class _KernelCompiler(Compiler):
        def compile_extra(self, func: Any) -> Any:
            with _lookups_remembered():
                return super().compile_extra(func)

    KERNEL = {"pipeline_class": _KernelCompiler, "no_cfunc_wrapper": True, **OUTLINED}
    KERNEL |= {"no_cpython_wrapper": False}
    PART = {"pipeline_class": _PartCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@contextmanager
def arrays_without_python() -> Iterator[None]:
    """Compile kernels whose arrays become Python objects without any Python code.

    Numba calls a function of Python for the class of an array, where Python handles signals. If a
    handler raises, as that of Ctrl-C does, the kernel ends with a SystemError, or with a crash.
    """
    serialize, unserialize = PythonAPI.serialize_object, PythonAPI.unserialize

    def serialize_object(self: Any, what: Any) -> Any:
        return what if what is np.ndarray else serialize(self, what)

    def class_of_arrays(self: Any, what: Any) -> Any:
        if what is not np.ndarray:
            return unserialize(self, what)
        kind = ir.FunctionType(self.pyobj, [self.cstring])
        module = self._get_function(kind, name="PyImport_AddModule")
        name = self.context.insert_const_string(self.module, "numpy")
        return self.object_getattr_string(self.builder.call(module, [name]), "ndarray")

    PythonAPI.serialize_object, PythonAPI.unserialize = serialize_object, class_of_arrays
    try:
        yield
    finally:
        PythonAPI.serialize_object, PythonAPI.unserialize = serialize, unserialize


def entry_point(kernel: Any) -> Any:
    """The machine code of a kernel that is compiled for one signature.

    Finding the code that suits the arguments takes as long as passing them.
    """
    return next(iter(kernel.overloads.values())).entry_point if ENABLED else kernel


def declare_attributes(kind: type, type_of: Callable[..., Any], read: Any) -> bool:
    """Declare the attributes of a type to Numba: type_of(instance, name), and `read`, which lowers.

    False if that has to be done by its public interface, which compiles a function for each.
    """
    if ENABLED:

        class Attributes(AttributeTemplate):
            key = kind

            def generic_resolve(self, instance: Any, name: str) -> Any:
                return type_of(instance, name)

        infer_getattr(Attributes)
        lower_getattr_generic(kind)(read)
    return ENABLED
