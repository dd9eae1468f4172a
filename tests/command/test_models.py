"""Models that the command saves: predict, info, plot, merge, and Python's own SPC."""

import inspect
import json
import subprocess
import sys

import numpy as np
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from spclust import SPC
from spclust.parameters import DEFAULTS
from tests.command.common import ENVIRONMENT, blobs, csv_file, run, summary, table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv_file(tmp_path / "a.csv")
    return tmp_path


def labels_in(path):
    return pacsv.read_csv(path)["label"].to_pylist()


def test_options_are_the_parameters_of_spc_with_their_defaults():
    signature = inspect.signature(SPC).parameters
    assert {name: each.default for name, each in signature.items()} == DEFAULTS


OF_BOTH_MODES = {
    "n_structures": 20, "m": 1.4, "covariance_type": "full", "track_every": 50, "outlier_nlt": 9.0,
    "n_jobs": 2, "n_clusters": 3,
}  # fmt: skip
OF_THE_PAPER = {
    "gamma": 0.001, "beta": 0.002, "w_min": 0.02, "nlt_max": 2.5, "eps": 0.9, "min_samples": 2,
    "scale": 1.5, "max_rank": 3,
}  # fmt: skip


@pytest.mark.parametrize("of_mode", [OF_THE_PAPER, {"half_life": 500.0}], ids=["paper", "auto"])
def test_every_parameter_reaches_the_model(folder, of_mode):
    values = {**OF_BOTH_MODES, **of_mode}
    given = [w for name, v in values.items() for w in (f"--{name.replace('_', '-')}", str(v))]
    run("cluster", "a.csv", *given, "--save", "m.spc", "-q")
    assert SPC.load("m.spc").get_params() == {**DEFAULTS, **values}
    assert {*OF_BOTH_MODES, *OF_THE_PAPER, "half_life"} == set(DEFAULTS)


def test_a_half_life_is_that_of_the_estimator(folder):
    run("cluster", "a.csv", "--half-life", 500, "--save", "m.spc", "-o", "l.csv", "-q")
    X, _ = blobs()
    model = SPC(half_life=500.0).partial_fit(X)
    assert labels_in("l.csv") == model.labels_.tolist()
    loaded = SPC.load("m.spc")
    assert np.array_equal(loaded.structures_.mean, model.structures_.mean)
    assert np.array_equal(loaded.structures_.weight, model.structures_.weight)
    assert json.loads(run("info", "m.spc", "--json").stdout)["parameters"]["half_life"] == 500.0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--half-life", 0), "half_life of SPC must be None"),
        (("--half-life", 500, "--scale", 1.0), "of SPC belongs to the automatic mode"),
        (("--beta", 0.1), "beta=0.1 of SPC belongs to the mode of the paper"),
    ],
)
def test_parameters_of_the_other_mode_are_refused(folder, options, sentence):
    result = run("cluster", "a.csv", *options, "--save", "m.spc", "-q", code=2)
    assert sentence in " ".join(result.stderr.replace("│", "").split())
    assert not (folder / "m.spc").exists()


def test_predict_finds_columns_by_name_and_scales_as_the_model_was_learnt(folder):
    run("cluster", "a.csv", "--standardise", "--scale", 0.2, "--save", "m.spc", "-o", "l.csv", "-q")
    X, _ = blobs()
    model = SPC(scale=0.2).partial_fit((X - X.mean(axis=0)) / X.std(axis=0))
    assert labels_in("l.csv") == model.labels_.tolist()
    pq.write_table(table().select(["class", "y", "name", "x"]), "swapped.parquet")
    run("predict", "m.spc", "swapped.parquet", "-o", "p.csv", "--keep", "name", "--typicality")
    assert labels_in("p.csv") == labels_in("l.csv")
    told = summary("predict", "m.spc", "a.csv", "-o", "q.csv", "--label", "class")
    assert told["rows"] == 3000
    assert told["scores"]["purity"] > 0.99
    out = run("predict", "m.spc", "a.csv").stdout
    assert out.splitlines()[:2] == ["row,label", f"1,{labels_in('l.csv')[0]}"]


def test_the_first_rows_decide_about_standardisation_and_nothing_moves_after_them(folder):
    given = ("--standardise", "--warmup", 500, "--batch", 100, "--scale", 0.2)
    run("cluster", "a.csv", *given, "--save", "m.spc", "-q")
    first = blobs()[0][:500]
    told = json.loads(run("info", "m.spc", "--json").stdout)
    assert told["centre"] == first.mean(axis=0).tolist()
    assert told["spread"] == first.std(axis=0).tolist()
    centres = np.array([[c["centre"]["x"], c["centre"]["y"]] for c in told["clusters"]])
    nearest = np.linalg.norm(centres[:, None] - blobs()[0], axis=2).min(axis=1)
    assert (nearest < 1.0).all()  # clusters are told in the units of the data


