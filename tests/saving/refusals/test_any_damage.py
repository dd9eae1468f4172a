"""Damage anywhere is noticed, and a few bytes cannot ask for any amount of memory."""

import re

import numpy as np
import pytest

from spclust import SPC
from tests.saving.common import run, state_of
from tests.saving.crafted_models import (
    AUTOMATIC_KINDS,
    KINDS,
    corrupted,
    model_of,
    sealed,
    split,
)
from tests.saving.refusals.common import crafted_from


def test_ten_thousand_damaged_models_are_refused():
    model = model_of("full")
    data, rng = model.to_bytes(), np.random.default_rng(0)
    same = 0
    for _ in range(10_000):
        damaged = corrupted(data, rng)
        try:
            again = SPC.from_bytes(damaged)
        except ValueError as error:
            if not re.fullmatch(r"Cannot load a model from these bytes: .+\.", str(error)):
                raise
        else:
            same += 1
            assert damaged == data
            assert state_of(again) == state_of(model)
    assert same < 1_000  # a stretch of zeros in zeros, an exchange of equals


def test_crafted_models_are_refused_or_work():
    present, automatic, stored = run("crafted_models.py", 0, 120).splitlines()
    of_modes = (present, len(KINDS), 500), (automatic, len(AUTOMATIC_KINDS), 500)
    for line, models, most in (*of_modes, (stored, 8, 800)):
        refused, worked = map(int, line.split())
        assert refused + worked == 120 * models
        assert refused > 300
        assert worked > 20
        assert refused < most


def test_a_few_bytes_cannot_ask_for_more_memory_than_there_is(X):
    header, body = split(SPC(1_000, scale=1.0).fit(X).to_bytes())
    header["built_with"]["n_structures"] = header["state"]["n_structures"] = 1_000_000
    with pytest.raises(ValueError, match=r"it takes \d+ GB, more than this machine has"):
        SPC.from_bytes(sealed(header, body))


@pytest.mark.parametrize("features", [2**31, 2**53])
def test_sizes_that_leave_the_range_of_integers_are_refused(features):
    header, body = split(crafted_from("full"))
    header["state"]["n_features"] = header["n_features_in"] = features
    with pytest.raises(ValueError, match=r"it takes \d+ GB, more than this machine has"):
        SPC.from_bytes(sealed(header, body))
