"""Five classic stream clusterers to compare SPC with, behind one protocol."""

from spclust.experiments.baselines.clustream import CluStream
from spclust.experiments.baselines.dbstream import DBSTREAM
from spclust.experiments.baselines.denstream import DenStream
from spclust.experiments.baselines.dstream import DStream
from spclust.experiments.baselines.streamsong import StreamSoNG

__all__ = ["DBSTREAM", "CluStream", "DStream", "DenStream", "StreamSoNG"]
