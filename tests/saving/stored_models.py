"""Models that were saved by a version, to be loaded by all later ones, and what comes of them.

    python -m tests.saving.stored_models PREFIX

writes them as the present version does, once for each format. What is there is never written again.
"""

import json
import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from spclust import SPC, SPCOutlierDetector
from spclust.datasets import make_drifting
from tests.golden_digests import arithmetic, digest, state
from tests.saving.common import ROOT

FOLDER = Path(__file__).parent / "stored"
EXPECTED = FOLDER / "expected.json"

# Features, points, and parameters.
MODELS = {
    "full": (2, 300, {"scale": 1.0, "eps": 0.9, "gamma": 0.02, "beta": 0.01, "outlier_nlt": 3.0}),
    "diag": (3, 300, {"covariance_type": "diag", "scale": 1.5, "m": 1.1, "w_min": 0.05}),
    "spherical": (3, 300, {"covariance_type": "spherical", "scale": 1.0, "beta": 0.02}),
    "lowrank": (12, 80, {"covariance_type": "lowrank", "scale": 2.0, "eps": 0.95}),
    "times": (2, 300, {"scale": 1.0, "eps": 0.9, "gamma": 0.01, "beta": 0.03}),
    "tracked": (2, 600, {"scale": 1.5, "eps": 0.95, "beta": 0.02, "track_every": 20}),
    "automatic": (3, 700, {}),
    "half-life": (2, 700, {"half_life": 150.0, "track_every": 50}),
    "half-life-times": (3, 300, {"half_life": 100.0, "covariance_type": "diag"}),
    "outliers": (2, 400, {"scale": 0.5, "nlt_max": 4.0}),  # what is learnt by a detector of them
}
STRUCTURES = {"lowrank": 6, "tracked": 10, "full": 9}
FIRST = "model_v1.spc"  # the first format of all; it is somewhere else
OLDER = ("v2", "v3")  # formats of which models with scale="auto" are refused
LAST = 30  # rows of the last call, the labels of which are saved too


def is_refused(name):
    """True if a model is of an automatic mode that is no longer there."""
    return name in [f"{format}-automatic.spc" for format in OLDER]


def path_of(name):
    """Where a file is."""
    return ROOT / "tests" / "data" / name if name == FIRST else FOLDER / name


def rows(kind, d, n):
    """Rows of some clusters, and a time stamp for each, by a seed."""
    rng = np.random.default_rng(zlib.crc32(kind.encode()))
    centres = 8.0 * rng.normal(size=(3, d))
    X = centres[rng.integers(3, size=n)] + rng.normal(size=(n, d)) * rng.uniform(0.3, 2.0, size=d)
    if kind == "tracked":
        X, _, _ = make_drifting(n, n_events=3, seed=4)
    return X, np.cumsum(np.round(rng.exponential(size=n), 2))


def learnt(kind):
    """A new model of a kind."""
    d, n, params = MODELS[kind]
    model = (SPCOutlierDetector if kind == "outliers" else SPC)(STRUCTURES.get(kind, 7), **params)
    X, t = rows(kind, d, n)
    for part in (slice(0, n - LAST), slice(n - LAST, n)):
        model.partial_fit(X[part], t=t[part] if kind.endswith("times") else None)
    return model.model_ if kind == "outliers" else model


def continued(model):
    """The model after it has learnt more: rows, a few points one by one, and rows again."""
    X, t = rows("continued", model.n_features_in_, 150)
    timed = model._stream.clock is not None
    t = 400.0 + t if timed else None
    if hasattr(model, "feature_names_in_"):
        return model.partial_fit(pd.DataFrame(X, columns=model.feature_names_in_), t=t)
    model.partial_fit(X[:100], t=t[:100] if timed else None)
    for i in range(100, 120):
        model.learn_one(X[i], t[i] if timed else None)
    return model.partial_fit(X[120:], t=t[120:] if timed else None)


def digests(model):
    """Of everything that is known of a model."""
    return {name: digest(value) for name, value in state(model)}


def about(model):
    """What has to be about the same on any processor, where last bits may be others."""
    table = model.structures_
    return {"mean": np.round(table.mean, 9).tolist(), "count": table.count.tolist()}


def expectations(name):
    """What comes of a stored model, now."""
    model = SPC.load(path_of(name))
    expected = {"arithmetic": arithmetic(), "parameters": model.get_params()}
    expected["loaded"] = digests(model)
    expected["continued"], expected["about"] = digests(continued(model)), about(model)
    return expected


def write(prefix):
    """Save all models, and what is expected of them."""
    FOLDER.mkdir(exist_ok=True)
    expected = json.loads(EXPECTED.read_text("utf-8")) if EXPECTED.exists() else {}
    for kind in MODELS:
        name = f"{prefix}-{kind}.spc"
        if name in expected:
            raise FileExistsError(f"{name} is there already: it must stay as it is.")
        learnt(kind).save(path_of(name))
    for name in [FIRST, *(f"{prefix}-{kind}.spc" for kind in MODELS)]:
        expected.setdefault(name, expectations(name))
        print(name, path_of(name).stat().st_size, "bytes")
    lines = (f"{json.dumps(name)}: {json.dumps(one)}" for name, one in expected.items())
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    write(sys.argv[1])
