"""`spclust compare`: what has changed between two models."""

import json
import os
import time
from collections import Counter

import numpy as np
import pytest

from spclust import SPC
from spclust.datasets import make_drifting
from spclust.model_comparison import compare, is_one_stream
from spclust.prepared_model import Preparation, PreparedModel
from tests.command.common import csv_file, run
from tests.command.drifts import KINDS, PAPER, pairs

CENTRES = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0], [30.0, 30.0], [60.0, 60.0]])


def model(clusters, rows=2000, seed=0, columns=("x", "y"), weights=None, **parameters):
    rng = np.random.default_rng(seed)
    of = rng.choice(len(clusters), rows, p=weights)
    X = np.asarray(clusters)[of] + rng.normal(size=(rows, 2))
    return PreparedModel(SPC(**parameters).partial_fit(X), Preparation(columns))


def kinds(found):
    return Counter(change.kind for change in found.changes if change.kind != "same")


@pytest.mark.parametrize(
    ("parameters", "seeds", "least"),
    [({"half_life": 500}, (160, 303), 0.99), (PAPER, (10, 11), 0.9)],
)
def test_changes_between_moments_of_a_drifting_stream_are_found(parameters, seeds, least):
    """All pairs of moments. With seed 303 a cluster is born near one that has died."""
    right, missed, wrong = Counter(), Counter(), Counter()
    for _, _, found, true in pairs(seeds, **parameters):
        right += found & true
        missed += true - found
        wrong += found - true
    assert set(right) == set(KINDS)
    total = right.total()
    assert total > 200
    assert 2 * total / (2 * total + missed.total() + wrong.total()) >= least


@pytest.mark.parametrize("parameters", [{}, {"scale": 2.0}])
def test_models_of_different_streams_are_compared_by_overlap(parameters):
    old = model(CENTRES[:3], **parameters)
    assert compare(old, model(CENTRES[:3], seed=1, **parameters)).by == "overlap"
    assert not kinds(compare(old, model(CENTRES[:3], seed=1, **parameters)))
    assert kinds(compare(old, model(CENTRES[:4], seed=1, **parameters)))["born"] == 1
    assert kinds(compare(old, model(CENTRES[:2], seed=1, **parameters)))["gone"] == 1
    far = [*CENTRES[:2], CENTRES[4]]
    assert kinds(compare(old, model(far, seed=1, **parameters))) == {"gone": 1, "born": 1}
    heavy = compare(old, model(CENTRES[:3], seed=1, weights=[0.8, 0.1, 0.1], **parameters))
    assert kinds(heavy) == {"grown": 1, "shrunk": 2}
    if parameters:
        return  # there deviations contain the scale
    shifted = CENTRES[:3] + np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 0.0]])
    (moved,) = [
        change
        for change in compare(old, model(shifted, seed=1, **parameters)).changes
        if change.kind == "moved"
    ]
    assert moved.centre_before == pytest.approx(CENTRES[1], abs=0.5)
    assert moved.centre_after == pytest.approx(shifted[1], abs=0.5)


def test_merged_and_split_by_overlap():
    apart = model([[0.0, 0.0], [9.0, 0.0], [40.0, 0.0]])
    line = np.random.default_rng(0).uniform([-2.0, -1.0], [11.0, 1.0], (2000, 2))
    other = np.random.default_rng(1).normal([40.0, 0.0], 1.0, (1000, 2))
    X = np.random.default_rng(2).permutation(np.concatenate([line, other]))
    together = PreparedModel(SPC(n_clusters=2).partial_fit(X), Preparation(("x", "y")))
    assert kinds(compare(apart, together))["merged"] == 1
    assert kinds(compare(together, apart))["split"] == 1


def test_one_stream_is_recognised_with_and_without_events():
    X, _, _ = make_drifting(4000, seed=1)
    for tracked in (False, True):
        spc = SPC(half_life=300)
        learn = (lambda rows, spc=spc: list(spc.watch([rows]))) if tracked else spc.partial_fit
        learn(X[:2000])
        old = PreparedModel(SPC.from_bytes(spc.to_bytes()), Preparation(("x", "y")))
        learn(X[2000:2100])
        new = PreparedModel(spc, Preparation(("x", "y")))
        assert is_one_stream(old, new)
        assert not is_one_stream(new, old)
        assert compare(old, new).by == ("events" if tracked else "labels")
        assert not is_one_stream(model(CENTRES[:3], half_life=300), new)


def test_the_command_tells_the_same_as_a_table_and_as_json(tmp_path):
    old, new = tmp_path / "old.spc", tmp_path / "new.spc"
    model(CENTRES[:3]).save(old)
    model(CENTRES[:4], seed=1).save(new)
    shown = run("compare", old, new)
    told = "1 born, 3 same (by overlap, as nothing shows that they are of one stream)"
    assert told in " ".join(shown.stdout.split())
    assert "save models with --events FILE to have them all" in shown.stderr
    found = json.loads(run("compare", old, new, "--json").stdout)
    (born,) = [change for change in found["changes"] if change["change"] == "born"]
    assert born["centre"][0] is None
    assert born["centre"][1]["x"] == pytest.approx(30.0, abs=0.5)
    assert found["rows"] == [2000, 2000]


def test_standardised_models_are_compared_in_the_units_of_the_data(tmp_path):
    data = csv_file(tmp_path / "a.csv", 3000)
    for name, more in (("a.spc", ()), ("b.spc", ("--standardise", "--warmup", 100))):
        run("cluster", data, "-c", "x,y", "--save", tmp_path / name, "-q", *more)
    found = json.loads(run("compare", tmp_path / "a.spc", tmp_path / "b.spc", "--json").stdout)
    assert {change["change"] for change in found["changes"]} == {"same"}


def test_models_of_a_directory_by_time(tmp_path):
    for days, clusters in ((3, 2), (2, 3), (0.5, 4), (0, 4)):
        path = tmp_path / f"{clusters}-{days}.spc"
        model(CENTRES[:clusters]).save(path)
        os.utime(path, (time.time() - 86400 * days,) * 2)

    def old(*given):
        found = json.loads(run("compare", tmp_path, *given, "--json").stdout)
        return os.path.basename(found["models"][0]), found["changes"]

    assert old()[0] == "4-0.5.spc"
    name, changes = old("--since", "1d")
    assert name == "3-2.spc"
    assert sum(change["change"] == "born" for change in changes) == 1
    before = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() - 2.5 * 86400))
    assert old("--since", before)[0] == "2-3.spc"
    assert "has no model from before 9d" in run("compare", tmp_path, "--since", "9d", code=1).output
    assert "--since is a time" in run("compare", tmp_path, "--since", "soon", code=2).output


def test_what_cannot_be_compared_is_refused(tmp_path):
    model(CENTRES[:2]).save(tmp_path / "a.spc")
    model(CENTRES[:2], columns=("x", "z")).save(tmp_path / "b.spc")
    said = run("compare", tmp_path / "a.spc", tmp_path / "b.spc", code=1).stderr
    assert said == (
        "spclust: The models have different columns, x, y and x, z: compare models of the same "
        "columns.\n"
    )
    run("compare", tmp_path / "a.spc", code=2)
    (tmp_path / "b.spc").unlink()
    assert "has 1 models" in run("compare", tmp_path, code=1).stderr
