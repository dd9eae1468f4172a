"""Kernels compiled ahead: nothing is left to compile for the models that use them."""

import pytest

from spclust import compilation
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


def counted(lines, word):
    return [line.split()[1] for line in lines if line.startswith(f"{word} ")]


@pytest.mark.slow
def test_after_compilation_ahead_no_model_compiles_anything(tmp_path):
    env = environment(tmp_path)
    ahead = "from spclust.compilation import main\nmain(['--features', '2'])"
    *lines, total = output(ahead, env).splitlines()
    assert any(line.endswith("learn_rows_of_kind_1") for line in lines)
    assert any(line.endswith("unite_pair_of_kind_1") for line in lines)
    assert any(line.endswith("learn_automatically") for line in lines)
    assert total.startswith(f"{len(lines)} kernels compiled, 0 loaded from the cache: ")
    before = sorted(tmp_path.rglob("*.nb?"))
    used = output(KERNELS_TOLD + USE, env).splitlines()
    assert counted(used, "compiled") == []
    assert {"learn_rows_of_kind_1", "unite_pair_of_kind_1", "moved"} <= {*counted(used, "loaded")}
    assert sorted(tmp_path.rglob("*.nb?")) == before
    again = output(ahead, env).splitlines()[-1]
    assert again.startswith(f"0 kernels compiled, {len(lines)} loaded from the cache: ")


def test_all_kernels_of_a_kind_are_reported(monkeypatch):
    """Here most of them were compiled before: only those for another form are left."""
    used = []
    monkeypatch.setattr(compilation, "_use_models", lambda X, kind: used.append((X.shape[1], kind)))
    monkeypatch.setattr(compilation, "_use_formulas", used.append)
    assert compilation.compile_all((2, 7), ("full", "diag")) == 0
    assert used == [(2, "full"), (2, "diag"), 2, (7, "full"), (7, "diag"), 7]


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
