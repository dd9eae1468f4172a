"""The quality benchmark itself: generated sets, scores, failures, and a small run of each job."""

import json

import numpy as np
import pytest
from benchmarks.quality import protocol, tasks
from benchmarks.quality.__main__ import figures, main
from benchmarks.quality.alteration import ALTERATIONS, Labelled, altered
from benchmarks.quality.contestant import Contestant
from benchmarks.quality.loda import Loda
from benchmarks.quality.shapes import OUTLIERS, SHAPES, outliers, shape
from benchmarks.quality.sources import QUICK, files, folder_of, group_of
from benchmarks.quality.streams import KINDS, generated
from benchmarks.quality.summary import VIEWS, grids, markdown, mean, reasons
from sklearn.metrics import roc_auc_score

MEET = {"crossing", "merging_splitting"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 20])
def test_generated_streams_are_separate_and_the_same_each_time(kind, d):
    stream = generated(kind, d, 3000, seed=3)

    np.testing.assert_array_equal(stream.X, generated(kind, d, 3000, seed=3).X)
    assert not np.array_equal(stream.X, generated(kind, d, 3000, seed=4).X)
    assert stream.X.shape == stream.centre.shape == (3000, d)
    known = stream.source >= 0
    gaps = np.linalg.norm(stream.X - stream.centre, axis=1) / stream.sd
    assert gaps[known].max() < 6 + np.sqrt(d)
    for first in () if kind in MEET else range(0, 3000, 500):  # clusters of neighbouring rows
        rows = slice(first, first + 20)
        centres, y = stream.centre[rows][known[rows]], stream.y[rows][known[rows]]
        apart = np.linalg.norm(centres[:, None] - centres, axis=2)[y[:, None] != y]
        assert (apart > 6 * stream.sd[first]).all()


def test_clusters_that_merge_are_one_while_they_are_near():
    stream = generated("merging_splitting", 2, 5000, seed=0)
    assert set(stream.y[:500]) == set(stream.y[-500:]) == {0, 1, 2, 3}
    assert set(stream.y[2300:2700]) == {0, 2, 3}
    assert 0 < (stream.y == -1).mean() < 0.15


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_have_rows_and_labels(name):
    X, y = shape(name, 300, seed=1)
    assert len(X) == len(y) == 300
    assert len(np.unique(y)) == 1 if name.startswith("one") else len(np.unique(y)) > 1


@pytest.mark.parametrize("kind", OUTLIERS)
def test_generated_outliers_are_far_from_their_neighbours(kind):
    X, y = outliers(kind, 5, 1000, seed=0)
    assert y.sum() == 20
    usual = X[y == 0]
    gap = [np.linalg.norm(usual - x, axis=1).min() for x in X[y == 1]]
    assert min(gap) > 0.3


def test_alterations_add_rows_that_are_not_scored():
    data = Labelled(*generated("stationary", 2, 1000, seed=0)[:2])
    found = {name: altered(data, name, 0) for name in ALTERATIONS}

    assert found["none"] is data
    assert (found["5 % outliers"].y == -1).mean() == pytest.approx(0.05, abs=0.001)
    np.testing.assert_array_equal(found["5 % outliers"].X[found["5 % outliers"].y >= 0], data.X)
    assert (found["glitch"].y == -1).sum() == 1
    assert np.abs(found["glitch"].X).max() > 1e6
    np.testing.assert_array_equal(found["unit 1e-6"].X, data.X * 1e-6)


@pytest.mark.parametrize(
    ("y", "labels", "score"),
    [
        ([0, 0, 1, 1], [5, 5, 2, 2], 1.0),
        ([0, 0, 1, 1, -1], [5, 5, 2, 2, 9], 1.0),
        ([3, 3, 3], [1, 1, 1], 1.0),
        ([3, 3, 3], [1, 1, 2], 0.0),
        ([0, 1], [1, 1], 0.0),
        ([-1, -1], [0, 1], np.nan),
    ],
)
def test_nmi_of_a_batch(y, labels, score):
    assert protocol.nmi(np.array(y), np.array(labels)) == pytest.approx(score, nan_ok=True)


def test_points_outside_are_five_deviations_outside_of_all_that_is_alive():
    stream = generated("regimes", 2, 4000, seed=0)
    points = protocol.outside(stream, 2000, np.random.default_rng(0))
    gaps = np.linalg.norm(points[:, None] - stream.centre[1800:2000], axis=2).min(axis=1)
    assert len(points) == protocol.PROBES
    np.testing.assert_allclose(gaps, 5 + np.sqrt(2))


def test_loda_finds_scattered_outliers():
    X, y = outliers("scattered", 2, 1000, seed=0)
    assert roc_auc_score(y, -Loda().fit(X).score_samples(X)) > 0.85


def test_files_are_grouped_by_name(tmp_path):
    for name in ("mdc_base_01", "mdc_base_02", "souza_x", "new"):
        (tmp_path / "stream").mkdir(exist_ok=True)
        np.savez(tmp_path / "stream" / f"{name}.npz", X=np.ones((9, 2)), y=np.zeros(9))

    one_of_each = QUICK._replace(files=1)
    found = [(one.group, one.name) for one in files(tmp_path, "stream", one_of_each)]
    assert found == [("mdc_base", "mdc_base_01"), ("souza", "souza_x"), ("other", "new")]
    assert group_of("static", "dim032") == "dim"
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        folder_of(tmp_path / "nowhere")


