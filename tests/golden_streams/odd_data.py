"""Data that is equal, far away, tiny, huge or uneven, and generated datasets."""

import functools

import numpy as np

from spclust import SPC, datasets
from tests.golden_digests import everything, state
from tests.golden_streams.data import constant, drifting, grid, heavy, lines, uneven
from tests.golden_streams.learning import in_batches, in_mode, learnt, mixed
from tests.golden_streams.table import Streams

STREAMS = Streams()

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
    STREAMS.plain(f"data-{name}", data, 1000, d, in_batches, **params)


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
    STREAMS.note(f"data-{name}")(
        functools.partial(moved_and_scaled, shift=shift, factor=factor, params=params)
    )


@STREAMS.note("data-equal")
def all_equal(rng):
    """One point again and again, and then another one."""
    X = np.full((400, 2), 3.5)
    X[300:] = -1.0
    model = SPC(n_structures=6, half_life=14.0).fit(X[:300])
    yield from state(model, "before: ")
    yield from learnt(rng, model, X[300:], in_batches)


@STREAMS.note("data-published-shapes")
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


@STREAMS.note("data-paper-sine")
def paper_sine(rng):
    """The paper's parameters for its moving waves."""
    X, _ = datasets.make_sine(2400, seed=5)
    model = SPC(30, m=1.4, gamma=0.1, beta=0.05, eps=0.95, scale=1.0)
    yield from learnt(rng, model, X, in_batches)
