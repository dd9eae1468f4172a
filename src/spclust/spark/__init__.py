"""SPC on Apache Spark: a model of a table of any size, of an endless stream, or of each key of one.

Needs the extra `spark` here and on every worker, and Java 17 or 21: see docs/spark.md.
"""

try:
    import pyspark  # noqa: F401
except ImportError:
    raise ImportError(
        "spclust.spark needs PySpark: install it with pip install 'spclust[spark]'."
    ) from None

from spclust.spark.errors import BadRowsError
from spclust.spark.fitting import fit
from spclust.spark.java import use_java
from spclust.spark.keyed import models_by_key, read_models_by_key
from spclust.spark.ml import SPCEstimator, SPCModel
from spclust.spark.scoring import predict
from spclust.spark.streaming import fit_stream

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
