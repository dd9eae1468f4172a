"""What is done with rows before a model sees them: columns by name, and standardisation.

It belongs to the model: it is saved in the same file, as an entry of the header.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from spclust.arrays import Floats
from spclust.cli.exit_codes import CommandError


class Preparation(NamedTuple):
    """Columns, and what is subtracted and divided by; None if they are taken as they are."""

    columns: tuple[str, ...]
    centre: Floats | None = None  # (d,)
    spread: Floats | None = None  # (d,)

    def standardised_by(self, rows: Floats) -> Self:
        """The same, with the mean and standard deviation of some rows (n, d); 1 if that is 0.

        They do not change any more: coordinates must not move under a model that has learnt.
        """
        spread = rows.std(axis=0)
        spread[(spread == 0.0) | ~np.isfinite(spread)] = 1.0
        return self._replace(centre=rows.mean(axis=0), spread=spread)

    def applied(self, rows: Floats) -> Floats:
        """Rows (n, d) as the model sees them."""
        if self.centre is None or self.spread is None:
            return rows
        prepared: Floats = (rows - self.centre) / self.spread
        return prepared

    def centres_in_units(self, means: Floats) -> Floats:
        """Places (k, d) of the model in the units of the data."""
        if self.centre is None or self.spread is None:
            return means
        in_units: Floats = means * self.spread + self.centre
        return in_units

    def spreads_in_units(self, deviations: Floats) -> Floats:
        """Standard deviations (k, d) of the model in the units of the data."""
        return deviations if self.spread is None else deviations * self.spread

    def as_plain(self) -> dict[str, Any]:
        """What JSON can hold; see `from_plain`."""
        return {
            "columns": list(self.columns),
            "centre": None if self.centre is None else self.centre.tolist(),
            "spread": None if self.spread is None else self.spread.tolist(),
        }

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """What `as_plain` was called on; CommandError if that cannot have been one."""
        try:
            columns = tuple(str(name) for name in plain["columns"])
            if plain["centre"] is None:
                return cls(columns)
            centre, spread = (np.array(plain[k], dtype=np.float64) for k in ("centre", "spread"))
            sound = np.isfinite(centre).all() and np.isfinite(spread).all() and (spread > 0).all()
            if not sound or centre.shape != (len(columns),) or spread.shape != centre.shape:
                raise ValueError
        except (KeyError, TypeError, ValueError):
            raise CommandError("What the file says about its columns is damaged.") from None
        return cls(columns, centre, spread)
