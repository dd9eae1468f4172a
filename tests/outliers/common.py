"""Rows with outliers, and what detectors say of a stream before they learn it."""

import numpy as np

from spclust import SPCOutlierDetector

FAR = np.array([[10.0, 10.0], [-500.0, 3.0]])  # between the two blobs of X, and beyond them


def state(model):
    return model._stream.structures.memory.tobytes()


def with_outliers(n=600, share=0.05, seed=0):
    """Two Gaussians in five dimensions; some points, at random times, are from anywhere."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, 5)) + 12.0 * rng.integers(2, size=(n, 1))
    X[y] = rng.uniform(-15, 25, size=(y.sum(), 5))
    return X, y


def alarms(model, batches):
    """Which rows of each batch a model reports before it learns them; the first is only learnt."""
    found = []
    for rows in batches:
        if model.__sklearn_is_fitted__():
            found.append(model.predict(rows) == -1)
        model.partial_fit(rows)
    return found


def scores_before_learning(model, batches):
    """What a model that has learnt something says of each row before it learns its batch."""
    scores = []
    for rows in batches:
        scores.append(model.score_samples(rows))
        model.partial_fit(rows)
    return np.concatenate(scores)


def learnt_at_once_and_in_parts(X, cuts, params):
    """A detector that learnt a stream at once; one that learnt it in parts must be the same."""
    whole = SPCOutlierDetector(**params, contamination=0.1).partial_fit(X)
    parts = SPCOutlierDetector(**params, contamination=0.1)
    for rows in np.split(X, cuts):
        if len(rows):
            parts.partial_fit(rows)
    assert parts.offset_ == whole.offset_
    assert state(parts.model_) == state(whole.model_)
    return whole
