"""Work and memory per point: counted, not timed."""

import pickle
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest

from spclust import datasets
from tests.fixed import SPC
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


def evaluations_point_by_point(model, X):
    """Typicalities computed and merges done for each row of X."""
    spent = []
    for row in X:
        before = model._stream.evaluations, model._stream.merges
        model._stream.learn(row[np.newaxis])
        now = model._stream.evaluations, model._stream.merges
        spent.append((now[0] - before[0], now[1] - before[1]))
    return np.array(spent).T


@pytest.mark.parametrize("n_structures", [2, 30, 100])
@pytest.mark.parametrize("name", STREAMS)
def test_at_most_4n_plus_10_typicalities_a_point(name, n_structures):
    X, params = STREAMS[name]
    model = SPC(n_structures, **params).fit(X[:n_structures])
    evaluations, merges = evaluations_point_by_point(model, X[n_structures:])
    # N for the point itself, both ways, and N for each merge, both ways. Several merges at one
    # point happen only in pruning, which makes room: the next points need none.
    assert (evaluations <= 2 * (n_structures + 1) + 2 * (n_structures + 1) * merges).all()
    assert (evaluations[merges <= 1] <= 4 * n_structures + 10).all()
    assert evaluations.mean() <= 4 * n_structures + 10
    for stretch in np.array_split(evaluations, 20):
        assert stretch.sum() <= (4 * n_structures + 10) * (len(stretch) + n_structures)


@pytest.mark.parametrize("n_structures", [30, 100])
def test_few_rows_are_looked_through_for_a_nearest_neighbour(n_structures):
    for X, params in STREAMS.values():
        model = SPC(n_structures, **params).fit(X)
        assert model._stream.rescans < 6 * len(X)


def test_the_oracle_needs_far_more():
    """Guards the counter: a literal reading computes all pairs for each point."""
    X, _ = STREAMS["stationary"]
    oracle = Algorithm1(20)
    for x in X[:200]:
        oracle.update(x)
    model = SPC(20).fit(X[:200])
    assert model._stream.evaluations < oracle.evaluations / 3
    # Every insertion and every merge relates one structure to all others, both ways.
    live = np.minimum(np.arange(200), 20)
    assert model._stream.evaluations == 2 * live.sum() + 2 * 20 * model._stream.merges


def test_state_does_not_grow_over_a_million_points():
    model = SPC(30).fit(gaussians(10_000))
    early = len(pickle.dumps(model._stream))
    tracemalloc.start()
    for seed in range(1, 11):
        model.partial_fit(gaussians(100_000, seed))
        for eps in np.linspace(0.0, 1.0, 50):
            model.clustering(eps)
    model.partial_fit(gaussians(10_000))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.n_samples_seen_ == 1_020_000
    assert len(pickle.dumps(model._stream)) == early < 60_000
    assert kept < 500_000  # the labels of the last batch among it
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
