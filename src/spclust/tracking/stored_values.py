"""Values of a saved tracker: each function returns a value, or refuses what it cannot have been."""

from typing import Any, get_args

import numpy as np

from spclust.array_types import Floats
from spclust.tracking.events import ClusterEvent, Kind


def whole(value: Any, least: int, most: int = 2**62) -> int:
    """A whole number of some range."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{value!r:.40} is no whole number from {least} to {most}")
    return value


def number(value: Any) -> float:
    """A finite number that is not negative."""
    if type(value) not in (int, float) or not 0.0 <= value < np.inf:
        raise ValueError(f"{value!r:.40} is no finite number of 0 or more")
    return float(value)


def kind_of_event(value: Any) -> Kind:
    """A kind of event."""
    if value not in get_args(Kind):
        raise ValueError(f"{value!r:.40} is no kind of event")
    kind: Kind = value
    return kind


def finite_place(value: Any, d: int) -> Floats:
    """A place (d,)."""
    if not all(type(coordinate) in (int, float) for coordinate in value):
        raise TypeError(f"{value!r:.40} is no place")
    found = np.array(value, dtype=np.float64)
    if found.shape != (d,) or not np.isfinite(found).all():
        raise ValueError(f"{value!r:.40} is no place")
    return found


def cluster_event(event: Any, given: int, d: int) -> ClusterEvent:
    """An event of clusters in d dimensions, whose ids are below `given`."""
    before, after = (
        tuple(whole(its_id, 0, given - 1) for its_id in event[side]) for side in ("before", "after")
    )
    index, centre = whole(event["index"], 0), tuple(finite_place(event["centre"], d).tolist())
    return ClusterEvent(kind_of_event(event["kind"]), index, before, after, centre)
