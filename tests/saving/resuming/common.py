"""What must come back of a saved model, in both modes."""

import numpy as np

from spclust import SPC
from spclust.datasets import make_drifting
from tests.saving.common import same_models


def learns_on(whole, X, cut, timed):
    """Assert that a model that is saved at a cut of a stream learns on to the last bit.

    Returns it as it is in the end.
    """
    t = np.cumsum(np.round(np.random.default_rng(0).exponential(size=2 * len(X)), 1))
    whole.partial_fit(X[:cut], t=t[:cut] if timed else None)
    saved = whole.to_bytes()
    again = SPC.from_bytes(saved)
    assert again.to_bytes() == saved
    assert same_models(again, whole)
    assert again._stream.structures.memory.ctypes.data % 64 == 0
    assert np.array_equal(again.labels_, whole.labels_)
    for rows, times in ((X[cut:], t[cut : len(X)]), (X, t[len(X) :])):
        if len(rows):
            again.partial_fit(rows, t=times if timed else None)
            whole.partial_fit(rows, t=times if timed else None)
        assert same_models(again, whole)
    assert np.array_equal(again.labels_, whole.labels_)
    for model in (again, whole):
        model.learn_one(X[0], t[-1] + 1.0 if timed else None)
    assert same_models(again, whole)
    return again


def names_and_events_come_back(**params):
    """Assert that clusters of a drifting stream keep their names where the model was saved."""
    X, _, _ = make_drifting(6000, n_events=3, seed=1)
    whole, part = SPC(40, **params).fit(X), SPC(40, **params).fit(X[:3010])
    again = SPC.from_bytes(part.to_bytes())
    assert again.events_ == part.events_
    assert np.array_equal(again.cluster_ids_, part.cluster_ids_)
    again.partial_fit(X[3010:])
    assert again.events_ == whole.events_
    assert np.array_equal(again.cluster_ids_, whole.cluster_ids_)
