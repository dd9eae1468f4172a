"""Streams that one SPC learns: forms of covariances, parameters, odd data, ways to learn.

A stream is a function of a random generator that yields (name of a quantity, its value).
"""

import copy
import functools
import pickle
import tempfile
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

from spclust import SPC, datasets
from tests.golden_digests import answers, everything, state, summary

LEARNING = {}

OF_PAPER = ("gamma", "beta", "w_min", "nlt_max", "eps", "min_samples", "max_rank")


def in_mode(scale="auto", **params):
    """Parameters of the mode that the scale means: without a number a rate is a half-life."""
    if scale != "auto":
        return {"scale": scale, **params}
    rates = [params[name] for name in ("beta", "gamma") if name in params]
    kept = {name: value for name, value in params.items() if name not in OF_PAPER}
    if rates:
        kept["half_life"] = round(np.log(2.0) / rates[0], 3) if rates[0] else None
    if kept.get("covariance_type") == "lowrank":
        kept["covariance_type"] = "diag"
    return kept


def stream(name):
    """Note a stream by its name."""

    def note(function):
        assert name not in LEARNING
        LEARNING[name] = function
        return function

    return note


# Data


def blobs(rng, n, d, clusters=4):
    """Round clusters of standard deviation 1."""
    centres = rng.uniform(-10.0, 10.0, size=(clusters, d))
    return centres[rng.integers(clusters, size=n)] + rng.normal(size=(n, d))


def lines(rng, n, d, clusters=3):
    """Clusters that are long and thin, in any direction."""
    y = rng.integers(clusters, size=n)
    along = rng.normal(size=(clusters, d)) * 4.0
    centres = rng.uniform(-20.0, 20.0, size=(clusters, d))
    return centres[y] + along[y] * rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, d))


