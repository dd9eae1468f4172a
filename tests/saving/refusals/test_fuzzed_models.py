"""Crafted models, some of thousands: each is refused, or learns, predicts and is saved again."""

import numpy as np
import pytest
from fuzz import models


@pytest.mark.parametrize("make", [models.crafted, models.corrupted])
def test_models_are_refused_or_work(make):
    counts, wrong = models.counted(make(np.random.default_rng(0)), 60)
    assert wrong == []
    assert counts["refused"] > 30


def test_a_model_that_was_not_changed_works():
    found = {name: models.tried(data) for name, data in models.originals().items()}
    # Those of the automatic mode of an earlier version are refused.
    assert {name for name, what in found.items() if what != "works"} == {
        "v2-automatic",
        "v3-automatic",
    }
