"""The driver of a cluster of two executors, which somebody else kills, or executors of it.

A program: `python -m tests.spark.killed_driver points files_a_trigger folder`, where `points` is a
folder of Parquet files. It learns what its standard input asks for, one line of JSON each, and says
"> begun" and then "> " and what there is to tell. Everything else on its output is the engine's.
"""

import json
import os
import sys
import time
from pathlib import Path

from benchmarks.spark_cluster import cluster

from spclust import SPC
from spclust.spark import fit, fit_stream
from tests.spark.common import QUICK_JAVA

# Nothing is forgotten: what the structures hold adds up to what has come.
MODEL = SPC(40, gamma=0.0, beta=0.0, w_min=0.0, scale=1.0, eps=0.95)
FEATURES = ["id", "a", "b", "c", "d"]
SHARDS = 4
# Else the number of partitions follows the number of executors, one of which may be missing.
SETTINGS = {
    "spark.sql.files.minPartitionNum": "8",
    "spark.sql.shuffle.partitions": "4",
    "spark.executor.extraJavaOptions": QUICK_JAVA,
}
os.environ["SPARK_SUBMIT_OPTS"] = QUICK_JAVA


def main(points, files_a_trigger, folder):
    with cluster("local-cluster[2,1,1024]", Path(folder), SETTINGS) as spark:
        table = spark.read.parquet(points)
        say({"ready": True})
        for line in sys.stdin:
            asked = json.loads(line)
            await_executors(spark)
            print("> begun", flush=True)
            began = time.perf_counter()
            if asked["learn"] == "table":
                spark.sparkContext.setJobGroup(line, "")
                model, group, told = fit(table, FEATURES, MODEL), line, {}
                Path(asked["model"]).write_bytes(model.to_bytes())
            else:
                source = spark.readStream.schema(table.schema)
                stream = source.option("maxFilesPerTrigger", files_a_trigger).parquet(points)
                group, told = learn_stream(stream, asked)
            seconds = time.perf_counter() - began
            say({"seconds": seconds, "lost": tasks_lost(spark, group), **told})


def learn_stream(stream, asked):
    """All of a stream, or until it is stopped in the middle of a trigger."""
    stop = asked.get("stop_after")
    trigger = None if stop else {"availableNow": True}
    query = fit_stream(stream, FEATURES, MODEL, asked["checkpoint"], shards=SHARDS, trigger=trigger)
    if stop:
        commits = Path(asked["checkpoint"]) / "commits"
        while not (commits / str(stop - 1)).exists():
            time.sleep(0.01)
        time.sleep(0.2)
        query.stop()
        return query.runId, {"error": str(query.exception() or "")}
    query.awaitTermination()
    return query.runId, {"triggers": [progress.batchId for progress in query.recentProgress]}


def await_executors(spark):
    """Until there are two: one that was killed takes some seconds to be replaced."""
    while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < 3:  # with the driver
        time.sleep(0.05)


def tasks_lost(spark, group):
    """Attempts that came to nothing, of all tasks of a group of jobs."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    return sum(stage.numFailedTasks for stage in stages if stage)


def say(what):
    print(">", json.dumps(what), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
