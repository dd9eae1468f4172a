"""Crafted files of earlier versions of the format."""

import numpy as np
import pytest

from spclust import SPC
from tests.saving.common import ROOT
from tests.saving.crafted_models import STORED, arrays_in, with_arrays
from tests.saving.refusals.common import with_number

FIRST = ROOT / "tests" / "data" / "model_v1.spc"

# In files of versions 1 and 2 the scalars are numbers of the array `head`.
LIVE, SEEN, GROWN, KIND, RANK, DIRECTIONS, FREE, LARGEST, STALE, TIMED = (
    *(9, 10, 16, 18, 22, 23, 24, 25, 29, 30),
)


@pytest.mark.parametrize(
    ("kind", "name", "index", "number", "sentence"),
    [
        ("full", "head", 0, 1e6, r"it takes \d+ GB|do not match"),
        ("full", "head", 1, 4.0, "its array 'anchor' has another shape"),
        ("full", "head", 1, 2.0**40, r"it takes \d+ GB"),
        ("full", "head", LIVE, 11.0, "the numbers"),
        ("full", "head", LIVE, 0.0, "the numbers"),
        ("full", "head", LIVE, np.nan, "the numbers"),
        ("full", "head", GROWN, 10.0, "the numbers"),
        ("full", "head", SEEN, 2.5, "the numbers"),
        ("full", "head", SEEN, np.inf, "the numbers"),
        ("full", "head", SEEN, 301.0, "the counts"),
        ("full", "head", KIND, 1.0, "'covariance_type' of its state"),
        ("full", "head", KIND, np.nan, "'covariance_type' of its state"),
        ("full", "head", KIND, 2.0, "its array 'Sigma' has another shape"),
        ("full", "head", TIMED, -1.0, "'timed' of its state"),
        ("full", "head", TIMED, 0.5, "the numbers"),
        ("full", "head", STALE, 1e6, "the numbers"),
        ("full", "head", 3, np.nan, "'gamma' of its state"),
        ("lowrank", "head", RANK, 1e6, r"it takes \d+ GB|the numbers"),
        ("lowrank", "head", RANK, 0.0, "the numbers"),
        ("lowrank", "head", DIRECTIONS, 1e18, r"it takes \d+ GB"),
        ("lowrank", "head", FREE, 0.0, "the directions"),
        ("lowrank", "head", LARGEST, 0.0, "the ranks"),
        ("full", "count", 0, np.nan, "the counts"),
        ("full", "age", 0, 2.0**63, "the ages"),
        ("full", "id", 0, 300.0, "the ids"),
        ("full", "id", 0, 1.5, "the ids"),
        ("full", "id", 0, np.nan, "the ids"),
        ("full", "id", 0, 1e300, "the ids"),
        ("full", "mass", 0, 0.0, "the weights"),
        ("full", "total", 0, 1e9, "the weights"),
        ("full", "anchor", (0, 0, 0), np.inf, "the means"),
        ("full", "drift", (0, 0, 0), np.nan, "the means"),
        ("full", "whiten", (0, 0, 0), np.inf, "the factors"),
        ("full", "Sigma", (0, 0, 0), 0.5, "the covariances"),
        ("diag", "Sigma", (0, 0, 0), 0.5, "the covariances"),
        ("spherical", "Sigma", (0, 0, 0), np.inf, "the covariances"),
        ("lowrank", "Sigma", (0, 0, 0), np.nan, "the covariances"),
        ("lowrank", "rank", 0, 1000.0, "the ranks"),
        ("lowrank", "rank", 0, 0.5, "the ranks"),
        ("lowrank", "place", (0, 0), 1e6, "the directions"),
        ("lowrank", "place", (0, 0), -1.0, "the directions"),
        ("lowrank", "place", (slice(2), 0), 0.0, "the directions"),
        ("lowrank", "place", (0, 0), np.nan, "the ranks"),
        ("lowrank", "basis", ..., 0.0, "the directions"),
        ("full", "odds", ..., np.nan, "the distances"),
        ("full", "odds_back", ..., np.nan, "the distances"),
        ("full", "pair", (0, slice(None)), np.nan, "the distances"),
        ("full", "pair", ..., np.inf, "the distances"),
        ("full", "bound", 0, 1e300, "the distances"),
    ],
)
def test_numbers_of_version_2_are_checked(kind, name, index, number, sentence):
    data = (STORED / f"v2-{kind}.spc").read_bytes()
    SPC.from_bytes(data)
    with pytest.raises(ValueError, match=sentence):
        SPC.from_bytes(with_number(data, name, index, number))


# What belonged to an automatic mode that is no longer there.
AUTOMATIC, OF_RANK = {"owner", "origin", "unit", "scatter"}, {"rank", "base", "place", "basis"}


@pytest.mark.parametrize(
    ("path", "not_read"),
    [
        (FIRST, {"free", *OF_RANK}),
        (STORED / "v2-full.spc", {"free", *AUTOMATIC, *OF_RANK}),
        (STORED / "v2-lowrank.spc", {"free", "whiten", *AUTOMATIC}),
    ],
    ids=["first", "full", "lowrank"],
)
def test_every_array_of_an_earlier_version_is_needed(path, not_read):
    data = path.read_bytes()
    header, arrays = arrays_in(data)
    for name, array in arrays.items():
        without = {other: arrays[other] for other in arrays if other != name}
        with pytest.raises(ValueError, match="its header and its arrays do not match"):
            SPC.from_bytes(with_arrays(data, header, without))
        reshaped = array.reshape(-1) if array.ndim > 1 else array.reshape(-1, 1)
        crafted = with_arrays(data, header, {**arrays, name: reshaped})
        if name in not_read:
            SPC.from_bytes(crafted)
        else:
            with pytest.raises(ValueError, match=r"another shape|do not match|the directions"):
                SPC.from_bytes(crafted)
