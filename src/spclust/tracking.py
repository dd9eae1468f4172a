"""Clusters that keep their names while the stream goes on, and what happens to them.

From time to time the clusters of structures are looked at. Structures keep their ids for life, so
that two looks can be compared by the structures they share: a cluster is where most of what is left
of its structures is. It counts while recent points that are typical of it weigh enough (`ENOUGH`),
and a change has to be seen in several looks in a row (`patience`) before it is believed.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from spclust.arrays import Booleans, Floats, Integers

Kind = Literal["birth", "death", "merge", "split", "move"]
Change = tuple[Kind, tuple[int, ...]]  # what seems to happen, and to whom

ENOUGH = 4.0  # recent points, faded, that make a cluster; half of it keeps one that there is
_PART = 0.15  # of what is left of a cluster: less of it elsewhere is no part to speak of
_FAR = 3.0  # standard deviations of a cluster: a way that is worth a word
_NOBODY = -1


@dataclass(frozen=True)
class ClusterEvent:
    """Something that happened to clusters, which go by their ids."""

    kind: Kind
    index: int  # points learnt when it was believed
    before: tuple[int, ...]  # clusters that took part
    after: tuple[int, ...]  # what they have become
    centre: tuple[float, ...]  # where the (first) cluster is, or was


class Look(NamedTuple):
    """What is seen of the structures at one moment."""

    seen: int  # points learnt
    id: Integers  # (k,)
    cluster: Integers  # (k,) 0, 1, ...; -1 is noise
    mass: Floats  # (k,) recent points, faded, that are typical of each
    mean: Floats  # (k, d)
    variance: Floats  # (k,) of a feature, on average


class Tracker:
    """Names of clusters, and a log of events that has its limit."""

    def __init__(self, patience: int = 5, most_events: int = 1000) -> None:
        self.patience = patience
        self.events: deque[ClusterEvent] = deque(maxlen=most_events)
        self.names = 0  # given so far
        self.noticed = 0  # events so far
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
        tracker = cls(_whole(state["patience"], 1), _whole(state["most_events"], 0))
        tracker.names = _whole(state["names"], 0)
        tracker.noticed = _whole(state["noticed"], 0)
        tracker.centres = {_whole(name, 0): _place(at, d) for name, at in state["centres"]}
        tracker._ids = np.array([_whole(i, 0) for i in state["ids"]], dtype=np.int64)
        tracker._owners = np.array([_whole(o, _NOBODY) for o in state["owners"]], dtype=np.int64)
        if tracker._ids.size != tracker._owners.size or (np.diff(tracker._ids) <= 0).any():
            raise ValueError("structures and their owners do not go together")
        for kind, who, looks in state["waiting"]:
            tracker._waiting[_kind(kind), tuple(_whole(w, 0) for w in who)] = _whole(looks, 1)
        for event in state["events"]:
            before, after = (tuple(_whole(w, 0) for w in event[k]) for k in ("before", "after"))
            index, centre = _whole(event["index"], 0), tuple(_place(event["centre"], d).tolist())
            tracker.events.append(ClusterEvent(_kind(event["kind"]), index, before, after, centre))
        return tracker

    def names_of(self, now: Look) -> dict[int, int]:
        """Name of each cluster that has one: by cluster. Reads only."""
        shared = self._shared(now)
        homes = {name: int(row.argmax()) for name, row in shared.items() if row.any()}
        named: dict[int, int] = {}
        for name, cluster in sorted(homes.items(), key=lambda home: shared[home[0]][home[1]]):
            named[cluster] = name
        return named

    def look(self, now: Look) -> list[ClusterEvent]:
        """Compare what is seen now with what is known: what has happened, and is believed."""
        shared, masses = self._shared(now), _masses(now)
        seen = dict.fromkeys(self._changes(now, shared, masses))
        self._waiting = {change: self._waiting.get(change, 0) + 1 for change in seen}
        believed = [change for change, looks in self._waiting.items() if looks >= self.patience]
        happened = []
        for change in believed:
            del self._waiting[change]
            if change[0] == "birth" or all(name in self.centres for name in change[1]):
                happened.append(self._report(change, now, shared, masses))
        self._follow(now, self._shared(now) if believed else shared, masses)
        happened += self._moves(now)
        self.events.extend(happened)
        self.noticed += len(happened)
        return happened

    def _shared(self, now: Look) -> dict[int, Floats]:
        """Mass (clusters,) in each cluster of the structures that each name has."""
        owners = self._owners_of(now)
        n, shared = int(now.cluster.max(initial=-1)) + 1, dict[int, Floats]()
        for name in self.centres:
            mine = (owners == name) & (now.cluster >= 0)
            shared[name] = _sums(now.cluster[mine], now.mass[mine], n)
        return shared

    def _owners_of(self, now: Look) -> Integers:
        """Name (k,) whose each structure was at the last look, if it was there."""
        if not self._ids.size:
            return np.full(now.id.size, _NOBODY)
        place = np.minimum(np.searchsorted(self._ids, now.id), self._ids.size - 1)
        owners: Integers = np.where(self._ids[place] == now.id, self._owners[place], _NOBODY)
        return owners

    def _changes(self, now: Look, shared: dict[int, Floats], masses: Floats) -> Iterator[Change]:
        """What seems to have happened; a birth, which has no name yet, goes by a structure."""
        homes: dict[int, list[int]] = {}
        parts: set[int] = set()
        for name, row in shared.items():
            home = int(row.argmax()) if row.any() else _NOBODY
            if home == _NOBODY or masses[home] < ENOUGH / 2.0:
                # What merged with another one may lose its last structures to it.
                others = [c[1] for c in self._waiting if c[0] == "merge" and name in c[1]]
                yield ("merge", others[0]) if others else ("death", (name,))
                continue
            homes.setdefault(home, []).append(name)
        for name, row in shared.items():
            large = (row >= _PART * row.sum()) & (masses >= ENOUGH)
            mine = [c for c in np.flatnonzero(large).tolist() if name in homes.get(c, [name])]
            parts.update(mine)
            if len(mine) > 1:
                yield "split", (name,)
        for names in homes.values():
            for other in names[1:]:
                yield "merge", (min(names[0], other), max(names[0], other))
        for cluster in np.flatnonzero(masses >= ENOUGH).tolist():
            if cluster not in homes and cluster not in parts:
                yield "birth", (int(now.id[now.cluster == cluster].min()),)

    def _report(
        self, change: Change, now: Look, shared: dict[int, Floats], masses: Floats
    ) -> ClusterEvent:
        """Note a change; what it is called. Modified in place: who owns which structures."""
        kind, who = change
        after: tuple[int, ...] = ()
        owners = self._owners_of(now)
        if kind == "birth":
            cluster = now.cluster[now.id == who[0]]
            who, after = (), (self._new_name(),)
            owners[now.cluster == cluster] = after[0]
        elif kind == "death":
            owners[owners == who[0]] = _NOBODY
        elif kind == "merge":
            after = who[:1]
            owners[owners == who[1]] = who[0]
        else:
            row = shared[who[0]]
            large = np.flatnonzero((row >= _PART * row.sum()) & (masses >= ENOUGH))
            after = who
            for cluster in large[np.argsort(-row[large], kind="stable")][1:]:
                name = self._new_name()
                after = (*after, name)
                owners[(now.cluster == cluster) & (owners == who[0])] = name
        self._remember(now, owners)
        about = (after or who)[0]
        centre = _centre(now, owners == about) if after else self.centres[about]
        for name in {*who, *after}:
            if name in after:
                self.centres[name] = _centre(now, owners == name)
            else:
                del self.centres[name]
        return ClusterEvent(kind, now.seen, who, after, tuple(centre.tolist()))

    def _new_name(self) -> int:
        self.names += 1
        return self.names - 1

    def _remember(self, now: Look, owners: Integers) -> None:
        order = np.argsort(now.id)
        self._ids, self._owners = now.id[order], owners[order]

    def _follow(self, now: Look, shared: dict[int, Floats], masses: Floats) -> None:
        """Structures that nobody has belong to whoever has their cluster, the nearest if several.

        So do those of somebody else whose home is elsewhere, and who has no part here.
        """
        owners = self._owners_of(now)
        for cluster in range(masses.size):
            inside = now.cluster == cluster
            here = [name for name, row in shared.items() if row.any() and row.argmax() == cluster]
            if len(here) == 1:
                others = [n for n, row in shared.items() if row[cluster] >= _PART * row.sum() > 0.0]
                owners[inside & ~np.isin(owners, others)] = here[0]
            elif here:
                free = np.flatnonzero(inside & (owners == _NOBODY))
                away = [
                    np.sum((now.mean[free] - _centre(now, inside & (owners == name))) ** 2, axis=1)
                    for name in here
                ]
                owners[free] = np.array(here)[np.argmin(away, axis=0)]
            else:
                part = [n for n, row in shared.items() if row[cluster] >= _PART * row.sum() > 0.0]
                owners[inside & (owners == _NOBODY)] = part[0] if part else _NOBODY
        self._remember(now, owners)

    def _moves(self, now: Look) -> list[ClusterEvent]:
        """Clusters that are far from where they were when last reported."""
        owners, moved = self._owners_of(now), []
        for name, before in self.centres.items():
            mine = owners == name
            if not now.mass[mine].sum() > 0.0:
                continue
            centre, share = _centre(now, mine), now.mass[mine] / now.mass[mine].sum()
            scatter = share @ np.mean((now.mean[mine] - centre) ** 2, axis=1)
            variance = scatter + share @ now.variance[mine]
            if np.mean((centre - before) ** 2) * centre.size > _FAR**2 * variance:
                self.centres[name] = centre
                place = tuple(centre.tolist())
                moved.append(ClusterEvent("move", now.seen, (name,), (name,), place))
        return moved


def _whole(value: Any, least: int) -> int:
    if type(value) is not int or not least <= value < 2**62:
        raise ValueError(f"{value!r:.40} is no whole number of at least {least}")
    return value


def _kind(value: Any) -> Kind:
    if value not in get_args(Kind):
        raise ValueError(f"{value!r:.40} is no kind of event")
    kind: Kind = value
    return kind


def _place(value: Any, d: int) -> Floats:
    place = np.array(value, dtype=np.float64)
    if place.shape != (d,) or not np.isfinite(place).all():
        raise ValueError(f"{value!r:.40} is no place")
    return place


def _centre(now: Look, mine: Booleans) -> Floats:
    """Mean (d,) of some structures, by their mass."""
    centre: Floats = now.mass[mine] @ now.mean[mine] / now.mass[mine].sum()
    return centre


def _masses(now: Look) -> Floats:
    """Mass (clusters,) of each cluster."""
    inside = now.cluster >= 0
    return _sums(now.cluster[inside], now.mass[inside], 0)


def _sums(places: Integers, values: Floats, least: int) -> Floats:
    """Sum of the values at each place: so many places at least."""
    sums: Floats = np.bincount(places, values, minlength=least).astype(np.float64, copy=False)
    return sums
