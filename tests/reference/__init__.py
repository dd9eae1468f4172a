"""Slow and obvious twins of the fast code, to be read beside the paper."""
