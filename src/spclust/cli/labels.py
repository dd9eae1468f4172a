"""Labels of rows as a table to write: where they belong, how typical they are, whether nowhere."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from spclust.arrays import Floats, Integers
from spclust.cli.options import Labelling

if TYPE_CHECKING:
    from spclust.estimators.spc import SPC

USUAL_NLT = 3.0  # a typicality of 0.05: who asks for outliers and does not say how far off


def label_table(
    model: "SPC",
    rows: Floats,
    number: Integers,
    labels: Integers,
    extra: pa.Table,
    options: Labelling,
    keep: tuple[str, ...],
) -> pa.Table:
    """The table of some rows, as the model sees them, with their numbers and labels."""
    columns = {"row": pa.array(number)}
    columns.update({name: extra[name] for name in keep})
    columns["label"] = pa.array(labels)
    if options.typicality or options.outlier:
        scores = model.score_samples(rows)
        if options.typicality:
            columns["typicality"] = pa.array(np.exp(scores))
        if options.outlier:
            limit = USUAL_NLT if model.outlier_nlt is None else model.outlier_nlt
            columns["outlier"] = pa.array(-scores > limit)
    return pa.table(columns)
