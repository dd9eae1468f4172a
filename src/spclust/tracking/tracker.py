"""Tracking of clusters: ids that last, and events.

The clusters are observed at intervals. Structures keep their ids, so that two observations can be
compared by the structures that they share: a cluster id belongs to the cluster that has most of
what is left of its structures. It stays while that cluster has enough weight (`ENOUGH`), and a
change is reported once several observations in a row (`patience`) have shown it.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Self

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.tracking import comparison
from spclust.tracking.comparison import BIRTH, GONE, SPLIT
from spclust.tracking.events import ENOUGH, Change, ClusterEvent
from spclust.tracking.observation import NOBODY, Matches, Observation
from spclust.tracking.stored_values import cluster_event, finite_place, kind_of_event, whole

MOST_EVENTS = 1000


class Tracker:
    """Cluster ids, and a log of events of limited length."""

    paced = False  # clusters are observed by the number of points

    def __init__(self, patience: int = 5, most_events: int = MOST_EVENTS) -> None:
        self.patience = patience
        self.events: deque[ClusterEvent] = deque(maxlen=most_events)
        self.ids_given = 0  # cluster ids so far
        self.noticed = 0  # events so far
        self.observed_at = 0  # points that had been learnt at the last observation
        self.centres: dict[int, Floats] = {}  # of each cluster id, in order, when last reported
        self._structures = np.empty(0, dtype=np.int64)  # ids of structures last observed,
        self._assigned = np.empty(0, dtype=np.int64)  # and their cluster ids
        self._waiting: dict[Change, int] = {}  # observations in a row that showed a change

    def state(self) -> dict[str, Any]:
        """The state of the tracker as lists and numbers: see `restored`."""
        return {
            "patience": self.patience,
            "most_events": self.events.maxlen,
            "names": self.ids_given,
            "noticed": self.noticed,
            "looked": self.observed_at,
            "centres": [[its_id, centre.tolist()] for its_id, centre in self.centres.items()],
            "ids": self._structures.tolist(),
            "owners": self._assigned.tolist(),
            "waiting": [[kind, list(ids), times] for (kind, ids), times in self._waiting.items()],
            "events": [asdict(event) for event in self.events],
        }

    @classmethod
    def restored(cls, state: dict[str, Any], d: int) -> Self:
        """A tracker of clusters in d dimensions with a state that `state` gave.

        Raises KeyError, TypeError or ValueError if it is not such a state.
        """
        tracker = cls(whole(state["patience"], 1), whole(state["most_events"], 0, MOST_EVENTS))
        given = tracker.ids_given = whole(state["names"], 0)
        tracker.noticed = whole(state["noticed"], len(state["events"]))
        tracker.observed_at = whole(state["looked"], 0)
        tracker.centres = {
            whole(its_id, 0, given - 1): finite_place(at, d)
            for its_id, at in sorted(state["centres"])
        }
        tracker._structures = np.array([whole(i, 0) for i in state["ids"]], dtype=np.int64)
        tracker._assigned = np.array([whole(i, NOBODY) for i in state["owners"]], dtype=np.int64)
        known = {*tracker.centres, NOBODY}
        structures = tracker._structures
        if structures.size != tracker._assigned.size or (np.diff(structures) <= 0).any():
            raise ValueError("structures and their cluster ids do not go together")
        if len(state["centres"]) != len(tracker.centres) or not known >= set(state["owners"]):
            raise ValueError("cluster ids and those of structures do not go together")
        for kind, ids, times in state["waiting"]:
            if len(ids) != (2 if kind == "merge" else 1):
                raise ValueError(f"{kind!r:.40} of {ids!r:.40} is no change")
            tracker._waiting[kind_of_event(kind), tuple(whole(i, 0) for i in ids)] = whole(times, 1)
        tracker.events.extend(cluster_event(event, given, d) for event in state["events"])
        return tracker

    def cluster_ids(self, now: Observation) -> dict[int, int]:
        """Id of each cluster that has one, by cluster. Changes nothing."""
        matches = self._compared(now)
        ids: dict[int, int] = {}
        for place in np.argsort(matches.shared.max(axis=1, initial=0.0), kind="stable").tolist():
            if matches.homes[place] != NOBODY:
                ids[int(matches.homes[place])] = int(matches.ids[place])
        return ids

    def observe(self, now: Observation) -> list[ClusterEvent]:
        """Compare an observation with the one before, and return the events that it confirms.

        If this is interrupted, the tracker stays as it was.
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
        confirmed = [change for change, times in self._waiting.items() if times >= self.patience]
        for change in confirmed:
            del self._waiting[change]
            if change[0] == "birth" or all(its_id in self.centres for its_id in change[1]):
                event = self._report(change, matches, now)
                if event is not None:
                    happened.append(event)
                    matches = self._compared(now)
        self._structures, self._assigned = now.id, comparison.followed(matches, now)
        return happened + self._moves(now)

    def _compared(self, now: Observation) -> Matches:
        """The observation matched with the cluster ids of the one before."""
        ids = self._ids()
        matches: Matches = comparison.compared(now, self._structures, self._assigned, ids)
        return matches

    def _ids(self) -> Integers:
        return np.fromiter(self.centres, np.int64, len(self.centres))

    def _changes(self, matches: Matches, now: Observation) -> Iterator[Change]:
        """Changes that an observation suggests; a birth has the id of a structure."""
        for what, one, other in comparison.changes(matches, now).tolist():
            if what == GONE:
                # A cluster that merges with another one may lose its last structures to it.
                merges = [c for c in self._waiting if c[0] == "merge" and one in c[1]]
                yield merges[0] if merges else ("death", (one,))
            elif what == SPLIT:
                yield "split", (one,)
            elif what == BIRTH:
                yield "birth", (one,)
            else:
                yield "merge", (one, other)

    def _report(self, change: Change, matches: Matches, now: Observation) -> ClusterEvent | None:
        """Carry out a change, and return its event; None if another change has undone it."""
        kind, before = change
        assigned = matches.assigned.copy()
        after: tuple[int, ...] = ()
        if kind == "birth":
            cluster = now.cluster[now.id == before[0]]
            before, after = (), (self._new_id(),)
            assigned[now.cluster == cluster] = after[0]
        elif kind == "death":
            assigned[assigned == before[0]] = NOBODY
        elif kind == "merge":
            after = before[:1]
            assigned[assigned == before[1]] = before[0]
        else:
            place = int(np.searchsorted(matches.ids, before[0]))
            mine = matches.parts[place] & (matches.weights >= ENOUGH)
            theirs = np.delete(matches.homes, place)
            mine[theirs[(theirs != NOBODY) & (theirs != matches.homes[place])]] = False
            large = np.flatnonzero(mine)
            if large.size < 2:
                return None
            after = before
            for cluster in large[np.argsort(-matches.shared[place, large], kind="stable")][1:]:
                new = self._new_id()
                after = (*after, new)
                assigned[(now.cluster == cluster) & (assigned == before[0])] = new
        self._structures, self._assigned = now.id, assigned
        for its_id in after:
            own = assigned == its_id
            if now.weight[own].sum() > 0.0 or its_id not in self.centres:
                self.centres[its_id] = comparison.centre_of(now.weight, now.mean, own)
        centre = self.centres[(after or before)[0]]
        for its_id in set(before) - set(after):
            del self.centres[its_id]
        return ClusterEvent(kind, now.seen, before, after, tuple(centre.tolist()))

    def _new_id(self) -> int:
        self.ids_given += 1
        return self.ids_given - 1

    def _moves(self, now: Observation) -> list[ClusterEvent]:
        """Moves of clusters that are far from where they were when last reported."""
        if not self.centres:
            return []
        ids, before = self._ids(), np.array(list(self.centres.values()))
        far, centres = comparison.moved(now, self._assigned, ids, before)
        moved = []
        for row in far.nonzero()[0].tolist():
            its_id, centre = int(ids[row]), centres[row]
            self.centres[its_id] = centre.copy()
            place_now = tuple(centre.tolist())
            moved.append(ClusterEvent("move", now.seen, (its_id,), (its_id,), place_now))
        return moved
