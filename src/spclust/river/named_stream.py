"""A stream of points whose features go by name."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from struct import Struct
from struct import error as StructError  # noqa: N812 - a class in lower case
from typing import Any, Self

import numpy as np

from spclust.algorithm.kernels import can_follow
from spclust.array_types import Floats, Integers
from spclust.auto.renewal import TooFarError, too_far
from spclust.estimators.fit import new_stream
from spclust.parameters import NOVEL_NLT, Params
from spclust.river.feature_values import Name, in_order, observed_values
from spclust.stream.access import Access
from spclust.stream.automatic_stream import AutomaticStream
from spclust.stream.missing_features import (
    completed,
    completed_by_heaviest,
    nearest_nlt_observed,
    nearest_observed,
    nlt_observed,
)
from spclust.stream.mode import AnyStream
from spclust.stream.new_features import with_new_features

# Raised by a point that does not have all features as plain numbers: the slow path finds the cause.
NOT_COMPLETE = (KeyError, IndexError, StructError, TypeError, ValueError, OverflowError)


class NamedStream:
    """A stream, the names of its features, and a fast path for points with all features.

    Points come as dictionaries, or as rows (d,) in the order of `names`, NaN where missing.
    """

    names: tuple[Name, ...]
    stream: AnyStream
    learn_complete: Callable[[Mapping[Name, Any], Any], int]

    def __init__(self, names: tuple[Name, ...], stream: AnyStream, access: Access) -> None:
        self.names, self.stream, self.access = names, stream, access
        self._position = {name: i for i, name in enumerate(names)}
        self._pick: Callable[[Any], tuple[Any, ...]] = itemgetter(*names)
        if len(names) == 1:
            self._pick = lambda x, only=names[0]: (x[only],)  # type: ignore[misc]
        self._pack: Any = Struct(f"{len(names)}d").pack_into
        self.refresh()

    @classmethod
    def begin(
        cls, names: tuple[Name, ...], params_for: Callable[[int], Params], access: Access
    ) -> Self:
        """Return a stream without points."""
        return cls(names, new_stream(params_for(len(names)), len(names)), access)

    def __getstate__(self) -> dict[str, Any]:
        return {"names": self.names, "stream": self.stream}

    def __setstate__(self, state: dict[str, Any]) -> None:
        NamedStream.__init__(self, state["names"], state["stream"], Access(type(self).__name__))

    def row(self, x: Mapping[Name, Any]) -> Floats:
        """A point as a row (d,), NaN where missing; unknown features are left out."""
        row = np.empty(len(self.names))
        try:
            if len(x) == len(self.names):
                self._pack(row, 0, *self._pick(_as_dict(x)))
                if np.isfinite(row).all():
                    return row
        except NOT_COMPLETE:
            pass
        return self._row_of(observed_values(x))

    def _row_of(self, values: Mapping[Name, float]) -> Floats:
        row = np.full(len(self.names), np.nan)
        for name, value in values.items():
            if name in self._position:
                row[self._position[name]] = value
        return row

    # Learning

    def after(
        self,
        values: Mapping[Name, float],
        times: Floats | None,
        params_for: Callable[[int], Params],
    ) -> Self:
        """The stream after learning a point with at least one feature.

        Missing features are filled in first: see `missing_features`. If the point has new features,
        the result is another stream, and this one stays valid if learning fails.
        """
        new = in_order(name for name in values if name not in self._position)
        known = self
        if new:
            first = np.array([values[name] for name in new])
            params = params_for(len(self.names) + len(new))
            stream = with_new_features(self.stream, params, first)
            known = type(self)(self.names + new, stream, self.access)
        row = known._row_of(values)
        if np.isnan(row).any():
            # All structures have the same value in a new feature: it tells nothing about which one
            # is near.
            only_new = len(new) == len(values)
            row = (completed_by_heaviest if only_new else completed)(known.stream, row)
        known.learn_rows(row[np.newaxis], times)
        return known

    def learn_rows(self, rows: Floats, times: Floats | None) -> None:
        """Learn rows (n, d) without missing features, with time stamps (n,) or without."""
        seen = self.stream.seen
        try:
            self.stream.learn(rows, times)
        except TooFarError as error:
            number = rows[self.stream.seen - seen, error.column]
            what = f"Feature {self.names[error.column]!r} is {number:.5g}, which"
            raise ValueError(too_far(what)) from None
        finally:
            self.refresh()

    # Queries: -1, or None, for a row without any known feature

    def labels(self, rows: Floats, labels: Integers) -> Integers:
        """Label (n,) of the structure in which each row (n, d) is most typical.

        In the automatic mode -1 for rows that are far from all of them.
        """
        nearest = self._nearest(rows)
        found: Integers = np.append(labels, -1)[nearest]
        if isinstance(self.stream, AutomaticStream):
            nlt = _nearest_nlt(self.stream, rows)
            found[self.stream.are_novel(nearest, nlt, NOVEL_NLT, labels)] = -1
        return found

    def _nearest(self, rows: Floats) -> Integers:
        """Position (n,) of the nearest structure of each row; -1 for one without any feature."""
        observed = ~np.isnan(rows)
        complete = observed.all(axis=1)
        if complete.all():
            return self.stream.nearest(rows)
        found = np.full(len(rows), -1, dtype=np.int64)
        found[complete] = self.stream.nearest(rows[complete])
        for i in np.flatnonzero(observed.any(axis=1) & ~complete):
            found[i] = nearest_observed(self.stream, rows[i])
        return found

    def nlt(self, row: Floats, labels: Integers) -> Floats | None:
        """NLT (n_labels,) of a row (d,) in the best structure of each label, except -1."""
        missing, n_labels = np.isnan(row), int(labels.max(initial=-1)) + 1
        if missing.all():
            return None
        if not missing.any():
            best: Floats = self.stream.nlt(row[np.newaxis], labels, n_labels)[0]
            return best
        nlt = nlt_observed(self.stream, row)
        return np.array([nlt[labels == label].min() for label in range(n_labels)])

    # Fast path: the only methods that handle the memory of the state

    def refresh(self) -> None:
        """Make `learn_complete` learn into the memory that the stream has now."""
        learn, memory, scratch = self.stream.point_learner(self.access)
        s, access = self.stream.structures, self.access
        d, timed = len(self.names), self.stream.clock is not None
        pick, pack, start = self._pick, self._pack, 8 * timed
        free: Floats | None = None  # memory for a row, if no thread uses it

        def learn_complete(x: Mapping[Name, Any], t: Any) -> int:
            """Learn a point that has exactly the known features.

            Returns 1 if it was learnt, -1 if `finish` has to follow. Returns 0, or raises one of
            NOT_COMPLETE, and changes nothing if it is not such a point.
            """
            nonlocal free
            if len(x) != d or (not can_follow(t, s) if timed else t is not None):
                return 0
            row, free = free, None
            if row is None:
                row = np.empty(d + timed)
            if timed:
                row[0] = t
            pack(row, start, *pick(x if type(x) is dict else _as_dict(x)))
            # No call from here on to that of the kernel: other threads do not come in between.
            if access.open is not memory:
                return 0
            learnt: int = learn(memory, row, scratch, 1)  # 0 if a number is not finite
            free = row
            return learnt

        self.learn_complete = learn_complete

    def finish(self) -> None:
        """Prune, after `learn_complete` returned -1."""
        before = self.stream.structures
        self.stream.finish()
        if self.stream.structures is before:
            self.access.memory = before.memory
        else:  # it has grown
            self.refresh()


def _nearest_nlt(stream: AutomaticStream, rows: Floats) -> Floats:
    """NLT (n,) by the distance of each row to its nearest structure; 0 if it has no feature."""
    observed, nlt = ~np.isnan(rows), np.zeros(len(rows))
    complete = observed.all(axis=1)
    nlt[complete] = stream.nearest_nlt(rows[complete], 1)
    for i in np.flatnonzero(observed.any(axis=1) & ~complete):
        nlt[i] = nearest_nlt_observed(stream, rows[i])
    return nlt


def _as_dict(x: Mapping[Name, Any]) -> Mapping[Name, Any]:
    """The point as a plain dictionary: a Counter, say, returns 0 for missing keys."""
    return x if type(x) is dict else dict(x)
