"""Compilation of all kernels ahead of their first use, say while an image is built.

    python -m spclust.compilation [--features 2 3 10] [--covariance auto]

Machine code goes to Numba's cache: `__pycache__` beside the sources, or the folder NUMBA_CACHE_DIR.
It suits the kind of processor that it was compiled on. Users who may read, but not write, that
folder use it, too.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spclust.algorithm.kernels import union_kernel
from spclust.array_types import Floats
from spclust.estimators.model_merge import merge_all
from spclust.estimators.spc import SPC
from spclust.formulas import covariance_union, typicality
from spclust.jit import notice
from spclust.state.kinds import without_unrolling
from spclust.stream.stream import Stream

# Two features, and 6 to 16, have a learning kernel of their own; all other numbers share one.
FEATURES = (2, 3, 10)
COVARIANCE_TYPES = ("auto", "full", "lowrank", "diag", "spherical")


def compile_all(
    features: Sequence[int] = FEATURES,
    covariance_types: Sequence[str] = ("auto",),
    report: Callable[[str, float, bool], None] | None = None,
) -> int:
    """Compile the kernels that models use, into Numba's cache.

    Parameters
    ----------
    features : sequence of int, default (2, 3, 10)
        Numbers of features. 2, and each from 6 to 16, have a learning kernel of their own.
    covariance_types : sequence of str, default ("auto",)
        Forms of covariances.
    report : callable, optional
        Called for each kernel with its name, the seconds that it took, and True if it was compiled,
        False if it was loaded from the cache.

    Returns
    -------
    int
        Kernels that were compiled, and not in the cache.
    """
    compiled = 0

    def count(name: str, seconds: float, is_new: bool) -> None:
        nonlocal compiled
        compiled += is_new
        if report is not None:
            report(name, seconds, is_new)

    notice.reports.append(count)
    try:
        for d in features:
            for covariance_type in covariance_types:
                _use_models(_rows(d), covariance_type)
            _use_formulas(d)
    finally:
        notice.reports.remove(count)
    return compiled


def _rows(d: int) -> Floats:
    """Points (240, d) of two clusters, one of which is there in the second half only."""
    X = np.random.default_rng(0).normal(size=(240, d))
    X[120::2] += 30.0
    return X


def _use_models(X: Floats, covariance_type: str) -> None:
    """Call all that runs a kernel, for one number of features and one form of covariances."""
    shared: dict[str, Any] = {"n_structures": 10, "covariance_type": covariance_type}
    shared |= {"outlier_nlt": 3.0, "track_every": 20}
    read_only = X.copy()
    read_only.flags.writeable = False  # another type to Numba
    models = []
    automatic: dict[str, Any] = {"half_life": 50.0}
    paper: dict[str, Any] = {"scale": 1.0, "beta": 0.01, "eps": 0.9, "min_samples": 2}
    for params in (paper,) if covariance_type == "lowrank" else (automatic, paper):
        model = SPC(**shared, **params).fit(X)
        model.predict(X)
        model.predict(read_only)
        model.typicality(X)
        model.labels_  # noqa: B018
        for x in X[:30]:
            model.learn_one(x)
        models.append(model)
    if covariance_type != "lowrank":  # what is done only where nothing fades
        model = SPC(n_structures=10, covariance_type=covariance_type).fit(X)
        model.labels_  # noqa: B018
        model.predict(X + 1e6)  # outliers
    for model in models:
        merge_all([model, SPC(**model.get_params()).fit(read_only)])
    stream = models[-1]._stream
    assert isinstance(stream, Stream)
    union_kernel(without_unrolling(stream.structures.kernel_kind))


def _use_formulas(d: int) -> None:
    """Call the functions of arrays."""
    origin, ones, unit = np.zeros(d), np.ones(d), np.eye(d)
    typicality(ones, origin, unit)
    covariance_union(unit, origin, 2.0 * unit, ones, ones)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m spclust.compilation",
        description="Compile the kernels of spclust into Numba's cache.",
    )
    parser.add_argument(
        "--features",
        type=int,
        nargs="+",
        default=list(FEATURES),
        metavar="D",
        help="numbers of features (default: %(default)s)",
    )
    parser.add_argument(
        "--covariance",
        nargs="+",
        default=["auto"],
        choices=COVARIANCE_TYPES,
        metavar="TYPE",
        help=f"forms of covariances: {', '.join(COVARIANCE_TYPES)} (default: auto)",
    )
    given = parser.parse_args(arguments)
    if min(given.features) < 1:
        parser.error("a number of features is at least 1")
    start, loaded = time.perf_counter(), 0

    def tell(name: str, seconds: float, is_new: bool) -> None:
        nonlocal loaded
        loaded += not is_new
        print(f"{seconds:6.2f} s  {name}{'' if is_new else ' (from the cache)'}", flush=True)

    compiled = compile_all(given.features, given.covariance, tell)
    seconds = time.perf_counter() - start
    print(f"{compiled} kernels compiled, {loaded} loaded from the cache: {seconds:.1f} s")


if __name__ == "__main__":
    main()
