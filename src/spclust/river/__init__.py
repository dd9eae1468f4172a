"""SPC for River: a clusterer and an anomaly detector of dictionaries. Needs the extra `river`.

Points are dictionaries: features go by name, and may appear, vanish and be missing. Where every
point has all features, the results are those of `spclust.SPC` to the last bit.
"""

try:
    import river  # noqa: F401
except ImportError as error:
    raise ImportError(
        "spclust.river needs River: install it with pip install 'spclust[river]'."
    ) from error

from spclust.river.anomaly_detector import SPCAnomalyDetector
from spclust.river.clusterer import SPC, Cluster, MicroCluster

__all__ = ["SPC", "Cluster", "MicroCluster", "SPCAnomalyDetector"]
