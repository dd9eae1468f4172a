"""Refused requests: the answer in one sentence, and lines in the log, but not too many."""

import logging
import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from spclust.tables.table_error import printable

_SILENT = 10.0  # seconds without a line about more refusals for lack of room

logger = logging.getLogger("spclust.live")


class Refusals:
    """Answers to refused requests, and lines about them."""

    def __init__(self) -> None:
        self.silent_until = 0.0  # time

    def answer(self, request: Request, status: int, sentence: str) -> Response:
        """The answer to a refused request, with a line in the log.

        Where there is no room, all clients are refused until there is: one of them is told. Else
        the log could grow faster than somebody reads it, and the service would wait for that.
        """
        now = time.monotonic()
        if status != 503 or now >= self.silent_until:
            client = request.client.host if request.client else "?"
            text = f"refused {request.method} {request.url.path} from {client}: {sentence:.300s}"
            logger.warning("%s", printable(text))
            if status == 503:
                self.silent_until = now + _SILENT
        return refusal(status, sentence)


def refusal(status: int, sentence: str) -> Response:
    """A sentence as the answer to a request."""
    headers = {"retry-after": "1"} if status == 503 else {}
    return JSONResponse({"error": sentence}, status, headers=headers)