def test_a_model_saved_in_python_without_names(folder):
    X, _ = blobs()
    model = SPC(scale=1.5).fit(X)
    model.save("python.spc")
    run("predict", "python.spc", "a.csv", "-o", "p.csv")
    assert labels_in("p.csv") == model.predict(X).tolist()
    run("merge", "python.spc", "python.spc", "-o", "merged.spc")
    assert SPC.load("merged.spc").n_samples_seen_ == 6000
    said = run("predict", "python.spc", "a.csv", "-c", "x", code=1).stderr
    assert "has 2 features, but 1 columns are taken, x" in said


def test_predict_refuses_what_lacks_a_column(folder):
    run("cluster", "a.csv", "--save", "m.spc", "-q")
    (folder / "b.csv").write_text("x,z\n1,2\n")
    assert (
        "no column 'y': its columns are 'x', 'z'" in run("predict", "m.spc", "b.csv", code=1).stderr
    )


def test_labels_before_and_after_learning(folder):
    X, _ = blobs()
    model, expected = SPC(), []
    for batch in (X[:1000], X[1000:2000], X[2000:]):
        known = hasattr(model, "_stream")
        before = model.predict(batch) if known else None
        model.partial_fit(batch)
        expected += (model.labels_ if before is None else before).tolist()
    run("cluster", "a.csv", "--batch", 1000, "--prequential", "-o", "l.csv", "-q")
    assert labels_in("l.csv") == expected


def test_typicality_and_outliers(folder):
    with open("a.csv", "a") as file:
        file.write('500.0,500.0,"far","c9"\n')
    run("cluster", "a.csv", "--save", "m.spc", "-q")
    with open("b.csv", "w") as file:
        file.write("x,y\n-300,700\n")
    asked = ("--typicality", "--outlier")
    columns = pacsv.read_csv(_written("predict", "m.spc", "b.csv", *asked))
    assert columns["outlier"].to_pylist() == [True]
    assert columns["typicality"][0].as_py() < 0.05
    run("cluster", "a.csv", "--save", "n.spc", "--outlier-nlt", 3, "-q")
    assert pacsv.read_csv(_written("predict", "n.spc", "b.csv"))["label"].to_pylist() == [-1]


def _written(*arguments):
    run(*arguments, "-o", "written.csv")
    return "written.csv"


def test_info_tells_clusters_structures_parameters_and_what_looks_wrong(folder):
    run("cluster", "a.csv", "--scale", 0.01, "--save", "m.spc", "-q")
    shown = run("info", "m.spc", "--structures").stdout
    assert "3,000 rows" in shown
    assert "scale=0.01" in shown
    assert "note: " in shown
    told = json.loads(run("info", "m.spc", "--json").stdout)
    assert told["rows"] == 3000
    assert told["columns"] == ["x", "y"]
    assert len(told["structures"]) == 30
    assert sum(each["structures"] for each in told["clusters"]) == 30


def test_figures(folder):
    run(
        "cluster",
        "a.csv",
        "--standardise",
        "--scale",
        0.2,
        "--save",
        "m.spc",
        "--plot",
        "a.png",
        "-q",
    )
    run("plot", "m.spc", "-o", "b.svg", "--points", "a.csv")
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (folder / "b.svg").read_bytes()
    csv_file("c.csv", d=3)
    run("cluster", "c.csv", "--save", "c.spc", "-q")
    drawn = set()
    for chosen in ([], ["--features", "x,y"], ["--features", "y", "--features", "x"]):
        run("plot", "c.spc", "-o", "c.png", "--points", "c.csv", *chosen)
        drawn.add((folder / "c.png").read_bytes())
    assert len(drawn) == 3
    for chosen, said in (("x", "needs two columns"), ("x,nobody", "no column 'nobody'")):
        assert said in run("plot", "c.spc", "--features", chosen, code=1).stderr
    csv_file("d.csv", d=1)
    run("cluster", "d.csv", "--save", "d.spc", "--plot", "d.png", "-q")
    assert (folder / "d.png").read_bytes().startswith(b"\x89PNG")


def test_bad_rows_among_the_points_of_a_figure(folder):
    """They stop it, or are left out, but the good rows before and after them are drawn."""
    run("cluster", "a.csv", "--save", "m.spc", "-q")
    lines = (folder / "a.csv").read_text().splitlines()[:5]
    (folder / "b.csv").write_text("\n".join([*lines, "red,1,n,c0", "3,4,n,c0"]) + "\n")
    assert "'b.csv', row 5: column 'x'" in run("plot", "m.spc", "--points", "b.csv", code=1).stderr
    assert not (folder / "model.png").exists()
    (folder / "c.csv").write_text("\n".join([*lines, "3,4,n,c0"]) + "\n")
    drawn = []
    for given in (("b.csv", "--on-bad-row", "skip"), ("c.csv",)):
        run("plot", "m.spc", "-o", "f.png", "--points", *given)
        drawn.append((folder / "f.png").read_bytes())
    run("plot", "m.spc", "-o", "f.png")
    assert drawn[0] == drawn[1] != (folder / "f.png").read_bytes()


