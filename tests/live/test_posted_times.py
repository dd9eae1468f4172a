"""Posted rows with times: in order, and the same after a kill."""

import json
import signal

import numpy as np

from spclust import SPC
from spclust.cli.checkpoints.checkpoint import CheckpointFile
from tests.command.test_time import stream
from tests.live.common import NDJSON, Served, needs_a_server


@needs_a_server
def test_posted_rows_have_times(tmp_path, quick):
    X, dates = stream(2000)

    def lines(part):
        rows = zip(dates[part], X[part].tolist(), strict=True)
        return "".join(json.dumps({"t": str(t), "x": x, "y": y}) + "\n" for t, (x, y) in rows)

    given = ("--time", "t", "--half-life", "20m", "--checkpoint", tmp_path / "state")
    service = Served(*given, command=quick, log=tmp_path / "log")
    for at in range(0, 1000, 250):
        assert service.post("/learn", lines(slice(at, at + 250)), NDJSON).status == 200
    refused = service.post("/learn", lines(slice(10, 20)), NDJSON)
    assert refused.status == 422
    assert "before that of a batch that was accepted" in refused.error
    back = lines(slice(1001, 1002)) + lines(slice(1000, 1001))
    assert "row 2: column 't', of times, goes back" in service.post("/learn", back, NDJSON).error
    service.end(signal.SIGKILL)
    service = Served(*given, command=quick, log=tmp_path / "log")
    assert service.post("/learn", lines(slice(1000, 2000)), NDJSON).status == 200
    assert service.end() == 0
    model = SPC.from_bytes(CheckpointFile(str(tmp_path / "state" / "checkpoint")).read().model)
    wanted = SPC(half_life=1200.0).partial_fit(X, t=dates)
    assert np.array_equal(model.structures_.mean, wanted.structures_.mean)
    assert model._stream.clock == wanted._stream.clock
