"""The process that Spark forks its Python workers from, with what each of them imports and loads.

That of Spark itself imports nothing: each worker, and there are dozens, would take seconds for it.
"""

import numpy as np
import pandas  # noqa: F401
import pyarrow.compute  # noqa: F401
import pyspark.sql.streaming.stateful_processor_api_client
import pyspark.worker  # noqa: F401
from pyspark import daemon

from spclust import SPC

if __name__ == "__main__":
    SPC(5).fit_predict(np.eye(20, 2))
    daemon.manager()
