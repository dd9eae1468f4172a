"""What the report says about contestants and about a user's data."""

from typing import TYPE_CHECKING

from spclust.experiments.contestants import Contestant
from spclust.experiments.reproduction.claims import mean
from spclust.experiments.reproduction.report_text import bullets, mean_and_ends, paragraph, table
from spclust.experiments.reproduction.runs import AUTOMATIC

if TYPE_CHECKING:
    from spclust.experiments.reproduction.report import Outcome

_SPC = (AUTOMATIC, "SPC")
_OWN_DATA = (
    "Own data: every algorithm learns the rows once, in their order, and then labels them all. "
    "There is one stream. *SPC()* has nothing set; the others have the best parameters of the same "
    "random search (at most {most} settings each), which was run on the same rows and knows their "
    "X is given the number of "
    "classes."
)


def own_summary(outcome: "Outcome") -> str:
    """NMI on a user's data: SPC, the best other one, and the contestants."""
    rows = []
    for experiment in outcome.experiments:
        if experiment.own:
            results = outcome.without_contestants(experiment.key)
            others = {name: mean(results, name) for name in results if not name.startswith("SPC")}
            best = max(others, key=others.__getitem__) if others else ""
            spc = [f"{mean(results, n):.3f}" if n in results else "failed" for n in _SPC]
            other = f"{best} {others[best]:.3f}" if best else "failed"
            rows.append([experiment.title, *spc, other, *contestants_nmi(outcome, experiment.key)])
    head = ["data", "SPC(): NMI", "SPC, searched: NMI", "best other: NMI"]
    head += [f"{name}: NMI" for name in outcome.contestants]
    return table(head, rows) if rows else ""


def contestants_nmi(outcome: "Outcome", key: str) -> list[str]:
    """Mean NMI of each contestant in an experiment."""
    results = outcome.results[key]
    return [
        mean_and_ends(results[name], "nmi") if name in results else "failed"
        for name in outcome.contestants
    ]


def own_method(outcome: "Outcome") -> list[str]:
    """Paragraphs on contestants and data, and the contestants that could not be loaded."""
    parts = []
    own = [one.key for one in outcome.experiments if one.own]
    if own:
        trials = [found.trials for key in own for found in outcome.found[key].values()]
        parts.append(paragraph(_OWN_DATA.format(most=max(trials, default=0))))
    if outcome.contest.contestants:
        described = [_described(one) for one in outcome.contest.contestants]
        parts += ["Contestants, which are no part of the claims:", bullets(described)]
    return [*parts, failures(outcome, "")]


def _described(one: Contestant) -> str:
    search = "by the same search" if one.axes else "as given, others by default"
    told = f"; {', '.join(one.told)}: the number of classes" if one.told else ""
    return f"{one.name} is `{one.text}`; parameters {search}{told}."


def failures(outcome: "Outcome", key: str) -> str:
    """Sentences about what failed in an experiment, or, without a key, in all."""
    found = [failure.reason for failure in outcome.contest.failures if failure.experiment == key]
    return "Without results:\n\n" + bullets(found) if found else ""
