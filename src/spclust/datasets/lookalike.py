"""A generated set like Aggregation, for use without the published file and a network."""

from typing import NamedTuple

import numpy as np

from spclust.array_types import Booleans, Floats, Integers

_CANDIDATES = 12  # candidates drawn for each point: more make the points more evenly spaced


class _Shape(NamedTuple):
    label: int
    points: int
    centre: tuple[float, float]
    axes: tuple[float, float]  # half-axes of an ellipse
    cutout: tuple[float, float, float] = (0.0, 0.0, 0.0)  # x, y, radius of a disc without points
    tail: tuple[tuple[float, float], ...] = ()  # points that lead to a neighbouring shape


# In order of arrival: a crescent and six ellipses, two of them joined by a few points.
_SHAPES = (
    _Shape(2, 170, (9.8, 22.8), (6.4, 6.5), cutout=(17.6, 21.5, 5.6)),
    _Shape(7, 34, (7.4, 11.8), (2.4, 1.9)),
    _Shape(4, 273, (17.4, 7.2), (7.4, 5.5)),
    _Shape(3, 102, (33.1, 8.4), (3.7, 5.1)),
    _Shape(6, 130, (32.7, 22.4), (3.7, 5.9), tail=((32.7, 16.2), (32.9, 15.6), (33.1, 14.8))),
    _Shape(1, 45, (21.5, 23.0), (3.3, 2.3)),
    _Shape(5, 34, (6.6, 3.5), (2.0, 1.7)),
)


def make_aggregation_like(seed: int = 0) -> tuple[Floats, Integers]:
    """Seven clusters with the sizes, positions and similar shapes of Aggregation; not a copy.

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
    """Points (n, 2) of a shape, evenly spaced: each is the candidate farthest from the others."""
    points: list[Floats] = [np.array(point) for point in shape.tail]
    while len(points) < shape.points:
        candidates = np.empty((0, 2))
        while len(candidates) < _CANDIDATES:
            more = np.add(shape.centre, rng.uniform(-1.0, 1.0, (_CANDIDATES, 2)) * shape.axes)
            candidates = np.concatenate([candidates, more[_inside(more, shape)]])
        if points:
            offsets = candidates[:, None] - np.array(points)
            nearest = np.min(np.sum(offsets**2, axis=2), axis=1)
            points.append(candidates[nearest.argmax()])
        else:
            points.append(candidates[0])
    body = np.array(points[len(shape.tail) :])
    rng.shuffle(body)
    return np.concatenate([body, np.reshape(shape.tail, (-1, 2))])


def _inside(points: Floats, shape: _Shape) -> Booleans:
    """True (n,) for points (n, 2) inside a shape."""
    x, y, radius = shape.cutout
    within = np.sum(((points - shape.centre) / shape.axes) ** 2, axis=1) <= 1.0
    inside: Booleans = within & (np.hypot(points[:, 0] - x, points[:, 1] - y) >= radius)
    return inside
