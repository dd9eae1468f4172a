"""Kernels compiled ahead: nothing is left to compile for the models that use them."""

import pytest

from spclust import compilation
from spclust.jit.decorators import kernel
from tests.jit.processes import KERNELS_TOLD, environment, output

USE = """
import numpy as np
from spclust import SPC, SPCOutlierDetector, covariance_union, merge_all, typicality
rng = np.random.default_rng(1)
X = rng.normal(size=(600, 2)) + 12.0 * rng.integers(3, size=(600, 1))
frozen = X.copy()
frozen.flags.writeable = False
paper = {"scale": 1.0}
for params in ({}, {"half_life": 90}, {"half_life": 90, "track_every": 25}, {"m": 1.05}, paper,
               {"outlier_nlt": 2.0, "n_jobs": 2}, {"eps": 0.95, "min_samples": 3, **paper},
               {"beta": 0.02, "gamma": 0.01, **paper}, {"track_every": 25, **paper}):
    for rows in (X, frozen, X.astype("f"), np.asfortranarray(X), X.tolist(), X[::-1]):
        model = SPC(20, **params).fit(rows)
        model.labels_, model.predict(rows), model.typicality(rows), model.structures_
        model.score_samples(rows), model.describe(), model.diagnose(), model.n_clusters_
        model.partial_fit(rows)
    for x in X[:100]:
        model.learn_one(x)
    model.clustering(n_clusters=2), model.clustering(nlt=3.0), model.clustering(eps=0.9)
    merge_all([model, SPC(20, **params).fit(X[:50]), SPC(20, **params).fit(X + 1.0)])
model = SPC(5).fit(X, t=np.arange(600.0)).predict(X)
SPCOutlierDetector().fit(X).predict(X)
SPCOutlierDetector(contamination=0.1, **paper).partial_fit(X).predict(X)
typicality(X, np.zeros(2), np.eye(2)), covariance_union(np.eye(2), X[0], np.eye(2), X[1], X[2])
model = SPC(3, scale=0.01, w_min=0.0).fit(X)  # few structures: general unions
assert model._stream.merges > 500
"""


# Prints "needs NAME TYPES" for each kernel, and the types that it is compiled or loaded for.
TYPES_TOLD = """
from numba.core.dispatcher import Dispatcher
compile_for = Dispatcher.compile
def told(self, types):
    print("needs", self.py_func.__qualname__, types)
    return compile_for(self, types)
Dispatcher.compile = told
"""
AHEAD = "from spclust.compilation import main\nmain(['--features', '2'])\n"


def told(lines, word):
    return {line.split(" ", 1)[1] for line in lines if line.startswith(f"{word} ")}


@pytest.mark.slow
def test_after_compilation_ahead_no_model_compiles_anything():
    """In the cache of all tests, which other tests may have filled.

    What models need is therefore compared with what the command itself has compiled or loaded: all
    that is in the cache after it, had the cache been empty.
    """
    ahead = output(TYPES_TOLD + AHEAD, environment()).splitlines()
    lines = [line for line in ahead if " s  " in line]
    names = {line.split()[2] for line in lines}
    assert {"learn_rows_of_kind_1", "unite_pair_of_kind_1", "learn_automatically"} <= names
    loaded = sum(line.endswith(" (from the cache)") for line in lines)
    total = f"{len(lines) - loaded} kernels compiled, {loaded} loaded from the cache: "
    assert ahead[-1].startswith(total)
    used = output(KERNELS_TOLD + TYPES_TOLD + USE + AHEAD, environment()).splitlines()
    assert told(used, "compiled") == set()
    assert {"learn_rows_of_kind_1", "unite_pair_of_kind_1", "moved"} <= told(used, "loaded")
    assert len(told(used, "needs")) >= len(told(used, "loaded")) > 20
    assert told(used, "needs") <= told(ahead, "needs")


def test_all_forms_are_used_and_what_is_compiled_is_counted(monkeypatch):
    names, used, reported = {}, [], []
    exec("def double(x):\n    return 2.0 * x", names)  # code without a file has no cache
    double = kernel(names["double"])
    monkeypatch.setattr(compilation, "_use_models", lambda X, kind: used.append((X.shape[1], kind)))
    monkeypatch.setattr(compilation, "_use_formulas", lambda d: used.append(double(d)))

    def report(name, seconds, is_new):
        reported.append((name, is_new))

    assert compilation.compile_all((2, 7), ("full", "diag"), report) == 1
    assert used == [(2, "full"), (2, "diag"), 4.0, (7, "full"), (7, "diag"), 14.0]
    assert reported == [("double", True)]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--features", "0"], "a number of features is at least 1"),
        (["--features", "two"], "invalid int value: 'two'"),
        (["--covariance", "round"], "invalid choice: 'round'"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stop:
        compilation.main(arguments)
    assert stop.value.code == 2
    assert sentence in capsys.readouterr().err
