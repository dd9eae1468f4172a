"""The pages about the format name everything that is in a file, and nothing else."""

import re

import numpy as np
import pytest

from spclust import SPC, SPCOutlierDetector
from spclust.datasets import make_drifting
from tests.saving.common import ROOT
from tests.saving.crafted_models import KINDS, arrays_in, model_of

PAGES = ("file_format", "file_format_paper", "file_format_automatic")
PAGE = "\n".join((ROOT / f"docs/reference/{page}.md").read_text("utf-8") for page in PAGES)
LABELS = {"nearest", "nlt", "first"}


def section(title):
    return re.search(rf"^#+ {title}$(.+?)(?=^## |^### |\Z)", PAGE, re.M | re.S)[1]


def listed(title):
    """What the first columns of the tables in a section name."""
    cells = re.findall(r"^\| (`.+?) \|", section(title), re.M)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def check_shapes(title, arrays, **lengths):
    """Compare shapes with those that the page gives; returns how many it gives."""
    checked = 0
    for name, text in re.findall(r"^\| `(\w+)` \| (\(.+?\)) \|", section(title), re.M):
        if name in arrays and not re.search("[a-z]{3}", text):
            shape = eval(text.replace("k (k - 1)", "k * (k - 1)"), lengths)
            assert arrays[name].shape == tuple(map(int, shape)), name
            checked += 1
    return checked


def test_the_page_lists_all_keys_of_the_header():
    X, _, _ = make_drifting(600, n_events=1, seed=1)
    header, _ = arrays_in(SPC(10, track_every=20, scale=1.0).fit(X).to_bytes())
    assert sorted(listed("The header")) == sorted([*header, "prepared_by_command", "detector"])
    assert sorted(listed("The tracker")) == sorted(header["tracker"])
    detector, _ = arrays_in(SPCOutlierDetector().fit(X).to_bytes())
    assert set(detector) - set(header) == {"detector"}
    assert all(f"`{key}`" in section("The header") for key in detector["detector"])
    automatic, _ = arrays_in(SPC(10, track_every=20).fit(X).to_bytes())
    assert sorted(listed("The tracker of the automatic mode")) == sorted(automatic["tracker"])
    for key in header["tracker"]["events"][0]:
        assert f"`{key}`" in PAGE


@pytest.mark.parametrize(
    ("parameters", "title"), [({"scale": 1.0}, "Scalars"), ({}, "Scalars of the automatic mode")]
)
def test_the_page_lists_all_scalars(parameters, title):
    X, _, _ = make_drifting(200, n_events=1, seed=1)
    header, _ = arrays_in(SPC(10, **parameters).fit(X).to_bytes())
    assert listed("The state") == ["mode"]
    assert sorted(["mode", *listed(title)]) == sorted(header["state"])


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_lists_all_arrays_and_their_shapes(kind):
    header, arrays = arrays_in(model_of(kind, seed=1).to_bytes())
    rows = listed("Arrays")
    names = set(rows) - {"full", "diag", "spherical", "lowrank", "covariance_type"}
    assert len(rows) == len(names) + 4 + rows.count("covariance_type")
    of_rank = set() if kind == "lowrank" else {"rank", "base", "directions"}
    assert set(listed("Labels")) == LABELS
    assert set(arrays) == (names - of_rank) | LABELS
    state = header["state"]
    k, g, d = state["live"], state["grown"], state["n_features"]
    assert check_shapes("Arrays", arrays, k=k, d=d) >= 13
    for name, array in arrays.items():
        integer = "i" if name in ("id", "rank") else "u" if name in ("nearest", "first") else "f"
        assert array.dtype.kind == integer, name
    covariance = re.search(
        rf"^\| `{state['covariance_type']}` \| (\(.+?\)) \| (\(.+\))", PAGE, re.M
    )
    if kind != "lowrank":
        text = [one.replace("d (d + 1)", "d * (d + 1)") for one in covariance.groups()]
        expected = [eval(one, {"g": g, "d": d}) for one in text]
        assert arrays["covariance"].shape == tuple(expected[0])
        assert arrays["factor"].shape == tuple(map(int, expected[1]))


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_the_page_lists_all_arrays_of_the_automatic_mode(covariance_type):
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = SPC(20, half_life=50, covariance_type=covariance_type).fit(X)
    header, arrays = arrays_in(model.to_bytes())
    state, title = header["state"], "Arrays of the automatic mode"
    assert set(arrays) == set(listed(title)) | LABELS
    k, d = state["live"], state["n_features"]
    r = 1 if covariance_type == "diag" else d
    assert state["diagonal"] is (r == 1)
    lengths = {"k": k, "d": d, "r": r, "c": state["clusters"], "g": state["groups"]}
    assert check_shapes(title, arrays, **lengths) == len(listed(title))
    for name, array in arrays.items():
        signed = name in ("id", "cluster", "group") or "label" in name
        integer = "i" if signed else "u" if name in ("nearest", "first") else "f"
        assert array.dtype.kind == integer, name
