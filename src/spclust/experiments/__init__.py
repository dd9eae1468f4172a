"""Research: baselines to compare with, and the reproduction of the paper."""
