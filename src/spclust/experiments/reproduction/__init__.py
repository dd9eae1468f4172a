"""Reproduction of the paper's evaluation: `reproduce` writes figures, tables and a report."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from spclust.experiments.reproduction import report
from spclust.experiments.reproduction.contest import Notify, Warn, admitted, hold, on_own_data
from spclust.experiments.reproduction.figures import experiment_figure, save
from spclust.experiments.reproduction.motivation import touching_circles, two_ways_to_merge
from spclust.experiments.reproduction.own_data import OwnData, own_data
from spclust.experiments.reproduction.report import Outcome
from spclust.experiments.reproduction.runs import (
    AUTOMATIC,
    PAPER,
    Run,
    Scored,
    cached_experiment,
    in_parallel,
    registered,
    score,
)
from spclust.experiments.reproduction.search import (
    TRIALS,
    TRIALS_IN_MANY_DIMENSIONS,
    TRIALS_ON_OWN_DATA,
    Found,
    Search,
    as_json,
    find,
    stored,
)
from spclust.experiments.reproduction.search_space import ALGORITHMS
from spclust.experiments.reproduction.setups import KEYS

__all__ = ["KEYS", "Outcome", "OwnData", "own_data", "reproduce"]

SEEDS, SEEDS_IN_FULL = 10, 30
ENTRIES = (PAPER, AUTOMATIC, *ALGORITHMS)


def reproduce(
    out: str | Path,
    *,
    only: Sequence[str] = (),
    full: bool = False,
    seeds: int | None = None,
    trials: int | None = None,
    jobs: int = 2,
    contestants: Sequence[str] = (),
    data: Sequence[OwnData] = (),
    notify: Notify = lambda *_: None,
    warn: Warn = lambda _: None,
) -> Outcome:
    """Run the experiments with all six algorithms and SPC(), and write the results to `out`.

    Parameters
    ----------
    out : path
        Folder for report.html, report.md, results.json, found.json and figures/; created if it
        does not exist.
    only : sequence of {"aggregation", "sine", "highdim", "overlapping"}, default all
        Experiments to run; with `data`, none by default.
    full : bool, default False
        Repeat the searches for parameters, and run 30 streams instead of 10: up to an hour.
    seeds, trials : int, optional
        Number of streams of each experiment, and of trials of each search, instead of the defaults.
    jobs : int, default 2
        Number of processes.
    contestants : sequence of str, optional
        Other algorithms, as `load_contestant` of `spclust.experiments.contestants` names them.
    data : sequence of OwnData, optional
        Data to run the algorithms on, as `own_data` makes them of rows and classes. The search for
        parameters is run on them, too.
    notify : callable, optional
        Called with a description of the present phase, the number of steps done and the number of
        steps of the phase.
    warn : callable, optional
        Called with a sentence about each contestant that cannot be loaded, or that fails.

    Returns
    -------
    Outcome
    """
    started = time.perf_counter()
    unknown = set(only) - set(KEYS)
    if unknown:
        raise ValueError(f"There is no experiment {unknown.pop()!r}: there are {', '.join(KEYS)}.")
    keys = [key for key in KEYS if key in only or not (only or data)]
    own = [one.key for one in data]
    if len(set(own)) < len(own):
        raise ValueError("Two files of data have the same name: rename one of them.")
    contest = admitted(contestants, ENTRIES, warn)
    folder = Path(out)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    usual = {"highdim": TRIALS_IN_MANY_DIMENSIONS}
    settings = {key: trials or usual.get(key, TRIALS) for key in keys}
    on_own = dict.fromkeys(own, trials or TRIALS_ON_OWN_DATA)
    streams = dict.fromkeys(keys, seeds or (SEEDS_IN_FULL if full else SEEDS))
    with registered(contest.contestants, data):
        if keys:
            notify("loading the published sets", 0, 1)
        chosen = [cached_experiment(key) for key in (*keys, *own)]
        found = stored()
        if full:
            found = found | _searched(settings, jobs, notify)
        results = _results(_runs(keys, found, streams), jobs, notify)
        found |= on_own_data(on_own, results, contest, jobs, notify, warn)
        hold(contest, streams | dict.fromkeys(own, 1), settings | on_own, jobs, notify, warn)
    for experiment in chosen:
        key = experiment.key
        results[key] = results.get(key, {}) | contest.results.get(key, {})
        found[key] = found[key] | contest.found.get(key, {})
    took = time.perf_counter() - started
    outcome = Outcome(
        chosen, results, {one.key: found[one.key] for one in chosen}, took, full, contest
    )
    _write(outcome, folder, notify)
    return outcome


def _searched(settings: dict[str, int], jobs: int, notify: Notify) -> dict[str, dict[str, Found]]:
    """Run the searches, with so many settings; the results by experiment and algorithm."""
    # Many dimensions first: the longest searches should not run alone at the end.
    order = sorted(settings, key=lambda key: key != "highdim")
    searches = [Search(key, name, settings[key]) for key in order for name in ALGORITHMS]
    found: dict[str, dict[str, Found]] = {key: {} for key in settings}
    notify("searching for parameters", 0, len(searches))
    for done, (job, best) in enumerate(in_parallel(find, searches, jobs), 1):
        found[job.experiment][job.algorithm] = best
        what = f"searching for parameters: {job.algorithm} on {job.experiment}"
        notify(what, done, len(searches))
    return {key: {name: found[key][name] for name in ALGORITHMS} for key in settings}


def _runs(
    keys: Sequence[str], found: dict[str, dict[str, Found]], seeds: dict[str, int]
) -> list[Run]:
    """All runs in an order in which no two processes compile the same kernels at the same time.

    First one run for each kernel, then the other algorithms, then the other runs of SPC.
    """
    runs = []
    for key in keys:
        for seed in range(seeds[key]):
            parameters = cached_experiment(key).paper_parameters
            runs += [Run(key, PAPER, seed, parameters), Run(key, AUTOMATIC, seed, {})]
            runs += [Run(key, name, seed, found[key][name].parameters) for name in ALGORITHMS]
    kernels = {key == "highdim": key for key in keys}.values()
    first = [next(r for r in runs if r.entry == PAPER and r.experiment == key) for key in kernels]
    others = [run for run in runs if run not in first]
    return first + sorted(
        others, key=lambda r: (r.entry in (PAPER, AUTOMATIC, "SPC"), r.experiment != "highdim")
    )


def _results(runs: list[Run], jobs: int, notify: Notify) -> dict[str, dict[str, list[Scored]]]:
    """Run everything; scores by experiment and entry, one for each seed."""
    results: dict[str, dict[str, list[Scored]]] = {}
    if not runs:
        return results
    notify("running (the first time kernels are compiled, which takes a minute)", 0, len(runs))
    for done, (run, scored) in enumerate(in_parallel(score, runs, jobs), 1):
        notify(f"running {run.entry} on {run.experiment}", done, len(runs))
        results.setdefault(run.experiment, {}).setdefault(run.entry, []).append(scored)
    return {
        key: {
            entry: sorted(by_entry[entry], key=lambda scored: scored.run.seed) for entry in ENTRIES
        }
        for key, by_entry in results.items()
    }


def _write(outcome: Outcome, folder: Path, notify: Notify) -> None:
    figures = folder / "figures"
    notify("drawing", 0, len(outcome.experiments) + 1)
    for done, experiment in enumerate(outcome.experiments, 1):
        figure = experiment_figure(experiment, outcome.results[experiment.key])
        save(figure, figures / experiment.key)
        notify("drawing", done, len(outcome.experiments) + 1)
    if outcome.of_the_paper:
        save(touching_circles(), figures / "circles")
        save(two_ways_to_merge(), figures / "merging")
    text = report.markdown(outcome)
    (folder / "report.md").write_text(text, encoding="utf-8")
    (folder / "report.html").write_text(report.html(text, folder), encoding="utf-8")
    (folder / "found.json").write_text(as_json(outcome.found), encoding="utf-8")
    plain = [
        asdict(scored)
        for by_entry in outcome.results.values()
        for each in by_entry.values()
        for scored in each
    ]
    (folder / "results.json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    if outcome.contest.failures:
        text = "\n\n".join(f"{one.reason}\n{one.details}" for one in outcome.contest.failures)
        (folder / "failures.txt").write_text(text, encoding="utf-8")
    notify("drawing", len(outcome.experiments) + 1, len(outcome.experiments) + 1)
