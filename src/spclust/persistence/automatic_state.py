"""A stream of the automatic mode as scalars and logical arrays, and back.

Structures are in the order of their slots, because ties depend on it. What is read is checked
before a kernel works on it; `least` and `partner`, which follow from all else, are found anew.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from spclust.auto.clusters.lasting_labels import labels_of, reading_of
from spclust.auto.renewal import measure_in
from spclust.parameters import TABLE, Params, is_automatic, resolved_structures
from spclust.persistence.automatic_validation import (
    automatic_scalars_of,
    refuse_too_large_automatic,
    refuse_unsound_automatic,
)
from spclust.persistence.container import Array, RefusedError
from spclust.persistence.schema import (
    PER_FEATURE,
    PER_GROUP,
    PER_STRUCTURE,
    PLACES_PER_GROUP,
    UNBOUNDED,
    AutomaticScalars,
)
from spclust.state.automatic_structures import (
    AutomaticStructures,
    empty_automatic,
    read_z,
    write_z,
)
from spclust.state.kinds import DIAGONAL, FULL, SPHERICAL
from spclust.stream.automatic_stream import AutomaticStream

# Scalars that a state has under the same name, and as the same number.
_WORDS = tuple(n for n in AutomaticScalars._fields[2:] if n not in (*UNBOUNDED, "labels_given"))
_OF_ALL = (*PER_FEATURE, "metric", "recent")  # arrays that are stored whole
_SAME_EXPONENT = 1e-6  # relative: versions differ in how they round 1 / (m - 1)


def content_of_automatic(stream: AutomaticStream) -> tuple[dict[str, Any], dict[str, Array]]:
    """Scalars, as JSON has them, and arrays of a stream; arrays may be views of its state."""
    s, k = stream.structures, stream.structures.live
    words = {name: getattr(s, name) for name in _WORDS}
    for name in UNBOUNDED:
        words[name] = value if (value := getattr(s, name)) < math.inf else 0.0
    words["labels_given"] = stream.reading.given
    scalars = AutomaticScalars(n_structures=s.capacity, n_features=s.d, **words)
    arrays: dict[str, Array] = {name: s.views[name][:k] for name in PER_STRUCTURE}
    arrays |= labels_of(stream.reading, s)
    arrays |= {"mean": s.mean[:k], "scatter": s.scatter[:k], "z": read_z(s, np.arange(k))}
    for name in ("cluster_mass", "cluster_clock"):
        arrays[name] = s.views[name][: s.clusters]
    for name in _OF_ALL:
        arrays[name] = s.views[name]
    for name in (*PER_GROUP, *PLACES_PER_GROUP):
        arrays[name] = s.views[name][: s.groups]
    refuse_unsound_automatic(scalars, arrays)
    return scalars._asdict(), arrays


def automatic_stream_of(
    built_with: Mapping[str, Any],
    state: Any,
    arrays: Mapping[str, Array],
    max_bytes: int | None = None,
) -> AutomaticStream:
    """The stream that has such content, for the parameters that it was built with.

    Raises RefusedError unless it is the content of a stream that has learnt something.
    """
    scalars = automatic_scalars_of(state)
    params = _params(built_with, scalars)
    refuse_too_large_automatic(scalars, max_bytes)
    refuse_unsound_automatic(scalars, arrays)
    try:
        reading = reading_of(arrays, arrays["id"], scalars.labels_given)
        return AutomaticStream.of(params, _state_of(params, scalars, arrays), reading)
    except MemoryError:
        raise RefusedError("there is not enough memory for it") from None


def _params(built_with: Mapping[str, Any], scalars: AutomaticScalars) -> Params:
    """The parameters of a stream, if the two places where they are found agree."""
    n, m, kind = (built_with.get(name) for name in ("n_structures", "m", "covariance_type"))
    sound = (
        is_automatic(built_with.get("scale"))
        and TABLE["n_structures"].admits(n)
        and TABLE["m"].admits(m)
        and scalars.n_structures == resolved_structures(n, "auto")  # type: ignore[arg-type]
        and math.isclose(scalars.exponent, 1.0 / (float(m) - 1.0), rel_tol=_SAME_EXPONENT)  # type: ignore[arg-type]
        and kind in ("auto", "diag" if scalars.diagonal else "full", "spherical")
        and built_with.get("max_rank") is None
        and (scalars.diagonal or kind != "spherical")
    )
    if not sound:
        raise RefusedError("its parameters and its state do not match")
    kinds = {"spherical": SPHERICAL, "full": FULL}
    return Params(
        n_structures=scalars.n_structures,
        exponent=scalars.exponent,
        gamma=0.0,
        beta=0.0,
        w_min=TABLE["w_min"].default,
        nlt_max=TABLE["nlt_max"].default,
        scale=1.0,
        kind=kinds.get(str(kind), DIAGONAL if scalars.diagonal else FULL),
        max_rank=scalars.n_features,
        automatic=True,
        half_life=scalars.half_life or math.inf,
    )


def _state_of(
    params: Params, scalars: AutomaticScalars, arrays: Mapping[str, Array]
) -> AutomaticStructures:
    """A new state with this content."""
    s, k = empty_automatic(params, scalars.n_features), scalars.live
    s.live, s.clusters = k, scalars.clusters
    for name in (*PER_STRUCTURE, "mean", "scatter"):
        s.views[name][:k] = arrays[name]
    write_z(s, arrays["z"])
    for name in ("cluster_mass", "cluster_clock"):
        s.views[name][: s.clusters] = arrays[name]
    for name in _OF_ALL:
        s.views[name][:] = arrays[name]
    for name in (*PER_GROUP, *PLACES_PER_GROUP):
        s.views[name][: scalars.groups] = arrays[name]
    measure_in(s.memory)
    s.reach[:k] = arrays["reach"]  # as it was when it was last found
    for name in _WORDS:  # last: the search is counted
        setattr(s, name, getattr(scalars, name))
    s.home_rare = scalars.home_rare or math.inf
    return s
