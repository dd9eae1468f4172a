"""SPC as an anomaly detector of River."""

from typing import Any

import numpy as np
from river.base import AnomalyDetector

from spclust.river.learner import Learner
from spclust.river.values import Name


class SPCAnomalyDetector(Learner, AnomalyDetector):
    """Anomalies of a data stream: points that are typical of no structure of SPC.

    The score of a point is its negative log typicality in the structure in which it is most
    typical: 0 in the middle of it, 0.7 where its typicality is 1/2, 3 where it is 0.05, without
    limit. SPC learns anomalies, too: each is a structure until room for another is needed. So that
    one does not make the next look normal, wrap the detector in a filter of River that protects it,
    such as `anomaly.QuantileFilter`.

    Features go by name, as in `spclust.river.SPC`; what is missing has no part in the score.

    Parameters
    ----------
    n_structures
        N, the most structures kept.
    m
        Fuzzifier, above 1. The smaller, the sharper the edge of a structure.
    gamma
        Decay of a structure's mean for each point that it takes in; 0 forgets nothing.
    beta
        Decay of a structure's weight for each point of the stream; 0 forgets nothing.
    w_min
        Structures lighter than this are pruned.
    nlt_max
        A pruned structure is merged into the one in which it is most typical if its negative log
        typicality there is below this, and forgotten otherwise.
    scale
        Standard deviation of a fresh structure in the unit of the data.
    covariance_type
        "auto", "full", "lowrank", "diag" or "spherical". "auto" is "full" if the first point has
        at most 128 features, and "lowrank" otherwise.
    max_rank
        Most directions that a structure of "lowrank" keeps; None is as many as there are.

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
        n_structures: int = 30,
        *,
        m: float = 1.5,
        gamma: float = 0.0,
        beta: float = 0.0,
        w_min: float = 0.01,
        nlt_max: float = 3.0,
        scale: float = 1.0,
        covariance_type: str = "auto",
        max_rank: int | None = None,
    ) -> None:
        super().__init__()
        self.n_structures = n_structures
        self.m = m
        self.gamma = gamma
        self.beta = beta
        self.w_min = w_min
        self.nlt_max = nlt_max
        self.scale = scale
        self.covariance_type = covariance_type
        self.max_rank = max_rank

    def score_one(self, x: dict[Name, Any]) -> float:
        """Negative log typicality of the point in its best structure: higher is more anomalous.

        0.0 if nothing was learnt yet, or nothing was observed that is known.
        """
        if self._known is None:
            return 0.0
        everything = np.zeros(len(self._known.stream.order()), dtype=np.int64)
        nlt = self._known.nlt(self._known.row(x), everything)
        return 0.0 if nlt is None else float(nlt[0])
