"""Ranges of parameters that a search varies."""

from dataclasses import dataclass
from typing import Literal

# Unit of a range: none, the size of the data, the size of a feature, the length of the stream.
Unit = Literal["1", "data", "feature", "points", "1 / points"]


@dataclass(frozen=True)
class Axis:
    """Range of a numeric parameter: maps a coordinate from 0 to 1 to a value."""

    low: float
    high: float
    unit: Unit = "1"
    whole: bool = False  # True: values are rounded to integers
    linear: bool = False  # False: spaced logarithmically
    off: float = 0.0  # share of coordinates that are mapped to 0

    def value(self, coordinate: float, size: dict[str, float]) -> float | int:
        """The value at a coordinate; `size` is the size of each unit."""
        if coordinate < self.off:
            return 0.0
        coordinate = (coordinate - self.off) / (1.0 - self.off)
        if self.linear:
            value = self.low + coordinate * (self.high - self.low)
        else:
            value = self.low * (self.high / self.low) ** coordinate
        value *= size[self.unit]
        return round(value) if self.whole else float(f"{value:.4g}")


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of several words."""

    words: tuple[str, ...]

    def value(self, coordinate: float, size: dict[str, float]) -> str:
        """The word at a coordinate from 0 to 1."""
        return self.words[min(int(coordinate * len(self.words)), len(self.words) - 1)]
