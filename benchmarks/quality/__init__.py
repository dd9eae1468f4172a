"""Quality of the defaults beside other algorithms: `python -m benchmarks.quality`."""
