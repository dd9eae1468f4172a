"""Names for types that functions take and return, most of them arrays."""

from datetime import timedelta
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.floating]  # points as they come in: float32 or float64
Names: TypeAlias = npt.NDArray[np.object_]
HalfLife: TypeAlias = float | timedelta | np.timedelta64 | None
