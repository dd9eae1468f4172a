"""A seeded random search for parameters with a budget, the same for all algorithms.

The criterion is mean NMI over streams that are not those of the report. Each setting is tried on
two streams, on eight more if it is promising, and the ten best on thirty more: the score on a few
streams alone would reward luck. The first half of the settings is drawn anywhere, the second half
near the best ones so far. Ten perfect settings end a search. A user's data are a single stream:
each setting is tried on it once.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from spclust.array_types import Floats
from spclust.experiments.reproduction.runs import Run, algorithm, cached_experiment, score

TRIALS = 300
TRIALS_IN_MANY_DIMENSIONS = 60  # runs take long there, and clusters are far apart
TRIALS_ON_OWN_DATA = 60
_FIRST, _MORE, _LAST = range(1000, 1002), range(1002, 1010), range(1010, 1040)  # seeds
_HOPELESS = 0.05  # a setting this much NMI below the worst of the best is given up
_BEST = 10
_REACH = 0.08  # standard deviation of steps from one of the best, as a share of a range


@dataclass(frozen=True)
class Search:
    """A search to run."""

    experiment: str
    algorithm: str
    trials: int = TRIALS


@dataclass(frozen=True)
class Found:
    """Result of a search, and its cost."""

    parameters: dict[str, Any]
    nmi: float  # mean over the last streams of the search
    trials: int
    runs: int
    refused: int  # settings that the algorithm refused
    published: bool  # True if the data were the published ones


@dataclass(frozen=True)
class _Tried:
    parameters: dict[str, Any]
    coordinates: Floats
    nmi: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.nmi))


def find(job: Search) -> Found:
    """Find the best parameters of one algorithm for one experiment."""
    experiment, varied = cached_experiment(job.experiment), algorithm(job.algorithm)
    # A user's data are one stream: to try a setting on it once is enough.
    seeds = (range(1), range(0), range(0)) if experiment.own else (_FIRST, _MORE, _LAST)
    at_first, more, at_last = seeds
    X, _ = experiment.stream(at_first[0])
    rng = np.random.default_rng([*job.experiment.encode(), *job.algorithm.encode()])
    best: list[_Tried] = []  # the best first
    runs, refused, trials, reason = 0, 0, 0, ""
    for trial in range(job.trials):
        if len(best) == _BEST and best[-1].mean > 1.0 - 1e-9:
            break  # nothing can be better
        trials += 1
        coordinates = rng.random(len(varied.axes))
        if trial >= job.trials // 2 and best:
            near = best[rng.integers(len(best))].coordinates
            step = _REACH * rng.normal(size=len(coordinates))
            coordinates = np.clip(near + step, 0.0, 1.0 - 1e-9)
        parameters = varied.parameters(coordinates, X, experiment.clusters)
        try:
            tried = _further(_Tried(parameters, coordinates, ()), job, at_first)
            runs += len(at_first)
            if len(best) < _BEST or tried.mean >= best[-1].mean - _HOPELESS:
                tried = _further(tried, job, more)
                runs += len(more)
                best = sorted([*best, tried], key=lambda t: -t.mean)[:_BEST]
        except ValueError as error:
            refused, reason = refused + 1, str(error)
    if not best:
        raise RuntimeError(
            f"{job.algorithm} refused all {job.trials} settings, the last one because: {reason}"
        )
    first = max((_further(each, job, at_last) for each in best), key=lambda t: t.mean)
    runs += len(best) * len(at_last)
    last = float(np.mean(first.nmi[-len(at_last) :]))
    return Found(first.parameters, last, trials, runs, refused, experiment.published)


def _further(tried: _Tried, job: Search, seeds: range) -> _Tried:
    """The same setting, tried on more streams."""
    runs = [Run(job.experiment, job.algorithm, seed, tried.parameters) for seed in seeds]
    return replace(tried, nmi=(*tried.nmi, *(score(run).scores["nmi"] for run in runs)))


def stored() -> dict[str, dict[str, Found]]:
    """Stored results of the searches, by experiment and algorithm."""
    text = (
        files("spclust.experiments.reproduction").joinpath("found.json").read_text(encoding="utf-8")
    )
    return {
        experiment: {name: Found(**values) for name, values in by_name.items()}
        for experiment, by_name in json.loads(text).items()
    }


def as_json(found: Mapping[str, Mapping[str, Found]]) -> str:
    """Results of searches in the format that `stored` reads."""
    plain = {
        experiment: {name: asdict(values) for name, values in by_name.items()}
        for experiment, by_name in found.items()
    }
    return json.dumps(plain, indent=1) + "\n"
