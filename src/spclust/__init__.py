"""Single-pass possibilistic clustering (SPC) of data streams."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spclust.version import __version__ as __version__

if TYPE_CHECKING:
    from spclust import datasets, metrics, plot, river
    from spclust.estimators.model_merge import merge_all
    from spclust.estimators.outlier_detector import SPCOutlierDetector
    from spclust.estimators.spc import SPC
    from spclust.experiments import baselines
    from spclust.formulas import covariance_union, typicality
    from spclust.parameters import decay_from_half_life

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
    "SPC": "estimators.spc",
    "SPCOutlierDetector": "estimators.outlier_detector",
    "covariance_union": "formulas",
    "typicality": "formulas",
    "decay_from_half_life": "parameters",
    "merge_all": "estimators.model_merge",
}
_MODULES = {"baselines": "experiments.baselines"}  # those that are not named after themselves


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"spclust.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"spclust.{_MODULES.get(name, name)}")
    raise AttributeError(f"module 'spclust' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
