"""Streams, and the state of a model of the automatic mode as bytes, for the tests of its laws."""

from hashlib import sha256

import numpy as np
from hypothesis import strategies as st

from spclust.state.automatic_structures import AutomaticStructures, read_z
from spclust.state.record import Array, Extent, Word

WORKING_MEMORY = {"point", "point_z", "point_distance", "point_cost"}
WORKING_MEMORY |= {"point_cluster", "point_group"}
WORKING_MEMORY |= {"point_is_strange", "slot_cost", "spare_cost"}
half_lives = st.sampled_from([None, 7.5, 60.0, 1e5])


def memory(model):
    """A digest of all bits of the state."""
    return sha256(model._stream.structures.memory.tobytes()).hexdigest()


def live_state(model):
    """What decides the future of a model, as bytes by name: slots that are free do not."""
    s, found = model._stream.structures, {}
    for name, field in AutomaticStructures.fields.items():
        if name in WORKING_MEMORY or isinstance(field, Extent):
            continue
        if isinstance(field, Word):
            found[name] = repr(getattr(s, name))
        elif isinstance(field, Array):
            array = s.views[name]
            array = read_z(s, np.arange(s.live)) if name == "z" else array
            per_slot = field.axes[0] == "n"
            many = s.clusters if name.startswith("cluster_") else s.live
            bits = np.array(array[:many] if per_slot else array).tobytes()
            found[name] = sha256(bits).hexdigest()
    return found


def two_clusters(n=600, d=2, apart=12.0, seed=0):
    """Points (n, d) of two normal clusters, in random order, and which one each is of."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, d)) + apart * y[:, np.newaxis] * (np.arange(d) == 0), y


def learnt_in_parts(model, X, cuts, t=None):
    """The model after the rows of X, in batches; rows alone are learnt by `learn_one`."""
    for rows in np.split(np.arange(len(X)), sorted(cuts)):
        if rows.size == 1:
            model.learn_one(X[rows[0]].copy(), None if t is None else t[rows[0]])
        elif rows.size:
            model.partial_fit(X[rows], t=None if t is None else t[rows])
    return model
