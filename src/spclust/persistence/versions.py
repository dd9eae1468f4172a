"""Files of earlier versions, read as content of version 5.

Version 4 knew no drift: in the automatic mode the origin was always at rest.
Version 3 had entries for an automatic mode that is no longer there.
Versions 1 and 2 were a dump of memory: a flat array `head` of numbers, arrays with a row for each
slot, used or not, and means and factors in blocks of eight slots. Rows at the end of an array that
had never been written were left out. Nothing else in the library knows that layout.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.auto.clusters.lasting_labels import NOT_READ
from spclust.persistence.container import Array, Content, RefusedError
from spclust.persistence.paper_state import above_diagonal, current_odds
from spclust.persistence.paper_validation import (
    refuse_too_large,
    refuse_unsound_scalars,
    scalars_of,
)
from spclust.persistence.schema import (
    LARGEST_INTEGER,
    OF_CLUSTER,
    PER_GROUP,
    PLACES_PER_GROUP,
    PaperScalars,
    packed_sizes,
    unsound,
)
from spclust.state.kinds import DIAGONAL, FULL, LOWRANK, SPHERICAL

# Where the scalars were in `head`; all other entries follow from these.
_PLACES = {
    "n_structures": 0,
    "n_features": 1,
    "exponent": 2,
    "gamma": 3,
    "beta": 4,
    "w_min": 5,
    "nlt_max": 6,
    "scale": 7,
    "live": 9,
    "seen": 10,
    "pruned": 11,
    "merged": 12,
    "in_logs": 13,
    "evaluations": 14,
    "rescans": 15,
    "grown": 16,
    "rank_room": 22,
    "direction_room": 23,
    "largest_rank": 25,
    "prune_from": 27,
    "needed_rank": 28,
    "stale": 29,
    "timed": 30,
    "clock": 31,
    "gap": 32,
}
_KIND, _FREE_DIRECTIONS, _AUTOMATIC = 18, 24, 33
_KINDS = {0.0: "full", 2.0: "diag", 3.0: "spherical", 4.0: "lowrank"}
_HEAD_OF_VERSION_1, _HEAD = 32, 40
_BLOCK = 8  # slots
_MOST_GROUPS = 2**31

_ARRAYS_OF_VERSION_1 = {
    *("head", "anchor", "drift", "whiten", "Sigma", "total", "mass", "count", "age", "id"),
    *("bound", "least", "renewals", "connection", "rank", "base"),
    *("odds", "odds_back", "pair", "place", "free", "basis"),
}
_NEW_IN_VERSION_2 = {"recent", "owner", "origin", "unit", "scatter"}
_ARRAYS = _ARRAYS_OF_VERSION_1 | _NEW_IN_VERSION_2
_OF_LABELS = {"nearest", "nlt", "first"}  # the same in all versions


def as_current_version(content: Content, version: int, max_bytes: int | None = None) -> Content:
    """The content of a saved model of some version as version 5 has it.

    Raises RefusedError if it is not the content of a saved model, or of one that is too large.
    """
    try:
        return _READERS[version](content, max_bytes)
    except MemoryError:
        raise RefusedError("there is not enough memory for it") from None


def _read_version_5(content: Content, max_bytes: int | None) -> Content:
    return content


def _read_version_4(content: Content, max_bytes: int | None) -> Content:
    """Version 4 is the same in the mode of the paper; in the other one nothing has drifted yet."""
    header, arrays = content
    state = header.get("state")
    if not isinstance(state, dict) or state.get("mode") != "automatic":
        return content
    groups = state.get("clusters")
    mass, origin, cluster = (arrays.get(name) for name in ("mass", "origin", "cluster"))
    if mass is None or origin is None or cluster is None:
        return content  # what is wrong is found when it is checked
    if type(groups) is not int or not 1 <= groups <= _MOST_GROUPS:
        return content
    state = {**state, "drift_clock": 0.0, "window_began": 0.0, "drift_evidence": 0.0}
    state |= {"agreeing": 0, "groups": groups}
    arrays = {**arrays, "time": np.zeros(mass.shape), "group": cluster}
    arrays |= {name: np.zeros(origin.shape) for name in ("displacement", "velocity", "drift")}
    # Views that take no memory: sizes are checked later.
    arrays[OF_CLUSTER] = np.broadcast_to(NOT_READ, (groups,))
    arrays |= {name: np.broadcast_to(0.0, (groups,)) for name in PER_GROUP}
    arrays |= {name: np.broadcast_to(0.0, (groups, origin.size)) for name in PLACES_PER_GROUP}
    return Content({**header, "state": state}, arrays)


def _read_version_3(content: Content, max_bytes: int | None) -> Content:
    """Version 3 had one mode only, with more scalars and one more array."""
    header, arrays = content
    state = header.get("state")
    if not isinstance(state, dict):
        raise RefusedError("its header has no state, or not all of it")
    _refuse_automatic(state.get("automatic_scale") is not False)
    dropped = ("automatic_scale", "scale_due", "cut_due")
    state = {name: value for name, value in state.items() if name not in dropped}
    kept = {name: array for name, array in arrays.items() if name != "cluster"}
    return Content({**header, "state": {**state, "mode": "paper"}}, kept)


def _refuse_automatic(automatic: bool) -> None:
    if automatic:
        raise RefusedError(
            "it was learnt with scale='auto' by an earlier version, whose structures this one "
            "cannot go on with: learn the stream again"
        )


def _read_version_2(content: Content, max_bytes: int | None) -> Content:
    header, arrays = content
    if set(arrays) != _ARRAYS | _OF_LABELS:
        raise RefusedError("its header and its arrays do not match")
    head = arrays["head"]
    _refuse_automatic(head.shape == (_HEAD,) and head[_AUTOMATIC] != 0.0)
    scalars = _scalars(head, max_bytes)
    state = {**scalars._asdict(), "mode": "paper"}
    labels = {name: arrays[name] for name in _OF_LABELS}
    return Content({**header, "state": state}, {**_Dump(scalars, arrays).content(), **labels})


def _read_version_1(content: Content, max_bytes: int | None) -> Content:
    """Version 1 had neither time stamps nor automatic parameters."""
    header, arrays = content
    head = arrays.get("head", np.empty(0))
    if set(arrays) != _ARRAYS_OF_VERSION_1 | _OF_LABELS or head.shape != (_HEAD_OF_VERSION_1,):
        raise RefusedError("its header and its arrays do not match")
    head = np.concatenate([head, np.zeros(_HEAD - _HEAD_OF_VERSION_1)])
    head[_PLACES["gap"]] = 1.0
    arrays = {**arrays, **dict.fromkeys(_NEW_IN_VERSION_2, np.empty(0)), "head": head}
    return _read_version_2(Content(header, {**arrays, "recent": arrays["count"]}), max_bytes)


# How each version is read. A later version adds a function here, and those before it stay.
_READERS: dict[int, Callable[[Content, int | None], Content]] = {
    1: _read_version_1,
    2: _read_version_2,
    3: _read_version_3,
    4: _read_version_4,
    5: _read_version_5,
}


def _scalars(head: Array, max_bytes: int | None) -> PaperScalars:
    """The scalars in `head`; RefusedError if they cannot be the result of learning."""
    if head.shape != (_HEAD,) or head.dtype != np.float64:
        raise RefusedError("its header and its arrays do not match")
    types, numbers = PaperScalars.__annotations__, head.tolist()
    state: dict[str, Any] = {"covariance_type": _KINDS.get(numbers[_KIND])}
    for name, place in _PLACES.items():
        number = numbers[place]
        if types[name] is float:
            state[name] = number
        elif abs(number) <= LARGEST_INTEGER and number == int(number):
            flag = types[name] is bool and number in (0.0, 1.0)
            state[name] = bool(number) if flag else int(number)
        else:
            raise RefusedError(unsound("numbers"))
    scalars = scalars_of(state)
    refuse_too_large(scalars, max_bytes)
    refuse_unsound_scalars(scalars)
    return scalars


class _Dump(NamedTuple):
    """The arrays of version 2, with the scalars that tell their shapes."""

    scalars: PaperScalars
    arrays: Mapping[str, Array]

    def content(self) -> dict[str, Array]:
        """The arrays as version 5 has them."""
        scalars = self.scalars
        k, d = scalars.live, scalars.n_features
        names = ("total", "count", "age", "recent", "renewals", "bound")
        content: dict[str, Array] = {name: self.rows(name, k) for name in names}
        content |= {"damping": self.rows("mass", k), "least": self.rows("least", k, fresh=1.0)}
        content |= {"anchor": self.lanes("anchor", k, d), "drift": self.lanes("drift", k, d)}
        content |= {"id": self.whole("id", k)}
        content |= self.covariances() if scalars.kind != LOWRANK else self.lowrank_covariances()
        content |= self.relations()
        return content

    def rows(self, name: str, count: int, *shape: int, fresh: Any = 0.0) -> Floats:
        """The first rows of an array, each of a shape; `fresh` are rows that were left out."""
        array = self.arrays[name]
        if array.dtype != np.float64 or array.ndim == 0 or array.shape[1:] != shape:
            raise RefusedError(f"its array {name!r} has another shape or type")
        rows = np.empty((count, *shape))
        rows[...] = fresh
        rows[: len(array)] = array[:count]
        return rows

    def whole(self, name: str, count: int, *shape: int) -> Integers:
        """The first rows of an array of whole numbers."""
        rows = self.rows(name, count, *shape)
        if not np.all((np.abs(rows) <= LARGEST_INTEGER) & (rows == np.floor(rows))):
            raise RefusedError(unsound({"id": "ids"}.get(name, "ranks")))
        return rows.astype(np.int64)

    def lanes(self, name: str, count: int, numbers: int, fresh: Any = 0.0) -> Floats:
        """The first rows of an array that was stored in blocks of eight slots."""
        blocks = self.rows(name, -(-count // _BLOCK), numbers, _BLOCK, fresh=fresh)
        rows: Floats = blocks.transpose(0, 2, 1).reshape(-1, numbers)[:count]
        return rows

    def covariances(self) -> dict[str, Array]:
        """Covariances that are not of low rank, and their factors."""
        kind, g, d = self.scalars.kind, self.scalars.grown, self.scalars.n_features
        if kind == FULL:
            t, triangle = d * (d + 1) // 2, np.eye(d)[np.tril_indices(d)]
            factor = self.lanes("whiten", g, t, triangle[:, np.newaxis])
            return {"covariance": self.rows("Sigma", g, d, d, fresh=np.eye(d)), "factor": factor}
        columns = 1 if kind == SPHERICAL else d
        covariance = self.rows("Sigma", g, 1, columns, fresh=1.0)
        factor = self.lanes("whiten", g, columns, 1.0)
        shape = (g, d) if kind == DIAGONAL else (g,)
        return {"covariance": covariance.reshape(shape), "factor": factor.reshape(shape)}

    def lowrank_covariances(self) -> dict[str, Array]:
        """Covariances of low rank: their directions were rows of one array, in any order."""
        scalars, k = self.scalars, self.scalars.live
        room, rank = scalars.rank_room, self.whole("rank", k)
        if np.any((rank < 0) | (rank > room)):
            raise RefusedError(unsound("ranks"))
        half, sizes = room * (room + 1) // 2, packed_sizes(rank)
        Sigma = self.rows("Sigma", k, 1, 2 * half, fresh=1.0)[:, 0]
        slots, nothing = np.flatnonzero(rank), np.empty(0)
        return {
            "rank": rank,
            "base": self.rows("base", k, fresh=1.0),
            "directions": self.directions(rank),
            "covariance": np.concatenate([nothing, *(Sigma[i, : sizes[i]] for i in slots)]),
            "factor": np.concatenate([nothing, *(Sigma[i, half:][: sizes[i]] for i in slots)]),
        }

    def directions(self, rank: Integers) -> Floats:
        """Directions of all structures, one after the other; each was the direction of one."""
        scalars = self.scalars
        place = self.whole("place", rank.size, scalars.rank_room)
        used = place[np.arange(scalars.rank_room) < rank[:, np.newaxis]]
        basis, free = self.arrays["basis"], self.arrays["head"][_FREE_DIRECTIONS]
        if (
            basis.shape[1:] != (scalars.n_features,)
            or basis.dtype != np.float64
            or np.any((used < 0) | (used >= len(basis)))
            or np.unique(used).size != used.size
            or free != scalars.direction_room - used.size
        ):
            raise RefusedError(unsound("directions"))
        directions: Floats = basis[used]
        return directions

    def relations(self) -> dict[str, Array]:
        """Odds, of which the row written later was valid, and pair odds."""
        k, n = self.scalars.live, (self.scalars.n_structures + _BLOCK) // _BLOCK * _BLOCK
        odds, odds_back, pair = (
            self.rows(name, k, n)[:, :k] for name in ("odds", "odds_back", "pair")
        )
        current = current_odds(self.rows("connection", k), odds, odds_back)
        return {"odds": current, "pair": pair[above_diagonal(k)]}
