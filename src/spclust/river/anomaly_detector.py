"""SPC as an anomaly detector of River."""

from typing import Any

import numpy as np
from river.base import AnomalyDetector

from spclust.array_types import HalfLife
from spclust.parameters import DEFAULTS
from spclust.river.feature_values import Name
from spclust.river.river_model import RiverModel
from spclust.stream.access import reads


class SPCAnomalyDetector(RiverModel, AnomalyDetector):
    """Anomalies of a data stream: points that are typical of no structure of SPC.

    The score of a point is its negative log typicality in the structure in which it is most
    typical: 0 at the mean of that structure, 0.7 where its typicality is 1/2, 3 where it is 0.05,
    without an upper limit.

    SPC learns anomalies, too: each is a structure until its slot is needed. To prevent one
    anomaly from making the next one typical, wrap the detector in one of River's filters, such
    as `anomaly.QuantileFilter`.

    Features go by name, as in `spclust.river.SPC`; missing features do not enter the score.

    Parameters
    ----------
    n_structures, half_life, m, gamma, beta, w_min, nlt_max, scale, covariance_type, max_rank
        As in `spclust.river.SPC`.

    References
    ----------
    J. Dale, J. Keller, A. Galusha: Single-pass Possibilistic Clustering with Damped Window
    Footprints.

    Examples
    --------
    >>> import random
    >>> from spclust.river import SPCAnomalyDetector
    >>> rng = random.Random(1)
    >>> model = SPCAnomalyDetector()
    >>> for _ in range(300):
    ...     model.learn_one({"x": rng.gauss(0, 1), "y": rng.gauss(0, 1)})
    >>> model.score_one({"x": 0.0, "y": 0.0}) < 1 < 5 < model.score_one({"x": 30.0, "y": -30.0})
    True
    """

    def __init__(
        self,
        n_structures: int | str = DEFAULTS["n_structures"],
        *,
        half_life: HalfLife = DEFAULTS["half_life"],
        m: float = DEFAULTS["m"],
        gamma: float = DEFAULTS["gamma"],
        beta: float = DEFAULTS["beta"],
        w_min: float = DEFAULTS["w_min"],
        nlt_max: float = DEFAULTS["nlt_max"],
        scale: float | str = DEFAULTS["scale"],
        covariance_type: str = DEFAULTS["covariance_type"],
        max_rank: int | None = DEFAULTS["max_rank"],
    ) -> None:
        super().__init__(locals())

    @reads
    def score_one(self, x: dict[Name, Any]) -> float:
        """Negative log typicality of the point in its best structure: higher is more anomalous.

        0.0 before the first point was learnt, or if the point has no known feature.
        """
        if self._known is None:
            return 0.0
        one_group = np.zeros(len(self._known.stream.order()), dtype=np.int64)
        nlt = self._known.nlt(self._known.row(x), one_group)
        return 0.0 if nlt is None else float(nlt[0])
