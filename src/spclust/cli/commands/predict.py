"""`spclust predict`: labels of new rows by a saved model, which learns nothing from them."""

from contextlib import ExitStack
from typing import Annotated, Any

import typer

from spclust.cli.exit_codes import CommandError, guarded
from spclust.cli.grouping import grouped
from spclust.cli.options import Labelling, Reading

EPILOG = """
**Examples**

`spclust predict model.spc new.csv --out labels.csv --typicality`

`tail -n +1 -F log.csv | spclust predict model.spc - --batch 1 | grep -v ',0$'`
"""


@grouped
@guarded
def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A saved model.")],
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Files, globs, directories of Parquet files; -.",
            show_default=False,
        ),
    ],
    reading: Reading,
    labelling: Labelling,
    batch: Annotated[int | None, typer.Option(min=1, help="Rows to label at a time.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON, for scripts.")
    ] = False,
) -> None:
    """Tell the clusters of rows by a saved model; columns are found by their names.

    Labels go to standard output as CSV, unless --out names a file.
    """
    from spclust.cli.labels import label_table
    from spclust.cli.models import load_model
    from spclust.cli.scoring import Scores
    from spclust.cli.summary import print_json
    from spclust.tables.bad_rows import BadRows
    from spclust.tables.batches import Ahead, Tables, in_batches, usual_size
    from spclust.tables.chunks import Position, Wanted
    from spclust.tables.inputs import expanded
    from spclust.tables.readers import besides, refuse_missing, split_names
    from spclust.tables.writers import open_table

    spc, preparation = load_model(model)
    with (
        Tables(expanded(inputs), reading, follow=False, stopped=lambda: False) as tables,
        ExitStack() as outputs,
    ):
        path, source = tables.first()
        keep = split_names(labelling.keep, source.names)
        label = labelling.label
        extra = besides(label, keep)
        features = _features(preparation.columns, source, path, reading, extra, spc.n_features_in_)
        refuse_missing((*features, *extra), source, path)
        bad, scores, rows = BadRows(reading.on_bad_row), Scores(), 0
        outputs.callback(bad.close)
        out = open_table(labelling.out or "-", labelling.out_format, None)
        outputs.callback(out.close)
        size = batch or usual_size(len(features))
        batches = in_batches(tables, Wanted(features, extra), Position(), size=size)
        with Ahead(batches, lambda: False) as ahead:
            for part in ahead:
                bad.take(part.bad)
                if not len(part.values):
                    continue
                prepared = preparation.applied(part.values)
                labels = spc.predict(prepared)
                if label is not None:
                    scores.add(part.extra[label], labels)
                out.add(label_table(spc, prepared, part.row, labels, part.extra, labelling, keep))
                rows += len(labels)
    if not rows:
        raise CommandError(f"{path!r} has columns, but no rows that are good.")
    if as_json:
        record: dict[str, Any] = {"rows": rows, "bad_rows": bad.count, "scores": scores.means()}
        print_json(record, err=labelling.out in (None, "-"))


def _features(
    known: tuple[str, ...],
    source: Any,
    path: str,
    reading: Reading,
    extra: tuple[str, ...],
    d: int,
) -> tuple[str, ...]:
    """The columns that the model knows by name, or those of numbers if it knows no names."""
    from spclust.tables.readers import chosen_features

    if reading.columns is None and known:
        return known
    found = tuple(chosen_features(source, path, reading, extra))
    if len(found) != d:
        raise CommandError(
            f"The model has {d} features, but {len(found)} columns are taken, {', '.join(found)}: "
            "choose them by --columns."
        )
    return found
