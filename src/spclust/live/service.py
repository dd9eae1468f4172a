"""The service: what is posted, what is asked, and the page."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from spclust.live import openapi
from spclust.live.posts.bodies import BodyError, format_of_type
from spclust.live.posts.intake import Intake
from spclust.live.posts.posted_rows import Bodies, ServiceOptions, posted_batch, rows_to_score
from spclust.live.prometheus_metrics import CONTENT_TYPE, Metrics
from spclust.live.refusals import Refusals, refusal
from spclust.live.view.axes import PROJECTION, View
from spclust.live.view.live_model import LiveModel
from spclust.live.view.moment import Scored, scored
from spclust.stream.access import BusyError
from spclust.tables.formats import Format
from spclust.tables.table_error import TableError, sentence_of

_PAGE = Path(__file__).parent / "page"
_SMALL = 2_000_000  # bytes of a body that the event loop parses itself
_QUIET = 15.0  # seconds after which a line is sent, so that a dead connection is noticed
_POLL = 0.25  # seconds between two checks for events
MOST_READERS = 64  # of the page, and as many of events
LONGEST_KEY = 255
_NUMBER = re.compile(r"[0-9]{1,18}")

Endpoint = Callable[[Request], Awaitable[Response]]


class Service:
    """The application of a live model; without an intake nothing can be posted to be learnt."""

    def __init__(self, live: LiveModel, intake: Intake | None, options: ServiceOptions) -> None:
        self._live, self._intake, self._options = live, intake, options
        self.metrics = Metrics(live)
        self._bodies = Bodies(options.max_body)
        self._event_readers = 0
        self.resuming, self.stopping = False, False
        self._refusals = Refusals()
        routes = {
            "/learn": (self.learn, "POST"),
            "/score": (self.score, "POST"),
            "/clusters": (self.clusters, "GET"),
            "/structures": (self.structures, "GET"),
            "/events": (self.events, "GET"),
            "/events/stream": (self.event_stream, "GET"),
            "/model": (self.model, "GET"),
            "/live": (self.feed, "GET"),
            "/healthz": (self.healthz, "GET"),
            "/readyz": (self.readyz, "GET"),
            "/metrics": (self.metrics_text, "GET"),
            "/openapi.json": (self.description, "GET"),
            "/docs": (self.docs, "GET"),
            "/": (self.page, "GET"),
        }
        self._answered_learn = self._answered("/learn", self.learn)
        self._app = Starlette(
            routes=[
                *(
                    Route(path, self._answered(path, endpoint), methods=[method])
                    for path, (endpoint, method) in routes.items()
                ),
                Mount("/page", StaticFiles(directory=_PAGE)),
            ]
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Rows to be learnt pass by the router, a tenth of their time."""
        if (scope["type"], scope.get("method"), scope["path"]) != ("http", "POST", "/learn"):
            await self._app(scope, receive, send)
            return
        response = await self._answered_learn(Request(scope, receive, send))
        await response(scope, receive, send)

    def _answered(self, path: str, endpoint: Endpoint) -> Endpoint:
        """The endpoint, whose failures are answered by one sentence, and counted."""

        async def answer(request: Request) -> Response:
            try:
                response = await endpoint(request)
            except BodyError as error:
                response = self._refusals.answer(request, error.status, str(error))
            except TableError as error:
                response = self._refusals.answer(request, 422, sentence_of(error))
            except BusyError:
                response = refusal(503, "The model is busy: try again in a second.")
            except ClientDisconnect:
                response = refusal(400, "The body ended too early.")  # nobody reads it
            self.metrics.count(path, response.status_code)
            return response

        return answer

    # What is posted

    async def learn(self, request: Request) -> Response:
        """Accept rows to be learnt."""
        if self._intake is None:
            raise BodyError(
                409, f"This service learns from {self._live.source!r}, and not from what is posted."
            )
        key = request.headers.get("idempotency-key", "")
        if len(key.encode()) > LONGEST_KEY:
            raise BodyError(400, f"Idempotency-Key has more than {LONGEST_KEY} bytes.")
        kind = format_of_type(request.headers.get("content-type", ""))
        async with self._bodies.body(request) as body:
            given = body, kind, key, self._intake, self._options
            if len(body) <= _SMALL:
                posted, bad = posted_batch(*given)
            else:
                posted, bad = await run_in_threadpool(posted_batch, *given)
        receipt = await self._intake.put(posted, bad)
        return JSONResponse(
            {"rows": receipt.rows, "bad_rows": len(bad), "repeated": receipt.repeated}
        )

    async def score(self, request: Request) -> Response:
        """Label, lasting id, typicality and outlier flag of each row, which is not learnt."""
        if not self._live.prepared.has_learnt:
            waiting = self._live.waiting_rows()
            remedy = f"{waiting:,} rows wait for it" if waiting else "post rows to /learn first"
            raise BodyError(503, f"Nothing was learnt yet: {remedy}.")
        kind = format_of_type(request.headers.get("content-type", ""))
        async with self._bodies.body(request) as body:
            found = await run_in_threadpool(self._scored, body, kind)
        accept = request.headers.get("accept", "")
        return await run_in_threadpool(_scored_response, found, accept)

    def _scored(self, body: bytes, kind: Format) -> Scored:
        rows = rows_to_score(body, kind, self._live.prepared.names(), self._options)
        try:
            return scored(self._live.prepared, rows)
        except ValueError as error:
            raise BodyError(422, sentence_of(error)) from None

    # What is asked

    async def clusters(self, request: Request) -> Response:
        """The clusters, as `describe` has them, with their lasting ids."""
        return await self._records("clusters")

    async def structures(self, request: Request) -> Response:
        """The structures, as `describe` has them."""
        return await self._records("structures")

    async def _records(self, what: Any) -> Response:
        live = self._live
        if not live.prepared.has_learnt:
            return JSONResponse({what: []})
        return JSONResponse({what: await run_in_threadpool(live.prepared.records, what)})

    async def events(self, request: Request) -> Response:
        """Events after one with a number, as far as they are remembered."""
        since = request.query_params.get("since", "0")
        if not _NUMBER.fullmatch(since):
            raise BodyError(400, f"since={since!r:.40} is not the number of an event.")
        return JSONResponse({"events": self._live.told(int(since))})

    async def event_stream(self, request: Request) -> Response:
        """Events as they are told, as server-sent events."""
        last = request.headers.get("last-event-id", request.query_params.get("since", ""))
        since = int(last) if _NUMBER.fullmatch(last) else self._live.recent.events_told
        _require_few_readers(self._event_readers)

        async def stream(since: int) -> AsyncIterator[bytes]:
            self._event_readers += 1
            try:
                quiet = time.monotonic()
                yield b"retry: 1000\n\n"  # at once, so that the reader knows that it is connected
                while not self.stopping:
                    for event in self._live.told(since):
                        since = event["number"]
                        yield f"id: {since}\nevent: {event['event']}\n".encode()
                        yield f"data: {json.dumps(event)}\n\n".encode()
                        quiet = time.monotonic()
                    if time.monotonic() - quiet > _QUIET:
                        quiet = time.monotonic()
                        yield b":\n\n"
                    await asyncio.sleep(_POLL)
            finally:
                self._event_readers -= 1

        return self._streamed(stream(since))

    async def feed(self, request: Request) -> Response:
        """The snapshots of the page, as server-sent events."""
        _require_few_readers(len(self._live.feed))
        query = request.query_params
        view = View(query.get("x"), query.get("y")) if "x" in query and "y" in query else View()
        if query.get("view") == "projection":
            view = PROJECTION

        async def stream() -> AsyncIterator[bytes]:
            reader = self._live.feed.join(view)
            try:
                yield b"retry: 1000\nevent: past\ndata: " + self._live.past() + b"\n\n"
                while True:
                    try:
                        snapshot = await asyncio.wait_for(reader.next(), _QUIET)
                    except TimeoutError:
                        yield b":\n\n"
                        continue
                    if snapshot is None:
                        return
                    yield b"event: snapshot\ndata: " + snapshot + b"\n\n"
            finally:
                self._live.feed.leave(reader)

        return self._streamed(stream())

    def _streamed(self, stream: AsyncIterator[bytes]) -> Response:
        return StreamingResponse(
            stream, media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    async def model(self, request: Request) -> Response:
        """The model as a saved file."""
        if not self._live.prepared.has_learnt:
            raise BodyError(503, "Nothing was learnt yet.")
        data = await run_in_threadpool(self._live.bytes_of_model)
        headers = {"content-disposition": 'attachment; filename="model.spc"'}
        return Response(data, media_type="application/octet-stream", headers=headers)

    async def healthz(self, request: Request) -> Response:
        """Whether the process answers."""
        return Response("ok\n", media_type="text/plain")

    async def readyz(self, request: Request) -> Response:
        """Whether it can be asked and posted to."""
        if self.stopping:
            return refusal(503, "This service is stopping.")
        if self.resuming:
            return refusal(503, "The checkpoint is being read.")
        if self._intake is None and not self._live.prepared.has_learnt:
            return refusal(503, "Nothing was learnt yet.")
        return Response("ready\n", media_type="text/plain")

    async def metrics_text(self, request: Request) -> Response:
        """Metrics for Prometheus."""
        return Response(self.metrics.text(), headers={"content-type": CONTENT_TYPE})

    async def description(self, request: Request) -> Response:
        """The service as OpenAPI describes it."""
        return JSONResponse(openapi.DESCRIPTION)

    async def docs(self, request: Request) -> Response:
        """The same for people."""
        return Response(openapi.as_html(), media_type="text/html; charset=utf-8")

    async def page(self, request: Request) -> Response:
        """The page."""
        return FileResponse(_PAGE / "index.html", headers={"cache-control": "no-cache"})


def _require_few_readers(readers: int) -> None:
    if readers >= MOST_READERS:
        raise BodyError(503, f"{MOST_READERS} readers are connected, which is enough.")


def _scored_response(found: Scored, accept: str) -> Response:
    """Scores in the format that is asked for: JSON columns, NDJSON rows or Arrow."""
    table = pa.table({name: pa.array(column) for name, column in found._asdict().items()})
    if "application/vnd.apache.arrow.stream" in accept:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        kind = "application/vnd.apache.arrow.stream"
        return Response(sink.getvalue().to_pybytes(), media_type=kind)
    if "application/x-ndjson" in accept:
        lines = "".join(f"{json.dumps(row)}\n" for row in table.to_pylist())
        return Response(lines, media_type="application/x-ndjson")
    return JSONResponse(table.to_pydict())
