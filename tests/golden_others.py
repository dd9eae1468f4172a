"""Streams of several models, of detectors of outliers, of River; and the formulas alone."""

import copy
import functools
import pickle

import numpy as np
import pandas as pd

import spclust.river
from spclust import (
    SPC,
    SPCOutlierDetector,
    covariance_union,
    decay_from_half_life,
    merge_all,
    typicality,
)
from tests.golden_digests import everything, state
from tests.golden_streams.data import blobs, probes, times, wandering
from tests.golden_streams.learning import in_batches, in_mode
from tests.golden_streams.table import Streams

OTHERS = Streams()


# Models that are merged


def merged(rng, d, timed=False, shards=4, n=1200, **params):
    """Parts of a stream, merged as concurrent ones and as later ones, which then learn on."""
    X = wandering(rng, n, d)
    t = times(rng, n) if timed else None
    parts = np.array_split(np.arange(n - 200), shards)
    models = [SPC(**in_mode(**params)).fit(X[p], t=None if t is None else t[p]) for p in parts]
    for when in ("concurrent", "later"):
        whole = merge_all(models, when=when)
        yield from state(whole, f"{when}: ")
        whole.partial_fit(X[-200:], t=None if t is None else t[-200:])
        yield from state(whole, f"{when}, continued: ")
    yield from state(models[0] + models[1], "sum: ")
    yield from state(copy.deepcopy(models[0]).merge(models[-1], when="later"), "merge: ")
    yield from state(models[0], "untouched: ")
    whole = type(whole).from_bytes((whole + models[2]).to_bytes())
    yield from everything(whole, probes(rng, X))


for name, options in {
    "full": {"d": 2, "scale": 1.0, "eps": 0.95, "gamma": 0.01, "beta": 0.01},
    "full-auto": {"d": 5, "n_structures": 20},
    "fixed-7": {"d": 7, "scale": 3.0, "m": 1.1, "n_structures": 15},
    "lowrank-auto": {"d": 10, "covariance_type": "lowrank", "n_structures": 12, "beta": 0.02},
    "rank3": {"d": 17, "covariance_type": "lowrank", "max_rank": 3, "scale": 2.0, "gamma": 0.1},
    "diag-times": {"d": 3, "covariance_type": "diag", "timed": True, "beta": 0.02, "gamma": 0.01},
    "spherical": {"d": 2, "covariance_type": "spherical", "n_structures": 8, "w_min": 0.05},
    "many": {"d": 2, "shards": 11, "n": 2500, "n_structures": 100, "scale": 0.5, "eps": 0.9},
}.items():
    OTHERS.note(f"merged-{name}")(functools.partial(merged, **options))


# Detectors of outliers


def with_outliers(rng, n, d):
    """Clusters, and one point in thirty that is far from them."""
    X = blobs(rng, n, d)
    far = rng.random(n) < 1.0 / 30.0
    X[far] = rng.uniform(-80.0, 80.0, size=(int(far.sum()), d))
    return X


def verdicts(detector, rows, when=""):
    yield when + "offset", detector.offset_
    yield when + "score_samples", detector.score_samples(rows)
    yield when + "decision_function", detector.decision_function(rows)
    yield when + "predict", detector.predict(rows)


def outliers(rng, d, timed=False, **params):
    """A detector that is fitted, and one that learns batches, is copied and learns on."""
    X = with_outliers(rng, 900, d)
    t, rows = times(rng, len(X)) if timed else None, probes(rng, X)
    yield from verdicts(SPCOutlierDetector(**in_mode(**params)).fit(X, t=t), rows, "fit: ")
    detector = SPCOutlierDetector(**in_mode(**params))
    for i, _ in enumerate(in_batches(rng, detector, X[:600], None if t is None else t[:600])):
        yield from verdicts(detector, rows, f"moment {i}: ")
    detector = pickle.loads(pickle.dumps(copy.deepcopy(detector)))
    detector.partial_fit(X[600:], t=None if t is None else t[600:])
    yield from verdicts(detector, rows, "end: ")
    yield from everything(detector.model_, rows)


for name, options in {
    "auto": {"d": 2, "n_structures": 25},
    "share": {"d": 3, "contamination": 0.05, "beta": 0.01, "n_jobs": 2},
    "diag-scale-auto": {"d": 5, "covariance_type": "diag", "scale": "auto", "contamination": 0.1},
    "lowrank-times": {
        "d": 7, "covariance_type": "lowrank", "timed": True, "contamination": 0.03, "beta": 0.01},
    "logs": {"d": 1, "m": 1.1, "n_structures": 10, "nlt_max": 5.0, "w_min": 0.03},
}.items():  # fmt: skip
    OTHERS.note(f"outliers-{name}")(functools.partial(outliers, **options))


# River

NAMES = ("a", "b", "c", "d", "e")


def points_of(rng, X, come_and_go):
    """Rows as dictionaries; if features come and go, many are missing, in one way or another."""
    points = []
    for i, row in enumerate(X.tolist()):
        point = dict(zip(NAMES, row, strict=False))
        if come_and_go:
            late, early = i < len(X) // 4, i > len(X) // 2
            for name in list(point):
                luck = rng.random()
                if luck < 0.08 or (name == "c" and late) or (name == "b" and early):
                    del point[name]
                elif luck < 0.12:
                    point[name] = None if luck < 0.1 else float("nan")
            if i % 40 == 5:
                point["new"] = bool(i % 80 == 5)
            if i % 25 == 0:
                point = dict(reversed(point.items()))
        points.append(point)
    return points


