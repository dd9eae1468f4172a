"""A stream of either mode as scalars and arrays, and back."""

from collections.abc import Mapping
from typing import Any

from spclust.persistence import automatic_state, paper_state
from spclust.persistence.container import Array, RefusedError
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.mode import AnyStream

_PAPER, _AUTOMATIC = "paper", "automatic"


def content_of_stream(stream: AnyStream) -> tuple[dict[str, Any], dict[str, Array]]:
    """Scalars, as JSON has them, and arrays of a stream; arrays may be views of its state."""
    if isinstance(stream, AutomaticStream):
        scalars, arrays = automatic_state.content_of_automatic(stream)
        return {"mode": _AUTOMATIC, **scalars}, arrays
    scalars, arrays = paper_state.content_of(stream)
    return {"mode": _PAPER, **scalars}, arrays


def saved_stream(
    built_with: Mapping[str, Any],
    state: Any,
    arrays: Mapping[str, Array],
    max_bytes: int | None = None,
) -> AnyStream:
    """The stream that has such content; RefusedError if there is none, or it is too large."""
    if not isinstance(state, dict) or state.get("mode") not in (_PAPER, _AUTOMATIC):
        raise RefusedError("its header has no state, or not all of it")
    scalars = {name: value for name, value in state.items() if name != "mode"}
    if state["mode"] == _AUTOMATIC:
        return automatic_state.automatic_stream_of(built_with, scalars, arrays, max_bytes)
    return paper_state.stream_of(built_with, scalars, arrays, max_bytes)
