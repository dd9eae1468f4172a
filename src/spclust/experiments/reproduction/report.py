"""The report: Markdown, and the same as one HTML file that needs nothing else."""

import base64
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from markdown_it import MarkdownIt

from spclust.experiments.reproduction.claims import Results, from_to, judged, level_with_the_first
from spclust.experiments.reproduction.contestants import CONTESTANTS
from spclust.experiments.reproduction.experiments import Experiment
from spclust.experiments.reproduction.running import PAPER, SCORES, Scored
from spclust.experiments.reproduction.search import Found

_PACKAGES = ("spclust", "numpy", "numba", "scipy", "scikit-learn", "river")
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ccc; padding: .3rem .7rem; text-align: left; }
td { font-variant-numeric: tabular-nums; }
img { max-width: 100%; } code { background: #f3f3f3; padding: 0 .2em; }
blockquote { border-left: .4rem solid #d55e00; margin: 1rem 0; padding: .1rem 1rem; }
"""


_COLUMNS = ("", "purity", "NMI", "ARI", "clusters", "noise", "seconds")
_ARRIVAL = (
    "*At arrival* every batch of 100 points is labelled before it is learnt, and windows of "
    "300 points are scored: what a user sees who cannot wait for the end of the stream. The "
    "parameters are still those found for labels after the stream."
)


@dataclass(frozen=True)
class Outcome:
    """All that a report tells."""

    experiments: Sequence[Experiment]
    results: Mapping[str, Results]  # by experiment, then by entry: one for each seed
    found: Mapping[str, Mapping[str, Found]]  # parameters, by experiment and algorithm
    seconds: float
    searched: bool  # whether the searches were run, too, or their results taken as stored


def markdown(outcome: Outcome, figures: str = "figures") -> str:
    """The whole report; pictures are looked for in the folder `figures`."""
    parts = [
        "# Single-pass possibilistic clustering: the paper's experiments, run again",
        _summary(outcome),
        _missing(outcome.experiments),
        _how(outcome),
    ]
    for experiment in outcome.experiments:
        parts += _chapter(experiment, outcome, figures)
    parts += [
        "## Why typicality, and why covariance union",
        f"![Two circles that nearly touch]({figures}/circles.png)",
        "Both models are 1 at the centre of the left circle and 1/2 at its rim. The Gaussian is "
        "still high inside the right circle; typicality with m = 1.1 has fallen to nothing there.",
        f"![Two structures and two ways to merge them]({figures}/merging.png)",
        "Eq. 11 averages the covariances and forgets that the means differ; covariance union "
        "covers both structures. Outlines are at one and two standard deviations.",
        "## Parameters",
        _parameters(outcome),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def html(text: str, folder: Path) -> str:
    """A report as HTML, with the pictures, which are in `folder`, inside."""
    body = MarkdownIt("commonmark").enable("table").render(text)

    def inside(match: re.Match[str]) -> str:
        picture = base64.b64encode((folder / match[1]).read_bytes()).decode("ascii")
        return f'src="data:image/png;base64,{picture}"'

    body = re.sub(r'src="([^"]+\.png)"', inside, body)
    title = "SPC: the paper's experiments"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}</body></html>\n"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _summary(outcome: Outcome) -> str:
    rows = []
    for experiment in outcome.experiments:
        results = outcome.results[experiment.key]
        verdicts = judged(experiment.key, results)
        rows.append(
            [
                experiment.title,
                _spread(results[PAPER], "purity"),
                _spread(results[PAPER], "nmi"),
                _spread(results["SPC"], "nmi"),
                level_with_the_first(results).found.split("best other ")[1],
                f"{sum(v.holds for v in verdicts)} of {len(verdicts)}",
            ]
        )
    head = ["", "SPC, Table I: purity", "NMI", "SPC, searched: NMI", "best other: NMI"]
    return table([*head, "claims of the paper that hold"], rows)


def _missing(experiments: Sequence[Experiment]) -> str:
    """What is said loudly if the paper's own data could not be had."""
    wanted = [e for e in experiments if e.key in ("aggregation", "highdim") and not e.published]
    return "\n>\n".join(
        f"> **{e.title}: this is NOT the published set.** It could not be had, and {e.data} takes "
        "its place. Scores on it say nothing about the paper's. Set the environment variable "
        "SPCLUST_DATA to a folder with the file, or run this with a network."
        for e in wanted
    )


def _how(outcome: Outcome) -> str:
    most = max(found.trials for by_name in outcome.found.values() for found in by_name.values())
    seeds = max(len(runs) for by in outcome.results.values() for runs in by.values())
    packages = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    searched = "were run again for this report" if outcome.searched else "are taken as stored"
    return (
        "Every algorithm learns each stream once, point by point; all points are labelled with "
        "what it knows at the end; noise counts as one more cluster. Scores are means over "
        f"{seeds} streams, with the worst and the best. *SPC, Table I* has the paper's parameters "
        "and one that the paper lacks, `scale`, the standard deviation of a fresh structure. All "
        "other entries, *SPC* included, have the parameters that the same random search found "
        f"for each experiment (at most {most} trials, mean NMI on other "
        f"streams than these), which {searched}. CluStream is told the number of clusters, the "
        f"others are not.\n\nTook {outcome.seconds:.0f} s on Python {platform.python_version()}, "
        f"{platform.machine()}; {packages}."
    )


def _chapter(experiment: Experiment, outcome: Outcome, figures: str) -> list[str]:
    results = outcome.results[experiment.key]
    rows = {
        entry: [
            f"**{entry}**" if entry in (PAPER, "SPC") else entry,
            *(_spread(runs, score) for score in SCORES),
            from_to([run.clusters for run in runs]),
            f"{100 * np.mean([run.noise for run in runs]):.0f} %",
            f"{np.mean([run.seconds for run in runs]):.3f}",
            *(f"{np.mean([run.arrival for run in runs]):.3f}" for _ in range(experiment.in_turn)),
        ]
        for entry, runs in results.items()
    }
    head = [*_COLUMNS, *["NMI at arrival"] * experiment.in_turn]
    verdicts = [*judged(experiment.key, results), level_with_the_first(results)]
    return [
        f"## {experiment.title}",
        f"Data: {experiment.data}. Streams differ in that {experiment.orders}."
        if experiment.published
        else f"Data: {experiment.data}. Streams have {experiment.orders}.",
        f"![{experiment.title}: arrival, structures, decision regions, scores]"
        f"({figures}/{experiment.key}.png)",
        "(i) SPC with the parameters of the paper's Table I, the others with those of the search:",
        table(head, [row for entry, row in rows.items() if entry != "SPC"]),
        "(ii) All six with the parameters of the same search:",
        table(head, [row for entry, row in rows.items() if entry != PAPER]),
        _ARRIVAL if experiment.in_turn else "",
        _first_order(experiment, results),
        table(
            ["what the paper says", "", "what we find"],
            [[v.claim, "holds" if v.holds else "**does not hold**", v.found] for v in verdicts],
        ),
    ]


def _first_order(experiment: Experiment, results: Results) -> str:
    """Scores on the published order alone, for the sets that have one."""
    if not experiment.published:
        return ""
    first = {name: next(r for r in runs if r.run.seed == 0) for name, runs in results.items()}
    words = ", ".join(
        f"{name} {run.scores['purity']:.3f} / {run.scores['nmi']:.3f}"
        for name, run in first.items()
    )
    return f"In the order of the file alone, purity / NMI: {words}."


def _parameters(outcome: Outcome) -> str:
    paper = []
    names = ("n_structures", "gamma", "beta", "m", "eps", "w_min", "nlt_max", "scale")
    for experiment in outcome.experiments:
        values = experiment.paper_parameters
        paper.append([experiment.title, *(f"{values[name]:g}" for name in names)])
    rows = [
        [experiment.title, name, _words(found.parameters), f"{found.nmi:.3f}"]
        for experiment in outcome.experiments
        for name, found in outcome.found[experiment.key].items()
        if name in CONTESTANTS
    ]
    return "\n\n".join(
        [
            "SPC as in the paper's Table I; `scale` is ours:",
            table(["", *names], paper),
            "Found by the search, with the mean NMI on the streams of the search:",
            table(["", "", "parameters", "NMI in the search"], rows),
        ]
    )


def _words(parameters: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in parameters.items()
    )


def _spread(runs: Sequence[Scored], score: str) -> str:
    values = [run.scores[score] for run in runs]
    if max(values) - min(values) < 5e-4:
        return f"{np.mean(values):.3f}"
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