def wandering(rng, n, d):
    """Clusters that move all the time, some of which end early."""
    X = blobs(rng, n, d, clusters=3) + np.linspace(0.0, 30.0, n)[:, np.newaxis]
    X[n // 2 :, 0] -= 40.0
    return X


def grid(rng, n, d):
    """Whole numbers: copies of a few points, and distances that are equal to the last bit."""
    return rng.integers(-3, 4, size=(n, d)) * 2.0


def heavy(rng, n, d):
    """Points of which a few are extremely far away."""
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(0.0, 10.0, size=(n, 1))


def uneven(rng, n, d):
    """Features whose units differ by twelve orders of magnitude."""
    return lines(rng, n, d) * np.logspace(-6.0, 6.0, d)


def constant(rng, n, d):
    """Features that never change, that change late, and that change once."""
    X = blobs(rng, n, d)
    X[:, 0] = 7.25
    X[: n // 3, 1] = -1.0
    X[:, 2] = 0.0
    X[n // 2, 2] = 1e3
    return X


def drifting(rng, n, d):
    """Clusters that are born, die, merge, split and move."""
    return datasets.make_drifting(n, n_features=d, n_events=4, seed=int(rng.integers(1000)))[0]


def times(rng, n):
    """Irregular time stamps: many are equal, some come after a long time."""
    gaps = rng.exponential(size=n) * (rng.random(n) < 0.8)
    gaps[rng.random(n) < 0.01] = 60.0
    return 1.7e9 + np.cumsum(np.round(gaps, 3))


def probes(rng, X, n=150):
    """Rows to ask about: learnt ones, points near them, and points far from all."""
    some = X[rng.integers(len(X), size=n)]
    width = np.abs(X).max(axis=0) * rng.choice([0.0, 0.01, 1.0, 100.0], size=(n, 1))
    return some + width * rng.uniform(-1.0, 1.0, size=some.shape)


# Ways to learn: each yields at some moments, when it has learnt a part


def fitted(rng, model, X, t=None):
    """All at once."""
    model.fit(X, t=t)
    yield from ()


def in_batches(rng, model, X, t=None):
    """Batches of any size, some of one row."""
    ends = np.unique(rng.integers(1, len(X), size=12)).tolist()
    ends = [*ends, ends[-1] + 1, len(X)] if ends[-1] + 1 < len(X) else [*ends, len(X)]
    for i, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        model.partial_fit(X[start:end], t=None if t is None else t[start:end])
        if i % 5 == 2:
            yield i


def one_by_one(rng, model, X, t=None):
    """Single points."""
    for i, x in enumerate(X):
        model.learn_one(x, None if t is None else t[i])
        if i == len(X) // 3:
            yield i


def mixed(rng, model, X, t=None):
    """Single points, as arrays and as lists, and batches in turn."""
    at = 0
    while at < len(X):
        end = min(len(X), at + int(rng.integers(1, len(X) // 8)))
        if rng.random() < 0.5:
            model.partial_fit(X[at:end], t=None if t is None else t[at:end])
        else:
            for i in range(at, end):
                x = X[i].tolist() if i % 50 == 0 else X[i]
                model.learn_one(x, None if t is None else t[i])
        if at < len(X) // 2 <= end:
            yield end
        at = end


def learnt(rng, model, X, how=fitted, t=None):
    """Learn rows, and ask everything in the end; the state also on the way."""
    for moment, _ in enumerate(how(rng, model, X, t)):
        yield from state(model, f"moment {moment}: ")
    yield from everything(model, probes(rng, X))


def plain_stream(rng, data, n, d, how, params, timed=False):
    """A stream of one model that is learnt in one way."""
    X = data(rng, n, d)
    yield from learnt(rng, SPC(**in_mode(**params)), X, how, times(rng, n) if timed else None)


def note_plain(name, data, n, d, how=fitted, timed=False, **params):
    """Note a `plain_stream`."""
    note = functools.partial(plain_stream, data=data, n=n, d=d, how=how, params=params, timed=timed)
    stream(name)(note)


# Every form of covariances with every kind of parameters

COVARIANCES = {
    "full": {"covariance_type": "full"},
    "lowrank": {"covariance_type": "lowrank"},
    "rank3": {"covariance_type": "lowrank", "max_rank": 3},
    "diag": {"covariance_type": "diag"},
    "spherical": {"covariance_type": "spherical"},
}
AUTO = {"scale": "auto", "eps": "auto"}
for form, covariance in COVARIANCES.items():
    for name, *recipe, params in (
        ("plain", blobs, 1500, 2, fitted, {"n_structures": 20, "scale": 1.0, "eps": 0.95}),
        ("logs", lines, 900, 3, in_batches, {
            "n_structures": 17, "m": 1.1, "gamma": 0.01, "scale": 2.0, "eps": 0.9}),
        ("fading", wandering, 1500, 5, in_batches, {
            "n_structures": 24, "m": 1.4, "gamma": 0.02, "beta": 0.01, "scale": "auto",
            "eps": 0.95}),
        ("pruning", wandering, 1200, 7, mixed, {
            "n_structures": 12, "m": 2.0, "beta": 0.05, "w_min": 0.08, "nlt_max": 2.0,
            "scale": 3.0, "eps": 0.8, "min_samples": 2}),
        ("automatic", lines, 1500, 10, one_by_one, {"n_structures": 9, **AUTO}),
        ("many", lines, 1000, 2, mixed, {
            "n_structures": 120, "m": 3.3, "gamma": 0.05, "scale": 0.3, "eps": "auto"}),
        ("wide", lines, 500, 40, fitted, {
            "n_structures": 16, "m": 1.3, "beta": 0.004, "w_min": 0.02, **AUTO}),
    ):  # fmt: skip
        note_plain(f"{name}-{form}", *recipe, **params, **covariance)

# Numbers of features and of structures

note_plain("features-1-full", lines, 900, 1, in_batches, n_structures=14, scale=0.5, eps=0.9)
note_plain("features-1-auto", blobs, 2500, 1, mixed, n_structures=8, beta=0.002)
note_plain("features-1-diag", grid, 600, 1, mixed, covariance_type="diag", n_structures=5, m=1.1)
note_plain("features-17", lines, 600, 17, mixed, n_structures=30, m=1.4, scale=2.0, gamma=0.05)
note_plain("features-17-auto", blobs, 900, 17, in_batches, n_structures=11, beta=0.01)
note_plain("features-200-auto", lines, 300, 200, fitted, n_structures=20)
note_plain(
    "features-200-rank", blobs, 300, 200, in_batches, scale=2.0, m=1.1, n_structures=15,
    covariance_type="lowrank", max_rank=10, eps=0.99, beta=0.02, w_min=0.05,
)  # fmt: skip
for n in (1, 2, 5):
    note_plain(f"structures-{n}", wandering, 700, 3, mixed, n_structures=n, beta=0.02, w_min=0.1)
note_plain("structures-more-than-points", blobs, 60, 2, in_batches, n_structures=100)

# Odd data

for name, data, d, params in (
    ("grid-full", grid, 2, {"scale": 1.0, "eps": 0.5, "min_samples": 3}),
    ("grid-diag", grid, 3, {"covariance_type": "diag", "gamma": 0.1}),
    ("grid-auto", grid, 5, {"n_structures": 40}),
    ("heavy-full", heavy, 2, {"scale": 1.0, "w_min": 0.0, "n_structures": 9}),
    ("heavy-full-3", heavy, 3, {"scale": 1.0, "w_min": 0.0, "n_structures": 7}),
    ("heavy-auto", heavy, 7, {"covariance_type": "lowrank", "beta": 0.01}),
    ("uneven-auto", uneven, 5, {"n_structures": 25}),
    ("uneven-fixed", uneven, 10, {"n_structures": 10, "scale": 10.0, "eps": 0.95}),
    ("constant-auto", constant, 5, {"n_structures": 15, "beta": 0.01}),
    ("constant-diag", constant, 3, {"covariance_type": "diag", "scale": 1.0, "eps": 0.9}),
    ("drifting", drifting, 2, {"beta": 0.02, "gamma": 0.1, "nlt_max": 0.001, "scale": 1.5}),
    ("drifting-auto", drifting, 7, {"beta": 0.02, "gamma": 0.1, "n_structures": 40}),
):
    note_plain(f"data-{name}", data, 1000, d, in_batches, **params)


def moved_and_scaled(rng, shift, factor, params):
    """Points far from the origin, or in tiny or huge units."""
    X = lines(rng, 800, 3) * factor + shift
    yield from learnt(rng, SPC(**in_mode(n_structures=18, beta=0.01, **params)), X, mixed)


for name, shift, factor, params in (
    ("far-fixed", 1e8, 1.0, {"scale": 1.0, "eps": 0.95}),
    ("far-auto", -1e8, 1.0, {"covariance_type": "diag"}),
    ("tiny-fixed", 0.0, 1e-130, {"scale": 1e-130, "eps": 0.9}),
    ("tiny-auto", 1e-9, 1e-12, {}),
    ("huge-fixed", 0.0, 1e130, {"scale": 1e130, "eps": 0.9, "covariance_type": "lowrank"}),
    ("huge-auto", 1e20, 1e12, {"covariance_type": "spherical"}),
):
    stream(f"data-{name}")(
        functools.partial(moved_and_scaled, shift=shift, factor=factor, params=params)
    )


@stream("data-equal")
def all_equal(rng):
    """One point again and again, and then another one."""
    X = np.full((400, 2), 3.5)
    X[300:] = -1.0
    model = SPC(n_structures=6, half_life=14.0).fit(X[:300])
    yield from state(model, "before: ")
    yield from learnt(rng, model, X[300:], in_batches)


@stream("data-published-shapes")
def published_shapes(rng):
    """The generated datasets, and what SPC makes of them."""
    sets = {
        "sine": datasets.make_sine(900, seed=3),
        "overlapping": datasets.make_overlapping(600, seed=3),
        "circles": datasets.make_circles_touching(500, seed=3),
        "highdim": datasets.make_highdim(320, n_features=40, n_clusters=8, seed=3),
        "aggregation": datasets.make_aggregation_like(seed=3),
    }
    model = SPC()
    for name, (X, y) in sets.items():
        yield f"{name}: X", X
        yield f"{name}: y", y
        yield from state(model.fit(X), f"{name}: ")
    X, y, events = datasets.make_drifting(800, n_features=3, n_events=6, seed=3)
    yield from (("drifting: X", X), ("drifting: y", y), ("drifting: truth", events))
    yield from everything(model.fit(X), X[::5])


@stream("data-paper-sine")
def paper_sine(rng):
    """The paper's parameters for its moving waves."""
    X, _ = datasets.make_sine(2400, seed=5)
    model = SPC(30, m=1.4, gamma=0.1, beta=0.05, eps=0.95, scale=1.0)
    yield from learnt(rng, model, X, in_batches)


# Time stamps

for name, d, how, params in (
    ("full", 2, in_batches, {"scale": 1.0, "gamma": 0.01, "beta": 0.02, "w_min": 0.05}),
    ("full-7", 7, mixed, {"scale": 2.0, "m": 1.1, "beta": 0.01, "eps": 0.9}),
    ("lowrank-auto", 5, in_batches, {"covariance_type": "lowrank", "gamma": 0.03}),
    ("diag-auto", 3, one_by_one, {"covariance_type": "diag", "beta": 0.05, "gamma": 0.01}),
    ("spherical", 10, fitted, {"covariance_type": "spherical", "gamma": 0.2, "beta": 0.1}),
):
    note_plain(f"times-{name}", wandering, 900, d, how, timed=True, n_structures=15, **params)


@stream("times-dates")
def dates(rng):
    """Dates of NumPy, and one time stamp for a whole batch."""
    X = wandering(rng, 600, 2)
    t = np.datetime64("2024-02-29T12:00", "ms") + np.sort(rng.integers(9**8, size=500))
    model = SPC(12, half_life=timedelta(hours=1)).fit(X[:500], t=t)
    model.partial_fit(X[500:], t=t[-1] + np.timedelta64(1, "h"))
    yield from everything(model, probes(rng, X))


# Clusters that are tracked

TRACKED = {"n_structures": 40, "scale": 1.5, "beta": 0.02, "gamma": 0.1, "nlt_max": 0.001}
note_plain("tracked-batches", drifting, 3000, 2, in_batches, eps=0.95, track_every=25, **TRACKED)
note_plain("tracked-mixed", drifting, 2400, 3, mixed, track_every=17, **TRACKED)
note_plain(
    "tracked-auto-diag", drifting, 2400, 2, in_batches, track_every=30, beta=0.02,
    covariance_type="diag", n_structures=25,
)  # fmt: skip
note_plain("tracked-times", drifting, 1800, 2, mixed, timed=True, track_every=20, **TRACKED)


@stream("tracked-watch")
def watched(rng):
    """Events as they are noticed."""
    X = drifting(rng, 3000, 2)
    model = SPC(eps=0.95, track_every=10, **TRACKED)
    yield "watched", list(model.watch(np.array_split(X, 20)))
    yield from everything(model, probes(rng, X))


# Models that are saved, copied and changed in the middle of a stream


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
    stream(f"stored-{name}")(functools.partial(broken, params=params, d=d, **options))


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


stream("changed-full")(functools.partial(changed, d=2, scale=1.0, track_every=50, eps=0.95))
stream("changed-auto")(functools.partial(changed, d=5, track_every=40))
stream("changed-lowrank")(functools.partial(changed, d=7, covariance_type="lowrank"))


@stream("changed-cuts")
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


# Rows in other forms, and threads


@stream("rows-forms")
def forms_of_rows(rng):
    """The same rows in single precision, in other orders of memory, as lists and as a frame."""
    X = lines(rng, 700, 5)
    wide = np.repeat(X, 2, axis=1)
    names = ["first", "größe", "c", "d", "e"]
    forms = {
        "float32": X.astype(np.float32),
        "fortran": np.asfortranarray(X),
        "strided": wide[:, ::2],
        "reversed": X[::-1],
        "integers": np.rint(X).astype(np.int16),
        "list": X.tolist(),
        "frame": pd.DataFrame(X, columns=names),
    }
    for name, rows in forms.items():
        for scale in ("auto", 1.0):
            model = SPC(**in_mode(n_structures=15, scale=scale, beta=0.01, w_min=0.05)).fit(
                rows[:400]
            )
            model.partial_fit(rows[400:])
            yield from state(model, f"{name}, scale={scale}: ")
            yield f"{name}, scale={scale}: score_samples", model.score_samples(rows[:100])
    for what in ("clusters", "structures"):
        table = model.describe(what, as_="pandas")
        yield f"describe {what} columns", list(table.columns)
        yield f"describe {what}", table.to_numpy(dtype=float)
    yield "names", model.feature_names_in_
    yield "summary", summary(model)


@stream("rows-float32-points")
def float32_points(rng):
    """Single points in single precision, or from the middle of an array."""
    X = lines(rng, 500, 3).astype(np.float32)
    wide = np.repeat(X.astype(np.float64), 3, axis=1)
    for covariance in ("full", "diag"):
        model = SPC(10, scale=2.0, covariance_type=covariance, gamma=0.01)
        for i, x in enumerate(X):
            model.learn_one(x if i % 3 else wide[i, ::3])
        yield from state(model, f"{covariance}: ")
    yield "summary", summary(model)


@stream("rows-threads")
def with_threads(rng):
    """Two threads read what one reads; more rows than are read at once."""
    X = lines(rng, 2500, 5)
    for params in ({"scale": 1.0, "eps": 0.9}, {"covariance_type": "lowrank"}, {"m": 1.1}):
        model = SPC(60, n_jobs=2, outlier_nlt=4.0, **in_mode(**params)).fit(X)
        when = ", ".join(f"{key}={value}" for key, value in params.items())
        yield from state(model, f"{when}: ")
        yield from answers(model, X, f"{when}: ")
    plane = blobs(rng, 70_000, 2)
    yield "chunks: predict", SPC(20, n_jobs=2).fit(plane[:1500]).predict(plane)
    yield "chunks: float32", SPC(20).fit(plane[:1500].astype("f")).predict(plane.astype("f"))
    yield "summary", summary(model)
