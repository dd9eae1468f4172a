"""A service that is killed while it is posted to: every batch that was sent counts once.

Three kills belong to the suite: `SPCLUST_SERVICE_KILLS=50 pytest tests/live/test_kills.py` is the
long version.
"""

import http.client
import os
import random
import signal
import sys
import threading
import time

import numpy as np
import pytest

from spclust.cli.checkpoints.checkpoint import CheckpointFile
from spclust.prepared_model import PreparedModel
from tests.live.common import NDJSON, Served, ndjson, needs_a_server, served, stream

pytestmark = [
    needs_a_server,
    pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is not of Windows"),
]

KILLS = int(os.environ.get("SPCLUST_SERVICE_KILLS", "3"))
SEED = int(os.environ.get("SPCLUST_SEED", time.time_ns()))
ROWS = 200  # of a batch
BETWEEN = 50  # batches between two kills, about
BATCHES = BETWEEN * max(KILLS, 1)
OPTIONS = ("--half-life", 2000, "--every", 3000, "--columns", "x,y")


def model_in(folder):
    """The model of the checkpoint."""
    checkpoint = CheckpointFile(str(folder / "checkpoint")).read()
    return PreparedModel.from_bytes(checkpoint.model).model


def require_same(found, expected):
    assert found.n_samples_seen_ == expected.n_samples_seen_ == ROWS * BATCHES
    for name in ("mean", "covariance", "id", "weight"):
        a, b = getattr(found.structures_, name), getattr(expected.structures_, name)
        assert np.array_equal(a, b), name
    require_same_clusters(found.structures_.label, expected.structures_.label)


def require_same_clusters(a, b):
    """The same clusters, whose numbers depend on when they were observed: every quarter second."""
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    assert len(pairs) == len(set(a.tolist())) == len(set(b.tolist())), pairs
    assert all((one == -1) == (other == -1) for one, other in pairs), pairs


@pytest.fixture(scope="module")
def batches():
    rows = stream(ROWS * BATCHES)
    return [ndjson(rows[start : start + ROWS]) for start in range(0, len(rows), ROWS)]


@pytest.fixture(scope="module")
def undisturbed(batches, quick, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    with served(folder, *OPTIONS, "--checkpoint", folder / "state", command=quick) as service:
        connection = service.connection()
        for body in batches:
            assert post(connection, body) == (200, False)
        connection.close()
    return model_in(folder / "state")


def post(connection, body, key=""):
    """Status, and whether the batch was there already."""
    headers = {"Content-Type": NDJSON, **({"Idempotency-Key": key} if key else {})}
    connection.request("POST", "/learn", body, headers)
    answer = connection.getresponse()
    text = answer.read()
    return answer.status, b'"repeated":true' in text


def test_a_client_that_tries_again_is_counted_once(batches, undisturbed, quick, tmp_path):
    """Killed at any moment, also while it starts; the client knows only what it was answered."""
    print(f"seed {SEED}")
    draw = random.Random(SEED)
    moments = {BETWEEN * kill + draw.randrange(BETWEEN // 2) for kill in range(KILLS)}
    options = (*OPTIONS, "--checkpoint", tmp_path / "state")
    service = Served(*options, command=quick, log=tmp_path / "log")
    connection, number, killed, repeated = service.connection(), 0, 0, 0
    while number < BATCHES:
        if number in moments:
            moments.discard(number)
            kill = service.process.send_signal
            threading.Timer(draw.uniform(0.0, 0.02), kill, [signal.SIGKILL]).start()
        try:
            status, again = post(connection, batches[number], key=f"batch {number}")
            assert status == 200
            repeated += again
            number += 1
        except (OSError, http.client.HTTPException):
            connection.close()
            service.process.wait(30)
            killed += 1
            if killed % 3 == 2:  # one that is killed before it has done anything
                early = Served(*options, command=quick, log=tmp_path / f"early {killed}")
                early.process.send_signal(signal.SIGKILL)
                early.process.wait(30)
            service = Served(*options, command=quick, log=tmp_path / f"log {killed}")
            connection = service.connection()
    connection.close()
    assert service.end() == 0, service.log()
    print(f"{killed} kills, {repeated} batches were there already")
    assert killed == KILLS
    require_same(model_in(tmp_path / "state"), undisturbed)


def test_the_checkpoint_before_is_enough(batches, undisturbed, quick, tmp_path):
    """If the last one is damaged, the journal still has all that follows the one before."""
    options = (*OPTIONS, "--checkpoint", tmp_path / "state")
    half = BATCHES // 2
    with served(tmp_path, *options, command=quick) as service:
        for number, body in enumerate(batches[:half]):
            assert service.post("/learn", body, Idempotency_Key=f"{number}").status == 200
        assert service.end() == 0
    checkpoint = tmp_path / "state" / "checkpoint"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-100])
    with served(tmp_path, *options, command=quick) as service:
        for number, body in enumerate(batches):
            assert service.post("/learn", body, Idempotency_Key=f"{number}").status == 200
        assert service.end() == 0
        assert "going on from the one before" in service.log()
    require_same(model_in(tmp_path / "state"), undisturbed)
