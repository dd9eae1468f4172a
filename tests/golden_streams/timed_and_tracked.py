"""Points with time stamps, and clusters that are tracked."""

from datetime import timedelta

import numpy as np

from spclust import SPC
from tests.golden_digests import everything
from tests.golden_streams.data import drifting, probes, wandering
from tests.golden_streams.learning import fitted, in_batches, mixed, one_by_one
from tests.golden_streams.table import Streams

STREAMS = Streams()

# Time stamps

for name, d, how, params in (
    ("full", 2, in_batches, {"scale": 1.0, "gamma": 0.01, "beta": 0.02, "w_min": 0.05}),
    ("full-7", 7, mixed, {"scale": 2.0, "m": 1.1, "beta": 0.01, "eps": 0.9}),
    ("lowrank-auto", 5, in_batches, {"covariance_type": "lowrank", "gamma": 0.03}),
    ("diag-auto", 3, one_by_one, {"covariance_type": "diag", "beta": 0.05, "gamma": 0.01}),
    ("spherical", 10, fitted, {"covariance_type": "spherical", "gamma": 0.2, "beta": 0.1}),
):
    STREAMS.plain(f"times-{name}", wandering, 900, d, how, timed=True, n_structures=15, **params)


@STREAMS.note("times-dates")
def dates(rng):
    """Dates of NumPy, and one time stamp for a whole batch."""
    X = wandering(rng, 600, 2)
    t = np.datetime64("2024-02-29T12:00", "ms") + np.sort(rng.integers(9**8, size=500))
    model = SPC(12, half_life=timedelta(hours=1)).fit(X[:500], t=t)
    model.partial_fit(X[500:], t=t[-1] + np.timedelta64(1, "h"))
    yield from everything(model, probes(rng, X))


# Clusters that are tracked

TRACKED = {"n_structures": 40, "scale": 1.5, "beta": 0.02, "gamma": 0.1, "nlt_max": 0.001}
STREAMS.plain("tracked-batches", drifting, 3000, 2, in_batches, eps=0.95, track_every=25, **TRACKED)
STREAMS.plain("tracked-mixed", drifting, 2400, 3, mixed, track_every=17, **TRACKED)
STREAMS.plain(
    "tracked-auto-diag", drifting, 2400, 2, in_batches, track_every=30, beta=0.02,
    covariance_type="diag", n_structures=25,
)  # fmt: skip
STREAMS.plain("tracked-times", drifting, 1800, 2, mixed, timed=True, track_every=20, **TRACKED)


@STREAMS.note("tracked-watch")
def watched(rng):
    """Events as they are noticed."""
    X = drifting(rng, 3000, 2)
    model = SPC(eps=0.95, track_every=10, **TRACKED)
    yield "watched", list(model.watch(np.array_split(X, 20)))
    yield from everything(model, probes(rng, X))
