"""To call the machine code of a kernel without letting go of Python's lock.

All kernels let other threads of Python run meanwhile, which is right for thousands of rows. For one
point it would be wrong: a busy thread that gets the lock keeps it for milliseconds, thousands of
times as long as the point takes. So a small kernel that keeps it calls the other one.
"""

from typing import Any

from numba import types
from numba.extending import intrinsic

from spclust.arrays import Floats
from spclust.jit.decorators import holding


@intrinsic
def learn_there(context: Any, pool: Any, X: Any, scratch: Any, rows: Any, address: Any) -> Any:
    """Call the machine code at an address, that of a kernel which learns rows."""
    signature = types.intp(pool, X, scratch, rows, address)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        *handed, address = args
        given, returned = signature.args[:-1], signature.return_type
        convention = context.call_conv
        pointer = convention.get_function_type(returned, given).as_pointer()
        there = builder.inttoptr(address, pointer)
        return convention.call_function(builder, there, returned, given, handed)[1]

    return signature, build


@holding
def learn_point(pool: Floats, X: Floats, scratch: Floats, address: int) -> int:
    """Learn the one row of X by the kernel at an address."""
    learnt: int = learn_there(pool, X, scratch, 1, address)  # type: ignore[call-arg]
    return learnt
