"""What the benchmark asks of everyone who takes part."""

import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.streams import Rows, Stream

RADII_FILE = Path(__file__).with_name("radii.json")


def stored_radius(name: str, stream: str, n: int) -> float:
    """Radius with which the competitor holds about n micro-clusters; see `tuning`."""
    radii = json.loads(RADII_FILE.read_text())
    try:
        return float(radii[name][stream][str(n)])
    except KeyError:
        raise LookupError(f"no radius of {name} for {n} micro-clusters on {stream}") from None


class Competitor:
    """What the benchmark asks of everyone; `build` comes before anything else.

    `learn_one`, `learn_batch` and `predict` give the function to be called, so that no wrapper is
    on the clock.
    """

    name: str
    package: str  # the module that has to be there
    batches: tuple[int, ...] = ()  # rows per call, for those who take more than one
    predicts = True
    pickles = True
    tuned = False  # whether a radius decides the number of micro-clusters
    choices: tuple[float, ...] = ()  # all values of the radius, where it is not a real number
    threads = 1
    warm_up = 0.0  # seconds of learning that a just-in-time compiler needs on each stream
    model: Any
    parameters: dict[str, Any]  # what `build` has set; everything else is the package's default

    def available(self) -> str | None:
        """None, or the reason in one line why this competitor cannot take part."""
        try:
            importlib.import_module(self.package)
        except ModuleNotFoundError as error:
            return f"{error.name} is not installed"
        except Exception as error:
            return f"{self.package} cannot be imported: {str(error).splitlines()[0]}"
        return None

    def build(self, stream: Stream, n: int, radius: float | None = None) -> None:
        """Make a new model for about n micro-clusters; the stored radius unless one is given."""
        raise NotImplementedError

    def radius_for(self, stream: Stream, n: int, radius: float | None) -> float:
        """The given radius, or else the stored one."""
        return stored_radius(self.name, stream.name, n) if radius is None else radius

    def points(self, rows: Rows) -> Sequence[Any]:
        """The rows as single points in the form that the competitor takes."""
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
        """Function that tells clusters: of rows, or of one point for those without batches."""
        return self.model.predict  # type: ignore[no-any-return]

    def micro_clusters(self) -> int:
        """Micro-clusters that the model holds at present."""
        raise NotImplementedError
