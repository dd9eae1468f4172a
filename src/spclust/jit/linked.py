"""How to compile what is only ever a part of other code: as far as needed, and no farther.

Numba optimises every function and makes machine code of it, then links it into those that call it,
where all that is done again: for a hundred small functions, a third of the time to compile.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _Part(JITCodeLibrary):
    """Code that waits to be linked: there is nothing in it to call."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Any:
        """Whoever asks wants to give the code its environment: see below."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: kernels, which have no objects of Python, never look at it."""


class _PartCompiler(Compiler):
    """Numba's compiler, for functions that compiled code calls but Python does not."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.library = _Part(self.state.targetctx.codegen(), "part")


_REPLACED = (
    "_optimize_final_module",
    "_finalize_final_module",
    "get_pointer_to_function",
    "codegen",
)

# Options for `njit`. A Numba of another make has none, and takes longer to compile.
AS_A_PART: dict[str, Any] = (
    {"pipeline_class": _PartCompiler}
    if all(hasattr(JITCodeLibrary, name) for name in _REPLACED)
    else {}
)
