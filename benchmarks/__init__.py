"""Speed of SPC compared with other stream clusterers; run it with `python -m benchmarks`."""