def test_the_last_rows_are_the_points_of_a_figure(folder):
    """A model that forgets is one of the last rows."""
    run("cluster", "a.csv", "--save", "m.spc", "-q")
    header, *lines = (folder / "a.csv").read_text().splitlines()
    drawn = []
    for name, rows in (("last.csv", lines[-7:]), ("first.csv", lines[:7])):
        (folder / name).write_text("\n".join([header, *rows]) + "\n")
        run("plot", "m.spc", "-o", "f.png", "--points", name)
        drawn.append((folder / "f.png").read_bytes())
    run("plot", "m.spc", "-o", "f.png", "--points", "a.csv", "--most", 7)
    assert drawn[1] != drawn[0] == (folder / "f.png").read_bytes()


def test_shards_are_merged(folder):
    lines = (folder / "a.csv").read_text().splitlines(keepends=True)
    for i in range(3):
        part = lines[1 + 1000 * i : 1001 + 1000 * i]
        (folder / f"{i}.csv").write_text(lines[0] + "".join(part))
        run("cluster", f"{i}.csv", "--scale", 1.5, "--save", f"{i}.spc", "-q")
    run("merge", "0.spc", "1.spc", "2.spc", "-o", "all.spc")
    assert SPC.load("all.spc").n_samples_seen_ == 3000
    told = summary("predict", "all.spc", "a.csv", "-o", "l.csv", "--label", "class")
    assert told["scores"]["purity"] > 0.99
    run("cluster", "0.csv", "--scale", 1.5, "--standardise", "--save", "s.spc", "-q")
    assert (
        "standardised in different ways"
        in run("merge", "0.spc", "s.spc", "-o", "no.spc", code=1).stderr
    )
    run("cluster", "0.csv", "--scale", 1.5, "-c", "y,x", "--save", "o.spc", "-q")
    assert "columns y, x" in run("merge", "0.spc", "o.spc", "-o", "no.spc", code=1).stderr
    assert not (folder / "no.spc").exists()


def test_events_need_a_half_life_alone_and_have_the_labels_of_rows(folder):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=2500) * (np.arange(2500) > 1200) + rng.integers(2, size=2500)
    rows = 30.0 * np.column_stack([y % 2, y // 2]) + rng.normal(size=(2500, 2))
    np.savetxt("b.csv", rows, delimiter=",", header="x0,x1", comments="")
    files = ("--events", "e.ndjson", "--out", "l.csv", "--batch", "500")
    summary("cluster", "b.csv", "--half-life", "500", *files)
    events = [json.loads(line) for line in (folder / "e.ndjson").read_text().splitlines()]
    born = {label for event in events if event["event"] == "birth" for label in event["after"]}
    assert len(born) == 4
    assert set(labels_in("l.csv")[-500:]) - {-1} == born
    shown = run("watch", "b.csv", "--half-life", "500").stdout.splitlines()
    assert sum("birth" in line for line in shown) == 4


def test_events_are_written_as_they_happen(folder):
    run("generate", "drifting", "--rows", 4000, "-o", "d.csv")
    given = ("--label", "class", "--scale", 1.5, "--beta", 0.02, "--track-every", 25)
    told = summary("cluster", "d.csv", *given, "--events", "e.ndjson")
    events = [json.loads(line) for line in (folder / "e.ndjson").read_text().splitlines()]
    assert told["events"] == len(events) > 0
    assert events[0]["event"] == "birth"
    assert set(events[0]["centre"]) == {"x0", "x1"}
    shown = run("watch", "d.csv", *given[2:], "-c", "x0,x1").stdout.splitlines()
    assert len(shown) == len(events)
    assert "birth" in shown[0]


@pytest.mark.parametrize("kind", ["blobs", "drifting", "sine"])
def test_generated_tables(kind, folder):
    run("generate", kind, "--rows", 3000, "-o", "g.parquet", "--seed", 1)
    run("generate", kind, "--rows", 3000, "-o", "h.parquet", "--seed", 1)
    made = pq.read_table("g.parquet")
    assert made.column_names == ["x0", "x1", "class"]
    assert len(made) == 3000
    assert made.equals(pq.read_table("h.parquet"))


def test_the_small_benchmark(folder):
    found = json.loads(run("bench", "--seconds", 0.05, "--json").stdout)["results"]
    assert all(each["rows_learnt_per_second"] > 0 for each in found)
    assert "rows learnt per second" in run("bench", "--seconds", 0.05).stdout


def test_help_is_quick_and_shows_examples_and_exit_codes():
    shown = run("cluster", "--help").stdout
    assert "Examples" in shown
    assert "Exit codes" in shown
    assert "--install-completion" in run("--help").stdout
    for command in ("predict", "info", "plot", "merge", "watch", "generate"):
        assert "Examples" in run(command, "--help").stdout
    heavy = ("sklearn", "numba", "scipy", "pyarrow", "pandas", "matplotlib")
    code = (
        "import sys; from spclust.cli import app\n"
        "try: app(['cluster', '--help'])\n"
        f"finally: print([m for m in {heavy} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.stderr == "[]\n"
