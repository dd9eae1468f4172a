"""The thread that reads a model several times a second, whether it learns or waits."""

import logging
import threading
import time
from typing import Self

from spclust.live.view.live_model import LiveModel

PER_SECOND = 4  # snapshots while somebody reads
_IDLE = 1.0  # seconds between two readings while the page has no reader
_SHARE = 0.05  # of a core that readings may take, at most,
_LONGEST = 1.0  # unless this many seconds have passed: the first one loads kernels, and takes long

logger = logging.getLogger("spclust.live")


class Viewer:
    """Reads a live model until it is closed."""

    def __init__(self, live: LiveModel) -> None:
        self._live = live
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spclust viewer", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def _run(self) -> None:
        failed, last = False, 0.0
        while not self._closed.is_set():
            started, used = time.monotonic(), time.thread_time()
            if len(self._live.feed) or started - last >= _IDLE:
                last = started
                try:
                    self._live.renew()
                    failed = False
                except Exception:  # the service goes on: the next reading may be fine
                    if not failed:
                        logger.exception("the model could not be read")
                    failed = True
            took, used = time.monotonic() - started, time.thread_time() - used
            rest = min(used / _SHARE, _LONGEST)
            self._closed.wait(max(1.0 / PER_SECOND - took, rest - took, 0.01))

    def __exit__(self, failure: object, *_: object) -> None:
        """Let the readers go."""
        self._closed.set()
        self._thread.join()
        self._live.feed.end()
