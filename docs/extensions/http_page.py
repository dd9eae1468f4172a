"""The HTTP interface as a page, from the OpenAPI document that the service answers with."""

from typing import Any

from spclust.live.openapi import DESCRIPTION

HEADER = """# Requests

{description} This page is the document that a running service has at `/openapi.json`, and as a page
at `/docs`.
"""


def _request(method: str, path: str, operation: dict[str, Any]) -> str:
    text = f"**{operation['summary']}.** {operation['description']}"
    parts = [f"## {method.upper()} {path}", text]
    parameters = operation.get("parameters", ())
    if parameters:
        rows = [f"| `{one['name']}` ({one['in']}) | {one['description']} |" for one in parameters]
        parts.append("\n".join(["| parameter | |", "|---|---|", *rows]))
    content = operation.get("requestBody", {}).get("content", {})
    if content:
        parts.append("Body: " + ", ".join(f"`{kind}`" for kind in content) + ".")
    answers = operation["responses"].items()
    rows = [f"| {status} | {one['description']} |" for status, one in answers]
    parts.append("\n".join(["| answer | |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def page() -> str:
    """Text of the page."""
    parts = [HEADER.format(**DESCRIPTION["info"])]
    for path, operations in DESCRIPTION["paths"].items():
        parts += [_request(method, path, one) for method, one in operations.items()]
    return "\n\n".join(parts) + "\n"
