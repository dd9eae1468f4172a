"""Interface of a competitor."""

import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.streams import Rows, Stream

RADII_FILE = Path(__file__).with_name("radii.json")


def stored_radius(name: str, stream: str, n: int) -> float:
    """Radius with which the competitor holds about n micro-clusters; see `radius_search`."""
    radii = json.loads(RADII_FILE.read_text())
    try:
        return float(radii[name][stream][str(n)])
    except KeyError:
        raise LookupError(f"no radius of {name} for {n} micro-clusters on {stream}") from None


class Competitor:
    """Interface of a competitor; `build` is called first.

    `learn_one`, `learn_batch` and `predict` return the function to call, so that no wrapper is
    timed.
    """

    name: str
    package: str  # required module
    batches: tuple[int, ...] = ()  # rows per call, if it learns batches
    predicts = True
    pickles = True
    tuned = False  # True if a radius determines the number of micro-clusters
    choices: tuple[float, ...] = ()  # all values of the radius, if it is not a real number
    threads = 1
    warm_up = 0.0  # seconds of learning that a just-in-time compiler needs on each stream
    model: Any
    parameters: dict[str, Any]  # set by `build`; all others are the package's defaults

    def available(self) -> str | None:
        """None, or the reason why this competitor cannot run, in one line."""
        try:
            importlib.import_module(self.package)
        except ModuleNotFoundError as error:
            return f"{error.name} is not installed"
        except Exception as error:
            return f"{self.package} cannot be imported: {str(error).splitlines()[0]}"
        return None

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        """Create a model for about n micro-clusters, with the stored radius by default."""
        raise NotImplementedError

    def radius_for(self, stream: Stream, n: int, radius: float | None) -> float:
        """The given radius, or the stored one."""
        return stored_radius(self.name, stream.name, n) if radius is None else radius

    def points(self, rows: Rows) -> Sequence[Any]:
        """The rows as single points in the competitor's format."""
        return list(rows)

    @property
    def learn_one(self) -> Callable[[Any], Any]:
        """Function that learns one point."""
        raise NotImplementedError

    @property
    def learn_batch(self) -> Callable[[Rows], Any]:
        """Function that learns some rows."""
        return self.model.partial_fit  # type: ignore[no-any-return]

    @property
    def predict(self) -> Callable[[Any], Any]:
        """Function that predicts clusters: of rows, or of one point without batches."""
        return self.model.predict  # type: ignore[no-any-return]

    def micro_clusters(self) -> int:
        """Present number of micro-clusters of the model."""
        raise NotImplementedError
