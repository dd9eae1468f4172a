"""A stream as logical arrays, and back."""

from typing import Any


def content_of(stream: Any) -> Any:
    """State and arrays of a stream."""
    raise NotImplementedError


def stream_of(*arguments: Any, **options: Any) -> Any:
    """The stream of a state and arrays."""
    raise NotImplementedError
