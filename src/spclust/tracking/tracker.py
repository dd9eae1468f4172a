"""Clusters that keep their names while the stream goes on, and what happens to them.

From time to time the clusters of structures are looked at. Structures keep their ids for life, so
that two looks can be compared by the structures they share: a cluster is where most of what is left
of its structures is. It counts while recent points that are typical of it weigh enough (`ENOUGH`),
and a change has to be seen in several looks in a row (`patience`) before it is believed.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.tracking import comparison
from spclust.tracking.comparison import BIRTH, ENOUGH, GONE, SPLIT
from spclust.tracking.observation import NOBODY, Matches, Observation

Kind = Literal["birth", "death", "merge", "split", "move"]
Change = tuple[Kind, tuple[int, ...]]  # what seems to happen, and to whom

_MOST_EVENTS = 1000


@dataclass(frozen=True)
class ClusterEvent:
    """Something that happened to clusters, which go by their ids."""

    kind: Kind
    index: int  # points learnt when it was believed
    before: tuple[int, ...]  # clusters that took part
    after: tuple[int, ...]  # what they have become
    centre: tuple[float, ...]  # where the (first) cluster is, or was


class Tracker:
    """Names of clusters, and a log of events that has its limit."""

    def __init__(self, patience: int = 5, most_events: int = _MOST_EVENTS) -> None:
        self.patience = patience
        self.events: deque[ClusterEvent] = deque(maxlen=most_events)
        self.names = 0  # given so far
        self.noticed = 0  # events so far
        self.observed_at = 0  # points that had been learnt at the last look
        self.centres: dict[int, Floats] = {}  # of each name, in order: where it was when last told
        self._ids = np.empty(0, dtype=np.int64)  # structures that were there at the last look,
        self._owners = np.empty(0, dtype=np.int64)  # and whose they were
        self._waiting: dict[Change, int] = {}  # looks in a row that saw it

    def state(self) -> dict[str, Any]:
        """All that is known, as plain lists and numbers: see `restored`."""
        return {
            "patience": self.patience,
            "most_events": self.events.maxlen,
            "names": self.names,
            "noticed": self.noticed,
            "looked": self.observed_at,
            "centres": [[name, centre.tolist()] for name, centre in self.centres.items()],
            "ids": self._ids.tolist(),
            "owners": self._owners.tolist(),
            "waiting": [[kind, list(who), looks] for (kind, who), looks in self._waiting.items()],
            "events": [asdict(event) for event in self.events],
        }

    @classmethod
    def restored(cls, state: dict[str, Any], d: int) -> Self:
        """The tracker, of clusters in d dimensions, whose state that was.

        Raises KeyError, TypeError or ValueError if it cannot have been one.
        """
        tracker = cls(_whole(state["patience"], 1), _whole(state["most_events"], 0, _MOST_EVENTS))
        names = tracker.names = _whole(state["names"], 0)
        tracker.noticed = _whole(state["noticed"], len(state["events"]))
        tracker.observed_at = _whole(state["looked"], 0)
        tracker.centres = {
            _whole(name, 0, names - 1): _place(at, d) for name, at in sorted(state["centres"])
        }
        tracker._ids = np.array([_whole(i, 0) for i in state["ids"]], dtype=np.int64)
        tracker._owners = np.array([_whole(o, NOBODY) for o in state["owners"]], dtype=np.int64)
        known = {*tracker.centres, NOBODY}
        if tracker._ids.size != tracker._owners.size or (np.diff(tracker._ids) <= 0).any():
            raise ValueError("structures and their owners do not go together")
        if len(state["centres"]) != len(tracker.centres) or not known >= set(state["owners"]):
            raise ValueError("names and owners do not go together")
        for kind, who, looks in state["waiting"]:
            if len(who) != (2 if kind == "merge" else 1):
                raise ValueError(f"{kind!r:.40} of {who!r:.40} is no change")
            tracker._waiting[_kind(kind), tuple(_whole(w, 0) for w in who)] = _whole(looks, 1)
        for event in state["events"]:
            before, after = (
                tuple(_whole(w, 0, names - 1) for w in event[k]) for k in ("before", "after")
            )
            index, centre = _whole(event["index"], 0), tuple(_place(event["centre"], d).tolist())
            tracker.events.append(ClusterEvent(_kind(event["kind"]), index, before, after, centre))
        return tracker

    def names_of(self, now: Observation) -> dict[int, int]:
        """Name of each cluster that has one: by cluster. Reads only."""
        matches = self._compared(now)
        named: dict[int, int] = {}
        for place in np.argsort(matches.shared.max(axis=1, initial=0.0), kind="stable").tolist():
            if matches.homes[place] != NOBODY:
                named[int(matches.homes[place])] = int(matches.ids[place])
        return named

    def observe(self, now: Observation) -> list[ClusterEvent]:
        """Compare what is seen now with what is known: what has happened, and is believed.

        All of it is noted, or, if it is interrupted, nothing.
        """
        draft = object.__new__(type(self))
        vars(draft).update(vars(self), centres=dict(self.centres))
        happened = draft._observe(now)
        draft.observed_at = now.seen
        if happened:
            draft.events = self.events.copy()
            draft.events.extend(happened)
            draft.noticed += len(happened)
        vars(self).update(vars(draft))  # in one step
        return happened

    def _observe(self, now: Observation) -> list[ClusterEvent]:
        matches, happened = self._compared(now), []
        self._waiting = {
            change: self._waiting.get(change, 0) + 1 for change in self._changes(matches, now)
        }
        believed = [change for change, looks in self._waiting.items() if looks >= self.patience]
        for change in believed:
            del self._waiting[change]
            if change[0] == "birth" or all(name in self.centres for name in change[1]):
                event = self._report(change, matches, now)
                if event is not None:
                    happened.append(event)
                    matches = self._compared(now)
        self._ids, self._owners = now.id, comparison.followed(matches, now)
        return happened + self._moves(now)

    def _compared(self, now: Observation) -> Matches:
        """What is seen now beside what is known of it."""
        matches: Matches = comparison.compared(now, self._ids, self._owners, self._names())
        return matches

    def _names(self) -> Integers:
        return np.fromiter(self.centres, np.int64, len(self.centres))

    def _changes(self, matches: Matches, now: Observation) -> Iterator[Change]:
        """What seems to have happened; a birth, which has no name yet, goes by a structure."""
        for what, who, other in comparison.changes(matches, now).tolist():
            if what == GONE:
                # What merged with another one may lose its last structures to it.
                merges = [c for c in self._waiting if c[0] == "merge" and who in c[1]]
                yield merges[0] if merges else ("death", (who,))
            elif what == SPLIT:
                yield "split", (who,)
            elif what == BIRTH:
                yield "birth", (who,)
            else:
                yield "merge", (who, other)

    def _report(self, change: Change, matches: Matches, now: Observation) -> ClusterEvent | None:
        """Note a change; what it is called. None if another one has undone it meanwhile."""
        kind, who = change
        owners = matches.owners.copy()
        after: tuple[int, ...] = ()
        if kind == "birth":
            cluster = now.cluster[now.id == who[0]]
            who, after = (), (self._new_name(),)
            owners[now.cluster == cluster] = after[0]
        elif kind == "death":
            owners[owners == who[0]] = NOBODY
        elif kind == "merge":
            after = who[:1]
            owners[owners == who[1]] = who[0]
        else:
            place = int(np.searchsorted(matches.ids, who[0]))
            mine = matches.parts[place] & (matches.weights >= ENOUGH)
            theirs = np.delete(matches.homes, place)
            mine[theirs[(theirs != NOBODY) & (theirs != matches.homes[place])]] = False
            large = np.flatnonzero(mine)
            if large.size < 2:
                return None
            after = who
            for cluster in large[np.argsort(-matches.shared[place, large], kind="stable")][1:]:
                name = self._new_name()
                after = (*after, name)
                owners[(now.cluster == cluster) & (owners == who[0])] = name
        self._ids, self._owners = now.id, owners
        for name in after:
            own = owners == name
            if now.weight[own].sum() > 0.0 or name not in self.centres:
                self.centres[name] = comparison.centre_of(now.weight, now.mean, own)
        centre = self.centres[(after or who)[0]]
        for name in set(who) - set(after):
            del self.centres[name]
        return ClusterEvent(kind, now.seen, who, after, tuple(centre.tolist()))

    def _new_name(self) -> int:
        self.names += 1
        return self.names - 1

    def _moves(self, now: Observation) -> list[ClusterEvent]:
        """Clusters that are far from where they were when last reported."""
        if not self.centres:
            return []
        names, before = self._names(), np.array(list(self.centres.values()))
        far, centres = comparison.moved(now, self._owners, names, before)
        moved = []
        for row in far.nonzero()[0].tolist():
            name, centre = int(names[row]), centres[row]
            self.centres[name] = centre.copy()
            place_now = tuple(centre.tolist())
            moved.append(ClusterEvent("move", now.seen, (name,), (name,), place_now))
        return moved


def _whole(value: Any, least: int, most: int = 2**62) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{value!r:.40} is no whole number from {least} to {most}")
    return value


def _kind(value: Any) -> Kind:
    if value not in get_args(Kind):
        raise ValueError(f"{value!r:.40} is no kind of event")
    kind: Kind = value
    return kind


def _place(value: Any, d: int) -> Floats:
    if not all(type(number) in (int, float) for number in value):
        raise TypeError(f"{value!r:.40} is no place")
    place = np.array(value, dtype=np.float64)
    if place.shape != (d,) or not np.isfinite(place).all():
        raise ValueError(f"{value!r:.40} is no place")
    return place
