"""A set like Aggregation, for those who have neither the published file nor a network."""

from typing import NamedTuple

import numpy as np

from spclust.arrays import Booleans, Floats, Integers

_CANDIDATES = 12  # places tried for each point: more make the points more evenly spaced


class _Shape(NamedTuple):
    label: int
    points: int
    centre: tuple[float, float]
    axes: tuple[float, float]  # half-axes of an ellipse
    bite: tuple[float, float, float] = (0.0, 0.0, 0.0)  # x, y, radius of a disc left out of it
    tail: tuple[tuple[float, float], ...] = ()  # points that lead to a neighbour


# In order of arrival: a crescent, five ellipses of which two nearly touch, two joined by a thread.
_SHAPES = (
    _Shape(2, 170, (9.8, 22.8), (6.4, 6.5), bite=(17.6, 21.5, 5.6)),
    _Shape(7, 34, (7.4, 11.8), (2.4, 1.9)),
    _Shape(4, 273, (17.4, 7.2), (7.4, 5.5)),
    _Shape(3, 102, (33.1, 8.4), (3.7, 5.1)),
    _Shape(6, 130, (32.7, 22.4), (3.7, 5.9), tail=((32.7, 16.2), (32.9, 15.6), (33.1, 14.8))),
    _Shape(1, 45, (21.5, 23.0), (3.3, 2.3)),
    _Shape(5, 34, (6.6, 3.5), (2.0, 1.7)),
)


def make_aggregation_like(seed: int = 0) -> tuple[Floats, Integers]:
    """Seven clusters of the sizes, places and kinds of shape of Aggregation: no copy of it.

    Parameters
    ----------
    seed : int, default 0
        Seed of the points.

    Returns
    -------
    X : ndarray of shape (788, 2)
        Points in order of arrival: cluster by cluster, as in the published set.
    y : ndarray of shape (788,)
        Clusters, 1 to 7.
    """
    rng = np.random.default_rng(seed)
    X = np.concatenate([_filled(shape, rng) for shape in _SHAPES])
    return X, np.repeat([shape.label for shape in _SHAPES], [shape.points for shape in _SHAPES])


def _filled(shape: _Shape, rng: np.random.Generator) -> Floats:
    """Points (n, 2) of a shape, evenly spaced: each is the best of several, the farthest off."""
    points: list[Floats] = [np.array(point) for point in shape.tail]
    while len(points) < shape.points:
        places = np.empty((0, 2))
        while len(places) < _CANDIDATES:
            more = np.add(shape.centre, rng.uniform(-1.0, 1.0, (_CANDIDATES, 2)) * shape.axes)
            places = np.concatenate([places, more[_inside(more, shape)]])
        if points:
            offsets = places[:, None] - np.array(points)
            nearest = np.min(np.sum(offsets**2, axis=2), axis=1)
            points.append(places[nearest.argmax()])
        else:
            points.append(places[0])
    body = np.array(points[len(shape.tail) :])
    rng.shuffle(body)
    return np.concatenate([body, np.reshape(shape.tail, (-1, 2))])


def _inside(places: Floats, shape: _Shape) -> Booleans:
    """Which places (n,) belong to a shape."""
    x, y, radius = shape.bite
    within = np.sum(((places - shape.centre) / shape.axes) ** 2, axis=1) <= 1.0
    inside: Booleans = within & (np.hypot(places[:, 0] - x, places[:, 1] - y) >= radius)
    return inside
