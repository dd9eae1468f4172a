"""Classic clusterers of data streams to compare with, all behind one small protocol."""

from spclust.baselines.clustream import CluStream
from spclust.baselines.dbstream import DBSTREAM
from spclust.baselines.denstream import DenStream
from spclust.baselines.dstream import DStream
from spclust.baselines.streamsong import StreamSoNG

__all__ = ["DBSTREAM", "CluStream", "DStream", "DenStream", "StreamSoNG"]
