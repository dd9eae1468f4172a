"""A client of Spark Connect that fits and scores a table: python small_driver.py FOLDER."""

import sys
from pathlib import Path

from spclust import SPC
from spclust.spark import fit, predict, use_java
from tests.spark.common import gaussians, session_in, table_of, write_parquet

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    use_java()
    session = session_in(folder, "connect")
    X, _ = gaussians(600)
    write_parquet(folder / "X", X, 3)
    table = table_of(session, folder / "X")
    model = fit(table, ["x0", "x1"], SPC(20))
    rows = predict(table, model).groupBy("cluster").count().collect()
    scored = sum(row["count"] for row in rows)
    session.stop()
    print(f"{model.n_samples_seen_} points, {len(rows)} clusters, {scored} rows scored")
