"""Trials with random input: each runs one from a seed, and returns what happened."""
