"""The code of the page about Spark and Dask, and of the README, runs as printed."""

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
    names, blocks = {"spark": spark}, code_of("docs/spark.md", data)
    assert len(blocks) == 5
    for block in blocks[:-1]:
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
    from spclust import SPC

    names = {"SPC": SPC}
    exec(code_of("docs/spark.md", data)[-1], names)
    assert names["model"].n_samples_seen_ == 3000
    assert names["model"].n_clusters_ == 3


def test_the_readmes_code_about_spark_runs(spark, data):
    from spclust import SPC

    names = {"spark": spark, "SPC": SPC}
    exec(code_of("README.md", data)[1], names)
    try:
        names["query"].processAllAvailable()
    finally:
        names["query"].stop()
    assert names["model"].n_samples_seen_ == 3000
    assert SPC.load(data / "models" / "newest.spc").n_samples_seen_ == 3000
    assert "cluster" in names["labelled"].columns
