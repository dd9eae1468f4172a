"""Ways to learn rows: each yields at some moments, when it has learnt a part."""

import numpy as np

from spclust import SPC
from tests.golden_digests import everything, state
from tests.golden_streams.data import probes, times

OF_PAPER = ("gamma", "beta", "w_min", "nlt_max", "eps", "min_samples", "max_rank")


def in_mode(scale="auto", **params):
    """Parameters of the mode that the scale means: without a number a rate is a half-life."""
    if scale != "auto":
        return {"scale": scale, **params}
    rates = [params[name] for name in ("beta", "gamma") if name in params]
    kept = {name: value for name, value in params.items() if name not in OF_PAPER}
    if rates:
        kept["half_life"] = round(np.log(2.0) / rates[0], 3) if rates[0] else None
    if kept.get("covariance_type") == "lowrank":
        kept["covariance_type"] = "diag"
    return kept


def fitted(rng, model, X, t=None):
    """All at once."""
    model.fit(X, t=t)
    yield from ()


def in_batches(rng, model, X, t=None):
    """Batches of any size, some of one row."""
    ends = np.unique(rng.integers(1, len(X), size=12)).tolist()
    ends = [*ends, ends[-1] + 1, len(X)] if ends[-1] + 1 < len(X) else [*ends, len(X)]
    for i, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        model.partial_fit(X[start:end], t=None if t is None else t[start:end])
        if i % 5 == 2:
            yield i


def one_by_one(rng, model, X, t=None):
    """Single points."""
    for i, x in enumerate(X):
        model.learn_one(x, None if t is None else t[i])
        if i == len(X) // 3:
            yield i


def mixed(rng, model, X, t=None):
    """Single points, as arrays and as lists, and batches in turn."""
    at = 0
    while at < len(X):
        end = min(len(X), at + int(rng.integers(1, len(X) // 8)))
        if rng.random() < 0.5:
            model.partial_fit(X[at:end], t=None if t is None else t[at:end])
        else:
            for i in range(at, end):
                x = X[i].tolist() if i % 50 == 0 else X[i]
                model.learn_one(x, None if t is None else t[i])
        if at < len(X) // 2 <= end:
            yield end
        at = end


def learnt(rng, model, X, how=fitted, t=None):
    """Learn rows, and ask everything in the end; the state also on the way."""
    for moment, _ in enumerate(how(rng, model, X, t)):
        yield from state(model, f"moment {moment}: ")
    yield from everything(model, probes(rng, X))


def plain_stream(rng, data, n, d, how, params, timed=False):
    """A stream of one model that is learnt in one way."""
    X = data(rng, n, d)
    yield from learnt(rng, SPC(**in_mode(**params)), X, how, times(rng, n) if timed else None)
