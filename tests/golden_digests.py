"""Digests of numbers, and what is asked of a model: two models are the same if all of it is."""

import dataclasses
import hashlib

import llvmlite.binding
import numba
import numpy as np

from spclust.jit import internals


def digest(value):
    """A short text that differs if any bit of a value differs, or a shape, or integer and float.

    Numbers count as 64 bits wide, and all NaN as one. Dictionaries count in their order.
    """
    state = hashlib.blake2b(digest_size=12)
    for part in _parts(value):
        state.update(len(part).to_bytes(8, "little"))  # else "ab", "c" would be "a", "bc"
        state.update(part)
    return state.hexdigest()


def _parts(value):
    if value is None or isinstance(value, str):
        yield repr(value).encode()
    elif dataclasses.is_dataclass(value):
        yield from _parts({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    elif isinstance(value, dict):
        yield from _parts(list(value.items()))
    elif isinstance(value, list | tuple):
        yield f"list {len(value)}".encode()
        for item in value:
            yield from _parts(item)
    elif np.asarray(value).dtype.kind in "biuf":
        array = _in_64_bits(np.asarray(value))
        yield f"{array.dtype.str} {array.shape}".encode()
        yield array.tobytes()
    else:  # an array of names, or of dates
        yield from _parts([str(item) for item in np.ravel(value)])


def _in_64_bits(array):
    if array.dtype.kind == "f":
        array = array.astype("<f8")
        array[np.isnan(array)] = np.nan
        return array
    return array.astype("<i8")


def arithmetic():
    """What the last bits depend on besides the code."""
    return {
        "processor": llvmlite.binding.get_host_cpu_name(),
        "numpy": np.__version__,
        "numba": numba.__version__ + ("" if internals.ENABLED else " without internals"),
    }


def attempt(ask):
    """An answer, or what kind of error there is instead: that should stay the same, too."""
    try:
        return ask()
    except (ValueError, TypeError, AttributeError) as error:
        return type(error).__name__


# Each of these yields (name of a quantity, its value); `when` tells one moment from another.


def state(model, when=""):
    """The structures of an SPC, and its clusters."""
    table = model.structures_
    for name in ("mean", "covariance", "weight", "count", "age", "id", "label"):
        yield when + name, getattr(table, name)
    yield when + "labels", attempt(lambda: model.labels_)
    yield when + "seen", model.n_samples_seen_
    if model.track_every is not None:
        yield when + "events", attempt(lambda: model.events_)
        yield when + "cluster ids", attempt(lambda: model.cluster_ids_)


def answers(model, rows, when=""):
    """What an SPC says about rows, and about itself."""
    yield when + "predict", model.predict(rows)
    yield when + "typicality", model.typicality(rows)
    yield when + "score_samples", model.score_samples(rows)
    cuts = [{"eps": 0.5}, {"eps": 0.99, "min_samples": 2}, {"eps": "auto"}, {"nlt": 7.5}]
    cuts += [{"n_clusters": 1}, {"n_clusters": 3}]
    for cut in cuts:
        named = ", ".join(f"{key}={value}" for key, value in cut.items())
        yield f"{when}clustering {named}", attempt(lambda: model.clustering(**cut))  # noqa: B023
    for what in ("clusters", "structures"):
        for column, values in model.describe(what).items():
            yield f"{when}describe {what} {column}", values
    yield when + "diagnose", attempt(lambda: [(one.code, str(one)) for one in model.diagnose()])


def everything(model, rows):
    """The state of an SPC, its answers, and a summary for people."""
    yield from state(model)
    yield from answers(model, rows)
    yield "summary", summary(model)


def summary(model):
    """What a person may want to see of an SPC."""
    return {
        "points": int(model.n_samples_seen_),
        "structures": len(model.structures_),
        "clusters": int(model.n_clusters_),
    }
