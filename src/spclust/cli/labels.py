"""Labels of rows: the table that is written, and scores against known classes."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from spclust.array_types import Floats, Integers
from spclust.cli.options import LabelOptions, RunOptions
from spclust.estimators.queries import (
    has_ids_of_its_own,
    lasting_ids,
    outlier_limit,
    scores_of_last_batch,
)
from spclust.parameters import half_life_number
from spclust.tables.batches import Batch, PartLimit
from spclust.tables.chunks import Columns

if TYPE_CHECKING:
    from spclust.estimators.spc import SPC
    from spclust.prepared_model import PreparedModel

_DEFAULT_NLT = 3.0  # of --outlier without --outlier-nlt: a typicality of 0.05
_SCORES = ("purity", "nmi", "ari")


def are_scored(options: LabelOptions) -> bool:
    """True if the table of labels has columns about scores, too."""
    return options.typicality or options.outlier


def label_table(
    model: "SPC",
    scores: Floats | None,
    number: Integers,
    labels: Integers,
    extra: pa.Table,
    options: LabelOptions,
    keep: tuple[str, ...],
) -> pa.Table:
    """Table of rows, with their labels and what their `scores` (n,) say."""
    columns = {"row": pa.array(number)}
    columns.update({name: extra[name] for name in keep})
    kept = {name: extra.schema.field(name) for name in keep}
    columns["label"] = pa.array(labels)
    if has_ids_of_its_own(model):
        columns["id"] = pa.array(lasting_ids(model, labels))
    if options.typicality and scores is not None:
        columns["typicality"] = pa.array(np.exp(scores))
    if options.outlier and scores is not None:
        limit = outlier_limit(model)
        limit = _DEFAULT_NLT if limit is None else limit
        columns["outlier"] = pa.array(-scores > limit)
    fields = [kept.get(name, pa.field(name, column.type)) for name, column in columns.items()]
    return pa.table(columns, pa.schema(fields))


class Labels:
    """Labels of rows that a run learns: the table of them, and scores."""

    def __init__(self, options: LabelOptions, run: RunOptions) -> None:
        self._options, self._run = options, run
        self._needed = options.out is not None or options.label is not None
        self.scores = Scores()

    def limit(self, model: "SPC", columns: Columns) -> PartLimit:
        """How much is learnt before it is labelled: less than what is remembered."""
        if not self._needed or self._run.batch is not None:
            return PartLimit()
        half_life = half_life_number(model.half_life)
        return PartLimit.of_half_life(half_life, timed=columns.time is not None)

    def learnt(
        self, prepared: "PreparedModel", batch: Batch, rows: Floats, keep: tuple[str, ...]
    ) -> tuple[list[dict[str, Any]], pa.Table]:
        """Learn a batch, whose `rows` are prepared: events, table of labels."""
        options, model = self._options, prepared.model
        if not self._needed:
            return prepared.learn(rows, batch.time, batch.row), batch.extra
        labels, events = prepared.learn_and_label(
            rows, batch.time, batch.row, before=self._run.prequential
        )
        if options.label is not None:
            self.scores.add(batch.extra[options.label], labels)
        if options.out is None:
            return events, batch.extra
        scores = scores_of_last_batch(model, rows) if are_scored(options) else None
        return events, label_table(model, scores, batch.row, labels, batch.extra, options, keep)


class Scores:
    """Mean scores of labels against known classes, in constant memory.

    A label may change its meaning while a stream goes on. Each batch is therefore scored by itself,
    and weighted by its number of rows.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.sums = dict.fromkeys(_SCORES, 0.0)

    def add(self, classes: Any, labels: Integers) -> None:
        """Score a batch: classes and labels (n,) of its rows."""
        from spclust.metrics import SCORES

        known = np.array(classes.to_pylist(), dtype=object).astype(str)
        for name in _SCORES:
            self.sums[name] += len(labels) * SCORES[name](known, labels)
        self.rows += len(labels)

    def means(self) -> dict[str, float]:
        """Mean scores; empty if no batch was scored."""
        return {name: total / self.rows for name, total in self.sums.items()} if self.rows else {}

    def state(self) -> dict[str, Any]:
        """State for a checkpoint; see `restore`."""
        return {"rows": self.rows, "sums": self.sums}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from the state of a checkpoint."""
        self.rows, self.sums = int(state["rows"]), dict(state["sums"])
