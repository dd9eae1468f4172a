"""Work and memory per point: counted, not timed."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from spclust import SPC, datasets
from tests.reference.algorithm1 import Algorithm1


def gaussians(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(scale=15, size=(7, 2))[rng.integers(7, size=n)] + rng.normal(size=(n, 2))


def jumping(n):
    """Clusters that leave and come back elsewhere, so that structures are pruned all the time."""
    return gaussians(n) + np.repeat(
        np.random.default_rng(1).normal(scale=100, size=(n // 50, 2)), 50, 0
    )


STREAMS = {
    "stationary": (gaussians(5000), {}),
    "sine": (datasets.make_sine(5000)[0], {"m": 1.4, "gamma": 0.1, "beta": 0.05}),
    "pruning": (jumping(5000), {"beta": 0.1, "w_min": 0.1}),
    "pruning by merging": (jumping(5000), {"beta": 0.1, "w_min": 0.1, "nlt_max": 1e9}),
    "generic m": (gaussians(5000), {"m": 1.37}),
}


@pytest.mark.parametrize("n_structures", [2, 30, 100])
@pytest.mark.parametrize("name", STREAMS)
def test_at_most_4n_plus_10_typicalities_a_point(name, n_structures):
    """Over the whole stream, and over any tenth of it but for bursts of pruning."""
    X, params = STREAMS[name]
    model = SPC(n_structures, **params).fit(X[:n_structures])
    for rows in np.array_split(X[n_structures:], 10):
        before = model._stream.evaluations
        model.partial_fit(rows)
        spent = model._stream.evaluations - before
        # Merges that pruning does in a burst are paid for by the room that they make.
        assert spent <= (4 * n_structures + 10) * (len(rows) + n_structures)
    total = model._stream.evaluations
    assert total <= (4 * n_structures + 10) * len(X)


def test_the_oracle_needs_far_more():
    """Guards the counter: a literal reading computes all pairs for each point."""
    X, _ = STREAMS["stationary"]
    oracle = Algorithm1(20)
    for x in X[:200]:
        oracle.update(x)
    model = SPC(20).fit(X[:200])
    assert model._stream.evaluations < oracle.evaluations / 3
    # Every insertion and every merge relates one structure to all others, both ways.
    live = np.minimum(np.arange(1, 201), 21)
    assert model._stream.evaluations == 2 * live.sum() + 2 * 20 * model._stream.merges


def test_state_does_not_grow_over_a_million_points():
    model = SPC(30).fit(gaussians(1000))
    early = model._stream.nbytes
    for seed in range(1, 11):
        model.partial_fit(gaussians(100_000, seed))
    assert model.n_samples_seen_ == 1_001_000
    assert model._stream.nbytes == early < 50_000
    assert len(model.structures_) <= 30


MEASURED = """
import resource
import numpy as np
from spclust import SPC
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
X = np.zeros((10_000_000, 2), dtype=np.float32)
X[:, 0] = np.arange(len(X)) % 40
model = SPC(30).fit(X[:1000])
model.predict(X[:1000])
before = peak()
labels = model.predict(X)
print(peak() - before, len(labels), (labels[:1000] == labels[-1000:]).mean())
"""


def test_predict_on_ten_million_rows_needs_little_more_than_its_labels():
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEASURED)],
        capture_output=True,
        text=True,
        check=True,
    )
    megabytes, rows, same = run.stdout.split()
    assert int(rows) == 10_000_000
    assert float(same) == 1.0
    assert float(megabytes) < 300  # two arrays of labels and a mask; all distances would be 2,400
