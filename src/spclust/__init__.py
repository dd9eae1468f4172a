"""Single-pass possibilistic clustering (SPC) of data streams."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spclust.version import __version__ as __version__

if TYPE_CHECKING:
    from spclust import baselines, datasets, metrics, plot, river
    from spclust.estimator import SPC
    from spclust.formulas import covariance_union, typicality
    from spclust.merging import merge_all
    from spclust.outliers import SPCOutlierDetector
    from spclust.params import decay_from_half_life

__all__ = [
    "SPC",
    "SPCOutlierDetector",
    "baselines",
    "covariance_union",
    "datasets",
    "decay_from_half_life",
    "merge_all",
    "metrics",
    "plot",
    "river",
    "typicality",
]

# Where each name lives. Modules are imported when one of their names is first used: scikit-learn
# and Numba take a second to import, and not everything needs them.
_HOMES = {
    "SPC": "estimator",
    "SPCOutlierDetector": "outliers",
    "covariance_union": "formulas",
    "typicality": "formulas",
    "decay_from_half_life": "params",
    "merge_all": "merging",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"spclust.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"spclust.{name}")
    raise AttributeError(f"module 'spclust' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
