"""Labels, typicality and outliers of rows that were just learnt, by a model that forgets."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from spclust import SPC
from spclust.tables.batches import Batch, PartLimit
from spclust.tables.chunks import Position
from tests.command.common import run, summary

PLACES = np.array([(0.0, 0.0), (9.0, 0.0), (0.0, 9.0), (9.0, 9.0)])


def clusters(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(len(PLACES), size=n)
    return PLACES[y] + rng.normal(size=(n, 2)), y


def written(path, X, y, **columns):
    pacsv.write_csv(pa.table({"x": X[:, 0], "y": X[:, 1], "class": y, **columns}), path)
    return path


def test_typicality_and_outliers_are_those_of_rows_that_move_with_their_clusters(tmp_path):
    X, y = clusters(20_000)
    path = written(tmp_path / "a.csv", X + 0.01 * np.arange(20_000)[:, np.newaxis] * [1, 0], y)
    given = ("-c", "x,y", "--half-life", 500, "--batch", 10_000, "-q")
    for words in (["--outlier-nlt", 3], ["--outlier-nlt", 3, "--prequential"]):
        run("cluster", path, *given, *words, "--typicality", "--outlier", "-o", tmp_path / "l.csv")
        table = pacsv.read_csv(tmp_path / "l.csv")
        outlier, typicality = table["outlier"].to_numpy(), table["typicality"].to_numpy()
        assert np.mean(outlier) < 0.1
        assert np.median(typicality) > 0.85
        if len(words) == 2:
            assert np.array_equal(outlier, table["label"].to_numpy() == -1)


def jump(path, n=5000):
    """All clusters leap at once; a row every 1.2 seconds."""
    X, y = clusters(n, seed=1)
    X[n // 2 :] += 30.0
    times = np.datetime64("2024-03-01") + np.arange(n) * np.timedelta64(1200, "ms")
    return written(path, X, y, when=[str(time) for time in times])


@pytest.mark.parametrize(
    "given",
    [
        ("--half-life", 500),
        ("--half-life", 500, "--standardise", "--warmup", 2000),
        ("--half-life", "10m", "--time", "when"),
    ],
)
def test_rows_are_labelled_before_they_are_forgotten(tmp_path, given):
    """By default; the model is the same."""
    path = jump(tmp_path / "a.csv")
    files = [
        ("--out", tmp_path / f"labels_{name}.csv", "--save", tmp_path / f"{name}.spc")
        for name in "ab"
    ]
    said = summary("cluster", path, "-c", "x,y", "--label", "class", *given, *files[0])
    assert said["scores"]["nmi"] > 0.98
    table = pacsv.read_csv(tmp_path / "labels_a.csv")
    assert np.array_equal(table["row"].to_numpy(), np.arange(1, 5001))
    late = summary(
        *("cluster", path, "-c", "x,y", "--label", "class", *given, *files[1], "--batch", 10_000)
    )
    assert late["scores"]["nmi"] < 0.8
    models = [SPC.load(tmp_path / f"{name}.spc").structures_ for name in "ab"]
    assert np.array_equal(models[0].mean, models[1].mean)
    assert np.array_equal(models[0].weight, models[1].weight)


def batch_of(n, time=None):
    rows = np.arange(n)
    return Batch(np.zeros((n, 1)), rows + 1, pa.table({"k": rows}), [], Position(), 0, time)


def lengths(n, limit, time=None):
    batch = batch_of(n, time)
    parts = [batch.part(rows) for rows in batch.parts(limit)]
    assert np.array_equal(np.concatenate([part.row for part in parts]), batch.row)
    assert pa.concat_tables([part.extra for part in parts]).equals(batch.extra)
    return [len(part.values) for part in parts]


def test_parts_of_a_batch_are_as_long_as_half_of_a_half_life():
    assert lengths(1000, PartLimit()) == [1000]
    assert lengths(1000, PartLimit.of_half_life(500.0, timed=False)) == [250] * 4
    assert lengths(1001, PartLimit.of_half_life(500.0, timed=False)) == [200, 200, 200, 200, 201]
    assert lengths(1000, PartLimit.of_half_life(20.0, timed=False)) == [100] * 10
    assert lengths(1000, PartLimit.of_half_life(np.inf, timed=False)) == [1000]
    time = np.r_[np.arange(300.0), 1e6 + np.arange(100.0), 2e6 + 1e3 * np.arange(230.0)]
    hour = PartLimit.of_half_life(400.0, timed=True)
    assert lengths(630, hour, time) == [201, 100, 100, 100, 100, 29]
    assert lengths(630, PartLimit.of_half_life(1e9, timed=True), time) == [630]
    assert lengths(630, PartLimit.of_half_life(np.inf, timed=True), time) == [630]


@pytest.mark.parametrize("given", [("--half-life", 500), ("--half-life", "10m", "--time", "when")])
def test_a_run_with_short_batches_is_resumed_as_if_it_had_gone_on(tmp_path, given):
    X, y = clusters(30_000, seed=2)
    X[:, 0] += 0.01 * np.arange(30_000)
    times = np.datetime64("2024-03-01") + np.arange(30_000) * np.timedelta64(1200, "ms")
    words = ("-c", "x,y", *given, "--label", "class", "--typicality", "--outlier", "--every", 1)
    found = []
    for name, steps in (("whole", [30_000]), ("resumed", [10_000, 20_000, 30_000])):
        folder = tmp_path / name
        folder.mkdir()
        for n in steps:
            path = written(folder / "a.csv", X[:n], y[:n], when=[str(t) for t in times[:n]])
            out = ("--out", folder / "l.csv", "--events", folder / "e.ndjson")
            said = summary("cluster", path, *words, *out, "--checkpoint", folder / "run.ck")
        found.append([(folder / each).read_bytes() for each in ("l.csv", "e.ndjson")])
        found[-1].append(said["scores"])
    assert found[0][:2] == found[1][:2]
    assert found[0][2] == pytest.approx(found[1][2])
