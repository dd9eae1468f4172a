"""Sets of each job: files of a folder, and generated sets."""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.quality import shapes, streams
from benchmarks.quality.alteration import ALTERATIONS, Labelled, altered

GENERATED = "generated"
GROUPS = {  # first match of a file name; others are "other" or "tables"
    "static": (r"wut", r"graves", r"uci", r"dim"),
    "stream": (r"mdc_base", r"mdc_moving", r"mdc_nonstat", r"mdc_sequential", r"souza", r"losing"),
    "outlier": (),
}
REST = {"static": "other", "stream": "other", "outlier": "tables"}
FEW_KINDS = ("stationary", "rotation", "regimes")
UNITS = (1e-6, 1.0, 1e6)


class Source(NamedTuple):
    """A set of a job: `load` returns its rows and labels."""

    job: str
    group: str
    name: str
    load: Callable[[], Any]


class Size(NamedTuple):
    """How much is measured."""

    files: int  # of a group, at most
    rows: int  # of a set, at most
    generated: int  # rows of a generated stream
    dimensions: int  # of each kind of generated stream: 1, or all four
    orders: int  # of a set without time
    limit: float  # seconds of a contestant on a set in one order


FULL = Size(files=1000, rows=20_000, generated=8_000, dimensions=4, orders=4, limit=120.0)
QUICK = Size(files=2, rows=5_000, generated=5_000, dimensions=1, orders=1, limit=10.0)


def folder_of(given: Path | None) -> Path | None:
    """The folder with the sets: as given, of SPCLUST_DATA, or beside the checkout, if any."""
    if given is not None:
        if not given.is_dir():
            raise FileNotFoundError(f"{given} is not a folder: name one, or leave it out.")
        return given
    beside = Path(__file__).parents[3] / "shared" / "data"
    folder = Path(os.environ.get("SPCLUST_DATA") or beside) / "quality"
    return folder if folder.is_dir() else None


def read(path: Path, rows: int, in_order: bool) -> Labelled:
    """The rows of a file, at most so many: the first ones, or, without order, random ones."""
    with np.load(path) as arrays:
        X, y = arrays["X"].astype(np.float64), arrays["y"].astype(np.int64)
    if len(X) <= rows:
        return Labelled(X, y)
    chosen = np.arange(rows)
    if not in_order:
        chosen = np.sort(np.random.default_rng(0).choice(len(X), rows, replace=False))
    return Labelled(X[chosen], y[chosen])


def group_of(job: str, name: str) -> str:
    """Group of a file by its name."""
    return next((group for group in GROUPS[job] if re.match(group, name)), REST[job])


def files(folder: Path, job: str, size: Size) -> Iterator[Source]:
    """Files of a job, at most so many of each group, spread evenly over their names."""
    groups: dict[str, list[Path]] = defaultdict(list)
    for path in sorted((folder / job).glob("*.npz")):
        groups[group_of(job, path.stem)].append(path)
    wanted = [*GROUPS[job], REST[job]]
    for group in sorted(groups, key=wanted.index):
        paths = groups[group]
        most = size.files * (3 if group == REST[job] else 1)  # a group of many kinds
        chosen = np.unique(
            np.linspace(0, len(paths) - 1, min(most, len(paths))).round().astype(int)
        )
        for i in chosen:
            load = partial(read, paths[i], size.rows, job == "stream")
            yield Source(job, group, paths[i].stem, load)


def dimensions(number: int, size: Size) -> tuple[int, ...]:
    """Features of the generated sets of a kind: all, or one after another."""
    if size.dimensions >= len(streams.DIMENSIONS):
        return streams.DIMENSIONS
    return (streams.DIMENSIONS[number % len(streams.DIMENSIONS)],)


def generated_streams(kinds: Iterable[str], size: Size, seeds: Iterable[int]) -> Iterator[Source]:
    """Streams of these kinds."""
    for seed in seeds:
        for number, kind in enumerate(kinds):
            for d in dimensions(number, size):
                load = partial(streams.generated, kind, d, size.generated, seed)
                yield Source("stream", GENERATED, f"{kind} {d}-D seed {seed}", load)


def static(folder: Path | None, size: Size, seeds: Iterable[int]) -> Iterator[Source]:
    """Sets without time."""
    if folder:
        yield from files(folder, "static", size)
    names = list(shapes.SHAPES)[: None if size.dimensions > 1 else 4]
    for seed in seeds:
        for name in names:
            load = partial(shapes.shape, name, min(size.rows, 4_000), seed)
            yield Source("static", GENERATED, f"{name} seed {seed}", load)


def stream(folder: Path | None, size: Size, seeds: Iterable[int]) -> Iterator[Source]:
    """Streams."""
    if folder:
        yield from files(folder, "stream", size)
    yield from generated_streams(streams.KINDS, size, seeds)


def outlier(folder: Path | None, size: Size, seeds: Iterable[int]) -> Iterator[Source]:
    """Sets with anomalies."""
    if folder:
        yield from files(folder, "outlier", size)
    for seed in seeds:
        for number, kind in enumerate(shapes.OUTLIERS):
            for d in dimensions(number, size):
                load = partial(shapes.outliers, kind, d, min(size.rows, 5_000), seed)
                yield Source("outlier", GENERATED, f"{kind} {d}-D seed {seed}", load)


def _altered(load: Callable[[], streams.Stream], alteration: str, seed: int) -> Labelled:
    return altered(Labelled(*load()[:2]), alteration, seed)


def robustness(folder: Path | None, size: Size, seeds: Iterable[int]) -> Iterator[Source]:
    """Generated streams, each as it is and after each alteration."""
    kinds = tuple(streams.KINDS) if size.dimensions > 1 else FEW_KINDS
    for seed in seeds:
        for source in generated_streams(kinds, size, [seed]):
            for alteration in ALTERATIONS:
                load = partial(_altered, source.load, alteration, seed)
                yield Source("robustness", alteration, source.name, load)


def _scaled(load: Callable[[], streams.Stream], factor: float) -> streams.Stream:
    made = load()
    return made._replace(X=made.X * factor, centre=made.centre * factor, sd=made.sd * factor)


def typicality(folder: Path | None, size: Size, seeds: Iterable[int]) -> Iterator[Source]:
    """Generated streams in three units."""
    kinds = tuple(streams.KINDS) if size.dimensions > 1 else FEW_KINDS
    for source in generated_streams(kinds, size, seeds):
        for factor in UNITS:
            load = partial(_scaled, source.load, factor)
            yield Source("typicality", f"unit {factor:g}", source.name, load)


def alarm(folder: Path | None, size: Size, seeds: Iterable[int]) -> Iterator[Source]:
    """Generated streams that are stationary and have no outliers."""
    for seed in seeds:
        for d in streams.DIMENSIONS:
            load = partial(streams.generated, "stationary", d, size.generated, seed)
            yield Source("alarm", f"{d}-D", f"stationary {d}-D seed {seed}", load)


SOURCES = {
    "static": static,
    "stream": stream,
    "outlier": outlier,
    "robustness": robustness,
    "typicality": typicality,
    "alarm": alarm,
}
