"""The report: Markdown, and the same text as a single HTML file with embedded figures."""

import base64
import platform
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from markdown_it import MarkdownIt

from spclust.experiments.reproduction.claims import (
    Results,
    Verdict,
    level_with_the_first,
    verdicts,
)
from spclust.experiments.reproduction.runs import PAPER, SCORES, Scored
from spclust.experiments.reproduction.search import Found
from spclust.experiments.reproduction.search_space import ALGORITHMS
from spclust.experiments.reproduction.setups import Experiment

_PACKAGES = ("spclust", "numpy", "numba", "scipy", "scikit-learn", "river")
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ccc; padding: .3rem .7rem; text-align: left; }
td { font-variant-numeric: tabular-nums; }
img { max-width: 100%; } code { background: #f3f3f3; padding: 0 .2em; }
blockquote { border-left: .4rem solid #d55e00; margin: 1rem 0; padding: .1rem 1rem; }
"""


_COLUMNS = ("algorithm", "purity", "NMI", "ARI", "clusters", "noise", "seconds")
_WIDTH = 100  # characters of a line of Markdown
_DASH = "\u2013"  # en dash, between the ends of a range
_ARRIVAL = (
    "*At arrival* every batch of 100 points is labelled before it is learnt, and windows of "
    "300 points are scored: these are the labels of a user who cannot wait for the end of the "
    "stream. The parameters are still those found for labels after the stream."
)


@dataclass(frozen=True)
class Outcome:
    """Contents of a report."""

    experiments: Sequence[Experiment]
    results: Mapping[str, Results]  # by experiment, then by entry: one for each seed
    found: Mapping[str, Mapping[str, Found]]  # parameters, by experiment and algorithm
    seconds: float
    searched: bool  # True if the searches were run, False if stored results were used


def markdown(outcome: Outcome, figures: str = "figures") -> str:
    """The whole report; `figures` is the folder of the figures."""
    parts = [
        "# Reproduction of the paper's experiments",
        _summary(outcome),
        _missing(outcome.experiments),
        *_method(outcome),
    ]
    for experiment in outcome.experiments:
        parts += _chapter(experiment, outcome, figures)
    parts += [
        "## Why typicality, and why covariance union",
        f"![Two circles that nearly touch]({figures}/circles.png)",
        _paragraph(
            "Both models are 1 at the centre of the left circle and 1/2 at its rim. The Gaussian "
            "is still high inside the right circle; typicality with m = 1.1 falls to almost 0 "
            "there."
        ),
        f"![Two structures and two ways to merge them]({figures}/merging.png)",
        _paragraph(
            "Eq. 11 averages the covariances and ignores that the means differ; covariance union "
            "covers both structures. Outlines are at one and two standard deviations."
        ),
        "## Parameters",
        *_parameters(outcome),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def html(text: str, folder: Path) -> str:
    """A report as HTML with embedded figures, which are files in `folder`."""
    body = MarkdownIt("commonmark").enable("table").render(text)

    def embedded(match: re.Match[str]) -> str:
        picture = base64.b64encode((folder / match[1]).read_bytes()).decode("ascii")
        return f'src="data:image/png;base64,{picture}"'

    body = re.sub(r'src="([^"]+\.png)"', embedded, body)
    title = "SPC: the paper's experiments"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}</body></html>\n"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, without outer bars: lines are shorter."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(" | ".join(line) for line in lines)


def _paragraph(text: str, indent: str = "", first: str = "") -> str:
    """Text wrapped to the width of the report."""
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _list(items: Sequence[str]) -> str:
    return "\n".join(_paragraph(item, "  ", "- ") for item in items)


def _summary(outcome: Outcome) -> str:
    rows = []
    for experiment in outcome.experiments:
        results = outcome.results[experiment.key]
        found = verdicts(experiment.key, results)
        rows.append(
            [
                experiment.title,
                _mean_and_range(results[PAPER], "purity"),
                _mean_and_range(results[PAPER], "nmi"),
                _mean_and_range(results["SPC"], "nmi"),
                level_with_the_first(results).found.split("best other ")[1],
                f"{sum(v.holds for v in found)}/{len(found)}",
            ]
        )
    head = ["experiment", "SPC, Table I: purity", "NMI", "SPC, searched: NMI", "best other: NMI"]
    return table([*head, "claims that hold"], rows)


def _missing(experiments: Sequence[Experiment]) -> str:
    """A conspicuous note if published data are missing."""
    wanted = [e for e in experiments if e.key in ("aggregation", "highdim") and not e.published]
    return "\n>\n".join(
        _paragraph(
            f"**{e.title}: this is NOT the published set.** It could not be loaded and is replaced "
            f"by {e.data}. Scores on it cannot be compared with the paper's. Set the environment "
            "variable SPCLUST_DATA to a folder with the file, or run this with a network.",
            "> ",
            "> ",
        )
        for e in wanted
    )


def _method(outcome: Outcome) -> list[str]:
    most = max(found.trials for by_name in outcome.found.values() for found in by_name.values())
    seeds = max(len(runs) for by in outcome.results.values() for runs in by.values())
    packages = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    searched = "for this report" if outcome.searched else "earlier; its results are stored"
    method = (
        "Every algorithm learns each stream once, point by point. At the end of the stream all "
        "points are labelled; noise counts as one more cluster. Scores are means over "
        f"{seeds} streams, with the worst and the best in brackets. *SPC, Table I* has the paper's "
        "parameters and one that the paper does not have, `scale`, the standard deviation of a "
        "fresh structure. *SPC()* is the automatic mode, with nothing set. All other entries, "
        "*SPC* included, have the parameters that the same "
        f"random search found for each experiment (at most {most} trials; the criterion is mean "
        f"NMI on other streams than these). The search was run {searched}. CluStream is given the "
        "number of clusters, the others are not."
    )
    versions = (
        f"Time: {outcome.seconds:.0f} s on Python {platform.python_version()}, "
        f"{platform.machine()}; {packages}."
    )
    return [_paragraph(method), _paragraph(versions)]


def _chapter(experiment: Experiment, outcome: Outcome, figures: str) -> list[str]:
    results = outcome.results[experiment.key]
    rows = {
        entry: [
            entry,
            *(_mean_and_range(runs, score) for score in SCORES),
            _range([f"{run.clusters}" for run in sorted(runs, key=lambda run: run.clusters)]),
            f"{100 * np.mean([run.noise for run in runs]):.0f} %",
            f"{np.mean([run.seconds for run in runs]):.3f}",
            *(f"{np.mean([run.arrival for run in runs]):.3f}" for _ in range(experiment.in_turn)),
        ]
        for entry, runs in results.items()
    }
    head = [*_COLUMNS, *["NMI at arrival"] * experiment.in_turn]
    differ = "differ in that" if experiment.published else "have"
    return [
        f"## {experiment.title}",
        _paragraph(f"Data: {experiment.data}. Streams {differ} {experiment.orders}."),
        f"![{experiment.title}: arrival, structures, decision regions, scores]"
        f"({figures}/{experiment.key}.png)",
        "(i) SPC with the parameters of the paper's Table I, the others with those of the search:",
        table(head, [row for entry, row in rows.items() if entry != "SPC"]),
        "(ii) All six with the parameters of the same search:",
        table(head, [row for entry, row in rows.items() if entry in ALGORITHMS]),
        _paragraph(_ARRIVAL) if experiment.in_turn else "",
        _file_order(experiment, results),
        "Claims of the paper, and results:",
        _list(
            [
                _judged(v)
                for v in [*verdicts(experiment.key, results), level_with_the_first(results)]
            ]
        ),
    ]


def _judged(verdict: Verdict) -> str:
    """A claim, whether it holds, and the scores."""
    holds = "Holds" if verdict.holds else "**Does not hold**"
    return f"{verdict.claim} {holds} ({verdict.found})."


def _file_order(experiment: Experiment, results: Results) -> str:
    """Scores in the order of the file, for the published sets."""
    if not experiment.published:
        return ""
    first = {name: next(r for r in runs if r.run.seed == 0) for name, runs in results.items()}
    words = ", ".join(
        f"{name} {run.scores['purity']:.3f} / {run.scores['nmi']:.3f}"
        for name, run in first.items()
    )
    return _paragraph(f"In file order, purity / NMI: {words}.")


def _parameters(outcome: Outcome) -> list[str]:
    paper = []
    names = ("n_structures", "gamma", "beta", "m", "eps", "w_min", "nlt_max", "scale")
    for experiment in outcome.experiments:
        values = experiment.paper_parameters
        paper.append([experiment.title, *(f"{values[name]:g}" for name in names)])
    parts = [
        "SPC with the parameters of the paper's Table I; `scale` is ours:",
        table(["experiment", *names], paper),
        "Parameters found by the search, with the mean NMI on the streams of the search:",
    ]
    for experiment in outcome.experiments:
        found = outcome.found[experiment.key]
        parts += [
            f"{experiment.title}:",
            _list(
                [
                    f"{name}, NMI {found[name].nmi:.3f}: {_words(found[name].parameters)}"
                    for name in found
                    if name in ALGORITHMS
                ]
            ),
        ]
    return parts


def _words(parameters: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in parameters.items()
    )


def _mean_and_range(runs: Sequence[Scored], score: str) -> str:
    values = [run.scores[score] for run in runs]
    if max(values) - min(values) < 5e-4:
        return f"{np.mean(values):.3f}"
    return f"{np.mean(values):.3f} ({_range([f'{value:.3f}' for value in sorted(values)])})"


def _range(ordered: Sequence[str]) -> str:
    """The first and the last of ordered values; one of them if they are the same."""
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]}{_DASH}{ordered[-1]}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
