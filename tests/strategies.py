"""What tests are drawn from: parameters, matrices and streams; and how many of them."""

import os

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

# Share of the examples that are drawn: `make test` draws half of them, `make check` a tenth.
SHARE = float(os.environ.get("SPCLUST_EXAMPLES", "1"))


def examples(number):
    """So many examples of a test, or the share of them."""
    return settings(max_examples=max(5, round(SHARE * number)))


seeds = st.integers(0, 2**32 - 1)
rates = st.one_of(st.just(0.0), st.floats(1e-6, 0.5))
windows = st.integers(1, 60)


@st.composite
def online_params(draw, most_structures=40):
    """Keyword arguments of the online phase, over the ranges that users meet."""
    return {
        "n_structures": draw(st.integers(2, most_structures)),
        "m": draw(st.floats(1.05, 3.0)),
        "gamma": draw(rates),
        "beta": draw(rates),
        # No fraction of small numbers: a weight that is one would tie with it.
        "w_min": draw(st.sampled_from([0.0, 0.01, 0.1])) * 1.0471975511965976,
        "nlt_max": draw(st.sampled_from([0.5, 3.0, 10.0])),
        "scale": 10.0 ** draw(st.floats(-1.0, 1.0)),
    }


@st.composite
def spd_matrices(draw, d):
    """Symmetric positive definite (d, d), condition up to about 1e4."""
    rng = np.random.default_rng(draw(seeds))
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    S = (Q * 10.0 ** rng.uniform(-2, 2, size=d)) @ Q.T
    return (S + S.T) / 2


@st.composite
def streams(draw, most_features=6, most_points=200, least_points=1):
    """Streams (n, d) of Gaussian clusters, with the oddities that real streams have.

    Hypothesis draws the shape and the oddities, a seeded generator the numbers: they are in
    general position, so that hardly any two distances tie except those of exact duplicates.
    """
    # Of the numbers of features with unrolled loops, 6 to 16, only 6: each compiles a kernel, and
    # that of 6 is needed by River's checks anyway.
    d = draw(st.sampled_from([d for d in (1, 2, 3, 4, 5, 6) if d <= most_features]))
    n = draw(st.integers(least_points, most_points))
    rng = np.random.default_rng(draw(seeds))
    n_clusters = draw(st.integers(1, 6))
    labels = rng.integers(n_clusters, size=n)
    if draw(st.booleans()):  # clusters in sequence
        labels.sort()
    spread = 10.0 ** rng.uniform(-1, 1, size=(n_clusters, d))
    X = rng.normal(scale=8.0, size=(n_clusters, d))[labels] + spread[labels] * rng.normal(
        size=(n, d)
    )
    if draw(st.booleans()):  # duplicates, of no more than a few points of many
        copies = rng.integers(n, size=n // 4)
        X[rng.integers(n, size=len(copies))] = X[copies]
    if d > 1 and draw(st.booleans()):  # collinear columns
        X[:, 1] = 2.0 * X[:, 0] + 1.0
    if draw(st.integers(0, 3)) == 3:  # a constant column
        X[:, -1] = 7.25
    return X
