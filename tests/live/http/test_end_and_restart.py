"""How a service ends, and how the next process goes on."""

import re
import shutil
import time

import numpy as np

from spclust import SPC
from tests.command.common import spclust
from tests.live.common import needs_a_server, served, stream
from tests.live.http.common import loaded

pytestmark = needs_a_server


def test_without_a_row_it_ends_in_order(tmp_path, quick):
    with served(tmp_path, "--checkpoint", tmp_path / "state", command=quick) as service:
        assert service.end() == 0, service.log()
    assert "stopped after 0 rows" in service.log()


def test_open_streams_do_not_keep_it_from_ending(tmp_path, quick):
    with served(tmp_path, command=quick) as service:
        service.learn(stream(200))
        connections = [service.connection() for _ in range(4)]
        for connection, path in zip(connections, ["/live", "/events/stream"] * 2, strict=True):
            connection.request("GET", path)
            assert connection.getresponse().status == 200
        idle = service.socket()
        began = time.monotonic()
        assert service.end() == 0
        assert time.monotonic() - began < 4.0
        for connection in (*connections, idle):
            connection.close()


def test_the_end_finishes_the_queue_and_the_next_process_goes_on(tmp_path, quick):
    """Keys, columns and rows outlast a restart; two processes never share a checkpoint."""
    options = ("--checkpoint", tmp_path / "state", "--half-life", 500, "--columns", "x,y")
    rows = stream(60_000)
    with served(tmp_path, *options, command=quick) as service:
        service.learn(rows[:100], Idempotency_Key="first")
        second = spclust("serve", "--port", 0, *options, command=quick)
        assert second.returncode == 1
        assert re.fullmatch(
            r"spclust: The checkpoint '.*' is in use by process \d+: wait until it ends, or name "
            r"another file\.\n",
            second.stderr.decode(),
        )
        service.learn(rows[100:], Idempotency_Key="second")
        assert service.end() == 0
        assert "stopped after 60,000 rows; everything is saved." in service.log()
    with served(tmp_path, *options, command=quick) as service:
        while service.get("/readyz").status != 200:
            assert service.get("/healthz").status == 200
        assert len(service.get("/clusters").json()["clusters"]) >= 4
        assert "going on after row 60,000" in service.log()
        again = service.learn(rows[:100], Idempotency_Key="first")
        assert again == {"rows": 100, "bad_rows": 0, "repeated": True}
        service.learn(rows[:50], Idempotency_Key="third")
        service.wait_for_rows(50)
        model = loaded(service, tmp_path)
    undisturbed = SPC(half_life=500).partial_fit(rows).partial_fit(rows[:50])
    assert model.n_samples_seen_ == 60_050
    assert np.array_equal(model.structures_.mean, undisturbed.structures_.mean)
    assert np.array_equal(model.structures_.covariance, undisturbed.structures_.covariance)


def test_a_checkpoint_without_its_journal_is_refused(tmp_path, quick):
    options = ("--checkpoint", tmp_path / "state")
    with served(tmp_path, *options, command=quick) as service:
        service.learn(stream(100))
    shutil.rmtree(tmp_path / "state" / "posted")
    done = spclust("serve", "--port", 0, *options, command=quick)
    assert done.returncode == 1
    assert "does not belong to the checkpoint" in done.stderr.decode().splitlines()[-1]
