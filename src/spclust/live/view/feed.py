"""The feed of the page: snapshots several times a second, for any number of readers.

A reader holds the newest snapshot of its view and nothing else: one that is slow loses snapshots,
and slows nobody down. Snapshots are made only while somebody reads.
"""

import asyncio
import threading
from collections.abc import Callable

from spclust.live.view.axes import View

MOST_VIEWS = 8  # that are made at the same time; more readers see the default one

Make = Callable[[View], bytes]


class Reader:
    """A reader of the feed: the newest snapshot that it has not got yet."""

    def __init__(self, view: View, loop: asyncio.AbstractEventLoop) -> None:
        self.view = view
        self._loop, self._changed = loop, asyncio.Event()
        self._newest: bytes | None = None
        self.lost = 0
        self._closed = False

    def offer(self, snapshot: bytes | None) -> None:
        """Replace the newest snapshot, from any thread; None: there will be no more."""
        self._loop.call_soon_threadsafe(self._take, snapshot)

    def _take(self, snapshot: bytes | None) -> None:
        if snapshot is None:
            self._closed = True
        else:
            self.lost += self._newest is not None
            self._newest = snapshot
        self._changed.set()

    async def next(self) -> bytes | None:
        """The next snapshot, when there is one; None at the end."""
        await self._changed.wait()
        self._changed.clear()
        snapshot, self._newest = self._newest, None
        return None if self._closed else snapshot


class Feed:
    """All readers, and the views that they want."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers: set[Reader] = set()
        self.lost = 0  # snapshots that readers were too slow for
        self._ended = False

    def join(self, view: View) -> Reader:
        """A new reader; call it where the reader's event loop runs."""
        with self._lock:
            views = {reader.view for reader in self._readers}
            if view not in views and len(views) >= MOST_VIEWS:
                view = View()
            reader = Reader(view, asyncio.get_running_loop())
            self._readers.add(reader)
            if self._ended:
                reader.offer(None)
        return reader

    def leave(self, reader: Reader) -> None:
        """Remove a reader."""
        with self._lock:
            self._readers.discard(reader)
            self.lost += reader.lost

    def __len__(self) -> int:
        return len(self._readers)

    def publish(self, make: Make) -> None:
        """Make a snapshot for each view, and offer it to its readers."""
        with self._lock:
            readers = list(self._readers)
        made: dict[View, bytes] = {}
        for reader in readers:
            if reader.view not in made:
                made[reader.view] = make(reader.view)
            try:
                reader.offer(made[reader.view])
            except RuntimeError:  # its event loop has ended
                self.leave(reader)

    def end(self) -> None:
        """Let all readers go."""
        with self._lock:
            self._ended = True
            readers = list(self._readers)
        for reader in readers:
            try:
                reader.offer(None)
            except RuntimeError:
                continue
