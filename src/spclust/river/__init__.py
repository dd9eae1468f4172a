"""SPC for River: a clusterer and an anomaly detector of dictionaries. Needs the extra `river`.

`learn_one` and `predict_one` take points as River has them, features by name. Features may appear,
vanish and be missing; the arithmetic is that of `spclust.SPC`, to the last bit where nothing is.
"""

try:
    import river  # noqa: F401
except ImportError as error:
    raise ImportError(
        "spclust.river needs River: install it with pip install 'spclust[river]'."
    ) from error

from spclust.river.anomaly import SPCAnomalyDetector
from spclust.river.clusterer import SPC, Cluster, MicroCluster

__all__ = ["SPC", "Cluster", "MicroCluster", "SPCAnomalyDetector"]
