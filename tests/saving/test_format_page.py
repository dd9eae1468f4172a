"""The page about the format names everything that is in a file, and nothing else."""

import re

import pytest

from spclust import SPC
from spclust.datasets import make_drifting
from tests.saving.common import ROOT
from tests.saving.crafted_models import KINDS, arrays_in, model_of

PAGE = (ROOT / "docs" / "saving.md").read_text("utf-8")


def listed(title):
    """What the first columns of the tables in a section name."""
    section = re.search(rf"^#+ {title}$(.+?)(?=^## |^### |\Z)", PAGE, re.M | re.S)[1]
    cells = re.findall(r"^\| (`.+?) \|", section, re.M)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def shapes(name, k, g, d):
    """The shapes that the page gives an array."""
    text = re.search(rf"^\| `{name}` \| (.+?) \|", PAGE, re.M)[1]
    if text == "see below":
        return None
    text = text.replace("k (k - 1)", "k * (k - 1)")
    return eval(text, {"k": k, "g": g, "d": d}) if "(k" in text or "(d" in text else None


def test_the_page_lists_all_scalars_and_keys_of_the_header():
    X, _, _ = make_drifting(600, n_events=1, seed=1)
    header, _ = arrays_in(SPC(10, track_every=20, scale=1.0).fit(X).to_bytes())
    assert sorted(listed("Scalars")) == sorted(header["state"])
    assert sorted(listed("The header")) == sorted([*header, "prepared_by_command"])
    assert sorted(listed("The tracker")) == sorted(header["tracker"])
    for key in header["tracker"]["events"][0]:
        assert f"`{key}`" in PAGE


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_lists_all_arrays_and_their_shapes(kind):
    model = model_of(kind, seed=2)
    header, arrays = arrays_in(model.to_bytes())
    rows = listed("Arrays")
    names = set(rows) - {"full", "diag", "spherical", "lowrank", "covariance_type"}
    assert len(rows) == len(names) + 4 + rows.count("covariance_type")
    of_rank = {"rank", "base", "directions"}
    assert set(arrays) == names - (set() if kind == "lowrank" else of_rank)
    state = header["state"]
    k, g, d = state["live"], state["grown"], state["n_features"]
    checked = 0
    for name, array in arrays.items():
        shape = shapes(name, k, g, d)
        if shape is not None:
            assert array.shape == tuple(map(int, shape)), name
            checked += 1
        assert array.dtype.kind == ("i" if name in ("id", "cluster", "rank") else "f") or (
            name in ("nearest", "first") and array.dtype.kind == "u"
        )
    assert checked >= 17
    covariance = re.search(
        rf"^\| `{state['covariance_type']}` \| (\(.+?\)) \| (\(.+\))", PAGE, re.M
    )
    if kind != "lowrank":
        text = [one.replace("d (d + 1)", "d * (d + 1)") for one in covariance.groups()]
        expected = [eval(one, {"g": g, "d": d}) for one in text]
        assert arrays["covariance"].shape == tuple(expected[0])
        assert arrays["factor"].shape == tuple(map(int, expected[1]))
