"""Description of the machine and the package versions of a measurement."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = ("spclust", "numpy", "numba", "scipy", "scikit-learn")
PEERS = ("river", "clusopt_core", "capymoa")


def cpu_model() -> str:
    """Name of the processor, if the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def installed_version(distribution: str) -> str | None:
    """Version of a package, None if it is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def describe() -> dict[str, Any]:
    """Processor, cores, system, Python and packages."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: installed_version(name) for name in (*LIBRARIES, *PEERS)},
    }
