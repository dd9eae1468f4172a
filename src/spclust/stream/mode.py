"""The two modes of a stream: that of the paper, and the automatic one."""

from collections.abc import Sequence

from spclust.parameters import Params
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.stream import Stream

AnyStream = Stream | AutomaticStream


def number_anew(stream: AnyStream) -> None:
    """Let the labels of clusters begin with 0 when they are read next. Modified in place: stream.

    In the mode of the paper they always do.
    """
    if isinstance(stream, AutomaticStream):
        stream.number_anew()


def combined_stream(streams: Sequence[AnyStream], params: Params, *, concurrent: bool) -> AnyStream:
    """One stream of several with the same parameters, at the same time or one after another."""
    if params.automatic:
        automatic = [stream for stream in streams if isinstance(stream, AutomaticStream)]
        return AutomaticStream.combined(automatic, params, concurrent=concurrent)
    of_paper = [stream for stream in streams if isinstance(stream, Stream)]
    return Stream.combined(of_paper, params, concurrent=concurrent)
