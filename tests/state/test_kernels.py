"""Each kernel that learns. These tests come first of all: other tests need the same kernels."""

import numpy as np
import pytest

from spclust import SPC
from spclust.state.kinds import COMPILED, DIAGONAL, FULL, LOWRANK, PLANE, SPHERICAL, UNROLLED

KERNELS = {
    "lowrank": (5, LOWRANK),
    "full of 3": (3, FULL),
    "full of 6": (6, UNROLLED + 6 if COMPILED else FULL),
    "full of 10": (10, UNROLLED + 10 if COMPILED else FULL),
    "diag": (2, DIAGONAL),
    "spherical": (2, SPHERICAL),
    "full of 2": (2, PLANE),
}


@pytest.mark.parametrize("name", KERNELS)
def test_learnt_in_one_batch_or_in_pieces_it_is_the_same_to_the_last_bit(name):
    d, kind = KERNELS[name]
    rng = np.random.default_rng(0)
    X = 6.0 * rng.normal(size=(5, d))[rng.integers(5, size=600)] + rng.normal(size=(600, d))
    params = {"n_structures": 20, "scale": 1.0, "w_min": 0.05, "beta": 0.01}
    params["covariance_type"] = name.split()[0]
    whole, pieces, points = SPC(**params).fit(X), SPC(**params), SPC(**params)
    for piece in np.array_split(X, 23):
        pieces.partial_fit(piece)
    for x in X:
        points.learn_one(x)
    structures = whole._stream.structures
    assert structures.kernel_kind == kind
    assert structures.memory.tobytes() == pieces._stream.structures.memory.tobytes()
    assert structures.memory.tobytes() == points._stream.structures.memory.tobytes()
