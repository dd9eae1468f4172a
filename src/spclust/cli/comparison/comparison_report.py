"""A comparison of models as a table for people and as JSON for scripts."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from spclust.cli.summary import column_head
from spclust.model_comparison import ModelComparison
from spclust.prepared_model import PreparedModel
from spclust.tables.table_error import printable

_COLUMNS = 4  # of centres, as many as fit on a terminal
NOT_RECORDED = (
    "the models have not recorded events: if they are of one stream, merges, splits and moves may "
    "be told as gone and born; save models with --events FILE to have them all."
)
_BY = {
    "events": "the events between them",
    "labels": "labels that last, and overlap",
    "overlap": "overlap, as nothing shows that they are of one stream",
}


def headline(found: ModelComparison, paths: Sequence[str]) -> str:
    """The numbers of changes in one line."""
    counts = Counter(change.kind for change in found.changes)
    told = ", ".join(f"{many} {kind}" for kind, many in counts.items()) or "no clusters"
    return printable(f"{paths[0]} to {paths[1]}: {told} (by {_BY[found.by]})")


def table_of_changes(found: ModelComparison, names: Sequence[str]) -> Table:
    """A row for each change."""
    table = Table(header_style="bold")
    for name in ("change", "before", "after", "share before", "share after", "way"):
        table.add_column(name, justify="left" if name == "change" else "right")
    for name in names[:_COLUMNS]:
        table.add_column(column_head(name), justify="right")
    for change in found.changes:
        centre = change.centre_after or change.centre_before or ()
        table.add_row(
            change.kind,
            ", ".join(map(str, change.before)),
            ", ".join(map(str, change.after)),
            *("" if one is None else f"{one:.1%}" for one in (change[3], change[4])),
            "" if change.way is None else f"{change.way:.1f}",
            *(f"{value:.4g}" for value in centre[:_COLUMNS]),
        )
    return table


def record_of(
    found: ModelComparison, old: PreparedModel, new: PreparedModel, paths: Sequence[str]
) -> dict[str, Any]:
    """The comparison for JSON."""
    names = new.names()
    return {
        "models": list(paths),
        "rows": [old.model.n_samples_seen_, new.model.n_samples_seen_],
        "by": found.by,
        "changes": [
            {
                "change": change.kind,
                "before": list(change.before),
                "after": list(change.after),
                "share": [change.share_before, change.share_after],
                "centre": [
                    None if centre is None else dict(zip(names, centre, strict=True))
                    for centre in (change.centre_before, change.centre_after)
                ],
                "way": change.way,
            }
            for change in found.changes
        ],
    }
