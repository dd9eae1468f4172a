"""`spclust predict`: label new rows by a saved model, which does not learn them."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spclust.cli.exit_codes import CommandError, guarded, named_rows
from spclust.cli.options import InputOptions, LabelOptions, grouped

if TYPE_CHECKING:
    from spclust.prepared_model import PreparedModel
    from spclust.tables.readers import Reader

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
    input_options: InputOptions,
    label_options: LabelOptions,
    batch: Annotated[int | None, typer.Option(min=1, help="Rows to label at a time.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON, for scripts.")
    ] = False,
) -> None:
    """Label rows by a saved model; columns are found by their names.

    Labels go to standard output as CSV, unless --out names a file.
    """
    from spclust.cli.labels import Scores, are_scored, label_table
    from spclust.cli.sources.broker_source import input_files, label_writer
    from spclust.cli.summary import print_json
    from spclust.prepared_model import PreparedModel
    from spclust.tables.bad_rows import BadRows, collection_path
    from spclust.tables.batches import ReadAhead, default_batch_size, in_batches
    from spclust.tables.chunks import Columns, Position
    from spclust.tables.files.output_files import require_writable
    from spclust.tables.inputs import expand_inputs
    from spclust.tables.readers import extra_columns, require_columns, split_names

    prepared = PreparedModel.load(model)
    spc, paths = prepared.model, expand_inputs(inputs)
    collected = collection_path(input_options.on_bad_row)
    targets = {"--out": label_options.out, "--on-bad-row collect": collected}
    require_writable(targets, [model, *paths])
    with (
        input_files(
            paths, input_options.read_options(), until_end=input_options.until_end
        ) as files,
        ExitStack() as outputs,
    ):
        path, reader = files.first()
        keep = split_names(label_options.keep, reader.names)
        label = label_options.label
        extra = extra_columns(label, keep)
        others = extra if input_options.time is None else (*extra, input_options.time)
        require_columns(others, reader, path)
        features = _features(prepared, reader, path, input_options.columns, others)
        require_columns(features, reader, path)
        bad, scores, count = BadRows(input_options.on_bad_row), Scores(), 0
        outputs.callback(bad.close)
        name, kind = label_options.out or "-", label_options.out_format
        out = label_writer(name, kind, None, lambda: False, digests=False)
        outputs.callback(out.close)
        size = batch or default_batch_size(len(features))
        batches = in_batches(files, Columns(features, extra), Position(), size=size)
        with ReadAhead(batches) as ahead:
            for part in ahead:
                bad.add(part.bad)
                if not len(part.values) or part.end is None:
                    continue
                with named_rows(files.paths, part.end.file, part.row):
                    rows = prepared.prepare(part.values)
                    labels = spc.predict(rows)
                if label is not None:
                    scores.add(part.extra[label], labels)
                found = spc.score_samples(rows) if are_scored(label_options) else None
                out.add(label_table(spc, found, part.row, labels, part.extra, label_options, keep))
                count += len(labels)
    if not count:
        raise CommandError(f"{path!r} has columns, but no rows that are good.")
    if as_json:
        record: dict[str, Any] = {"rows": count, "bad_rows": bad.count, "scores": scores.means()}
        print_json(record, err=label_options.out in (None, "-"))


def _features(
    prepared: "PreparedModel",
    reader: "Reader",
    path: str,
    given: list[str] | None,
    extra: tuple[str, ...],
) -> tuple[str, ...]:
    """The given columns, else those of the model, else those of numbers if it has no names."""
    from spclust.tables.readers import choose_features

    if given is None and prepared.preparation.columns:
        return prepared.preparation.columns
    found, d = choose_features(reader, path, given, extra), prepared.model.n_features_in_
    if len(found) != d:
        raise CommandError(
            f"The model has {d} features, but {len(found)} columns are taken, {', '.join(found)}: "
            "choose them by --columns."
        )
    return found
