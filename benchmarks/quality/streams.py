"""Generated streams with known clusters, each of one kind of change.

Clusters are Gaussians whose standard deviation is 1 at most in every direction, at least 8 apart,
except where they cross or merge. y is the cluster; -1 is a row that is not scored.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers

DIMENSIONS = (2, 5, 10, 20)
APART = 8.0  # standard deviations between two clusters, at least
ONE, TWO = 2.0, 6.0  # distances below which two clusters are one, and above which they are two
TURN = 10_000  # points of a full rotation


class Stream(NamedTuple):
    """A stream in order of arrival, and where its points come from."""

    X: Floats  # (n, d)
    y: Integers  # (n,)
    source: Integers  # (n,): the Gaussian of each row, -1 for noise
    centre: Floats  # (n, d): its centre when the row arrived
    sd: Floats  # (n,): its standard deviation, at most


def places(rng: np.random.Generator, k: int, d: int, apart: float = APART) -> Floats:
    """Centres (k, d) at random, at least this far apart, in a box that grows until they fit."""
    found, half = np.empty((0, d)), apart
    while len(found) < k:
        half *= 1.02
        new = rng.uniform(-half, half, d)
        if (np.linalg.norm(found - new, axis=1) >= apart).all():
            found = np.vstack([found, new])
    return found


def emitted(
    rng: np.random.Generator, paths: Floats, shares: Floats, labels: Integers | None = None
) -> Stream:
    """A stream of Gaussians with centres `paths` (k, n, d) over time.

    `shares` (n, k) are in proportion to the probabilities of each at each time, `labels` (n, k) its
    clusters; without them every Gaussian is a cluster.
    """
    k, n, d = paths.shape
    sums: Floats = np.cumsum(shares, axis=1)
    draws: Floats = rng.random((n, 1))
    source = (draws * sums[:, -1:] >= sums).sum(axis=1)
    X = np.empty((n, d))
    for c in range(k):
        own = np.flatnonzero(source == c)
        axes = np.linalg.qr(rng.normal(size=(d, d)))[0] * rng.uniform(0.5, 1.0, d)
        X[own] = rng.normal(size=(len(own), d)) @ axes.T
    time = np.arange(n)
    centre = paths[source, time]
    y = source if labels is None else labels[time, source]
    return Stream(X + centre, y.astype(np.int64), source.astype(np.int64), centre, np.ones(n))


def still(centres: Floats, n: int) -> Floats:
    """Paths (k, n, d) of centres (k, d) that do not move."""
    return np.repeat(centres[:, None], n, axis=1)


def stationary(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Five clusters; nothing changes."""
    return emitted(rng, still(places(rng, 5, d), n), np.ones((n, 5)))


def _rotated(rng: np.random.Generator, d: int, angle: Floats) -> Stream:
    """Five clusters that rotate together in a random plane by an angle (n,)."""
    plane = np.linalg.qr(rng.normal(size=(d, 2)))[0]
    centres = places(rng, 5, d)
    inside = centres @ plane
    rest = centres - inside @ plane.T
    cos, sin = np.cos(angle), np.sin(angle)
    turned = np.stack(
        [
            np.outer(inside[:, 0], cos) - np.outer(inside[:, 1], sin),
            np.outer(inside[:, 0], sin) + np.outer(inside[:, 1], cos),
        ],
        axis=-1,
    )
    paths = rest[:, None] + turned @ plane.T
    return emitted(rng, paths, np.ones((len(angle), 5)))


