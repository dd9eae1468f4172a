"""The code of the pages about Spark and Dask runs as printed."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[2]


def code_of(document, data):
    blocks = re.findall(r"```python\n(.+?)```", (ROOT / document).read_text(), re.S)
    return [block.replace("/data", str(data)) for block in blocks]


@pytest.fixture
def data(tmp_path):
    """3,000 points of three clusters, of two hosts, in two files."""
    (tmp_path / "points").mkdir()
    rng = np.random.default_rng(0)
    for number in range(2):
        centres = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]])[rng.integers(3, size=1500)]
        x, y = (centres + rng.normal(size=(1500, 2))).T
        table = pa.table({"host": rng.choice(["a", "b"], size=1500), "x": x, "y": y})
        pq.write_table(table, tmp_path / "points" / f"{number}.parquet")
    return tmp_path


def test_the_code_of_the_page_about_spark_runs(spark, data):
    names, blocks = {"spark": spark}, code_of("docs/how-to/spark.md", data)
    assert len(blocks) == 4
    for block in blocks:
        exec(block, names)

    for model in (names["model"], names["newest"], names["fitted"].stages[-1].spc):
        assert model.n_samples_seen_ == 3000
        assert model.n_clusters_ == 3
    assert names["labelled"].isStreaming
    assert 0 < names["one"].n_samples_seen_ < 3000
    kept = names["read_models_by_key"](spark, names["checkpoint"])
    assert sum(row["points"] for row in kept.collect()) == 3000


def test_the_code_about_dask_runs(data):
    pytest.importorskip("dask.dataframe")
    (code,) = code_of("docs/how-to/dask.md", data)
    names = {}
    exec(code, names)
    assert names["model"].n_samples_seen_ == 3000
    assert names["model"].n_clusters_ == 3
