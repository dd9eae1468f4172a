"""A seeded random search for parameters, the same for all algorithms, with a budget.

The best setting is that of the highest mean NMI over a few seeds which are not those of the report.
Half of the trials are anywhere, the other half near the best ones so far.
"""

import json
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from spclust.reproduce.contestants import CONTESTANTS
from spclust.reproduce.running import Run, score, the_experiments

TRIALS = 120
SEEDS = (1001, 1002, 1003, 1004)
_HOPELESS = 0.15  # NMI below the best so far: such a setting is tried on no further seed
_BEST, _REACH = 5, 0.08  # near how many of the best, and how near, in parts of a range


@dataclass(frozen=True)
class Search:
    """What is to be searched."""

    experiment: str
    contestant: str
    trials: int = TRIALS
    seeds: tuple[int, ...] = SEEDS


@dataclass(frozen=True)
class Found:
    """What a search found, and what it took."""

    parameters: dict[str, Any]
    nmi: float  # mean over the seeds of the search
    trials: int
    seeds: tuple[int, ...]
    refused: int  # settings that the algorithm refused
    published: bool  # whether the data was the published one


def search(job: Search) -> Found:
    """The best parameters of one algorithm for one experiment."""
    experiment, contestant = the_experiments()[job.experiment], CONTESTANTS[job.contestant]
    X, _ = experiment.stream(job.seeds[0])
    rng = np.random.default_rng([list(CONTESTANTS).index(job.contestant), len(job.experiment)])
    tried: list[tuple[float, tuple[float, ...]]] = []
    best, refused = Found({}, -1.0, job.trials, job.seeds, 0, experiment.published), 0
    for trial in range(job.trials):
        places = rng.random(len(contestant.axes))
        if trial >= job.trials // 2 and tried:
            near = tried[rng.integers(min(_BEST, len(tried)))][1]
            places = np.clip(near + _REACH * rng.normal(size=len(places)), 0.0, 1.0 - 1e-9)
        parameters = contestant.parameters(places, X, experiment.clusters)
        try:
            nmi = _mean_nmi(job, parameters, best.nmi)
        except ValueError:
            refused += 1
            continue
        tried.append((nmi, tuple(places)))
        tried.sort(reverse=True)
        if nmi > best.nmi:
            best = replace(best, parameters=parameters, nmi=nmi)
    return replace(best, refused=refused)


def _mean_nmi(job: Search, parameters: dict[str, Any], best: float) -> float:
    scores: list[float] = []
    for seed in job.seeds:
        run = Run(job.experiment, job.contestant, seed, parameters)
        scores.append(score(run).scores["nmi"])
        if scores[0] < best - _HOPELESS:
            break
    return float(np.mean(scores))


def stored() -> dict[str, dict[str, Found]]:
    """What the searches found when they were last run, by experiment and algorithm."""
    text = files("spclust.reproduce").joinpath("found.json").read_text(encoding="utf-8")
    return {
        experiment: {name: Found(**values) for name, values in by_name.items()}
        for experiment, by_name in json.loads(text).items()
    }


def as_json(found: dict[str, dict[str, Found]]) -> str:
    """What `stored` reads."""
    plain = {
        experiment: {name: asdict(values) for name, values in by_name.items()}
        for experiment, by_name in found.items()
    }
    return json.dumps(plain, indent=1) + "\n"
