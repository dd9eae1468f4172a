"""Files that earlier versions wrote: each is loaded and learns on as if nothing had changed."""

import json

import numpy as np
import pytest

from spclust import SPC
from tests.golden_digests import arithmetic
from tests.saving.stored_models import (
    EXPECTED,
    FIRST,
    FOLDER,
    about,
    continued,
    digests,
    path_of,
)

STORED = json.loads(EXPECTED.read_text("utf-8"))


def test_every_file_has_its_expectations():
    assert {path.name for path in FOLDER.glob("*.spc")} == STORED.keys() - {FIRST}


@pytest.mark.parametrize("name", STORED)
def test_a_stored_model_is_what_it_was_to_the_last_bit(name):
    expected = STORED[name]
    if expected["arithmetic"] != arithmetic():
        pytest.skip(f"last bits are those of {expected['arithmetic']}")
    model = SPC.load(path_of(name))
    assert digests(model) == expected["loaded"]
    assert digests(continued(model)) == expected["continued"]


@pytest.mark.parametrize("name", STORED)
def test_a_stored_model_learns_the_same_on_any_processor(name):
    expected = STORED[name]["about"]
    model = SPC.load(path_of(name))
    assert model.get_params().items() >= STORED[name]["parameters"].items()
    found = about(continued(model))
    assert found["count"] == expected["count"]
    np.testing.assert_allclose(found["mean"], expected["mean"], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", STORED)
def test_a_stored_model_that_is_saved_again_learns_the_same(name, tmp_path):
    """Whatever the format is today, it holds what the old one held."""
    model = SPC.load(path_of(name))
    model.save(tmp_path / "again.spc")
    again = SPC.load(tmp_path / "again.spc")
    assert digests(again) == digests(model)
    assert digests(continued(again)) == digests(continued(model))
