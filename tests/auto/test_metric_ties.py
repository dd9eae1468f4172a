"""The metric where means tie: age decides, not the slot that a structure happens to be in."""

import numpy as np

from spclust import SPC
from spclust.auto.metric import renew_metric

PER_STRUCTURE = ("mass", "mean", "scatter", "id")


def test_the_metric_does_not_depend_on_the_order_of_slots():
    rng = np.random.default_rng(0)
    different = set()
    for _ in range(30):
        X = rng.normal(size=(53, 2))
        X[:21, 1] = 7.25  # structures of unequal mass with equal means, in one tail
        s = SPC(6).fit(X)._stream.structures
        renew_metric(s)
        metric, kept = s.metric.copy(), {name: getattr(s, name).copy() for name in PER_STRUCTURE}
        for _ in range(10):
            order = rng.permutation(s.live)
            for name, values in kept.items():
                getattr(s, name)[: s.live] = values[order]
            renew_metric(s)
            different.add(tuple(order))
            assert np.array_equal(s.metric, metric)
    assert len(different) > 100
