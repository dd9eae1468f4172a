"""What Spark's Python processes import, and load: for the process that they are forked from.

Spark would start one for each stream and fork workers, dozens of them, from another that has
imported nothing: each would take seconds for it.
"""

import numpy as np
import pandas  # noqa: F401
import pyarrow.compute  # noqa: F401
import pyspark.daemon
import pyspark.sql.streaming.stateful_processor_api_client
import pyspark.sql.streaming.transform_with_state_driver_worker
import pyspark.worker  # noqa: F401

import spclust.spark  # noqa: F401
from spclust import SPC

SPC(5).fit_predict(np.eye(20, 2))  # one process compiles, not all workers at once
