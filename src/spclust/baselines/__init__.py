"""Classic clusterers of data streams to compare with, all behind one small protocol."""

from spclust.baselines.denstream import DenStream
from spclust.baselines.dstream import DStream
from spclust.baselines.streamsong import StreamSoNG

__all__ = ["DStream", "DenStream", "StreamSoNG"]
