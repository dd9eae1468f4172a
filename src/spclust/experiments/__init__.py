"""Research: baselines to compare SPC with, and the reproduction of the paper."""
