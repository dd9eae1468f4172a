"""Drifting streams, models of them at several moments, and what truly changed in between."""

from collections import Counter
from itertools import combinations

import numpy as np

from spclust import SPC
from spclust.datasets import make_drifting
from spclust.prepared_model import Preparation, PreparedModel

KINDS = ("born", "gone", "merged", "split")
PAPER = {
    "n_structures": 60,
    "scale": 1.5,
    "eps": 0.95,
    "beta": 0.02,
    "gamma": 0.1,
    "nlt_max": 0.001,
    "track_every": 25,
}


def moments(rows=20_000, events=10):
    """Just before each event begins: what the one before has changed has settled."""
    gap = rows / (events + 1)
    return [int(k * gap) - 1 for k in range(1, events + 2)]


def saved(X, *, tracked=True, **parameters):
    """Models of a stream at all moments."""
    model, found, at = SPC(**parameters), [], 0
    for moment in moments(len(X)):
        if tracked:
            list(model.watch([X[at:moment]]))
        else:
            model.partial_fit(X[at:moment])
            model.cluster_labels_  # noqa: B018 - as a run that labels rows does
        at = moment
        copied = PreparedModel(SPC.from_bytes(model.to_bytes()), Preparation(("x", "y")))
        found.append(copied)
    return found


def truth(y, events, before, after):
    """Clusters of each kind between two moments, as the events of the generator have it."""
    alive = set(np.unique(y[max(0, before - 300) : before]).tolist())
    origin = {one: {one} for one in alive}
    for event in events:
        if not before <= event.index < after:
            continue
        if event.kind == "birth":
            origin[event.after[0]] = set()
        elif event.kind == "death":
            origin.pop(event.before[0])
        elif event.kind == "merge":
            parts = [origin.pop(one) for one in event.before]
            origin[event.after[0]] = set().union(*parts)
        elif event.kind == "split":
            for one in event.after:
                origin[one] = set(origin[event.before[0]])
    many = Counter(old for olds in origin.values() for old in olds)
    return Counter(
        born=sum(not olds for olds in origin.values()),
        merged=sum(len(olds) > 1 for olds in origin.values()),
        gone=sum(not many[old] for old in alive),
        split=sum(many[old] > 1 for old in alive),
    )


def pairs(seeds, **parameters):
    """(found, true) numbers of changes for pairs of moments of the streams of some seeds."""
    from spclust.model_comparison import compare

    for seed in seeds:
        X, y, events = make_drifting(seed=seed)
        models, when = saved(X, **parameters), moments(len(X))
        for i, j in combinations(range(len(models)), 2):
            kinds = Counter(change.kind for change in compare(models[i], models[j]).changes)
            found = Counter({kind: kinds[kind] for kind in KINDS})
            yield seed, (i, j), found, truth(y, events, when[i], when[j])
