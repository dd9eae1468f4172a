"""What is refused is told in the log: each time, or once where all are refused for a while."""

import asyncio

import pytest

from spclust import SPC
from spclust.live.posts.bodies import BodyError
from spclust.live.posts.intake import Intake
from spclust.live.posts.posted_rows import ServiceOptions
from spclust.live.service import Service
from spclust.live.view.live_model import LiveModel
from spclust.prepared_model import Preparation, PreparedModel
from tests.live.common import NDJSON


@pytest.fixture
def service():
    live = LiveModel("", PreparedModel(SPC(), Preparation(())))
    return Service(live, Intake(None), ServiceOptions())


def statuses(service, bodies):
    """The answers to posted bodies."""
    scope = {"type": "http", "method": "POST", "path": "/learn", "query_string": b""}
    scope |= {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2), "scheme": "http"}
    scope["headers"] = [(b"content-type", NDJSON.encode())]
    found = []

    async def send(message):
        if message["type"] == "http.response.start":
            found.append(message["status"])

    async def post_all():
        for body in bodies:

            async def receive(body=body):
                return {"type": "http.request", "body": body, "more_body": False}

            await service(dict(scope), receive, send)

    asyncio.run(post_all())
    return found


def test_each_bad_body_is_told(service, caplog):
    assert statuses(service, 3 * [b'{"x": 1}\n{"x": "red"}\n']) == [422, 422, 422]
    assert len(caplog.messages) == 3


def test_one_of_those_for_which_there_is_no_room_is_told(service, caplog, monkeypatch):
    async def put(*_):
        raise BodyError(503, "There is no room.")

    monkeypatch.setattr(service._intake, "put", put)
    assert statuses(service, 100 * [b'{"x": 1}\n']) == 100 * [503]
    assert len(caplog.messages) == 1
    service._refusals.silent_until = 0.0  # later
    assert statuses(service, [b'{"x": 1}\n']) == [503]
    assert len(caplog.messages) == 2
