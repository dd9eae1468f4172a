"""Clusters that keep their names while the stream goes on, and what happens to them.

From time to time the clusters of structures are looked at. Structures keep their ids for life, so
that two looks can be compared by the structures they share: a cluster is where most of what is left
of its structures is. It counts while recent points that are typical of it weigh enough (`ENOUGH`),
and a change has to be seen in several looks in a row (`patience`) before it is believed.
"""

from collections import deque
from collections.abc import Iterator
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.looking import NOBODY, Look, Seen, centre_of, followed

Kind = Literal["birth", "death", "merge", "split", "move"]
Change = tuple[Kind, tuple[int, ...]]  # what seems to happen, and to whom

ENOUGH = 4.0  # recent points, faded, that make a cluster; half of it keeps one that there is
_FAR = 3.0  # standard deviations of a cluster: a way that is worth a word
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
        self.looked = 0  # points that had been learnt at the last look
        self.centres: dict[int, Floats] = {}  # of each cluster, where it was when last reported
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
            "looked": self.looked,
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
        tracker.looked = _whole(state["looked"], 0)
        tracker.centres = {
            _whole(name, 0, names - 1): _place(at, d) for name, at in state["centres"]
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

    def names_of(self, now: Look) -> dict[int, int]:
        """Name of each cluster that has one: by cluster. Reads only."""
        seen = self._compared(now)
        named: dict[int, int] = {}
        for place in np.argsort(seen.shared.max(axis=1, initial=0.0), kind="stable").tolist():
            if seen.homes[place] != NOBODY:
                named[int(seen.homes[place])] = int(seen.names[place])
        return named

    def look(self, now: Look) -> list[ClusterEvent]:
        """Compare what is seen now with what is known: what has happened, and is believed.

        All of it is noted, or, if it is interrupted, nothing.
        """
        draft = copy(self)
        draft.centres = dict(self.centres)
        with np.errstate(over="ignore", invalid="ignore"):  # of squares of the largest numbers
            happened = draft._look(now)
        draft.looked = now.seen
        if happened:
            draft.events = self.events.copy()
            draft.events.extend(happened)
            draft.noticed += len(happened)
        vars(self).update(vars(draft))  # in one step
        return happened

    def _look(self, now: Look) -> list[ClusterEvent]:
        owners = None if self._waiting else self._unchanged(now)
        if owners is not None:
            self._remember(now, owners)
            return self._moves(now, owners)
        seen = self._compared(now)
        changes = dict.fromkeys(self._changes(seen))
        self._waiting = {change: self._waiting.get(change, 0) + 1 for change in changes}
        believed = [change for change, looks in self._waiting.items() if looks >= self.patience]
        happened = []
        for change in believed:
            del self._waiting[change]
            if change[0] == "birth" or all(name in self.centres for name in change[1]):
                event = self._report(change, seen)
                if event is not None:
                    happened.append(event)
                    seen = self._compared(now)
        owners = followed(seen)
        self._remember(now, owners)
        return happened + self._moves(now, owners)

    def _unchanged(self, now: Look) -> Integers | None:
        """Name (k,) whose each structure is, if nothing but movement can have happened, else None.

        The quick way of most looks: each name's structures are one cluster, and nobody else's.
        """
        owners, inside = self._owners_of(now), now.cluster >= 0
        known = owners != NOBODY
        if not inside.all():
            if (known & ~inside).any():
                return None
            known &= inside
        cluster = now.cluster[inside]
        masses = np.bincount(cluster, now.mass[inside])
        whose = np.full(masses.size, NOBODY)
        whose[now.cluster[known]] = owners[known]
        named = whose != NOBODY
        same = (
            np.array_equal(whose[now.cluster[known]], owners[known])
            and sorted(whose[named].tolist()) == sorted(self.centres)
            and bool(np.all(masses >= np.where(named, ENOUGH / 2.0, 0.0)))
            and bool(np.all(named | (masses < ENOUGH)))
        )
        if not same:
            return None
        owners[inside] = whose[cluster]
        return owners

    def _compared(self, now: Look) -> Seen:
        """What is seen now beside what is known of it."""
        names = np.array(list(self.centres), dtype=np.int64)
        names.sort()
        owners = self._owners_of(now)
        inside = now.cluster >= 0
        masses: Floats = np.bincount(now.cluster[inside], now.mass[inside]).astype(float)
        known = inside & (owners != NOBODY)
        cells = np.searchsorted(names, owners[known]) * masses.size + now.cluster[known]
        sums = np.bincount(cells, now.mass[known], minlength=names.size * masses.size)
        shared: Floats = sums.astype(float)
        return Seen(now, owners, names, masses, shared.reshape(names.size, masses.size))

    def _owners_of(self, now: Look) -> Integers:
        """Name (k,) whose each structure was at the last look, if it was there."""
        if not self._ids.size:
            return np.full(now.id.size, NOBODY)
        place = np.minimum(np.searchsorted(self._ids, now.id), self._ids.size - 1)
        owners: Integers = np.where(self._ids[place] == now.id, self._owners[place], NOBODY)
        return owners

    def _changes(self, seen: Seen) -> Iterator[Change]:
        """What seems to have happened; a birth, which has no name yet, goes by a structure."""
        names, homes = seen.names.tolist(), seen.homes.tolist()
        enough = seen.masses >= ENOUGH
        tenants: dict[int, list[int]] = {}
        for name, home in zip(names, homes, strict=True):
            if home == NOBODY or seen.masses[home] < ENOUGH / 2.0:
                # What merged with another one may lose its last structures to it.
                others = [c[1] for c in self._waiting if c[0] == "merge" and name in c[1]]
                yield ("merge", others[0]) if others else ("death", (name,))
                continue
            tenants.setdefault(home, []).append(name)
        taken = set(tenants)
        considerable: dict[int, list[int]] = {}
        for place, cluster in np.argwhere(seen.parts & enough).tolist():
            considerable.setdefault(place, []).append(cluster)
        for place, clusters in considerable.items():
            name = names[place]
            mine = [cluster for cluster in clusters if name in tenants.get(cluster, [name])]
            taken.update(mine)
            if len(mine) > 1:
                yield "split", (name,)
        for together in tenants.values():
            for other in together[1:]:
                yield "merge", (min(together[0], other), max(together[0], other))
        for cluster in np.flatnonzero(enough).tolist():
            if cluster not in taken:
                yield "birth", (int(seen.now.id[seen.now.cluster == cluster].min()),)

    def _report(self, change: Change, seen: Seen) -> ClusterEvent | None:
        """Note a change; what it is called. None if another one has undone it meanwhile."""
        kind, who = change
        now, owners = seen.now, seen.owners.copy()
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
            place = int(np.searchsorted(seen.names, who[0]))
            mine = seen.parts[place] & (seen.masses >= ENOUGH)
            theirs = np.delete(seen.homes, place)
            mine[theirs[(theirs != NOBODY) & (theirs != seen.homes[place])]] = False
            large = np.flatnonzero(mine)
            if large.size < 2:
                return None
            after = who
            for cluster in large[np.argsort(-seen.shared[place, large], kind="stable")][1:]:
                name = self._new_name()
                after = (*after, name)
                owners[(now.cluster == cluster) & (owners == who[0])] = name
        self._remember(now, owners)
        for name in after:
            own = owners == name
            if now.mass[own].sum() > 0.0 or name not in self.centres:
                self.centres[name] = centre_of(now, own)
        centre = self.centres[(after or who)[0]]
        for name in set(who) - set(after):
            del self.centres[name]
        return ClusterEvent(kind, now.seen, who, after, tuple(centre.tolist()))

    def _new_name(self) -> int:
        self.names += 1
        return self.names - 1

    def _remember(self, now: Look, owners: Integers) -> None:
        order = np.argsort(now.id)
        self._ids, self._owners = now.id[order], owners[order]

    def _moves(self, now: Look, owners: Integers) -> list[ClusterEvent]:
        """Clusters that are far from where they were when last reported."""
        if not self.centres:
            return []
        names = np.array(sorted(self.centres), dtype=np.int64)
        mine = np.flatnonzero((owners != NOBODY) & (now.mass > 0.0))
        place, mean = np.searchsorted(names, owners[mine]), now.mean[mine]
        sums = np.bincount(place, now.mass[mine], minlength=names.size)
        shares = np.zeros((names.size, mine.size))
        shares[place, np.arange(mine.size)] = now.mass[mine] / sums[place]
        centres = shares @ mean
        offsets = np.sum((mean - centres[place]) ** 2, axis=1) / mean.shape[1]
        variances = shares @ (offsets + now.variance[mine])
        before = np.array([self.centres[name] for name in names.tolist()])
        far = np.sum((centres - before) ** 2, axis=1) > _FAR**2 * variances
        moved = []
        for row in np.flatnonzero(far & (sums > 0.0)).tolist():
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
