"""Generated sets without time: clusters of several shapes, and clusters with outliers."""

from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_circles, make_moons

from benchmarks.automatic import gaussians
from benchmarks.quality.alteration import Labelled
from benchmarks.quality.streams import places
from spclust.array_types import Floats, Integers

SHARE = 0.02  # of outliers
Maker = Callable[[np.random.Generator, int], Labelled]


def _gaussians(k: int, d: int) -> Maker:
    return lambda rng, n: Labelled(*gaussians(k, d, 6.0, int(rng.integers(2**31)), n))


def moons(rng: np.random.Generator, n: int) -> Labelled:
    """Two crescents."""
    return Labelled(*make_moons(n, noise=0.06, random_state=int(rng.integers(2**31))))


def rings(rng: np.random.Generator, n: int) -> Labelled:
    """A ring in a ring."""
    seed = int(rng.integers(2**31))
    return Labelled(*make_circles(n, noise=0.05, factor=0.45, random_state=seed))


def spirals(rng: np.random.Generator, n: int) -> Labelled:
    """Three spiral arms."""
    y, angle = np.arange(n) % 3, np.sqrt(rng.uniform(1.0, 16.0, n))
    turn = 1.2 * angle + 2 * np.pi * y / 3
    X = angle[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return Labelled(X + rng.normal(scale=0.12, size=X.shape), y)


def anisotropic(rng: np.random.Generator, n: int) -> Labelled:
    """Four parallel Gaussians, ten times as long as wide."""
    y = rng.integers(0, 4, n)
    X = rng.normal(size=(n, 2)) * [10.0, 1.0] + np.outer(y, [0.0, 7.0])
    slope = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    return Labelled(X @ slope, y)


def unequal(rng: np.random.Generator, n: int) -> Labelled:
    """Four Gaussians with standard deviations of 1 to 8 and shares of 60 to 4 %."""
    y = rng.choice(4, n, p=[0.6, 0.26, 0.1, 0.04])
    centres = np.array([[0.0, 0.0], [60.0, 0.0], [0.0, 50.0], [35.0, 35.0]])
    sizes = np.array([8.0, 4.0, 2.0, 1.0])
    return Labelled(centres[y] + sizes[y, None] * rng.normal(size=(n, 2)), y)


def one_gaussian(rng: np.random.Generator, n: int) -> Labelled:
    """One Gaussian: any division scores 0."""
    return Labelled(rng.normal(size=(n, 5)), np.zeros(n, dtype=np.int64))


def one_square(rng: np.random.Generator, n: int) -> Labelled:
    """Points uniform in a square, which are one cluster."""
    return Labelled(rng.uniform(size=(n, 2)), np.zeros(n, dtype=np.int64))


SHAPES: dict[str, Maker] = {
    "gaussians 2-D": _gaussians(10, 2),
    "moons": moons,
    "one gaussian": one_gaussian,
    "rings": rings,
    "gaussians 5-D": _gaussians(6, 5),
    "anisotropic": anisotropic,
    "unequal": unequal,
    "spirals": spirals,
    "one square": one_square,
    "gaussians 10-D": _gaussians(20, 10),
    "gaussians 20-D": _gaussians(10, 20),
}


def shape(name: str, n: int, seed: int) -> Labelled:
    """A set of one shape; y is the cluster."""
    return SHAPES[name](np.random.default_rng([seed, list(SHAPES).index(name)]), n)


def _scattered(rng: np.random.Generator, X: Floats, y: Integers, many: int) -> Floats:
    return rng.uniform(X.min(axis=0), X.max(axis=0), (many, X.shape[1]))


def _far(rng: np.random.Generator, X: Floats, y: Integers, many: int) -> Floats:
    """Two small clusters outside the range of the others."""
    width, d = np.ptp(X, axis=0), X.shape[1]
    away = X.mean(axis=0) + 1.2 * width * rng.choice([-1.0, 1.0], (2, d))
    rows: Floats = away[np.arange(many) % 2] + 0.3 * rng.normal(size=(many, d))
    return rows


def _local(rng: np.random.Generator, X: Floats, y: Integers, many: int) -> Floats:
    """Rows 4 standard deviations outside of the smallest cluster, far inside the range of all."""
    own = X[y == 0]
    step = rng.normal(size=(many, X.shape[1]))
    step *= (np.sqrt(X.shape[1]) + 4.0) / np.linalg.norm(step, axis=1, keepdims=True)
    rows: Floats = own.mean(axis=0) + step * own.std(axis=0).mean()
    return rows


OUTLIERS: dict[str, Callable[[np.random.Generator, Floats, Integers, int], Floats]] = {
    "scattered": _scattered,
    "far clusters": _far,
    "local": _local,
}


def outliers(kind: str, d: int, n: int, seed: int) -> Labelled:
    """Four clusters of unequal sizes with 2 % of outliers of one kind; y is 1 for an outlier."""
    rng = np.random.default_rng([seed, list(OUTLIERS).index(kind), d])
    many = round(SHARE * n)
    y = rng.integers(0, 4, n - many)
    sizes = np.array([0.3, 1.0, 1.0, 1.5])
    X = places(rng, 4, d, 12.0)[y] + sizes[y, None] * rng.normal(size=(n - many, d))
    rows = np.vstack([X, OUTLIERS[kind](rng, X, y, many)])
    flags = np.r_[np.zeros(n - many, dtype=np.int64), np.ones(many, dtype=np.int64)]
    order = rng.permutation(n)
    return Labelled(rows[order], flags[order])
