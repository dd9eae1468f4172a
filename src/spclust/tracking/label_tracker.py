"""Tracking in the automatic mode: events about the labels that clusters have.

The clusters are observed at intervals, with a label for each (`label_matches`). A label is tracked
from the event on that reports its birth, or the split that it comes from, until its death or the
merge in which it ends. A change is reported once a few observations in a row have shown it; a death
when there is enough evidence that no point comes any more (`silence`).
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Self

import numpy as np

from spclust.array_types import Booleans, Floats, Integers
from spclust.auto.clusters.lasting_labels import NO_LABEL, Reading, labels_of_clusters
from spclust.stream.automatic_stream import AutomaticStream
from spclust.tracking.arrivals import NOTHING_REMEMBERED, remembered_of
from spclust.tracking.descent import adopt
from spclust.tracking.events import ENOUGH, FAR, Change, ClusterEvent, Kind
from spclust.tracking.label_matches import LabelMatches, matched_labels, numbered
from spclust.tracking.label_observation import LabelObservation, observe_labels
from spclust.tracking.silence import DEAD, Silence
from spclust.tracking.stored_values import (
    cluster_event,
    finite_place,
    kind_of_event,
    number,
    whole,
)
from spclust.tracking.tracker import MOST_EVENTS

_PATIENCE, _PATIENCE_FOR_PARTS = 3, 2  # observations; a part has points of several already
_NEW_POINTS = 4.0  # points that have to arrive in a cluster before it is reported


class LabelTracker:
    """Tracked labels, and a log of events of limited length."""

    paced = False  # True if somebody else chooses when to observe, whatever was learnt

    def __init__(self) -> None:
        self.events: deque[ClusterEvent] = deque(maxlen=MOST_EVENTS)
        self.noticed = 0  # events so far
        self.observed_at = 0  # points that had been learnt at the last observation
        self.centres: dict[int, Floats] = {}  # of each tracked label, when last reported
        self.silences: dict[int, Silence] = {}  # of each tracked label
        self.remembered = NOTHING_REMEMBERED
        self.waiting: dict[Change, int] = {}  # observations in a row that showed a change
        self.arrived: dict[int, float] = {}  # points since then, of labels not tracked yet

    @classmethod
    def of(cls, stream: AutomaticStream) -> Self:
        """A tracker of a stream; the clusters that there are already are tracked, unreported."""
        tracker = cls()
        if stream.seen > 0:
            labels = stream.lasting_labels()
            now = observe_labels(stream, NOTHING_REMEMBERED, stream.seen, {})
            for label in np.unique(labels[labels >= 0]).tolist():
                tracker._track(label, labels == label, now)
            tracker.remembered = now.structures._replace(descent=labels.copy())
            tracker.observed_at = stream.seen
        tracker.attach(stream)
        return tracker

    def state(self) -> dict[str, Any]:
        """The state of the tracker as lists and numbers: see `restored`."""
        known = self.remembered
        return {
            "noticed": self.noticed,
            "looked": self.observed_at,
            "centres": [[label, centre.tolist()] for label, centre in self.centres.items()],
            "silence": [[label, *silence] for label, silence in self.silences.items()],
            "ids": known.id.tolist(),
            "descent": known.descent.tolist(),
            "counts": known.absorbed.tolist(),
            "recent": known.recent.tolist(),
            "partners": known.partners.tolist(),
            "waiting": [[kind, list(ids), times] for (kind, ids), times in self.waiting.items()],
            "arrived": [[label, points] for label, points in self.arrived.items()],
            "events": [asdict(event) for event in self.events],
        }

    @classmethod
    def restored(cls, state: dict[str, Any], stream: AutomaticStream) -> Self:
        """A tracker of a stream with a state that `state` gave.

        Raises KeyError, TypeError or ValueError if it is not such a state. One of an earlier
        version, which had ids of its own, starts anew.
        """
        if "names" in state:
            return cls.of(stream)
        d, given, tracker = stream.structures.d, stream.reading.given, cls()
        tracker.noticed = whole(state["noticed"], len(state["events"]))
        tracker.observed_at = whole(state["looked"], 0, stream.seen)
        for label, at in state["centres"]:
            tracker.centres[whole(label, 0, given - 1)] = finite_place(at, d)
        for label, share, evidence in state["silence"]:
            tracker.silences[whole(label, 0)] = Silence(number(share), number(evidence))
        if tracker.centres.keys() != tracker.silences.keys():
            raise ValueError("tracked labels do not go together")
        tracker.remembered = remembered_of(state, given)
        for kind, ids, times in state["waiting"]:
            if len(ids) != (2 if kind == "merge" else 1):
                raise ValueError(f"{kind!r:.40} of {ids!r:.40} is no change")
            labels = tuple(whole(label, 0, given - 1) for label in ids)
            tracker.waiting[kind_of_event(kind), labels] = whole(times, 1)
        for label, points in state["arrived"]:
            tracker.arrived[whole(label, 0, given - 1)] = number(points)
        tracker.events.extend(cluster_event(event, given, d) for event in state["events"])
        tracker.attach(stream)
        return tracker

    def attach(self, stream: AutomaticStream) -> None:
        """Let the labels of a stream be those of the last observation. Modified in place: stream.

        Queries then give no cluster a label, so that events do not depend on them.
        """
        stream.follow(stream.reading)

    def tracked(self, labels: Integers) -> Integers:
        """The same labels, -1 for those that are not tracked."""
        return np.where(np.isin(labels, list(self.centres)), labels, NO_LABEL)

    def observe(self, stream: AutomaticStream) -> list[ClusterEvent]:
        """Observe a stream, and return the events that this confirms.

        Modified in place: the labels of the stream. If this is interrupted, the tracker stays as it
        was.
        """
        draft = object.__new__(type(self))
        vars(draft).update(vars(self))
        draft.centres, draft.silences = dict(self.centres), dict(self.silences)
        draft.waiting = dict(self.waiting)
        with np.errstate(over="ignore", invalid="ignore"):  # squares of huge numbers are infinite
            reading, happened = draft._observe(stream)
        draft.observed_at = stream.seen
        if happened:
            draft.events = self.events.copy()
            draft.events.extend(happened)
            draft.noticed += len(happened)
        # In one step: no Python code runs, which an interrupt could come between.
        changed = stream.followed_by(reading), vars(draft)
        list(map(dict.update, (vars(stream), vars(self)), changed))
        return happened

    def _observe(self, stream: AutomaticStream) -> tuple[Reading, list[ClusterEvent]]:
        shares = {label: silence.share for label, silence in self.silences.items()}
        now = observe_labels(stream, self.remembered, self.observed_at, shares)
        tracked = sorted(self.centres)
        matches = matched_labels(now, tracked, stream.reading.given)
        labels = np.append(matches.labels, NO_LABEL)[now.cluster]
        adopt(now.descent, labels, self._dead(now.descent), now.places)
        matches = numbered(matches, now, tracked)
        labels = np.append(matches.labels, NO_LABEL)[now.cluster]
        self._listen(now, labels)
        changes = self._changes(matches, now, labels)
        self.waiting = {change: self.waiting.get(change, 0) + 1 for change in changes}
        happened = [event for event in self._confirmed(now, labels) if event is not None]
        self.remembered = now.structures
        seen = np.full(labels.size, now.seen)
        of_cluster = labels_of_clusters(stream.reading, stream.structures, labels)
        reading = Reading(now.structures.id, labels, labels, seen, matches.given, of_cluster)
        return reading, happened + self._moves(now)

    def _dead(self, descent: Integers) -> Booleans:
        """True (k,) for structures that descend from a label which is no longer tracked."""
        dead: Booleans = (descent != NO_LABEL) & ~np.isin(descent, list(self.centres))
        return dead

    def _listen(self, now: LabelObservation, labels: Integers) -> None:
        """Note for each tracked label whether points have arrived."""
        points, total = now.seen - self.observed_at, now.weight.sum()
        for label, silence in self.silences.items():
            mine = now.descent == label
            arrived = float(now.arrived[mine | (labels == label)].sum())
            share = float(now.weight[mine].sum() / total)
            self.silences[label] = silence.after(points, arrived, share)

    def _changes(
        self, matches: LabelMatches, now: LabelObservation, labels: Integers
    ) -> Iterator[Change]:
        """Changes that an observation suggests; a split is a birth as long as it waits."""
        for label in sorted(self.centres):
            home = matches.homes.get(label)
            if home is None or now.weight[now.descent == label].sum() < ENOUGH / 2.0:
                # A cluster that merges with another one may lose its last structures to it.
                merges = [c for c in self.waiting if c[0] == "merge" and c[1][1] == label]
                yield merges[0] if merges else ("death", (label,))
            elif matches.labels[home] != label:
                yield "merge", (int(matches.labels[home]), label)
            elif self.silences[label].evidence > DEAD:
                change = self._end_of_silent(label, now, labels)
                self.waiting[change] = _PATIENCE  # the evidence has waited
                yield change
        arrived = {}
        for cluster, label in enumerate(matches.labels.tolist()):
            if label in self.centres:
                continue
            points = float(now.arrived[labels == label].sum())
            if points == 0.0 and self._dead(now.descent[labels == label]).any():
                continue  # the remains of a dead cluster
            arrived[label] = self.arrived.get(label, 0.0) + points
            if matches.weights[cluster] >= ENOUGH:
                yield "birth", (label,)
        self.arrived = arrived

    def _end_of_silent(self, label: int, now: LabelObservation, labels: Integers) -> Change:
        """The merge of a label without points with another one that it is connected with, or death.

        The points of the last part of a merge arrive where the other cluster is.
        """
        mine = labels == label
        around = mine | (np.isin(now.found, now.found[mine]) & (now.found >= 0))
        others = [other for other in self.centres if other != label and other in labels[around]]
        if not others:
            return "death", (label,)
        weights = [now.weight[around & (labels == other)].sum() for other in others]
        return "merge", (others[int(np.argmax(weights))], label)

    def _confirmed(self, now: LabelObservation, labels: Integers) -> Iterator[ClusterEvent | None]:
        """Carry out the changes that have waited long enough, and give their events."""
        for change, times in list(self.waiting.items()):
            kind, ids = change
            if kind != "birth" and times >= _PATIENCE:
                del self.waiting[change]
                if all(label in self.centres for label in ids):
                    yield self._end(change, now)
            elif kind == "birth" and self.arrived[ids[0]] >= _NEW_POINTS:
                origin = self._origin(now, labels == ids[0])
                if times >= (_PATIENCE if origin is None else _PATIENCE_FOR_PARTS):
                    del self.waiting[change]
                    yield self._begin(ids[0], origin, now, labels == ids[0])

    def _origin(self, now: LabelObservation, mine: Booleans) -> int | None:
        """The tracked label from which most of some structures (k,) descend; None if from none."""
        found, index = np.unique(now.descent[mine], return_inverse=True)
        label = int(found[np.bincount(index, now.weight[mine]).argmax()])
        return label if label in self.centres else None

    def _begin(
        self, label: int, origin: int | None, now: LabelObservation, mine: Booleans
    ) -> ClusterEvent:
        """A birth, or a split from an origin."""
        self._track(label, mine, now)
        now.descent[mine] = label
        self.arrived = {key: points for key, points in self.arrived.items() if key != label}
        if origin is None:
            return self._event("birth", now, (), (label,), label)
        return self._event("split", now, (origin,), (origin, label), label)

    def _end(self, change: Change, now: LabelObservation) -> ClusterEvent:
        """A death, or a merge."""
        kind, ids = change
        ended, after = ids[-1], ids[:-1]
        event = self._event(kind, now, ids, after, (after or ids)[0])
        if after:
            now.descent[now.descent == ended] = after[0]
            self.silences[after[0]] = Silence(self.silences[after[0]].share)
        del self.centres[ended], self.silences[ended]
        return event

    def _event(
        self,
        kind: Kind,
        now: LabelObservation,
        before: tuple[int, ...],
        after: tuple[int, ...],
        label: int,
    ) -> ClusterEvent:
        return ClusterEvent(kind, now.seen, before, after, tuple(self.centres[label].tolist()))

    def _track(self, label: int, mine: Booleans, now: LabelObservation) -> None:
        weight = now.weight[mine]
        self.centres[label] = _average(now.mean[mine], weight)
        self.silences[label] = Silence(float(weight.sum() / now.weight.sum()))

    def _moves(self, now: LabelObservation) -> list[ClusterEvent]:
        """Moves of clusters that are far from where they were when last reported."""
        moved = []
        for label, before in self.centres.items():
            mine = now.descent == label
            if not mine.any():
                continue
            weight, mean = now.weight[mine], now.mean[mine]
            centre = _average(mean, weight)
            around = ((mean - centre) ** 2).mean(axis=1) + now.variance[mine]
            if ((centre - before) ** 2).sum() > FAR**2 * np.average(around, weights=weight):
                self.centres[label] = centre
                moved.append(self._event("move", now, (label,), (label,), label))
        return moved


def _average(mean: Floats, weight: Floats) -> Floats:
    """Weighted average (d,) of means (k, d), also of huge ones."""
    average = np.average(mean, axis=0, weights=weight)
    if not np.isfinite(average).all():
        average = (weight / weight.sum()) @ mean
    return average
