"""What Spark's Python processes import, and load: for the process that they are forked from.

Spark would start one for each stream and fork workers, dozens of them, from another that has
imported nothing: each would take seconds for it.
"""

from importlib import import_module

import numpy as np

from spclust import SPC

MODULES = (
    "pandas",
    "pyarrow.compute",
    "pyspark.daemon",
    "pyspark.sql.streaming.stateful_processor_api_client",
    "pyspark.sql.streaming.transform_with_state_driver_worker",
    "pyspark.worker",
    "spclust.spark",
)


def load():
    for name in MODULES:
        import_module(name)
    SPC(5).fit_predict(np.eye(20, 2))  # one process compiles, not all workers at once
