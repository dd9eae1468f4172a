"""The service as OpenAPI describes it, and the same as a page."""

import html
from typing import Any

from spclust.version import __version__

_ROWS = {
    "application/x-ndjson": {"example": '{"x": 1.5, "y": 2.0}\n{"x": 1.4, "y": 2.1}\n'},
    "application/json": {"example": [{"x": 1.5, "y": 2.0}, {"x": 1.4, "y": 2.1}]},
    "text/csv": {"example": "x,y\n1.5,2.0\n1.4,2.1\n"},
    "application/vnd.apache.arrow.stream": {},
}
_ERROR = {
    "content": {"application/json": {"example": {"error": "One sentence."}}},
}


def _operation(summary: str, text: str, answer: str, **more: Any) -> dict[str, Any]:
    responses = {"200": {"description": answer}, **more.pop("responses", {})}
    return {"summary": summary, "description": text, "responses": responses, **more}


def _errors(**sentences: str) -> dict[str, Any]:
    return {
        status.removeprefix("s"): {"description": sentence, **_ERROR}
        for status, sentence in sentences.items()
    }


def _query(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": text, "schema": {"type": "string"}}


_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A key of the batch. A batch with a key that was accepted before is not learnt "
    "again; the last 10,000 keys are remembered, with a checkpoint also over a restart.",
    "schema": {"type": "string", "maxLength": 255},
}
_BODY = _errors(
    s400="The body cannot be read.",
    s401="A token is needed.",
    s408="The body comes too slowly.",
    s413="The body is too long, or has too many rows or columns.",
    s415="The content type is not known.",
    s422="A row is bad, or a column is missing.",
    s503="The queue is full, or the service is stopping: try again after Retry-After.",
)

DESCRIPTION: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "spclust serve",
        "version": __version__,
        "description": "A model that clusters a stream: post rows, ask for clusters and events.",
    },
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    "security": [{}, {"token": []}],
    "paths": {
        "/learn": {
            "post": _operation(
                "Learn rows",
                "Rows are learnt in the order in which they are accepted. With a checkpoint, the "
                "answer comes when they are on the disk. The first batch decides which columns are "
                "learnt, unless --columns does. Content-Encoding may be gzip.",
                "The rows are accepted.",
                parameters=[_KEY],
                requestBody={"required": True, "content": _ROWS},
                responses={
                    **_BODY,
                    **_errors(
                        s409="The service learns from a file.",
                        s507="The disk is full: nothing of the batch is accepted.",
                    ),
                },
            )
        },
        "/score": {
            "post": _operation(
                "Score rows",
                "Label, lasting cluster id, typicality (0 to 1) and outlier flag of each row. "
                "Nothing is learnt. By Accept: JSON with a list for each, NDJSON, or Arrow.",
                "The scores, in the order of the rows.",
                requestBody={"required": True, "content": _ROWS},
                responses=_BODY,
            )
        },
        "/clusters": {
            "get": _operation("Clusters", "The clusters, as describe() has them.", "Clusters.")
        },
        "/structures": {
            "get": _operation("Structures", "The structures, as describe() has them.", "All.")
        },
        "/events": {
            "get": _operation(
                "Events",
                "Births, deaths, merges, splits and moves of clusters; the last 500 are kept.",
                "Events, oldest first.",
                parameters=[_query("since", "Number of the last event that is known already.")],
            )
        },
        "/events/stream": {
            "get": _operation(
                "Events as they are told",
                "Server-sent events; their id is the number of the event. Last-Event-ID, or since, "
                "says where to go on.",
                "A stream of events.",
                parameters=[_query("since", "Number of the last event that is known already.")],
            )
        },
        "/live": {
            "get": _operation(
                "Snapshots of the page",
                "Server-sent events: `past` once, then `snapshot` four times a second.",
                "A stream of snapshots.",
                parameters=[
                    _query("x", "Feature of the horizontal axis."),
                    _query("y", "Feature of the vertical axis."),
                    _query("view", "`projection`: two axes along which the structures differ."),
                ],
            )
        },
        "/model": {
            "get": _operation(
                "The model", "A saved model, for SPC.load and spclust predict.", "The file."
            )
        },
        "/healthz": {"get": _operation("Alive", "Needs no token.", "ok")},
        "/readyz": {
            "get": _operation(
                "Ready",
                "Needs no token.",
                "ready",
                responses=_errors(s503="Nothing was learnt yet, or the service is stopping."),
            )
        },
        "/metrics": {"get": _operation("Metrics", "In the format of Prometheus.", "Metrics.")},
    },
}


def as_html() -> str:
    """The description as a page without scripts."""
    text = html.escape
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>spclust serve: HTTP</title>",
        '<meta name=viewport content="width=device-width">',
        '<link rel=stylesheet href="/page/docs.css"><main>',
        f"<h1>{text(DESCRIPTION['info']['title'])} {text(__version__)}</h1>",
        f"<p>{text(DESCRIPTION['info']['description'])} ",
        'The same for programs: <a href="/openapi.json">openapi.json</a>.</p>',
    ]
    for path, methods in DESCRIPTION["paths"].items():
        for method, operation in methods.items():
            parts.append(f"<h2><code>{method.upper()} {text(path)}</code></h2>")
            parts.append(f"<p><b>{text(operation['summary'])}.</b> ")
            parts.append(f"{text(operation['description'])}</p>")
            parts += _table(
                "parameter",
                {
                    f"{each['name']} ({each['in']})": each["description"]
                    for each in operation.get("parameters", [])
                },
            )
            content = operation.get("requestBody", {}).get("content", {})
            parts += _table(
                "body", {kind: str(more.get("example", "")) for kind, more in content.items()}
            )
            answers = {
                status: each["description"] for status, each in operation["responses"].items()
            }
            parts += _table("answer", answers)
    return "\n".join([*parts, "</main></html>"])


def _table(title: str, rows: dict[str, str]) -> list[str]:
    if not rows:
        return []
    cells = [
        f"<tr><td><code>{html.escape(name)}</code></td><td>{html.escape(text)}</td></tr>"
        for name, text in rows.items()
    ]
    return [f"<table><tr><th>{title}</th><th></th></tr>", *cells, "</table>"]
