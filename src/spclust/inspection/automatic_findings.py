"""Findings about a model of the automatic mode."""

from collections.abc import Iterator

import numpy as np

from spclust.array_types import Floats
from spclust.auto.clusters.bootstrap import stability
from spclust.auto.clusters.evidence import variances_in_metric
from spclust.inspection.findings import STRUCTURES_FOR_EACH, Evidence, Finding, number
from spclust.stream.automatic_stream import AutomaticStream

_STABLE = 0.8  # of the mass, in the same clusters: most development sets below it are wrong
_REMEMBERED = 8.0  # points of a cluster: with fewer it is gone after three half-lives
_SHOWN = 3  # features of a place
_OLD = 3.0  # half-lives, after which a cluster is not new any more
_COARSE, _HEAVY = 4.0, 2.0  # times the usual variance, and mass, of structures
_MUCH = 0.1  # of the points


def too_few(e: Evidence) -> Iterator[Finding]:
    """Too few structures for so many clusters."""
    if e.n_clusters > e.n / STRUCTURES_FOR_EACH:
        yield Finding(
            "too_few_structures",
            f"There are {e.n_clusters} clusters for n_structures={e.n}: where clusters touch, or "
            "are far from round, so few structures for each cannot tell them apart: raise "
            f"n_structures, to about {2 * STRUCTURES_FOR_EACH * e.n_clusters}.",
        )


def in_one(e: Evidence) -> Iterator[Finding]:
    """One cluster."""
    if e.k > 1 and e.n_clusters == 1:
        yield Finding(
            "one_cluster",
            "Everything is one cluster: if there should be more, clustering(n_clusters=2) shows "
            "where it falls apart first, and more structures may show it better.",
        )


def unstable(e: Evidence) -> Iterator[Finding]:
    """Clusters that depend on chance."""
    if not isinstance(e.stream, AutomaticStream) or e.stream.told is not None:
        return
    share = stability(e.stream.structures)
    if share < _STABLE:
        yield Finding(
            "unstable",
            f"Only {share:.0%} of the points would be in the same clusters with other points of "
            "the same kind, by a bootstrap over the structures: do not rely on the number of "
            f"clusters; learn more points, raise n_structures, to about {2 * e.n}, or set "
            "n_clusters.",
        )


def coarse(e: Evidence) -> Iterator[Finding]:
    """Much of the data in a few wide structures: what is inside of them is not seen."""
    if not isinstance(e.stream, AutomaticStream):
        return
    s, order = e.stream.structures, e.stream.order()
    variance, mass = variances_in_metric(s)[order], s.mass[order]
    usual = float(np.median(variance[mass >= 0.5 * mass.mean()]))
    wide = (variance > _COARSE * usual) & (mass > _HEAVY * mass.mean())
    share = mass[wide].sum() / mass.sum()
    if usual > 0.0 and share > _MUCH:
        yield Finding(
            "coarse",
            f"{share:.0%} of the points are in {wide.sum()} of {e.k} structures, which are much "
            f"wider than most, around {_place(np.average(e.mean[wide], axis=0), e)}: clusters in "
            "there cannot be told apart. They may have begun late: set half_life, if the stream "
            f"changes, or shuffle the rows, or raise n_structures, to about {2 * e.n}.",
        )


def hardly_remembered(e: Evidence) -> Iterator[Finding]:
    """A cluster whose points come too rarely for the half-life; as strays, if they are too few."""
    half_life = e.stream.params.half_life
    if not isinstance(e.stream, AutomaticStream) or e.stream.clock is not None:
        return
    table, counts = e.stream.table(e.labels), e.stream.faded_counts()
    groups = [e.labels == label for label in np.unique(e.labels[e.labels >= 0])]
    groups += [np.arange(e.k) == i for i in np.flatnonzero(e.labels < 0)]
    for mine in groups:
        remembered, age = float(counts[mine].sum()), int(table.age[mine].max())
        if remembered < _REMEMBERED and age > _OLD * half_life:
            yield Finding(
                "half_life_too_short",
                f"Of the {table.count[mine].sum():,} points around "
                f"{_place(np.average(table.mean[mine], axis=0), e)} only {remembered:.1f} are "
                f"remembered: they come too rarely for half_life={number(half_life)}, and a longer "
                "gap would end their cluster: raise half_life, to about "
                f"{number(half_life * 2 * _REMEMBERED / max(remembered, 1.0))}.",
            )
            return


def _place(mean: Floats, e: Evidence) -> str:
    """A place in words, by its first features."""
    shown = ", ".join(f"{n} = {number(x)}" for n, x in [*zip(e.names, mean, strict=True)][:_SHOWN])
    return f"({shown}{', ...' if len(mean) > _SHOWN else ''})"
