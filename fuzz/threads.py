"""Several threads with one model: whoever may not learn is told so, and nothing is ever torn.

In each trial threads learn into a model, and others read and save it. What was learnt must be the
rows of the calls that returned, each of them once; and it must be possible to load what was saved.
"""

import sys
from threading import Thread

import numpy as np

from spclust import SPC, SPCOutlierDetector, river

_MODES = {
    "paper": {"n_structures": 12, "scale": 1.0},
    "automatic": {"n_structures": 20},
    "half-life": {"n_structures": 20, "half_life": 150.0},
}
_FACES = ("partial_fit", "tracked", "learn_one", "river", "detector")
_BATCHES, _ROWS = 20, 100


def trial(seed):
    """Run one trial; "" if all was well, otherwise what went wrong."""
    rng = np.random.default_rng(seed)
    face, mode = _FACES[seed % len(_FACES)], list(_MODES)[seed // len(_FACES) % len(_MODES)]
    model, learnt, wrong = _model(face, mode), [], []
    model_learner = _learner(face, model)
    model_learner(rng.normal(size=(_ROWS, 2)))

    def learn(seed):
        rows = np.random.default_rng(seed).normal(size=(_ROWS, 2))
        for _ in range(_BATCHES):
            try:
                model_learner(rows)
                learnt.append(_ROWS)
            except RuntimeError as error:
                if "is learning in another thread" not in str(error):
                    raise
                learnt.append(getattr(error, "rows", 0))

    def read(seed):
        rows = np.random.default_rng(seed).normal(size=(50, 2))
        for _ in range(_BATCHES):
            _read(face, model, rows)

    def watched(function, seed):
        try:
            function(seed)
        except BaseException as error:
            wrong.append(f"{type(error).__name__}: {error}")

    threads = [
        Thread(target=watched, args=(f, i)) for i, f in enumerate((learn, learn, read, read))
    ]
    switch = sys.getswitchinterval()
    sys.setswitchinterval(rng.uniform(1e-6, 1e-3))
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    if not wrong:
        seen = _estimator(face, model).n_samples_seen_
        wanted = _ROWS + sum(learnt)
        if seen != wanted:
            wrong.append(f"{seen} points were learnt, but calls for {wanted} returned")
    return f"seed {seed}, {mode}, {face}: {wrong[0]}" if wrong else ""


def _model(face, mode):
    params = _MODES[mode]
    if face == "river":
        return river.SPC(**params)
    if face == "detector":
        return SPCOutlierDetector(**params)
    return SPC(**params, track_every=25 if face == "tracked" else None)


def _learner(face, model):
    """A call that learns rows; an error of it tells how many of them were learnt."""
    if face in ("partial_fit", "tracked", "detector"):
        return model.partial_fit

    def learn_one_by_one(rows):
        points = rows if face == "learn_one" else [{"a": a, "b": b} for a, b in rows.tolist()]
        for i, point in enumerate(points):
            try:
                model.learn_one(point)
            except RuntimeError as error:
                error.rows = i
                raise

    return learn_one_by_one


def _estimator(face, model):
    if face == "river":
        return river.model_exchange.as_estimator(model)
    return model.model_ if face == "detector" else model


def _read(face, model, rows):
    if face == "river":
        model.predict_one({"a": rows[0, 0], "b": rows[0, 1]})
        assert len(model.micro_clusters) <= 20
        return
    model.predict(rows)
    estimator = _estimator(face, model)
    assert len(estimator.structures_) <= 20
    estimator.describe()
    loaded = SPC.from_bytes(estimator.to_bytes())
    assert loaded.partial_fit(rows).n_samples_seen_ > _ROWS


if __name__ == "__main__":
    first, last = int(sys.argv[1]), int(sys.argv[2])
    failures = [found for found in map(trial, range(first, last)) if found]
    print(*failures, f"{last - first} trials, {len(failures)} failures", sep="\n")
