"""Every form of covariances with every kind of parameters; numbers of features and structures."""

from tests.golden_streams.data import blobs, grid, lines, wandering
from tests.golden_streams.learning import fitted, in_batches, mixed, one_by_one
from tests.golden_streams.table import Streams

STREAMS = Streams()

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
        STREAMS.plain(f"{name}-{form}", *recipe, **params, **covariance)

# Numbers of features and of structures

STREAMS.plain("features-1-full", lines, 900, 1, in_batches, n_structures=14, scale=0.5, eps=0.9)
STREAMS.plain("features-1-auto", blobs, 2500, 1, mixed, n_structures=8, beta=0.002)
STREAMS.plain("features-1-diag", grid, 600, 1, mixed, covariance_type="diag", n_structures=5, m=1.1)
STREAMS.plain("features-17", lines, 600, 17, mixed, n_structures=30, m=1.4, scale=2.0, gamma=0.05)
STREAMS.plain("features-17-auto", blobs, 900, 17, in_batches, n_structures=11, beta=0.01)
STREAMS.plain("features-200-auto", lines, 300, 200, fitted, n_structures=20)
STREAMS.plain(
    "features-200-rank", blobs, 300, 200, in_batches, scale=2.0, m=1.1, n_structures=15,
    covariance_type="lowrank", max_rank=10, eps=0.99, beta=0.02, w_min=0.05,
)  # fmt: skip
for n in (1, 2, 5):
    STREAMS.plain(f"structures-{n}", wandering, 700, 3, mixed, n_structures=n, beta=0.02, w_min=0.1)
STREAMS.plain("structures-more-than-points", blobs, 60, 2, in_batches, n_structures=100)
