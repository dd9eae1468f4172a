"""Generated streams with known clusters."""

import numpy as np

from spclust.arrays import Floats, Integers

# (centre, amplitude, wavelength) of each wave; the waves never cross.
_WAVES = ((0.0, 2.0, 30.0), (12.0, 3.0, 24.0), (24.0, 2.0, 18.0))


def make_sine(
    n_samples: int = 3000, *, length: float = 40.0, noise: float = 0.3, seed: int = 0
) -> tuple[Floats, Integers]:
    """Three sine waves that move along +x together, their points in turn: a nonstationary stream.

    Parameters
    ----------
    n_samples : int, default 3000
        Points of all three waves together.
    length : float, default 40.0
        How far the waves travel along x.
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
