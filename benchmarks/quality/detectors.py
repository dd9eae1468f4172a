"""Outlier detectors: SPC, references in batches and windows, LODA, and River's HalfSpaceTrees."""

from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import NearestNeighbors

from benchmarks.quality.contestant import WHOLE, Contestant, Setting
from benchmarks.quality.loda import Loda
from spclust import SPCOutlierDetector
from spclust.array_types import Floats

WINDOW, NEIGHBOURS = 1_000, 10
FIRST = 250  # rows of HalfSpaceTrees' window, fewer in a small set


class Spc:
    """SPC's detector."""

    def __init__(self, **given: Any) -> None:
        self.model = SPCOutlierDetector(**given)

    def learn(self, X: Floats) -> None:
        """Continue the stream."""
        self.model.partial_fit(X)

    def score(self, X: Floats) -> Floats:
        """Outlier score of each row: higher is more outlying."""
        return -self.model.score_samples(X)


class Forest:
    """IsolationForest of all rows, those to be scored included."""

    def __init__(self, setting: Setting) -> None:
        self.model = IsolationForest(random_state=setting.seed).fit(setting.X)

    def learn(self, X: Floats) -> None:
        """Nothing: all rows are known."""

    def score(self, X: Floats) -> Floats:
        """The negative of scikit-learn's score."""
        return -np.asarray(self.model.score_samples(X))


class Window:
    """A detector with `fit` and `score_samples`, fitted again to the last rows for each batch."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.rows: Floats | None = None

    def learn(self, X: Floats) -> None:
        """Move the window."""
        known = X if self.rows is None else np.concatenate([self.rows, X])
        self.rows = known[-WINDOW:]

    def score(self, X: Floats) -> Floats:
        """The negative of the score by scikit-learn's convention."""
        return -np.asarray(self.model.fit(self.rows).score_samples(X))


class Neighbours:
    """Mean distance to the nearest neighbours."""

    def fit(self, X: Floats) -> "Neighbours":
        """Store the rows."""
        self.index = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(X))).fit(X)
        return self

    def score_samples(self, X: Floats) -> Floats:
        """The negative mean distance."""
        distances = self.index.kneighbors(X)[0]
        means: Floats = distances.mean(axis=1)
        return -means

    def get_params(self) -> dict[str, int]:
        """The number of neighbours."""
        return {"n_neighbors": NEIGHBOURS}


class HalfSpaceTrees:
    """River's HalfSpaceTrees behind its MinMaxScaler, as River's documentation has it.

    Its window is at most a quarter of the rows: there are no scores before it is full.
    """

    def __init__(self, setting: Setting) -> None:
        from river import anomaly, compose, preprocessing

        size = min(FIRST, len(setting.X) // 4)
        self.model = anomaly.HalfSpaceTrees(window_size=size, seed=setting.seed)
        self.scaled = compose.Pipeline(preprocessing.MinMaxScaler(), self.model)

    def learn(self, X: Floats) -> None:
        """Learn the rows one by one."""
        for row in X.tolist():
            self.scaled.learn_one(dict(enumerate(row)))

    def score(self, X: Floats) -> Floats:
        """Score the rows one by one."""
        return np.array([self.scaled.score_one(dict(enumerate(row))) for row in X.tolist()])


OUTLIER = (
    Contestant("SPCOutlierDetector()", lambda setting: Spc(), compiled=True),
    Contestant(
        "SPCOutlierDetector(), standardised",
        lambda setting: Spc(),
        WHOLE,
        standardised=True,
        compiled=True,
    ),
    Contestant("IsolationForest", Forest, "sees all rows at once, those to be scored included"),
    Contestant(
        "IsolationForest of 1,000",
        lambda setting: Window(IsolationForest(random_state=setting.seed)),
        "of the last 1,000 rows, fitted again for each batch",
    ),
    Contestant(
        "LODA of 1,000",
        lambda setting: Window(Loda(seed=setting.seed)),
        f"of the last 1,000 rows, fitted again for each batch; {WHOLE}",
        standardised=True,
    ),
    Contestant(
        "10 neighbours of 1,000",
        lambda setting: Window(Neighbours()),
        f"mean distance to 10 of the last 1,000 rows; {WHOLE}",
        standardised=True,
    ),
    Contestant(
        "River HalfSpaceTrees",
        HalfSpaceTrees,
        "scaled by the running range; window at most a quarter of the set",
    ),
)
