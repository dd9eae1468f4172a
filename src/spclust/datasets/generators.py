"""Generated streams with known clusters: the paper's, as far as it describes them."""

import numpy as np

from spclust.array_types import Floats, Integers

# (centre, amplitude, wavelength) of each wave; the waves never cross.
_WAVES = ((0.0, 2.0, 30.0), (12.0, 3.0, 24.0), (24.0, 2.0, 18.0))


def make_sine(
    n_samples: int = 3000, *, length: float = 40.0, noise: float = 0.3, seed: int = 0
) -> tuple[Floats, Integers]:
    """Three sine waves that move along +x, with points from each in turn: a nonstationary stream.

    Parameters
    ----------
    n_samples : int, default 3000
        Number of points of all three waves together.
    length : float, default 40.0
        Distance that the waves travel along x.
    noise : float, default 0.3
        Standard deviation of the points around their wave, in x and y.
    seed : int, default 0
        Seed of the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Points in order of arrival.
    y : ndarray of shape (n_samples,)
        Wave of each point: 0, 1, 2, 0, 1, 2, ...

    Notes
    -----
    With these defaults and the paper's parameters for its sine stream (N = 30, m = 1.4,
    gamma = 0.1, beta = 0.05, eps = 0.95) SPC finds the waves exactly at scale 0.8, 1 and 1.25.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % len(_WAVES)
    x = length * np.arange(n_samples) / max(n_samples, 1)
    centre, amplitude, wavelength = np.array(_WAVES)[y].T
    X = np.column_stack([x, centre + amplitude * np.sin(2 * np.pi * x / wavelength)])
    return X + rng.normal(scale=noise, size=X.shape), y


def make_overlapping(
    n_samples: int = 600,
    *,
    corners: tuple[tuple[float, float], ...] = ((0.0, 0.0), (7.0, 15.0), (12.0, 2.0)),
    reach: float = 3.0,
    thickness: float = 0.3,
    seed: int = 0,
) -> tuple[Floats, Integers]:
    """Three thin Gaussians along the sides of a triangle, one after another, that overlap.

    Parameters
    ----------
    n_samples : int, default 600
        Number of points of all three together.
    corners : three pairs of float, default ((0, 0), (7, 15), (12, 2))
        Corners of the triangle. By default its sides have three lengths and none is parallel to an
        axis.
    reach : float, default 3.0
        Standard deviations from the middle of a Gaussian to a corner: a smaller value means more
        overlap. At 3 the Bayes classifier is right for 997 points in a thousand.
    thickness : float, default 0.3
        Standard deviation of a Gaussian across its side.
    seed : int, default 0
        Seed of the points.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Points in order of arrival: first all of one side, then the next.
    y : ndarray of shape (n_samples,)
        Side of each point: 0, ..., 0, 1, ..., 1, 2, ..., 2.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) * 3 // max(n_samples, 1)
    start = np.array(corners, dtype=float)
    stop = np.roll(start, -1, axis=0)
    length = np.linalg.norm(stop - start, axis=1, keepdims=True)
    along = (stop - start) / length
    across = along @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    z = rng.normal(size=(n_samples, 2))
    offset = z[:, :1] * (along * length / (2.0 * reach))[y] + z[:, 1:] * (across * thickness)[y]
    return ((start + stop) / 2.0)[y] + offset, y


def make_circles_touching(
    n_samples: int = 400, *, radius: float = 1.0, gap: float = 0.05, seed: int = 0
) -> tuple[Floats, Integers]:
    """Two filled circles side by side that nearly touch: the paper's motivation of typicality.

    Parameters
    ----------
    n_samples : int, default 400
        Number of points of both circles together, in turn.
    radius : float, default 1.0
        Radius of each circle.
    gap : float, default 0.05
        Distance between the circles.
    seed : int, default 0
        Seed of the points, which are uniform in the circles.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Points.
    y : ndarray of shape (n_samples,)
        Circle of each point: 0 is the left one.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 2
    r, angle = radius * np.sqrt(rng.random(n_samples)), 2.0 * np.pi * rng.random(n_samples)
    centre = (2 * y - 1) * (radius + gap / 2.0)
    return np.column_stack([centre + r * np.cos(angle), r * np.sin(angle)]), y


def make_highdim(
    n_samples: int = 1024, *, n_features: int = 1024, n_clusters: int = 16, seed: int = 0
) -> tuple[Floats, Integers]:
    """Compact clusters far apart in many dimensions, one after another, as in the paper's set.

    Coordinates are integers. Within a cluster the standard deviation of a feature is about 0.5, but
    radii are heavy-tailed: in 1,024 dimensions half of the points are within 13 of the centre, and
    some are 50 away. Centres lie between 30 and 226 in every feature, about 2,400 apart.

    Parameters
    ----------
    n_samples : int, default 1024
        Number of points of all clusters together.
    n_features : int, default 1024
        Number of features.
    n_clusters : int, default 16
        Number of clusters, all of the same size.
    seed : int, default 0
        Seed of centres and points.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Points in order of arrival: first all of one cluster, then the next.
    y : ndarray of shape (n_samples,)
        Cluster of each point.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) * n_clusters // max(n_samples, 1)
    centres = np.rint(rng.uniform(33.0, 223.0, size=(n_clusters, n_features)))
    # A normal vector times a factor that is at least 0.23 and has a heavy tail.
    size = np.minimum(0.23 + rng.exponential(0.19, size=(n_samples, 1)), 1.6)
    return np.rint(centres[y] + size * rng.normal(size=(n_samples, n_features))), y
