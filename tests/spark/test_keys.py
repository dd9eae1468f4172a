"""A model for each key: of a table, and of a stream, in which models may be forgotten."""

from datetime import timedelta

import numpy as np
import pytest

from spclust import SPC
from spclust.spark import fit_stream, models_by_key, read_models_by_key
from tests.spark.common import gaussians, stream_of, table_of, wait_for, write_parquet

NOW = {"availableNow": True}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Two files of rows, each with the key of one of three hosts."""
    folder = tmp_path_factory.mktemp("keys") / "X"
    X, _ = gaussians(900)
    hosts = np.array(["a", "b", "c c"])[np.random.default_rng(2).integers(3, size=900)]
    write_parquet(folder, X, 2, host=hosts)
    return folder, X, hosts


def model_of_each(rows, key="key"):
    return {row[key]: SPC.from_bytes(bytes(row["model"])) for row in rows}


def test_each_key_of_a_table_has_the_model_of_its_rows(spark, written):
    folder, X, hosts = written
    rows = models_by_key(table_of(spark, folder), "host", ["x0", "x1"], SPC(10)).collect()
    assert {row["host"]: row["points"] for row in rows} == {
        host: np.count_nonzero(hosts == host) for host in set(hosts)
    }
    for host, model in model_of_each(rows, "host").items():
        alone = SPC(10).fit(X[hosts == host])
        np.testing.assert_array_equal(model.structures_.mean, alone.structures_.mean)


def test_each_key_of_a_stream_learns_as_long_as_the_stream_runs(spark, written, tmp_path):
    folder, X, hosts = written
    stream = stream_of(spark, folder)
    query = fit_stream(
        stream, ["x0", "x1"], SPC(10), tmp_path / "ck", key="host", shards=2, trigger=NOW
    )
    query.awaitTermination()
    assert len(query.recentProgress) >= 2
    models = model_of_each(read_models_by_key(spark, tmp_path / "ck").collect())
    for host in ("a", "b", "c c"):
        assert models[host].n_samples_seen_ == np.count_nonzero(hosts == host)
        total = models[host].structures_
        total = (total.count[:, np.newaxis] * total.mean).sum(axis=0)
        np.testing.assert_allclose(total, X[hosts == host].sum(axis=0), rtol=1e-9)


def test_models_are_forgotten_after_their_time(spark, written, tmp_path):
    folder = written[0]
    query = fit_stream(
        stream_of(spark, folder),
        ["x0", "x1"],
        SPC(10),
        tmp_path / "ck",
        key="host",
        time_to_live=timedelta(seconds=1),
        shards=2,
        trigger={"processingTime": "500 milliseconds"},
    )

    def all_came_and_went(progress):
        kept = [each.stateOperators[0].numRowsTotal for each in progress if each.stateOperators]
        return 3 in kept and kept[-1] == 0

    wait_for(query, all_came_and_went)
    assert read_models_by_key(spark, tmp_path / "ck").count() == 0


def test_skipped_rows_are_counted_by_key(spark, tmp_path):
    X, _ = gaussians(60)
    X[:5, 0] = np.nan
    hosts = np.repeat(["bad", "a", "b"], [5, 25, 30])
    write_parquet(tmp_path / "X", X, 1, host=hosts)
    table = table_of(spark, tmp_path / "X")
    rows = models_by_key(table, "host", ["x0", "x1"], SPC(10), bad_rows="skip").collect()
    counts = {row["host"]: (row["points"], row["skipped"], row["model"] is None) for row in rows}
    assert counts == {"bad": (0, 5, True), "a": (25, 0, False), "b": (30, 0, False)}


def test_a_key_that_is_no_column_is_refused(spark, written):
    table = table_of(spark, written[0])
    with pytest.raises(ValueError, match="There is no column 'hosts' for the keys; there are"):
        models_by_key(table, "hosts", ["x0"], SPC())