def without(**given):
    raise TypeError("no parameter is called half_life")


def test_a_failure_is_a_cell_and_not_the_end(monkeypatch):
    class Broken:
        def learn(self, X):
            raise ValueError("cannot learn")

    contestants = (
        Contestant("broken", lambda setting: Broken()),
        Contestant("absent", lambda setting: without()),
        Contestant("slow", lambda setting: Slow()),
    )
    monkeypatch.setitem(tasks.CONTESTANTS, "static", contestants)
    size = QUICK._replace(limit=-1.0)
    records = tasks.run(tasks.tasks(["static"], None, size, [0], "moons"), processes=0)

    errors = {one["contestant"]: one["error"] for one in records}
    assert errors["broken"] == "failed: ValueError: cannot learn"
    assert errors["absent"] == "missing: no parameter is called half_life"
    assert errors["slow"] == "failed: TimeoutError: longer than -1 s"
    (grid,) = grids(records)
    assert [row[1] for row in grid.rows] == ["failed", "missing", "failed"]
    assert "cannot learn (1 set)" in reasons(records)[0]
    assert "| broken | failed |" in markdown(records)


class Slow:
    def learn(self, X):
        pass


def test_means_say_of_how_many_sets_they_are():
    good = {"error": None, "values": {"NMI": [0.5, 0.7]}, "seconds": [1.0], "rows": 1000}
    bad = {"error": "failed: no", "values": {}}
    assert mean([good, bad], "NMI").text == "0.600 (1/2)"
    assert mean([good], "range").value == pytest.approx(0.2)
    assert mean([good], "ms/row").value == pytest.approx(1.0)
    assert mean([], "NMI").text == "-"


PATTERN = (
    r"(gaussians 2-D|stationary 2-D|scattered 2-D).*/"
    r"(SPC\(\)|SPCOutlierDetector\(.*\)|k-means.*|HDBSCAN|LODA.*|DenStream)$"
)


def test_a_small_run_of_all_jobs(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SPCLUST_DATA", str(tmp_path))  # no folder
    size = QUICK._replace(rows=600, generated=1400)
    monkeypatch.setattr("benchmarks.quality.__main__.QUICK", size)
    out = tmp_path / "out"
    assert main(["--quick", "--processes", "0", "--only", PATTERN, "--out", str(out)]) == 0

    stored = json.loads((out / "quality.json").read_text())
    scores = {(one["job"], one["contestant"]): one["values"] for one in stored["records"]}
    failed = [one["error"] for one in stored["records"] if one["error"]]
    assert all("half_life" in error for error in failed), failed
    assert scores["static", "HDBSCAN"]["NMI"][0] > 0.5
    assert scores["stream", "SPC()"]["batch"][0] > 0.5
    assert scores["outlier", "SPCOutlierDetector()"]["ROC-AUC"][0] > 0.5
    assert {one["job"] for one in stored["records"]} == set(protocol.PROTOCOLS)
    assert (out / "quality.png").stat().st_size > 10_000
    kept = figures(stored["records"])
    assert kept["static/HDBSCAN/all"] > 0.5
    assert kept["kinds/stationary/SPC()"] > 0.5
    assert {key.partition("/")[0] for key in kept} == {view.key for view in VIEWS}
    assert "| SPC() |" in (out / "quality.md").read_text()
    assert "Streams" in capsys.readouterr().out


def test_a_clusterer_of_a_user_is_beside_the_others(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SPCLUST_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "class Signs:\n"
        "    def partial_fit(self, X): ...\n"
        "    def predict(self, X): return (X[:, 0] > 0).astype(int)\n"
    )
    texts = ("mine.py:Signs", "sklearn.cluster:Birch(n_clusters=k)", "mine.py:Sings")
    given = [word for text in texts for word in ("--contestant", text)]
    only = ("--only", r"gaussians 2-D.*/(Signs|Birch|SPC\(\))$", "--jobs", "static,outlier")
    size = QUICK._replace(rows=400)
    monkeypatch.setattr("benchmarks.quality.__main__.QUICK", size)
    assert main(["--quick", "--processes", "0", *only, *given, "--out", "out"]) == 1

    records = json.loads((tmp_path / "out" / "quality.json").read_text())["records"]
    assert {one["contestant"] for one in records} == {"SPC()", "Signs", "Birch"}
    assert {one["job"] for one in records} == {"static"}
    birch = next(one for one in records if one["contestant"] == "Birch")
    assert birch["values"]["NMI"][0] > 0.5
    assert birch["parameters"]["n_clusters"] > 1
    said = capsys.readouterr().out
    assert "mine.py has no Sings" in said
    assert "sklearn.cluster:Birch(n_clusters=k)" in (tmp_path / "out" / "quality.md").read_text()


def test_an_unknown_job_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--jobs", "nothing"])
    assert "no job is called nothing" in capsys.readouterr().err
