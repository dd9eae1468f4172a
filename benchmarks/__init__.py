"""Speed of SPC beside other stream clusterers; run it with `python -m benchmarks`."""