def river_state(model, points, when=""):
    yield when + "micro clusters", model.micro_clusters
    yield when + "clusters", model.clusters
    yield when + "centers", model.centers
    yield when + "predict", [model.predict_one(point) for point in points]
    yield when + "typicality", [model.typicality_one(point) for point in points]


def in_river(rng, d, come_and_go=True, timed=False, **params):
    """Points one by one, and frames; a model that is copied and changed on the way."""
    X = wandering(rng, 700, d)
    points, t = points_of(rng, X, come_and_go), times(rng, len(X)).tolist()
    model = spclust.river.SPC(**in_mode(**params))
    for i, point in enumerate(points[:500]):
        model.learn_one(point, t[i] if timed else None)
        if i in (0, 150, 350):
            yield from river_state(model, points[:350:10], f"point {i}: ")
        if i == 200:
            model = pickle.loads(pickle.dumps(model))
        if i == 300:
            model = copy.deepcopy(model)
            if model.scale == "auto":
                model.half_life = 23.0
            else:
                model.beta, model.eps = 0.03, 0.8
    frame = pd.DataFrame(points[500:]).astype(float)
    model.learn_many(frame, t=t[500:] if timed else None)
    yield from river_state(model, [*points[::10], {"a": 1.0}, {"b": -3.0, "x": 2.0}, {}])
    yield "predict many", model.predict_many(frame.iloc[::-1]).to_numpy()
    micro = model.micro_clusters.values()
    yield (
        "summary",
        {
            "points": sum(one.count for one in micro),
            "structures": len(micro),
            "clusters": model.n_clusters,
        },
    )


for name, options in {
    "full": {"d": 4, "scale": 2.0, "gamma": 0.01},
    "full-whole": {"d": 2, "come_and_go": False, "scale": 1.0, "m": 1.4},
    "full-times": {"d": 3, "timed": True, "beta": 0.01, "scale": 2.0, "w_min": 0.05},
    "lowrank": {"d": 5, "covariance_type": "lowrank", "max_rank": 2, "scale": 2.0},
    "diag": {"d": 4, "covariance_type": "diag", "m": 1.1, "min_samples": 2},
    "spherical": {"d": 3, "covariance_type": "spherical", "m": 3.3, "n_structures": 12},
}.items():
    OTHERS.note(f"river-{name}")(functools.partial(in_river, **options))


def river_anomalies(rng, d, come_and_go, **params):
    """Scores, each just before its point is learnt."""
    points = points_of(rng, with_outliers(rng, 600, d), come_and_go)
    detector, scores = spclust.river.SPCAnomalyDetector(**in_mode(**params)), []
    for i, point in enumerate(points):
        scores.append(detector.score_one(point))
        detector.learn_one(point)
        if i == 300:
            detector = copy.deepcopy(detector)
    yield "scores", scores
    yield "again", [detector.score_one(point) for point in points]
    yield "summary", {"points": len(points), "highest": round(max(scores), 3)}


for name, options in {
    "full": {"d": 3, "come_and_go": True, "beta": 0.01},
    "diag": {"d": 5, "come_and_go": True, "covariance_type": "diag", "gamma": 0.02, "m": 1.1},
    "whole": {"d": 2, "come_and_go": False, "n_structures": 10, "w_min": 0.05},
}.items():
    OTHERS.note(f"river-anomalies-{name}")(functools.partial(river_anomalies, **options))


# Formulas


@OTHERS.note("formulas")
def formulas(rng):
    """Typicality, the union of covariances, and rates of decay."""
    for d in (1, 2, 3, 5, 10, 17):
        first, second = _covariance(rng, d, 1.0), _covariance(rng, d, 1e4)
        mu1, mu2 = rng.normal(size=(2, d)) * 3.0
        for share in (0.5, 0.01):
            mu = mu1 + share * (mu2 - mu1)
            union = covariance_union(first, mu1, second, mu2, mu)
            yield f"{d}: union, {share}", union
            yield f"{d}: the other way, {share}", covariance_union(second, mu2, first, mu1, mu)
        yield f"{d}: of a point", covariance_union(first, mu1, np.eye(d), mu2, mu)
        points = mu1 + rng.normal(size=(40, d)) * 10.0 ** rng.uniform(-3.0, 3.0, size=(40, 1))
        for m in (1.1, 1.4, 1.5, 2.0, 3.3):
            yield f"{d}: typicality, {m}", typicality(points, mu1, first, m)
            yield f"{d}: typicality of one, {m}", typicality(points[0], mu, union, m)
    yield "decay", [decay_from_half_life(points) for points in (0.1, 1, 7, 100.0, np.inf)]


def _covariance(rng, d, ratio):
    """A covariance whose eigenvalues have about such a ratio."""
    roots = rng.normal(size=(2 * d, d)) * np.geomspace(1.0, ratio, d) ** 0.5
    return np.sum(roots[:, :, np.newaxis] * roots[:, np.newaxis], axis=0)
