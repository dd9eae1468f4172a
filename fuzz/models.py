"""Crafted and corrupted models: each is refused with one sentence, or works.

Crafted ones have a valid container and checksum, and odd content: see `tests.saving.crafted_models`
for the ways to make them. Corrupted ones have bytes that were changed afterwards.
"""

import re
import sys
import warnings
from collections import Counter
from functools import cache

import numpy as np
from tests.saving import crafted_models as made

from spclust import SPC

MOST = 200_000_000  # bytes that a crafted model may take
_ROWS = 25
# As of any model: numbers may leave the range of what can be saved, and parameters may have been
# changed to others than those that rows were learnt with, which have to be set back.
_ALLOWED = re.compile(
    "This SPC cannot be saved: the .* cannot be the result of learning"
    "|.* was changed from .* in the middle of a stream: set it back"
    "|labels_ cannot tell outliers"
    "|n_clusters of SPC must not exceed n_structures"
)


@cache
def originals():
    """Saved models of both modes, of all kinds and of all stored versions, by name."""
    kinds = (*made.KINDS, *made.AUTOMATIC_KINDS)
    models = {kind: made.model_of(kind, seed).to_bytes() for seed, kind in enumerate(kinds)}
    for track_every in (7, 20):
        model = SPC(6, scale=0.7, track_every=track_every).fit(made.blobs(2, track_every))
        models[f"tracked {track_every}"] = model.to_bytes()
    weights = np.random.default_rng(0).uniform(0.1, 5.0, 60)
    weighted = SPC(6, half_life=40.0, n_clusters=3).fit(made.blobs(2, 1), sample_weight=weights)
    models["automatic weights"] = weighted.to_bytes()
    models |= {path.stem: path.read_bytes() for path in sorted(made.STORED.glob("*.spc"))}
    return models


def crafted(rng):
    """Models with odd content and a valid checksum, without an end: (name, bytes)."""
    names = list(originals())
    while True:
        name = names[rng.integers(len(names))]
        way = _WAYS[rng.integers(len(_WAYS))]
        data = originals()[name]
        for _ in range(rng.integers(1, 3)):
            data = way(data, rng)
        yield f"{name} {way.__name__}", data


def corrupted(rng):
    """Models of which bytes were changed, without an end: (name, bytes)."""
    names = list(originals())
    while True:
        name = names[rng.integers(len(names))]
        yield f"{name} corrupted", made.corrupted(originals()[name], rng)


def with_other_fields(data, rng):
    """Content of another model takes the place of the same: arrays, state, parameters, tracker."""
    others = list(originals().values())
    header, arrays = made.arrays_in(data)
    other_header, other_arrays = made.arrays_in(others[rng.integers(len(others))])
    names = sorted(header.keys() & other_header.keys() - {"arrays"})
    if rng.random() < 0.5:
        name = names[rng.integers(len(names))]
        return made.with_arrays(data, {**header, name: other_header[name]}, arrays)
    names = sorted(arrays.keys() & other_arrays.keys())
    name = names[rng.integers(len(names))]
    return made.with_arrays(data, header, {**arrays, name: other_arrays[name]})


def with_swapped_numbers(data, rng):
    """An array has its numbers in another order, scaled, or all odd."""
    header, arrays = made.arrays_in(data)
    filled = [array.reshape(-1) for array in arrays.values() if array.size]
    array = filled[rng.integers(len(filled))]
    how = rng.integers(3)
    if how == 0:
        array[:] = rng.permutation(array)
    elif how == 1 and array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            array *= 10.0 ** rng.uniform(-320.0, 300.0)
    else:
        odd = made.ODD_NUMBERS if array.dtype.kind == "f" else made.ODD_INTEGERS
        array[:] = np.array(odd[rng.integers(len(odd))]).astype(array.dtype)
    return made.with_arrays(data, header, arrays)


def with_odd_parameters(data, rng):
    """A parameter, or what the state was built with, is out of range, huge, or of another type."""
    header, arrays = made.arrays_in(data)
    where = ("parameters", "built_with", "state")[rng.integers(3)]
    values = header.get(where) or header["parameters"]
    names = list(values)
    odd = [*made.ODD_VALUES, *made.ODD_INTEGERS, {"float": "inf"}, {"seconds": 1e300}, 1e-320]
    values[names[rng.integers(len(names))]] = odd[rng.integers(len(odd))]
    return made.with_arrays(data, header, arrays)


_WAYS = (*made.WAYS, with_other_fields, with_swapped_numbers, with_odd_parameters)


def tried(data):
    """What a model does: "refused", "works", or what went wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = SPC.from_bytes(data, max_bytes=MOST)
        except ValueError as error:
            sentence = str(error)
            sound = sentence.startswith("Cannot load a model from these bytes: ")
            return "refused" if sound and "\n" not in sentence else f"loading: {sentence}"
        except Exception as error:
            return f"loading: {type(error).__name__}: {error}"
        for name, step in _steps(model):
            try:
                step()
            except Exception as error:
                if not _ALLOWED.match(str(error)):
                    return f"{name}: {type(error).__name__}: {error}"
    return "works"


def _steps(model):
    rng = np.random.default_rng(0)
    rows = rng.normal(scale=5.0, size=(_ROWS, model.n_features_in_))
    clock = model._stream.clock
    t = None if clock is None else np.nextafter(clock, np.inf) + np.arange(float(_ROWS))
    later = None if t is None else t + _ROWS
    return {
        "predict": lambda: model.predict(rows),
        "structures": lambda: model.structures_.covariance,
        "describe": model.describe,
        "typicality": lambda: model.typicality(rows),
        "save": lambda: SPC.from_bytes(model.to_bytes()),
        "learn": lambda: model.partial_fit(rows, t=t),
        "learn_one": lambda: model.learn_one(rows[0], None if t is None else t[-1]),
        "learn more": lambda: model.partial_fit(100.0 * rows, t=later),
        "labels": lambda: model.labels_,
        "predict again": lambda: model.predict(rows),
        "save again": lambda: SPC.from_bytes(model.to_bytes()),
    }.items()


def counted(models, many):
    """How many of so many models are refused, and how many work; names, and what went wrong."""
    counts, wrong = Counter(), []
    for _, (name, data) in zip(range(many), models, strict=False):
        found = tried(data)
        if found not in ("refused", "works"):
            wrong.append((name, found))
            found = "wrong"
        counts[found] += 1
    return counts, wrong


if __name__ == "__main__":
    which, seed, many = {"crafted": crafted, "corrupted": corrupted}[sys.argv[1]], *sys.argv[2:]
    counts, wrong = counted(which(np.random.default_rng(int(seed))), int(many))
    for (name, found), times in Counter(wrong).most_common(60):
        print(times, name, found[:150])
    print(dict(counts))
