"""Compilation by Numba: decorators, cache and the GIL."""
