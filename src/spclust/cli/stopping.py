"""Ctrl-C and SIGTERM: the first one ends a run in order, the second one at once."""

import signal
from types import FrameType
from typing import Any, Self


class Stop:
    """Whether somebody wants this run to end. While it is entered, signals are heard."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        """Whether somebody does."""
        return self.signal is not None

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._hear)
        return self

    def _hear(self, number: int, _: FrameType | None) -> None:
        self.signal = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __exit__(self, failure: object, *_: object) -> None:
        self._restore()
