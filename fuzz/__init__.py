"""Trials with hostile files, kills, interrupts and threads: each follows from a seed."""
