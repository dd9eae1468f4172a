"""Models that are saved, copied and changed in the middle of a stream."""

import copy
import functools
import pickle
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import clone

from spclust import SPC
from tests.golden_digests import answers, everything, state, summary
from tests.golden_streams.data import blobs, drifting, lines, probes, times, wandering
from tests.golden_streams.learning import in_mode
from tests.golden_streams.table import Streams
from tests.golden_streams.timed_and_tracked import TRACKED

STREAMS = Streams()


def saved(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.spc"
        model.save(path)
        return type(model).load(path)


THROUGH = {
    "file": saved,
    "bytes": lambda model: type(model).from_bytes(model.to_bytes()),
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def broken(rng, params, d, data=wandering, timed=False):
    """A stream that goes through all ways to store a model, after `fit` and after each part."""
    X = data(rng, 1000, d)
    t = times(rng, len(X)) if timed else None
    model = SPC(**in_mode(**params))
    for i, part in enumerate(np.array_split(np.arange(len(X)), 2 * len(THROUGH))):
        way = list(THROUGH)[i % len(THROUGH)]
        learn = model.fit if i == 0 else model.partial_fit
        learn(X[part], t=None if t is None else t[part])
        model = THROUGH[way](model)
        yield from state(model, f"{way} {i}: ")
        for k in part[:5]:
            model.learn_one(X[k] + 0.25, None if t is None else t[part[-1]])
    yield from everything(model, probes(rng, X))


for name, d, params, options in (
    ("full", 2, {"scale": 1.0, "eps": 0.9, "gamma": 0.01, "outlier_nlt": 2.0}, {}),
    ("full-auto", 7, {"beta": 0.01, "m": 1.4}, {}),
    ("lowrank", 40, {"covariance_type": "lowrank", "scale": 2.0, "m": 1.1}, {"data": lines}),
    ("rank2-auto", 10, {"covariance_type": "lowrank", "max_rank": 2, "beta": 0.02}, {}),
    ("diag-times", 3, {"covariance_type": "diag", "beta": 0.05}, {"timed": True}),
    ("spherical", 5, {"covariance_type": "spherical", "w_min": 0.1, "min_samples": 2}, {}),
    ("tracked", 2, {**TRACKED, "track_every": 20, "eps": 0.95}, {"data": drifting}),
):
    params = {"n_structures": 10, **params}
    STREAMS.note(f"stored-{name}")(functools.partial(broken, params=params, d=d, **options))


def changed(rng, d, **params):
    """Parameters that may change in the middle of a stream do."""
    X = wandering(rng, 1200, d)
    model = SPC(14, **in_mode(**params))
    for i, change in enumerate((
        {},
        {"gamma": 0.05, "beta": 0.02},
        {"w_min": 0.1, "nlt_max": 8.0},
        {"eps": 0.7, "min_samples": 3, "outlier_nlt": 1.5},
        {"eps": "auto", "gamma": 0.0, "beta": 0.0, "w_min": 0.0, "nlt_max": 0.0},
        {"n_jobs": 2, "track_every": 35, "outlier_nlt": None},
    )):  # fmt: skip
        model.set_params(**in_mode(**{"scale": model.scale, **change}))
        for x in X[200 * i : 200 * i + 20]:
            model.learn_one(x)
        model.partial_fit(X[200 * i + 20 : 200 * (i + 1)])
        yield from state(model, f"change {i}: ")
        yield from answers(model, X[::30], f"change {i}: ")
    yield "refused", _refused(model.set_params(m=1.9), X)
    yield from everything(clone(model).fit(X), X[::30])


def _refused(model, X):
    try:
        model.partial_fit(X)
    except ValueError as error:
        return str(error)
    return None


STREAMS.note("changed-full")(functools.partial(changed, d=2, scale=1.0, track_every=50, eps=0.95))
STREAMS.note("changed-auto")(functools.partial(changed, d=5, track_every=40))
STREAMS.note("changed-lowrank")(functools.partial(changed, d=7, covariance_type="lowrank"))


@STREAMS.note("changed-cuts")
def other_cuts(rng):
    """Other cuts of one model, and outliers, without learning."""
    X = np.concatenate([blobs(rng, 500, 2), rng.uniform(-60.0, 60.0, size=(40, 2))])
    model = SPC(30, scale=1.0, outlier_nlt=3.0).fit(X)
    for eps in (0.0, 0.3, 0.9, 0.999, 1.0, "auto"):
        for least in (1, 2, 4):
            model.set_params(eps=eps, min_samples=least)
            when = f"eps={eps}, min_samples={least}: "
            yield when + "labels", model.labels_
            yield when + "label", model.structures_.label
            yield when + "typicality", model.typicality(X[::20])
    for limit in (0.0, 0.5, 20.0, None):
        yield f"outlier_nlt={limit}: labels", model.set_params(outlier_nlt=limit).labels_
    yield "summary", summary(model)
