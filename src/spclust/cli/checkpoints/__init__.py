"""Checkpoints of runs: their file, and its lock."""
