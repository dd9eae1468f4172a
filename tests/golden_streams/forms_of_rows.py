"""Rows in other types and orders of memory, single points, and threads."""

import numpy as np
import pandas as pd

from spclust import SPC
from tests.golden_digests import answers, state, summary
from tests.golden_streams.data import blobs, lines
from tests.golden_streams.learning import in_mode
from tests.golden_streams.table import Streams

STREAMS = Streams()


@STREAMS.note("rows-forms")
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


@STREAMS.note("rows-float32-points")
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


@STREAMS.note("rows-threads")
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
