import os
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

# A Java that lives for minutes gains nothing from its optimising compiler, from more threads, from
# a small heap, or from proofs that the classes of Spark are sound.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms512m "
QUICK_JAVA += "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"


def gaussians(points, *, d=2, clusters=6, seed=0):
    """Points around well separated centres, and the centre of each."""
    rng = np.random.default_rng(seed)
    centres = 40.0 * rng.permutation(np.array(list(np.ndindex(*[3] * d)), dtype=float))[:clusters]
    labels = rng.integers(clusters, size=points)
    return centres[labels] + rng.normal(size=(points, d)), labels


def names_of(X):
    return [f"x{column}" for column in range(X.shape[1])]


def framed(X):
    """X with the names of its columns, as models of tables know them."""
    return pd.DataFrame(X, columns=names_of(X))


def write_parquet(folder, X, files, **more):
    """X as files of about the same length; a stream reads them in the order of their names."""
    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(np.array_split(np.arange(len(X)), files)):
        columns = dict(zip(names_of(X), X[rows].T, strict=True))
        columns |= {name: np.asarray(values)[rows] for name, values in more.items()}
        pq.write_table(pa.table(columns), folder / f"{number:03}.parquet")
        os.utime(folder / f"{number:03}.parquet", (1e9 + number, 1e9 + number))


def table_of(spark, folder):
    return spark.read.parquet(str(folder))


def stream_of(spark, folder, files_per_trigger=1):
    schema = table_of(spark, folder).schema
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", files_per_trigger)
    return reader.parquet(str(folder))


def same_grouping(ours, theirs):
    pairs = set(zip(ours, theirs, strict=True))
    return len(pairs) == len(set(ours)) == len(set(theirs))


def session_in(folder, master, python=sys.executable):
    """A Spark session that writes nothing outside of a folder, and listens to this machine only."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = str(python)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_SUBMIT_OPTS"] = QUICK_JAVA
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": folder / "local",
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.sql.shuffle.partitions": "4",
    }
    builder = SparkSession.builder
    builder = builder.remote("local[1]") if master == "connect" else builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    return builder.getOrCreate()


def wait_for(query, done, seconds=120):
    """Wait until something is true of the progress of a running query, a list, and stop it."""
    deadline = time.monotonic() + seconds
    try:
        while not done(query.recentProgress):
            assert query.exception() is None
            assert time.monotonic() < deadline, query.lastProgress
            query.awaitTermination(0.2)
    finally:
        query.stop()
