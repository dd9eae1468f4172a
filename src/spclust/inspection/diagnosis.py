"""Probable problems of a model, judged by its structures, and which parameter to change."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from spclust.array_types import Integers
from spclust.inspection.automatic_findings import (
    coarse,
    hardly_remembered,
    in_one,
    too_few,
    unstable,
)
from spclust.inspection.findings import Evidence, Finding, number
from spclust.stream.mode import AnyStream

# Before so many points for each structure, most structures are the last points.
_POINTS_FOR_EACH = 3
# Fewer structures than this may well be one cluster each, unless most of them are single points.
_MANY = 10
# The NLT between two structures at which the paper cuts, D = 0.95. If half of the structures are
# farther than this from all others, a larger eps would not help.
_FAR = 3.0
_UNEQUAL = 100.0  # sizes of features whose ratio is above this are hardly in one unit
_NEARLY_ALL, _MOST, _HALF = 0.9, 0.5, 0.5
_FEW = 10  # points of a structure that had hardly begun
_LIGHT = 0.3  # default w_min, 0.01, is this share of 1 / n_structures, by default 30


@np.errstate(over="ignore", invalid="ignore")  # distances of huge numbers may be infinite
def findings(
    stream: AnyStream, labels: Integers, names: Sequence[str], eps: float | str
) -> list[Finding]:
    """Probable problems, causes first; `labels` (k,) are the clusters at `eps`."""
    seen = Evidence(stream, labels, names, eps)
    first: tuple[_Check, ...] = (_too_early, _no_difference)
    for alone in first if stream.automatic else (*first, _unequal_features):
        if found := list(alone(seen)):
            return found  # whatever else could be said would follow from this
    checks = () if stream.automatic else _SCALE
    checks += (too_few, in_one) if stream.automatic else _CUT
    found = [one for check in checks for one in check(seen)][:1]
    found += [*unstable(seen), *coarse(seen), *hardly_remembered(seen), *_forgotten(seen)]
    return found or list(_one_holds_all(seen))


def _too_early(e: Evidence) -> Iterator[Finding]:
    if e.stream.seen < e.n:
        yield Finding(
            "too_early",
            f"Only {e.stream.seen} points were learnt, fewer than n_structures={e.n}, so that each "
            "still is a structure of its own: learn more points, or lower n_structures.",
        )


def _no_difference(e: Evidence) -> Iterator[Finding]:
    if e.k > 1 and e.reach == 0.0:
        yield Finding(
            "no_difference",
            f"All {e.k} structures have the same mean, because all points that they hold are "
            "equal: check the features.",
        )


def _unequal_features(e: Evidence) -> Iterator[Finding]:
    sizes = e.sizes
    varying = np.flatnonzero(sizes > 0.0)
    if len(varying) < 2:
        return
    least, most = varying[np.argmin(sizes[varying])], varying[np.argmax(sizes[varying])]
    ratio = sizes[most] / sizes[least]
    if ratio > _UNEQUAL:
        yield Finding(
            "unequal_features",
            f"Feature {e.names[most]!r} varies {number(ratio)} times as much as feature "
            f"{e.names[least]!r}, which hardly counts beside it: bring features to one size first "
            "(for example with StandardScaler) and set scale anew.",
        )


def _scale_too_small(e: Evidence) -> Iterator[Finding]:
    if not _can_judge_distances(e) or np.median(e.nlt) <= max(_FAR, e.limit):
        return
    if e.k >= _MANY or np.mean(e.count == 1) >= _HALF:
        far = int(np.sum(e.nlt > max(_FAR, e.limit)))
        # Distances between structures that have grown depend on their number more than on the
        # points: then one step up is advised, and another diagnosis.
        single = np.mean(e.count == 1) >= _HALF
        advised = max(e.advised_scale, 2 * e.scale) if single else 2 * e.scale
        yield Finding(
            "scale_too_small",
            f"scale={number(e.scale)} looks too small: {far} of {e.k} structures are out of reach "
            f"of all others ({e.n_clusters} clusters), and the largest holds "
            f"{e.count.max() / e.count.sum():.0%} of the points: raise scale, to about "
            f"{number(advised)}, and look again, or choose the number of clusters with "
            "clustering(n_clusters=...).",
        )


def _scale_too_large(e: Evidence) -> Iterator[Finding]:
    if e.k > 1 and e.n_clusters == 1 and e.reach < e.scale:
        yield Finding(
            "scale_too_large",
            f"scale={number(e.scale)} looks too large: the means of all {e.k} structures lie "
            f"within {number(e.reach)} of their middle, and everything is one cluster: lower "
            f"scale, to about {number(min(e.advised_scale, e.scale / 2))}.",
        )


def _all_alone(e: Evidence) -> Iterator[Finding]:
    if _can_judge_distances(e) and e.k >= _MANY and e.n_clusters == e.k:
        yield Finding(
            "all_alone",
            f"Each of the {e.k} structures is a cluster of its own: raise eps={e.eps:g}, to about "
            f"{min(0.99, -np.expm1(-max(_FAR, float(np.median(e.nlt))))):.2g}.",
        )


def _one_cluster(e: Evidence) -> Iterator[Finding]:
    if e.k < 2 or e.n_clusters != 1 or (e.labels < 0).any():
        return
    lower = e.advised_scale < e.scale / 2
    scale = f", or lower scale, to about {number(e.advised_scale)}" if lower else ""
    yield Finding(
        "one_cluster",
        f"Everything is one cluster at eps={e.eps:g}: if there should be more, lower eps "
        f"(clustering(n_clusters=2) shows where it falls apart first){scale}.",
    )


def _all_noise(e: Evidence) -> Iterator[Finding]:
    if e.n_clusters == 0:
        yield Finding(
            "all_noise",
            f"No structure has min_samples neighbours within eps={e.eps:g}, so that all "
            f"{e.k} are noise: lower min_samples, or raise eps.",
        )


def _forgotten(e: Evidence) -> Iterator[Finding]:
    if e.stream.automatic:  # nothing is forgotten there but by half_life
        return
    pruned, seen = e.stream.pruned, e.stream.seen
    structures = max(seen - e.stream.merges - e.k, 1)  # that were forgotten: the others are merged
    fading = e.stream.params.beta > 0.0  # old structures are meant to be forgotten then
    if pruned > _MOST * seen and not (fading and pruned >= _FEW * structures):
        yield Finding(
            "forgotten",
            f"{pruned / seen:.0%} of the points were forgotten, in structures of "
            f"{pruned / structures:.1f} points on average that were lighter than "
            f"w_min={e.stream.params.w_min:g}: lower w_min, to about {number(_LIGHT / e.n)}"
            + _or_raise_scale(e),
        )


def _or_raise_scale(e: Evidence) -> str:
    return f", or raise scale, to about {number(max(e.advised_scale, 2 * e.scale))}."


def _one_holds_all(e: Evidence) -> Iterator[Finding]:
    share = e.count.max() / e.count.sum()
    if _can_judge_distances(e) and e.k >= _MANY // 2 and share > _NEARLY_ALL:
        yield Finding(
            "one_holds_all",
            f"One of {e.k} structures holds {share:.0%} of the points: if there is more to see in "
            f"it, raise n_structures, to about {2 * e.n}"
            + ("." if e.stream.automatic else ", or choose another scale."),
        )


def _can_judge_distances(e: Evidence) -> bool:
    return e.k > 1 and e.stream.seen >= _POINTS_FOR_EACH * e.n


_Check = Callable[[Evidence], Iterator[Finding]]
_SCALE: tuple[_Check, ...] = (_scale_too_small, _scale_too_large)
_CUT: tuple[_Check, ...] = (_all_alone, _all_noise, _one_cluster)
