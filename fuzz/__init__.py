"""Trials with random input, interrupts and threads: each says what went wrong, if anything did."""
