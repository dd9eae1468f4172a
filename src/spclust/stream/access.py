"""Access of threads to a model: one learns at a time, and nobody reads meanwhile.

There is no lock, which could neither be copied nor be left safely by an interrupt. All rests on the
GIL: Python changes to another thread, and handles signals, only where a function is called or a
loop goes back. So a test and an assignment without a call in between are one step, and so is the
kernel that learns a single point, which keeps the GIL: nothing but `Access.open` guards it.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import wraps
from threading import get_ident
from time import sleep
from typing import Any, NamedTuple, TypeVar, cast

from spclust.array_types import Floats

Function = TypeVar("Function", bound=Callable[..., Any])

_MOMENT = 1e-4  # seconds, after which a thread that waits tries again
_TURNS = 20  # moments that a learner leaves to readers who wait for it
_GONE = -1  # a learner that never ends what it has begun: this process was forked meanwhile


class BusyError(RuntimeError):
    """Another thread learns into the model."""


class Access:
    """Who learns into a model, and who reads it. A copy, or a pickle, is about nobody yet."""

    __slots__ = ("learner", "memory", "open", "owner", "process", "readers", "waiting")

    def __init__(self, owner: str) -> None:
        self.owner = owner  # the class of the model
        self.learner: int | None = None  # the thread that learns
        self.readers: set[int] = set()  # threads that read
        self.waiting: set[int] = set()  # threads that will read when nobody learns
        # The memory of a state in which single points may be learnt, and the same as long as
        # nobody learns or reads: one comparison tells a point that it may be learnt.
        self.memory: Floats | None = None
        self.open: Floats | None = None
        self.process = os.getpid()

    def __reduce__(self) -> tuple[Any, ...]:
        return Access, (self.owner,)

    def learn(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function that learns, when nobody reads; BusyError if another one learns.

        Single points cannot be learnt afterwards unless the function sets `memory`.
        """
        me = self._enter()
        if self.waiting:
            self._let_in()
        if self.learner is not None:
            raise BusyError(self._sentence())
        self.learner = me  # no call since the test: this is one step
        try:
            self.open = self.memory = None
            while self.readers and self.readers != {me}:
                self._wait()
            return function(*args, **kwargs)
        except SystemError as error:
            raise _interrupt_in(error) from None
        finally:
            self.learner = None
            if not self.readers:
                self.open = self.memory

    def finish(self, function: Callable[..., Any], *args: Any) -> None:
        """Call a function that finishes a point; another thread that learns does that first."""
        with suppress(BusyError):
            self.learn(function, *args)

    def read(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function that reads, when nobody learns."""
        me = self._enter()
        if self.learner == me or me in self.readers:  # called by a function that learns or reads
            return function(*args, **kwargs)
        try:
            while True:
                if self.learner is None:
                    self.readers.add(me)  # one step, too
                    break
                self.waiting.add(me)
                self._wait()
            self.open = None
            self.waiting.discard(me)
            return function(*args, **kwargs)
        except SystemError as error:
            raise _interrupt_in(error) from None
        finally:
            self.waiting.discard(me)
            self.leave(me)

    def leave(self, reader: int) -> None:
        """Remove a thread that has read."""
        self.readers.discard(reader)
        if not self.readers and self.learner is None:
            self.open = self.memory

    def read_now(self, reader: int) -> None:
        """Add a thread that reads, this one; BusyError if another one learns."""
        self._enter()
        if self.learner is None:
            self.readers.add(reader)
            self.open = None
        elif self.learner != reader:
            raise BusyError(self._sentence())

    def _enter(self) -> int:
        """The number of this thread; a forked process has no other one of its parent."""
        me, here = get_ident(), os.getpid()
        readers, waiting = self.readers & {me}, self.waiting & {me}
        if self.process != here:  # no call from here on: one step, and the first thread's alone
            self.process, self.readers, self.waiting = here, readers, waiting
            if self.learner is not None and self.learner != me:
                self.learner = _GONE
        return me

    def _let_in(self) -> None:
        """Wait for readers who came during the last batch; else the next one would follow at once.

        Not for long: a thread may have ended while it waited.
        """
        for _ in range(_TURNS):
            if not self.waiting or self.learner is not None:
                break
            sleep(_MOMENT)

    def _wait(self) -> None:
        """Wait a moment for other threads."""
        if self.learner == _GONE:
            raise BusyError(self._sentence())
        sleep(_MOMENT)

    def _sentence(self) -> str:
        return (
            f"This {self.owner} is learning in another thread: let one thread at a time learn, "
            "behind a lock, or give each thread a model of its own and merge them with merge_all."
        )


def read_all(
    models: Iterable[Access], function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Call a function that reads several models; BusyError if a thread learns into one.

    It does not wait: of two threads that merge models, each might wait for the other.
    """
    me, entered = get_ident(), list(models)
    try:
        for access in entered:
            access.read_now(me)
        return function(*args, **kwargs)
    finally:
        for access in entered:
            access.leave(me)


def learns(function: Function) -> Function:
    """A function of a model, or a method, that is called by `Access.learn`."""

    @wraps(function)
    def learn(model: Any, *args: Any, **kwargs: Any) -> Any:
        return model._access.learn(function, model, *args, **kwargs)

    return cast(Function, learn)


def reads(function: Function) -> Function:
    """A function of a model, or a method, that is called by `Access.read`."""

    @wraps(function)
    def read(model: Any, *args: Any, **kwargs: Any) -> Any:
        return model._access.read(function, model, *args, **kwargs)

    return cast(Function, read)


def _interrupt_in(error: BaseException) -> BaseException:
    """The exception of a signal handler that made compiled code fail; else the error itself."""
    found = error
    while isinstance(found, SystemError):
        before = found.__cause__ or found.__context__
        if before is None:
            return error
        found = before
    return found


class PointLearner(NamedTuple):
    """A call that learns one point: learn(memory, x, scratch, 1).

    It returns 1 if the point was learnt, -1 if then `Stream.finish` has to be called, and 0 if
    nothing was done.
    """

    learn: Callable[[Floats, Floats, Floats, int], int]
    memory: Floats
    scratch: Floats
