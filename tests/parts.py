"""Parts of kernels, callable from Python."""

from numba import config, njit


def compiled(part):
    """A function that calls a part of kernels, which Python cannot call by itself."""
    if config.DISABLE_JIT:
        return part

    @njit
    def call(*arguments):
        return part(*arguments)

    return call
