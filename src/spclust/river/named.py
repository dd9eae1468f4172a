"""A stream whose features go by name."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from struct import Struct
from struct import error as StructError  # noqa: N812 - its own name says nothing
from typing import Any, Self

import numpy as np

from spclust.algorithm.clock import can_follow
from spclust.arrays import Floats, Integers
from spclust.estimators.times import checked_times
from spclust.parameters import Params
from spclust.river.growing import with_more_features
from spclust.river.observed import (
    completed,
    completed_blindly,
    nearest_observed,
    nlt_observed,
)
from spclust.river.values import Name, in_order, observed_values
from spclust.stream.stream import Stream

# What goes wrong with a point that does not just have all features, as numbers: the slow path
# finds out what it is.
NOT_PLAIN = (KeyError, IndexError, StructError, TypeError, ValueError, OverflowError)


def only_what_is_there(x: Mapping[Name, Any]) -> Mapping[Name, Any]:
    """The same point, but a Counter, say, would have a 0 for what it does not have."""
    return x if type(x) is dict else dict(x)


class NamedStream:
    """One stream, the names of its features, and how points of all features are read quickly.

    Points come as dictionaries, or as rows (d,) in the order of `names`, NaN where absent.
    """

    names: tuple[Name, ...]
    stream: Stream
    learn_plain: Callable[[Mapping[Name, Any], Any], int]

    def __init__(self, names: tuple[Name, ...], stream: Stream) -> None:
        self.names, self.stream = names, stream
        self._place = {name: i for i, name in enumerate(names)}
        self._pick: Callable[[Any], tuple[Any, ...]] = itemgetter(*names)
        if len(names) == 1:
            self._pick = lambda x, only=names[0]: (x[only],)  # type: ignore[misc]
        self._pack: Any = Struct(f"{len(names)}d").pack_into
        self.refresh()

    @classmethod
    def begin(cls, names: tuple[Name, ...], params_for: Callable[[int], Params]) -> Self:
        """A stream that has seen nothing."""
        return cls(names, Stream(params_for(len(names)), len(names)))

    def __getstate__(self) -> dict[str, Any]:
        return {"names": self.names, "stream": self.stream}

    def __setstate__(self, state: dict[str, Any]) -> None:
        NamedStream.__init__(self, state["names"], state["stream"])

    def refresh(self) -> None:
        """Make `learn_plain` learn into the memories that the stream has now."""
        learn, pool, scratch, address = self.stream.point_learner()
        d, timed = len(self.names), self.stream.clock is not None
        pick, pack, row, start = self._pick, self._pack, np.empty(d + timed), 8 * timed

        def learn_plain(x: Mapping[Name, Any], t: Any) -> int:
            """Learn a point of all features, and no others: 1; or -1, if then it has to be pruned.

            0, and nothing changed, if it is no such point; it may raise what is in NOT_PLAIN.
            """
            if len(x) != d or (not can_follow(t, pool) if timed else t is not None):
                return 0
            if timed:
                row[0] = t
            pack(row, start, *pick(x if type(x) is dict else only_what_is_there(x)))
            learnt: int = learn(pool, row, scratch, address)  # 0 if a number is not finite
            return learnt

        self.learn_plain = learn_plain

    def row(self, x: Mapping[Name, Any]) -> Floats:
        """A point as a row (d,), NaN where absent; features that are not known are left out."""
        row = np.empty(len(self.names))
        try:
            if len(x) == len(self.names):
                self._pack(row, 0, *self._pick(only_what_is_there(x)))
                if np.isfinite(row).all():
                    return row
        except NOT_PLAIN:
            pass
        return self._row_of(observed_values(x))

    def _row_of(self, values: Mapping[Name, float]) -> Floats:
        row = np.full(len(self.names), np.nan)
        for name, value in values.items():
            if name in self._place:
                row[self._place[name]] = value
        return row

    # Learning

    def after(
        self,
        values: Mapping[Name, float],
        times: Floats | None,
        params_for: Callable[[int], Params],
    ) -> Self:
        """The stream after a point was learnt of which some features, at least one, were observed.

        It is another one if there are new features; until it has learnt the point, this one is
        valid. What is absent is completed first: see `observed`.
        """
        new = in_order(name for name in values if name not in self._place)
        known = self
        if new:
            first = np.array([values[name] for name in new])
            params = params_for(len(self.names) + len(new))
            known = type(self)(self.names + new, with_more_features(self.stream, params, first))
        row = known._row_of(values)
        if np.isnan(row).any():
            # New features say nothing of where a point belongs: there all structures are alike.
            blindly = len(new) == len(values)
            row = (completed_blindly if blindly else completed)(known.stream, row)
        known.learn_rows(row[np.newaxis], times)
        return known

    def times(self, t: Any, rows: int) -> Floats | None:
        """Time stamps (rows,) of the next points, if they have any, checked."""
        stream = self.stream
        return checked_times(t, rows, stream.clock, new=stream.seen == 0)

    def learn_rows(self, rows: Floats, times: Floats | None) -> None:
        """Learn rows (n, d) that have all features, with time stamps (n,) or without."""
        try:
            self.stream.learn(rows, times)
        finally:
            self.refresh()

    def make_room(self) -> None:
        """Prune, after a point was learnt in the quick way that left something to prune."""
        pool = self.stream.pool
        try:
            self.stream.make_room()
        finally:
            if self.stream.pool is not pool:  # it has grown
                self.refresh()

    # Reading: -1, and None, where no known feature was observed

    def labels(self, rows: Floats, labels: Integers) -> Integers:
        """Label (n,) of the structure in which each row (n, d) is most typical."""
        observed = ~np.isnan(rows)
        whole = observed.all(axis=1)
        if whole.all():
            return self.stream.nearest(rows, labels=labels)
        found = np.full(len(rows), -1, dtype=np.int64)
        found[whole] = self.stream.nearest(rows[whole], labels=labels)
        for i in np.flatnonzero(observed.any(axis=1) & ~whole):
            found[i] = labels[nearest_observed(self.stream, rows[i])]
        return found

    def nlt(self, row: Floats, labels: Integers) -> Floats | None:
        """NLT (n_labels,) of a row (d,) in the best structure of each label; -1 is left out."""
        absent, n_labels = np.isnan(row), int(labels.max(initial=-1)) + 1
        if absent.all():
            return None
        if not absent.any():
            best: Floats = self.stream.nlt(row[np.newaxis], labels, n_labels)[0]
            return best
        nlt = nlt_observed(self.stream, row)
        return np.array([nlt[labels == label].min() for label in range(n_labels)])
