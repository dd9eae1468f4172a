"""Clusterers: SPC, batch references, the baselines of the package, and River's."""

from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, MiniBatchKMeans
from sklearn.neighbors import NearestNeighbors

from benchmarks.quality.contestant import WHOLE, Contestant, Setting
from spclust import SPC
from spclust.array_types import Floats, Integers
from spclust.experiments import baselines
from spclust.experiments.contestants import load_contestant
from spclust.parameters import resolved_structures

SMALLEST = 15  # rows of a cluster of HDBSCAN
MOST_TOLD = resolved_structures("auto", "auto")  # clusters of a default model
WINDOW = 1_000


class Estimator:
    """An estimator with `partial_fit` and `predict`."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def learn(self, X: Floats) -> None:
        """Continue the stream."""
        self.model.partial_fit(X)

    def predict(self, X: Floats) -> Integers:
        """Label each row."""
        return np.asarray(self.model.predict(X))

    def learnt_labels(self, X: Floats) -> Integers:
        """Labels of the rows that were learnt last: those that the model has given, if any."""
        given = getattr(self.model, "labels_", None)
        return self.predict(X) if given is None else np.asarray(given)


class Batch:
    """A clusterer that learns all rows at once and labels the same rows."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def learn(self, X: Floats) -> None:
        """Fit to these rows."""
        self.labels = np.asarray(self.model.fit_predict(X))

    def predict(self, X: Floats) -> Integers:
        """Labels of the rows that were learnt."""
        return self.labels


def _nearest(X: Floats, rows: Floats) -> Integers:
    """Index (n,) of the nearest of `rows` to each row of X (n, d)."""
    found: Integers = NearestNeighbors(n_neighbors=1).fit(rows).kneighbors(X)[1][:, 0]
    return found


class Window:
    """HDBSCAN of the last rows, fitted again for each batch; labels of nearest neighbours."""

    def __init__(self, setting: Setting) -> None:
        self.model = HDBSCAN(min_cluster_size=SMALLEST, copy=True)
        self.rows = np.empty((0, setting.X.shape[1]))

    def learn(self, X: Floats) -> None:
        """Move the window."""
        self.rows = np.concatenate([self.rows, X])[-WINDOW:]

    def predict(self, X: Floats) -> Integers:
        """Label of the nearest row of the window."""
        labels = np.asarray(self.model.fit_predict(self.rows))
        return labels[_nearest(X, self.rows)]


class River:
    """A clusterer of River.

    Rows of a batch are labelled as by `predict_one` before the batch is learnt: River computes the
    clusters once, and each row gets that of the nearest centre, as in `predict_one`.
    """

    def __init__(self, name: str) -> None:
        from river import cluster

        self.model = getattr(cluster, name)()

    def learn(self, X: Floats) -> None:
        """Learn the rows one by one."""
        for row in X.tolist():
            self.model.learn_one(dict(enumerate(row)))

    def predict(self, X: Floats) -> Integers:
        """Label of the nearest centre of a cluster."""
        first = self.model.predict_one(dict(enumerate(X[0].tolist())))
        centres = self.model.centers
        if not centres:
            return np.full(len(X), first)
        rows = [[centre[i] for i in range(X.shape[1])] for centre in centres.values()]
        return np.array(list(centres))[_nearest(X, np.array(rows))]


def _baseline(name: str, kind: type) -> Contestant:
    return Contestant(name, lambda setting: Estimator(kind()), WHOLE, standardised=True)


def _river(name: str) -> Contestant:
    return Contestant(f"River {name}", lambda setting: River(name), WHOLE, standardised=True)


def _spc(name: str, **given: Any) -> Contestant:
    return Contestant(name, lambda setting: Estimator(SPC(**given)), compiled=True)


def own(text: str, taken: tuple[str, ...] = ()) -> Contestant:
    """The clusterer that a text names, with its defaults and the parameters of the text.

    It gets the rows as they are.
    """
    found = load_contestant(text, taken)
    return Contestant(
        found.name,
        lambda setting: Estimator(found.make(**found.parameters({}, setting.k))),
        text,
    )


SPC_DEFAULT, SPC_HALF_LIFE = _spc("SPC()"), _spc("SPC(half_life=500)", half_life=500)
PEERS = (
    _baseline("CluStream", baselines.CluStream),
    _baseline("DenStream", baselines.DenStream),
    _baseline("D-Stream", baselines.DStream),
    _baseline("DBSTREAM", baselines.DBSTREAM),
    _baseline("StreamSoNG", baselines.StreamSoNG),
    _river("DBSTREAM"),
    _river("DenStream"),
)
MEANS = Contestant(
    "k-means told k",
    lambda setting: Estimator(MiniBatchKMeans(setting.k, random_state=setting.seed)),
    "MiniBatchKMeans by partial_fit, told the number of clusters",
)
WINDOWED = Contestant(
    "HDBSCAN of 1,000", Window, "of the last 1,000 rows, fitted again for each batch"
)
STATIC = (
    SPC_DEFAULT,
    Contestant(
        "SPC(n_clusters=k)",
        lambda setting: Estimator(SPC(n_clusters=min(setting.k, MOST_TOLD))),
        "told the number of clusters",
        compiled=True,
    ),
    Contestant(
        "HDBSCAN",
        lambda setting: Batch(HDBSCAN(min_cluster_size=SMALLEST, copy=True)),
        "sees all rows at once",
        in_batches=False,
    ),
    Contestant(
        "k-means told k",
        lambda setting: Batch(MiniBatchKMeans(setting.k, n_init=10, random_state=setting.seed)),
        "MiniBatchKMeans, sees all rows at once, told the number of clusters",
        in_batches=False,
    ),
    *PEERS,
)
STREAM = (SPC_HALF_LIFE, SPC_DEFAULT, WINDOWED, MEANS, *PEERS)
ROBUST = (SPC_HALF_LIFE, SPC_DEFAULT, WINDOWED, MEANS)  # those that do not standardise
