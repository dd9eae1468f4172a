"""The contest: contestants on all experiments, each in processes of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from spclust.experiments.contestants import Contestant, ContestantError, load_contestant
from spclust.experiments.reproduction.attempts import (
    Failure,
    attempted_run,
    attempted_search,
    attempts,
)
from spclust.experiments.reproduction.runs import AUTOMATIC, Run, Scored, cached_experiment
from spclust.experiments.reproduction.search import Found, Search
from spclust.experiments.reproduction.search_space import ALGORITHMS

Notify = Callable[[str, int, int], None]  # description, steps done, number of steps
Warn = Callable[[str], None]


@dataclass
class Contest:
    """Contestants and their results, by experiment and name."""

    contestants: list[Contestant] = field(default_factory=list)
    results: dict[str, dict[str, list[Scored]]] = field(default_factory=dict)
    found: dict[str, dict[str, Found]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)


def admitted(texts: Sequence[str], others: Sequence[str], warn: Warn) -> Contest:
    """A contest of the contestants that can be loaded; the others are its first failures."""
    contest = Contest()
    for text in texts:
        taken = (*others, *(one.name for one in contest.contestants))
        try:
            contest.contestants.append(load_contestant(text, taken))
        except ContestantError as error:
            contest.failures.append(Failure("", text, str(error)))
            warn(str(error))
    return contest


def on_own_data(
    settings: Mapping[str, int],
    results: dict[str, dict[str, list[Scored]]],
    contest: Contest,
    jobs: int,
    notify: Notify,
    warn: Warn,
) -> dict[str, dict[str, Found]]:
    """Search and run our algorithms on a user's data, on which each of them may fail.

    `results` gets the scores, `contest` the failures; what was found is returned.
    """
    searches = [Search(key, name, n) for key, n in settings.items() for name in ALGORITHMS]
    found: dict[str, dict[str, Found]] = {key: {} for key in settings}
    failures: list[Failure] = []
    count = _Count("searching for parameters", len(searches), notify)
    for search, best in attempts(attempted_search, searches, jobs, count):
        if isinstance(best, Failure):
            failures.append(best)
        else:
            found[search.experiment][search.algorithm] = best
    runs = []
    for key in settings:
        parameters = {n: found[key][n].parameters for n in ALGORITHMS if n in found[key]}
        runs += [
            Run(key, name, 0, values) for name, values in {AUTOMATIC: {}, **parameters}.items()
        ]
    scored: dict[str, dict[str, list[Scored]]] = {key: {} for key in settings}
    for run, answer in attempts(attempted_run, runs, jobs, _Count("running", len(runs), notify)):
        if isinstance(answer, Failure):
            failures.append(answer)
        else:
            scored[run.experiment][run.entry] = [answer]
    for key, by_name in scored.items():
        results[key] = {n: by_name[n] for n in (AUTOMATIC, *ALGORITHMS) if n in by_name}
    for failure in failures:
        warn(f"{cached_experiment(failure.experiment).title}: {failure.reason}")
    contest.failures += failures
    return {key: {n: by[n] for n in ALGORITHMS if n in by} for key, by in found.items()}


def hold(
    contest: Contest,
    seeds: Mapping[str, int],
    trials: Mapping[str, int],
    jobs: int,
    notify: Notify,
    warn: Warn,
) -> None:
    """Search for parameters where there is a search space, and run; `contest` gets the results.

    `seeds` and `trials` are numbers of streams and of settings, by experiment.
    """
    for one in contest.contestants:
        parameters = _parameters(one, contest, trials, jobs, notify)
        runs = [
            Run(key, one.name, seed, parameters[key])
            for key in parameters
            for seed in range(seeds[key])
        ]
        count = _Count(f"running {one.name}", len(runs), notify)
        for run, answer in attempts(attempted_run, runs, jobs, count):
            if isinstance(answer, Failure):
                contest.failures.append(answer)
            else:
                by_name = contest.results.setdefault(run.experiment, {})
                by_name.setdefault(one.name, []).append(answer)
        _settle(contest, one.name, warn)


def _parameters(
    one: Contestant, contest: Contest, trials: Mapping[str, int], jobs: int, notify: Notify
) -> dict[str, dict[str, object]]:
    """Parameters by experiment: found, or as given."""
    if not one.axes:
        return {key: one.parameters({}, cached_experiment(key).clusters) for key in trials}
    searches = [Search(key, one.name, number) for key, number in trials.items()]
    what = f"searching for parameters: {one.name}"
    count = _Count(what, len(searches), notify)
    for search, answer in attempts(attempted_search, searches, jobs, count):
        if isinstance(answer, Failure):
            contest.failures.append(answer)
        else:
            contest.found.setdefault(search.experiment, {})[one.name] = answer
    return {
        key: contest.found[key][one.name].parameters
        for key in trials
        if one.name in contest.found.get(key, {})
    }


def _settle(contest: Contest, name: str, warn: Warn) -> None:
    """Order results; one failure in an experiment is all: means of fewer streams are not alike."""
    failures: dict[str, Failure] = {}
    for failure in contest.failures:
        if failure.entry == name and failure.experiment:
            failures.setdefault(failure.experiment, failure)
    contest.failures = [
        each for each in contest.failures if each.entry != name or not each.experiment
    ]
    for key, failure in failures.items():
        contest.failures.append(failure)
        contest.results.get(key, {}).pop(name, None)
        warn(f"{cached_experiment(key).title}: {failure.reason}")
    for by_name in contest.results.values():
        by_name.get(name, []).sort(key=lambda scored: scored.run.seed)


class _Count:
    """Counts jobs and passes their number on."""

    def __init__(self, what: str, steps: int, notify: Notify) -> None:
        self.what, self.steps, self.notify, self.done = what, steps, notify, 0
        if steps:
            notify(what, 0, steps)

    def __call__(self, _: object) -> None:
        self.done += 1
        self.notify(self.what, self.done, self.steps)
