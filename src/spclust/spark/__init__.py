"""SPC on Apache Spark: a model of a table, of an endless stream, or of each key.

Needs the extra `spark` on the driver and on every worker, and Java 17 or 21: see
docs/how-to/spark.md.
"""

try:
    import pyspark  # noqa: F401
except ImportError:
    raise ImportError(
        "spclust.spark needs PySpark: install it with pip install 'spclust[spark]'."
    ) from None

from spclust.spark.java import use_java
from spclust.spark.keyed_models import models_by_key, read_models_by_key
from spclust.spark.ml_pipeline import SPCEstimator, SPCModel
from spclust.spark.stream_fit import fit_stream
from spclust.spark.table_fit import fit
from spclust.spark.table_prediction import predict
from spclust.spark.worker_errors import BadRowsError

__all__ = [
    "BadRowsError",
    "SPCEstimator",
    "SPCModel",
    "fit",
    "fit_stream",
    "models_by_key",
    "predict",
    "read_models_by_key",
    "use_java",
]
