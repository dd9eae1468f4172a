"""Models and streams for the tests of all baselines."""

import numpy as np

from spclust.experiments.baselines import DBSTREAM, CluStream, DenStream, DStream, StreamSoNG

# Of each class one that suits clusters of about one unit, and one that fades and removes a lot.
MODELS = [
    DStream(1.0),
    DStream(0.5, decay=0.9, link="dense", mass="steady", hard=False),
    StreamSoNG(2.0),
    StreamSoNG(0.7, n_prototypes=4, n_open=5, pool_max=30, outlier=0.3, hard=False, seed=1),
    DenStream(0.5),
    DenStream(0.7, mu=3.0, decay=0.1, link="touching", hard=False),
    DBSTREAM(1.0),
    DBSTREAM(0.8, fading_factor=0.1, cleanup_interval=7, minimum_weight=2.0, hard=False),
    CluStream(2),
    CluStream(3, n_micro_clusters=10, time_window=60, deviation="rms", seed=1),
]


def state(model):
    """The online state to the last bit, without the cached result of the offline phase."""
    return plain({name: value for name, value in vars(model._online).items() if name != "offline"})


def plain(value):
    """An object as nested tuples that can be compared."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, np.random.Generator):
        return str(value.bit_generator.state)
    if isinstance(value, dict):
        return tuple((key, plain(item)) for key, item in value.items())
    if hasattr(value, "__dict__"):
        return plain(vars(value))
    if hasattr(value, "__slots__"):
        return tuple(plain(getattr(value, name)) for name in value.__slots__)
    return tuple(value) if isinstance(value, list) else value


def moving_blobs(n=400, d=2, seed=0):
    """Three blobs of standard deviation 0.6 that move slowly, in turn, and some noise."""
    rng = np.random.default_rng(seed)
    centres = 6.0 * rng.normal(size=(3, d))
    X = centres[np.arange(n) % 3] + 0.6 * rng.normal(size=(n, d))
    X += np.linspace(0.0, 4.0, n)[:, np.newaxis]
    noise = rng.random(n) < 0.05
    X[noise] = rng.uniform(-20.0, 20.0, size=(noise.sum(), d))
    return X
