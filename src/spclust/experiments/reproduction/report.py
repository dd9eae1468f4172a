"""The report: Markdown, and the same text as a single HTML file with embedded figures."""

import base64
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from markdown_it import MarkdownIt

from spclust.experiments.reproduction.claims import (
    Results,
    Verdict,
    level_with_the_first,
    verdicts,
)
from spclust.experiments.reproduction.contest import Contest
from spclust.experiments.reproduction.contest_text import (
    contestants_nmi,
    failures,
    own_method,
    own_summary,
)
from spclust.experiments.reproduction.motivation import motivation_chapter
from spclust.experiments.reproduction.report_text import (
    bullets,
    ends,
    mean_and_ends,
    paragraph,
    table,
    words,
)
from spclust.experiments.reproduction.runs import PAPER, SCORES
from spclust.experiments.reproduction.search import Found
from spclust.experiments.reproduction.search_space import ALGORITHMS
from spclust.experiments.reproduction.setups import Experiment

NOT_PUBLISHED = "this is NOT the published set"
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
    contest: Contest = field(default_factory=Contest)  # whose results are in `results`, too

    @property
    def contestants(self) -> list[str]:
        """Names of the contestants."""
        return [one.name for one in self.contest.contestants]

    def without_contestants(self, key: str) -> Results:
        """Results of an experiment, about which the claims are."""
        return {
            name: runs for name, runs in self.results[key].items() if name not in self.contestants
        }

    @property
    def of_the_paper(self) -> list[Experiment]:
        """Experiments that are the paper's."""
        return [experiment for experiment in self.experiments if not experiment.own]


def markdown(outcome: Outcome, figures: str = "figures") -> str:
    """The whole report; `figures` is the folder of the figures."""
    parts = [
        "# Reproduction of the paper's experiments"
        if outcome.of_the_paper
        else "# Evaluation of stream clusterers",
        _summary(outcome),
        own_summary(outcome),
        _missing(outcome.experiments),
        *_method(outcome),
    ]
    for experiment in outcome.experiments:
        parts += _chapter(experiment, outcome, figures)
    parts += [
        *(motivation_chapter(figures) if outcome.of_the_paper else []),
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


def _summary(outcome: Outcome) -> str:
    rows = []
    for experiment in outcome.of_the_paper:
        results = outcome.without_contestants(experiment.key)
        found = verdicts(experiment.key, results)
        rows.append(
            [
                experiment.title,
                mean_and_ends(results[PAPER], "purity"),
                mean_and_ends(results[PAPER], "nmi"),
                mean_and_ends(results["SPC"], "nmi"),
                level_with_the_first(results).found.split("best other ")[1],
                *contestants_nmi(outcome, experiment.key),
                f"{sum(v.holds for v in found)}/{len(found)}",
            ]
        )
    head = ["experiment", "SPC, Table I: purity", "NMI", "SPC, searched: NMI", "best other: NMI"]
    head += [f"{name}: NMI" for name in outcome.contestants]
    return table([*head, "claims that hold"], rows) if rows else ""


def _missing(experiments: Sequence[Experiment]) -> str:
    """A conspicuous note if published data are missing."""
    wanted = [e for e in experiments if e.key in ("aggregation", "highdim") and not e.published]
    return "\n>\n".join(
        paragraph(
            f"**{e.title}: {NOT_PUBLISHED}.** It could not be loaded and is replaced "
            f"by {e.data}. Scores on it cannot be compared with the paper's. Set the environment "
            "variable SPCLUST_DATA to a folder with the file, or run this with a network.",
            "> ",
            "> ",
        )
        for e in wanted
    )


def _method(outcome: Outcome) -> list[str]:
    keys = [experiment.key for experiment in outcome.of_the_paper]
    names = [name for name in ALGORITHMS if name not in outcome.contestants]
    most = max((outcome.found[key][name].trials for key in keys for name in names), default=0)
    seeds = max((len(runs) for key in keys for runs in outcome.results[key].values()), default=0)
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
    return [
        *([paragraph(method)] if outcome.of_the_paper else []),
        *own_method(outcome),
        paragraph(versions),
    ]


def _chapter(experiment: Experiment, outcome: Outcome, figures: str) -> list[str]:
    results = outcome.results[experiment.key]
    rows = {
        entry: [
            entry,
            *(mean_and_ends(runs, score) for score in SCORES),
            ends([f"{run.clusters}" for run in sorted(runs, key=lambda run: run.clusters)]),
            f"{100 * np.mean([run.noise for run in runs]):.0f} %",
            f"{np.mean([run.seconds for run in runs]):.3f}",
            *(f"{np.mean([run.arrival for run in runs]):.3f}" for _ in range(experiment.in_turn)),
        ]
        for entry, runs in results.items()
    }
    head = [*_COLUMNS, *["NMI at arrival"] * experiment.in_turn]
    heading = [
        f"## {experiment.title}",
        _data(experiment),
        f"![{experiment.title}: arrival, structures, decision regions, scores]"
        f"({figures}/{experiment.key}.png)",
    ]
    failed = failures(outcome, experiment.key)
    if experiment.own:
        return [*heading, table(head, list(rows.values())), paragraph(_ARRIVAL), failed]
    searched = [*ALGORITHMS, *outcome.contest.found.get(experiment.key, {})]
    number = "six" if len(searched) == 6 else str(len(searched))
    paper = outcome.without_contestants(experiment.key)
    return [
        *heading,
        "(i) SPC with the parameters of the paper's Table I, the others with those of the search:",
        table(head, [row for entry, row in rows.items() if entry != "SPC"]),
        f"(ii) All {number} with the parameters of the same search:",
        table(head, [row for entry, row in rows.items() if entry in searched]),
        paragraph(_ARRIVAL) if experiment.in_turn else "",
        failed,
        _file_order(experiment, results),
        "Claims of the paper, and results:",
        bullets(
            [_judged(v) for v in [*verdicts(experiment.key, paper), level_with_the_first(paper)]]
        ),
    ]


def _data(experiment: Experiment) -> str:
    """Description of the data."""
    if experiment.own:
        return paragraph(f"Data: {experiment.data}.")
    differ = "differ in that" if experiment.published else "have"
    return paragraph(f"Data: {experiment.data}. Streams {differ} {experiment.orders}.")


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
    return paragraph(f"In file order, purity / NMI: {words}.")


def _parameters(outcome: Outcome) -> list[str]:
    paper = []
    names = ("n_structures", "gamma", "beta", "m", "eps", "w_min", "nlt_max", "scale")
    for experiment in outcome.of_the_paper:
        values = experiment.paper_parameters
        paper.append([experiment.title, *(f"{values[name]:g}" for name in names)])
    parts = [
        "SPC with the parameters of the paper's Table I; `scale` is ours:",
        table(["experiment", *names], paper),
        "Parameters found by the search, with the mean NMI on the streams of the search:",
    ][0 if paper else 2 :]
    for experiment in outcome.experiments:
        found = outcome.found[experiment.key]
        parts += [
            f"{experiment.title}:",
            bullets(
                [
                    f"{name}, NMI {found[name].nmi:.3f}: {words(found[name].parameters)}"
                    for name in found
                ]
            ),
        ]
    return parts


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
