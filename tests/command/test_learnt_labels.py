"""Labels, typicality and outliers of rows that were just learnt, by a model that forgets."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from tests.command.common import run

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
