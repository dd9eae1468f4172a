"""Files that earlier versions wrote: each is loaded and learns on as if nothing had changed."""

import json

import numpy as np
import pandas as pd
import pytest

from spclust import SPC
from spclust.persistence.container import Content
from spclust.persistence.versions import as_current_version
from tests.golden_digests import arithmetic
from tests.saving.common import ROOT
from tests.saving.stored_models import (
    EXPECTED,
    FIRST,
    FOLDER,
    about,
    continued,
    digests,
    is_refused,
    path_of,
)

STORED = json.loads(EXPECTED.read_text("utf-8"))
READABLE = [name for name in STORED if not is_refused(name)]
REFUSED = [name for name in STORED if is_refused(name)]
# Formats 1 to 3 chose a cut of their own where eps is "auto"; it is 0.95 now.
ANOTHER_CUT = [
    name
    for name in READABLE
    if name[:2] not in ("v4", "v5") and STORED[name]["parameters"]["eps"] == "auto"
]

# Its tracker had ids of its own; events are about labels now, and begin anew.
OTHER_IDS = ROOT / "tests" / "data" / "tracked_by_own_ids.spc"


def test_formats_of_both_modes_are_stored():
    assert {name[:2] for name in READABLE} == {"mo", "v2", "v3", "v4", "v5"}
    assert REFUSED == ["v2-automatic.spc", "v3-automatic.spc"]
    assert len(ANOTHER_CUT) == 6


def test_every_file_has_its_expectations():
    assert {path.name for path in FOLDER.glob("*.spc")} == STORED.keys() - {FIRST}


@pytest.mark.parametrize("name", READABLE)
def test_a_stored_model_is_what_it_was_to_the_last_bit(name):
    expected = STORED[name]
    if expected["arithmetic"] != arithmetic():
        pytest.skip(f"last bits are those of {expected['arithmetic']}")
    model = SPC.load(path_of(name))
    cut = dict.fromkeys(["label", "labels"]) if name in ANOTHER_CUT else {}
    assert digests(model) | cut == expected["loaded"] | cut
    assert digests(continued(model)) | cut == expected["continued"] | cut


@pytest.mark.parametrize("name", ANOTHER_CUT)
def test_an_automatic_eps_of_an_earlier_version_is_the_papers_now(name):
    """Of a model in the mode of the paper: what was learnt stays, its clusters are others."""
    model, fixed = SPC.load(path_of(name)), SPC.load(path_of(name)).set_params(eps=0.95)
    assert model.eps == "auto"
    assert digests(model) == digests(fixed)
    assert digests(continued(model)) == digests(continued(fixed))


def test_events_of_an_automatic_model_with_other_ids_begin_anew():
    model = SPC.load(OTHER_IDS)
    assert model.events_ == []
    assert model.cluster_ids_.tolist() == model.cluster_labels_.tolist()


@pytest.mark.parametrize("name", REFUSED)
def test_what_an_earlier_version_learnt_with_an_automatic_scale_is_refused(name):
    sentence = (
        r"it was learnt with scale='auto' by an earlier version, whose structures this one cannot "
        r"go on with: learn the stream again\.$"
    )
    with pytest.raises(ValueError, match=f"^Cannot load '.*{name}': {sentence}"):
        SPC.load(path_of(name))
    with pytest.raises(ValueError, match=f"^Cannot load a model from these bytes: {sentence}"):
        SPC.from_bytes(path_of(name).read_bytes())


@pytest.mark.parametrize("name", READABLE)
def test_a_stored_model_learns_the_same_on_any_processor(name):
    expected = STORED[name]["about"]
    model = SPC.load(path_of(name))
    assert model.get_params().items() >= STORED[name]["parameters"].items()
    found = about(continued(model))
    assert found["count"] == expected["count"]
    np.testing.assert_allclose(found["mean"], expected["mean"], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", READABLE)
def test_a_stored_model_that_is_saved_again_learns_the_same(name, tmp_path):
    """Whatever the format is today, it holds what the old one held."""
    model = SPC.load(path_of(name))
    model.save(tmp_path / "again.spc")
    again = SPC.load(tmp_path / "again.spc")
    assert digests(again) == digests(model)
    assert digests(continued(again)) == digests(continued(model))


# Of the first file of all: rows to ask about, their clusters, and points of each structure.
POINTS = [[0.0, 0.0], [10.0, 10.0], [1.0, -1.0], [9.0, 12.0]]
CLUSTERS, COUNTS = [0, 1, 0, 1], [29, 1, 28, 1, 1]


def test_a_model_of_format_1_can_be_read_for_ever():
    """The file was written when there was no other format; every version reads the same."""
    model = SPC.load(path_of(FIRST))
    assert model.get_params()["n_structures"] == 5
    assert model.get_params()["beta"] == 0.01
    assert model.feature_names_in_.tolist() == ["length", "größe"]
    assert model.n_samples_seen_ == 60
    assert model.structures_.count.tolist() == COUNTS
    assert model.predict(pd.DataFrame(POINTS, columns=["length", "größe"])).tolist() == CLUSTERS
    assert model.labels_.tolist() == [0] * 30 + [1] * 30
    assert model.partial_fit(
        pd.DataFrame(POINTS, columns=["length", "größe"])
    ).n_samples_seen_ == 60 + len(POINTS)


@pytest.mark.parametrize("clock", [1e20, -1e300, 7.0])
def test_a_time_stamp_of_any_size_is_read_from_a_file_of_version_4(clock):
    state = {"mode": "automatic", "timed": True, "clock": clock, "clusters": 1, "seen": 3}
    arrays = {"mass": np.ones(2), "origin": np.zeros(3), "cluster": np.zeros(2, dtype=np.int64)}
    header, arrays = as_current_version(Content({"state": state}, arrays), 4)
    assert header["state"]["window_began"] == header["state"]["drift_clock"] == 0.0
    assert header["state"]["clock"] == clock
    assert arrays["time"].tolist() == [0.0, 0.0]