def rotation(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Five clusters rotate together, one turn in 10,000 points."""
    return _rotated(rng, d, 2 * np.pi * np.arange(n) / TURN)


def speeding_up(rng: np.random.Generator, d: int, n: int) -> Stream:
    """A rotation that starts at rest and ends at three times the speed of `rotation`."""
    return _rotated(rng, d, 2 * np.pi * 1.5 * np.arange(n) ** 2 / (n * TURN))


def regimes(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Four clusters, replaced by four others at once, three times."""
    regime = np.arange(n) * 4 // n
    shares = (np.arange(16) // 4 == regime[:, None]).astype(float)
    return emitted(rng, still(places(rng, 16, d), n), shares)


def come_and_go(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Eight clusters, of which other three to five are alive every 1,000 points."""
    parts = max(4, n // 1000)
    alive = np.zeros((parts, 8))
    for part in alive:
        part[rng.choice(8, rng.integers(3, 6), replace=False)] = 1.0
    return emitted(rng, still(places(rng, 8, d), n), alive[np.arange(n) * parts // n])


def random_walks(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Five clusters in random walks, a step of one standard deviation every 100 points."""
    here = places(rng, 5, d)
    steps = [here.copy()]
    for _ in range(n // 100 + 1):
        for c in range(5):
            step = rng.normal(size=d)
            new = here[c] + step / np.linalg.norm(step)
            if (np.linalg.norm(np.delete(here, c, axis=0) - new, axis=1) >= APART).all():
                here[c] = new
        steps.append(here.copy())
    points, part = np.array(steps), np.arange(n) / 100
    low = part.astype(int)
    share = (part - low)[:, None, None]
    paths = points[low] * (1 - share) + points[low + 1] * share
    return emitted(rng, paths.transpose(1, 0, 2), np.ones((n, 5)))


def _two_and_two(rng: np.random.Generator, d: int, way: Floats, other: Floats) -> Floats:
    """Paths of two clusters at `way` and `other` (n,) on one line, and of two that stand beside."""
    first, second = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
    beside = still(15.0 * np.array([second, -second]), len(way))
    return np.concatenate([np.outer(way, first)[None], np.outer(other, first)[None], beside])


def crossing(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Two clusters cross at half time, two stand; each keeps its label: nobody can score 1."""
    way = np.linspace(-20.0, 20.0, n)
    return emitted(rng, _two_and_two(rng, d, way, -way), np.ones((n, 4)))


def merging_splitting(rng: np.random.Generator, d: int, n: int) -> Stream:
    """One of two clusters joins the other and leaves it again, two stand.

    Both are one cluster while their centres are at most 2 standard deviations apart, and two from 6
    on. Between, their rows are not scored: y is -1.
    """
    times, distances = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [15.0, 15.0, 0.0, 0.0, 15.0, 15.0]
    gap = np.interp(np.linspace(0.0, 1.0, n), times, distances)
    labels = np.tile(np.arange(4), (n, 1))
    labels[gap <= ONE, 1] = 0
    labels[(gap > ONE) & (gap < TWO), :2] = -1
    return emitted(rng, _two_and_two(rng, d, np.zeros(n), gap), np.ones((n, 4)), labels)


def scale_change(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Five clusters; from half time on all coordinates are multiplied by 10."""
    stream = stationary(rng, d, n)
    factor = np.where(np.arange(n) < n // 2, 1.0, 10.0)
    return stream._replace(
        X=stream.X * factor[:, None],
        centre=stream.centre * factor[:, None],
        sd=stream.sd * factor,
    )


def growing_noise(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Five clusters, and uniform noise whose share grows from 1 to 15 %."""
    stream = stationary(rng, d, n)
    noise = rng.random(n) < np.linspace(0.01, 0.15, n)
    low, high = stream.X.min(axis=0), stream.X.max(axis=0)
    X = np.where(noise[:, None], rng.uniform(low, high, (n, d)), stream.X)
    return stream._replace(
        X=X, y=np.where(noise, -1, stream.y), source=np.where(noise, -1, stream.source)
    )


def imbalance(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Four clusters, two of them with 100 times as many points as the others."""
    shares = np.tile([1.0, 1.0, 0.01, 0.01], (n, 1))
    return emitted(rng, still(places(rng, 4, d), n), shares)


def bursts(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Five clusters that deliver in turn, 300 points at a time, in random order."""
    order = rng.integers(1, 5, n // 300 + 1).cumsum() % 5  # never the same twice in a row
    return emitted(rng, still(places(rng, 5, d), n), np.eye(5)[order[np.arange(n) // 300]])


def one_after_another(rng: np.random.Generator, d: int, n: int) -> Stream:
    """One cluster at a time, each a new one, for 1,200 points."""
    k = max(3, n // 1200)
    return emitted(rng, still(places(rng, k, d), n), np.eye(k)[np.arange(n) * k // n])


def sudden_jump(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Five clusters, three of which jump to other places after a third, and after two thirds."""
    spots = places(rng, 11, d)
    paths = still(spots[:5], n)
    for part, chosen in ((1, spots[5:8]), (2, spots[8:])):
        moved = rng.choice(5, 3, replace=False)
        paths[moved, part * n // 3 :] = chosen[:, None]
    return emitted(rng, paths, np.ones((n, 5)))


def common_drift(rng: np.random.Generator, d: int, n: int) -> Stream:
    """Five clusters, some only six standard deviations apart, move alike, and back from half time.

    By a standard deviation in 100 points: their trails cross each other's places.
    """
    way = rng.normal(size=d)
    way /= np.linalg.norm(way)
    there = 0.01 * np.minimum(np.arange(n), n - np.arange(n))
    paths = still(places(rng, 5, d, 6.0), n) + there[:, np.newaxis] * way
    return emitted(rng, paths, np.ones((n, 5)))


KINDS: dict[str, Callable[[np.random.Generator, int, int], Stream]] = {
    make.__name__: make
    for make in (
        stationary, rotation, speeding_up, regimes, come_and_go, random_walks, crossing,
        merging_splitting, scale_change, growing_noise, imbalance, bursts, one_after_another,
        sudden_jump, common_drift,
    )
}  # fmt: skip


def generated(kind: str, d: int, n: int, seed: int) -> Stream:
    """A stream of one kind with d features and n points."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind), d])
    return KINDS[kind](rng, d, n)
