"""Single-pass possibilistic clustering (SPC) of data streams."""

from importlib import import_module
from types import ModuleType

from spclust.estimator import SPC
from spclust.formulas import covariance_union, typicality
from spclust.params import decay_from_half_life

__version__ = "0.1.0"

__all__ = ["SPC", "covariance_union", "datasets", "decay_from_half_life", "plot", "typicality"]


def __getattr__(name: str) -> ModuleType:
    """Import the modules that only some users need when they are first used."""
    if name in ("plot", "datasets"):
        return import_module(f"spclust.{name}")
    raise AttributeError(f"module 'spclust' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
