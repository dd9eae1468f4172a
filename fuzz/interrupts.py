"""Interrupts at random moments: learning goes on afterwards, with whole rows, to the last bit.

Each trial is a process of its own, so that a crash is seen as one. A timer interrupts it, as Ctrl-C
would, again and again, while it learns; after each interrupt the model is read, saved and loaded.
"""

import os
import signal
import sys
import traceback
from copy import deepcopy
from functools import cache

import numpy as np

from spclust import SPC, SPCOutlierDetector, river
from spclust.persistence.stream_content import content_of_stream

_ROWS, _CALLS = 1200, 40  # of a trial, at most
_LONGEST = 0.004  # seconds from the beginning of a call to its interrupt
_MODES = {
    "paper": {"n_structures": 12, "scale": 1.0, "beta": 0.02, "w_min": 0.02},
    "lowrank": {"n_structures": 12, "scale": 1.0, "covariance_type": "lowrank"},
    "automatic": {"n_structures": 20},
    "half-life": {"n_structures": 20, "half_life": 150.0},
}
_FACES = ("partial_fit", "tracked", "watch", "learn_one", "tracked learn_one", "river", "detector")
# Work that is repeated after an interrupt is counted again, and memory may grow earlier.
_WORK = ("rescans", "evaluations", "direction_room", "rank_room")


def trial(seed, rows=_ROWS):
    """Run one trial with so many rows; "" if all was well, otherwise what went wrong."""
    _warm_up(*_chosen(seed))
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            found = _interrupted(seed, rows)
        except BaseException:
            found = traceback.format_exc()
        os.write(write, found[-4000:].encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        found = answers.read().decode()
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        found = f"killed by signal {os.WTERMSIG(status)}"
    return f"{described(seed)}: {found}" if found else ""


@cache
def _warm_up(face, mode):
    """Let kernels be compiled first: Numba itself does not survive an interrupt."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    learner = _Learner(face, mode)
    learner.learn(X)
    learner.read(X)


def described(seed):
    """The mode and the interface of a trial."""
    face, mode = _chosen(seed)
    return f"seed {seed}, {mode}, {face}"


def _chosen(seed):
    modes = list(_MODES)
    return _FACES[seed % len(_FACES)], modes[seed // len(_FACES) % len(modes)]


def _interrupted(seed, rows):
    """Learn rows with interrupts; "" if the model is always one that was not interrupted."""
    rng = np.random.default_rng(seed)
    face, mode = _chosen(seed)
    X = rng.normal(size=(rows + 1, 3)) + 8.0 * rng.integers(3, size=(rows + 1, 1))
    X[: rng.integers(rows), 2] = 1.0
    model, whole = _Learner(face, mode), _Learner(face, mode)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    for learner in (model, whole):
        learner.learn(X[:100])
    interrupts = 0
    for _ in range(_CALLS):
        if model.seen == rows:
            break
        ends = min(model.seen + int(rng.integers(1, 400)), rows)
        interrupts += _interrupt(rng, lambda: model.learn(X[model.seen : ends]))  # noqa: B023
        if model.seen > whole.seen:
            whole.learn(X[whole.seen : model.seen])
        after = X[model.seen : model.seen + 1]
        found = _difference(model.after(after).content(), whole.after(after).content())
        read = model.after(after)
        interrupts += _interrupt(rng, lambda: read.read(X))  # noqa: B023
        read.read(X[:9])
        found = found or _difference(read.content(), model.after(after).content())
        if found:
            return f"after {interrupts} interrupts and {model.seen} rows: {found}"
        if rng.random() < 0.2:
            model.reload()
    return ""


def _interrupt(rng, call):
    """Call something, and interrupt it after a random time; True if it was interrupted."""
    try:
        signal.setitimer(signal.ITIMER_REAL, _LONGEST * 10.0 ** rng.uniform(-3.0, 0.0))
        call()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    except KeyboardInterrupt:
        return True
    return False


class _Learner:
    """One of the interfaces, in one mode."""

    def __init__(self, face, mode):
        self.face, params = face, dict(_MODES[mode])
        if face == "river":
            self.model = river.SPC(**params)
        elif face == "detector":
            share = {} if mode == "lowrank" else {"contamination": 0.1}
            self.model = SPCOutlierDetector(**params, **share)
        else:
            tracked = {"track_every": 25} if face != "partial_fit" and face != "learn_one" else {}
            self.model = SPC(**params, **tracked)

    @property
    def estimator(self):
        if self.face == "detector":
            return self.model.model_
        return self.model

    @property
    def stream(self):
        return self.model._known.stream if self.face == "river" else self.estimator._stream

    @property
    def seen(self):
        return self.stream.seen

    def learn(self, rows):
        if self.face == "river":
            for row in rows.tolist():
                self.model.learn_one({"a": row[0], "b": row[1], "c": row[2]})
        elif self.face.endswith("learn_one"):
            for row in rows:
                self.model.learn_one(row)
        elif self.face == "watch":
            list(self.model.watch([rows]))
        else:
            self.model.partial_fit(rows)

    def read(self, rows):
        if self.face == "river":
            self.model.predict_one({"a": rows[0, 0], "b": rows[0, 1], "c": rows[0, 2]})
        else:
            self.model.predict(rows)
            self.estimator.describe()

    def after(self, row):
        """A copy that has learnt one more row (1, d), and before it all that an interrupt left."""
        copy = deepcopy(self)
        copy.learn(row)
        return copy

    def content(self):
        """All that is learnt, by name; labels, unless tracked, depend on when they are read."""
        scalars, arrays = content_of_stream(self.stream)
        content = {name: repr(value) for name, value in scalars.items() if name not in _WORK}
        content |= {name: array.tobytes() for name, array in arrays.items()}
        if self.face == "detector":
            content["recent"] = self.model._last_scores(self.model.model_).tobytes()
        elif self.face != "river":
            tracker = self.model._fitted.tracker
            if tracker is not None:
                return {**content, "tracker": repr(tracker.state())}
        return {name: value for name, value in content.items() if "label" not in name}

    def reload(self):
        if self.face == "river":
            return
        if self.face == "detector":
            self.model.model_ = SPC.from_bytes(self.model.model_.to_bytes())
        else:
            self.model = SPC.from_bytes(self.model.to_bytes())


def _difference(one, other):
    for name, value in one.items():
        if value != other[name]:
            return f"{name} differs"
    return ""


if __name__ == "__main__":
    first, last = int(sys.argv[1]), int(sys.argv[2])
    failures = [found for found in map(trial, range(first, last)) if found]
    print(*failures, f"{last - first} trials, {len(failures)} failures", sep="\n")
