"""A stream of clusters that are born, die, merge, split and move, with a list of the events."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from spclust.array_types import Floats, Integers

Kind = Literal["birth", "death", "merge", "split", "move"]
KINDS: tuple[Kind, ...] = ("birth", "death", "merge", "split", "move")

APART = 6.0  # standard deviations between centres from which on two clusters are separate
_DISTANCE = 10.0  # minimum distance between clusters that neither merge nor split
_FEWEST, _TRIES = 2, 200  # clusters; attempts to draw a place before the area grows


@dataclass(frozen=True)
class Event:
    """An event in the life of clusters."""

    kind: Kind
    index: int  # of the first point after the event
    start: int  # of the first point that moved because of it; equals `index` if nothing moved
    before: tuple[int, ...]  # clusters involved
    after: tuple[int, ...]  # clusters that they became


@dataclass
class _Source:
    """A moving source of points of one cluster."""

    label: int
    born: int
    died: int
    times: list[int]
    places: list[Floats]
    labels: list[tuple[int, int]] = field(default_factory=list)  # (index of first point, label)

    def stay_until(self, time: int) -> None:
        if time > self.times[-1]:
            self.go(time, self.places[-1])

    def go(self, time: int, place: Floats) -> None:
        self.times.append(time)
        self.places.append(place)


def make_drifting(
    n_samples: int = 20_000,
    *,
    n_clusters: int = 4,
    n_features: int = 2,
    n_events: int = 10,
    kinds: tuple[Kind, ...] = KINDS,
    seed: int = 0,
) -> tuple[Floats, Integers, list[Event]]:
    """Gaussian clusters of standard deviation 1 that are born, die, merge, split and move.

    Events are evenly spaced; clusters move during half of the time between two events. Clusters
    that merge approach each other and become one when their centres are 6 standard deviations
    apart; those that split become two at that distance. A cluster that moves travels about 20
    standard deviations, past the others. All other clusters stay at least 8 apart.

    Parameters
    ----------
    n_samples : int, default 20000
        Number of points.
    n_clusters : int, default 4
        Number of clusters at the start, at least 2.
    n_features : int, default 2
        Number of features, at least 2.
    n_events : int, default 10
        Number of events.
    kinds : tuple of {"birth", "death", "merge", "split", "move"}, default all
        Kinds of events, all equally likely.
    seed : int, default 0
        Seed of clusters, events and points.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Points in order of arrival.
    y : ndarray of shape (n_samples,)
        Cluster of each point. Numbers are never reused.
    events : list of Event
        Events in order.

    Examples
    --------
    >>> X, y, events = make_drifting(1000, n_events=2, kinds=("birth", "death"), seed=1)
    >>> [event.kind for event in events]
    ['death', 'birth']
    """
    unknown = set(kinds) - set(KINDS)
    if unknown or not kinds:
        raise ValueError(f"kinds must be some of {', '.join(KINDS)}, but are {kinds!r}.")
    if n_clusters < _FEWEST or n_features < 2:
        raise ValueError(
            f"n_clusters and n_features must be at least 2, but are {n_clusters!r} and "
            f"{n_features!r}."
        )
    world = _World(n_features, n_samples, np.random.default_rng(seed))
    for _ in range(n_clusters):
        world.begin(0, world.free_place())
    gap = n_samples / (n_events + 1)
    for k in range(1, n_events + 1):
        world.happen(kinds, int(k * gap), int((k + 0.5) * gap))
    X, y = world.emitted()
    return X, y, world.events


class _World:
    """All sources, and the events so far."""

    def __init__(self, d: int, n_samples: int, rng: np.random.Generator) -> None:
        self.d, self.n_samples, self.rng = d, n_samples, rng
        self.sources: list[_Source] = []
        self.events: list[Event] = []
        self.next_label = 0

    def begin(self, time: int, place: Floats, label: int | None = None) -> _Source:
        if label is None:
            label, self.next_label = self.next_label, self.next_label + 1
        source = _Source(label, time, self.n_samples, [time], [place], [(time, label)])
        self.sources.append(source)
        return source

    def alive(self) -> dict[int, list[_Source]]:
        """Sources of each present cluster."""
        clusters: dict[int, list[_Source]] = {}
        for source in self.sources:
            if source.died == self.n_samples:
                clusters.setdefault(source.label, []).append(source)
        return clusters

    def free_place(self) -> Floats:
        """A random place far enough from all clusters, in an area that grows until there is one."""
        taken = [sources[0].places[-1] for sources in self.alive().values()]
        half = 2.0 * _DISTANCE
        while True:
            for _ in range(_TRIES):
                place = self.rng.uniform(-half, half, self.d)
                if all(np.linalg.norm(place - other) >= _DISTANCE for other in taken):
                    return place
            half *= 1.2

    def clear_way(self, label: int, length: float) -> Floats:
        """A destination at distance `length` (or more) whose path stays away from the others."""
        clusters = self.alive()
        here = clusters[label][0].places[-1]
        others = [sources[0].places[-1] for key, sources in clusters.items() if key != label]
        while True:
            for _ in range(_TRIES):
                step = self.rng.normal(size=self.d)
                step *= length / np.linalg.norm(step)
                way = here + np.linspace(0.0, 1.0, 41)[:, None] * step
                if all(np.linalg.norm(way - o, axis=1).min() >= _DISTANCE for o in others):
                    return here + step
            length *= 1.2

    def happen(self, kinds: tuple[Kind, ...], start: int, stop: int) -> None:
        """Add an event with motion from point `start` to `stop`; a birth if no kind is possible."""
        clusters = self.alive()
        labels = sorted(clusters)
        possible = [
            kind for kind in kinds if kind not in ("death", "merge") or len(labels) > _FEWEST
        ]
        kind: Kind = possible[self.rng.integers(len(possible))] if possible else "birth"
        one = labels[self.rng.integers(len(labels))]
        if kind == "birth":
            born = self.begin(start, self.free_place())
            self._note("birth", start, start, (), (born.label,))
        elif kind == "death":
            for source in clusters[one]:
                source.died = start
            self._note("death", start, start, (one,), ())
        elif kind == "move":
            self._move(clusters[one], self.clear_way(one, 2.0 * _DISTANCE), start, stop)
            self._note("move", stop, start, (one,), (one,))
        elif kind == "split":
            self._split(one, start, stop)
        else:
            self._merge(one, start, stop)

    def _split(self, label: int, start: int, stop: int) -> None:
        there = self.clear_way(label, 2.0 * _DISTANCE)
        parent = self.alive()[label][0]
        child = self.begin(start, parent.places[-1], label)
        length = float(np.linalg.norm(there - child.places[-1]))
        self._move([child], there, start, stop)
        index = start + int(np.ceil((stop - start) * APART / length))
        child.label, self.next_label = self.next_label, self.next_label + 1
        child.labels.append((index, child.label))
        self._note("split", index, start, (label,), (label, child.label))

    def _merge(self, label: int, start: int, stop: int) -> None:
        """Move a cluster to its nearest neighbour: no other cluster lies between them."""
        clusters = self.alive()
        here = clusters[label][0].places[-1]
        away = {
            other: float(np.linalg.norm(sources[0].places[-1] - here))
            for other, sources in clusters.items()
            if other != label
        }
        other = min(away, key=away.__getitem__)
        there = clusters[other][0].places[-1]
        self._move(clusters[label], there, start, stop)
        index = start + int(np.ceil((stop - start) * (1.0 - APART / away[other])))
        for source in clusters[label]:
            source.labels.append((index, other))
            source.label = other
        self._note("merge", index, start, (other, label), (other,))

    def _move(self, sources: list[_Source], place: Floats, start: int, stop: int) -> None:
        for source in sources:
            source.stay_until(start)
            source.go(stop, place)

    def _note(
        self, kind: Kind, index: int, start: int, before: tuple[int, ...], after: tuple[int, ...]
    ) -> None:
        self.events.append(Event(kind, index, start, before, after))

    def emitted(self) -> tuple[Floats, Integers]:
        """All points, each from a random one of the sources present when it arrives."""
        time = np.arange(self.n_samples)
        present = np.array([(s.born <= time) & (time < s.died) for s in self.sources])
        draws = np.where(present, self.rng.random(present.shape), -1.0)
        origin = draws.argmax(axis=0)
        X = self.rng.normal(size=(self.n_samples, self.d))
        y = np.empty(self.n_samples, dtype=np.int64)
        for k, source in enumerate(self.sources):
            own = np.flatnonzero(origin == k)
            paths = np.transpose(source.places)
            X[own] += np.column_stack([np.interp(own, source.times, path) for path in paths])
            starts, labels = zip(*source.labels, strict=True)
            y[own] = np.array(labels)[np.searchsorted(starts, own, side="right") - 1]
        return X, y
