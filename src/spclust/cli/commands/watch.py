"""`spclust watch`: show the clusters of a stream live on the terminal."""

import time
from contextlib import closing
from typing import Annotated

import typer

from spclust.cli.exit_codes import StopSignal, guarded, named_rows
from spclust.cli.model_options import ModelOptions, given_parameters, new_model, track_by_default
from spclust.cli.options import InputOptions, grouped

EPILOG = """
**Examples**

`spclust watch drifting.csv --rate 2000 --scale 1.5 --n-structures 60 --beta 0.02 --gamma 0.1
--nlt-max 0.001 --track-every 25`

`spclust watch log.csv --follow --columns seconds,bytes`
"""
_TRACK_EVERY = 100  # default of --track-every in the mode of the paper


@grouped
@guarded
def watch(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT", help="Files; -.", show_default=False)
    ],
    input_options: InputOptions,
    model_options: ModelOptions,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for more when the file ends.")
    ] = False,
    rate: Annotated[
        float | None,
        typer.Option(min=0.1, help="Maximum number of rows per second, to slow a file down."),
    ] = None,
    batch: Annotated[
        int, typer.Option(min=1, help="Maximum number of rows between two updates.")
    ] = 500,
) -> None:
    """Show clusters, their sizes and rates, and events, while a stream is learnt.

    If the output is not a terminal, events are printed as lines instead.
    """
    from spclust.cli.live_table import LiveTable
    from spclust.cli.sources.broker_source import input_files
    from spclust.prepared_model import Preparation, PreparedModel
    from spclust.tables.bad_rows import BadRows, collection_path
    from spclust.tables.batches import ReadAhead, in_batches
    from spclust.tables.chunks import Position
    from spclust.tables.columns.time_order import ordered
    from spclust.tables.files.output_files import require_writable
    from spclust.tables.inputs import expand_inputs, require_followable
    from spclust.tables.readers import choose_columns

    parameters = given_parameters(model_options, timed=input_options.time is not None)
    track_by_default(parameters, _TRACK_EVERY)
    paths, options = expand_inputs(inputs), input_options.read_options()
    if follow:
        require_followable(paths, options.format)
    require_writable({"--on-bad-row collect": collection_path(input_options.on_bad_row)}, paths)
    stop, model = StopSignal(), new_model(parameters)
    until_end = input_options.until_end
    with input_files(paths, options, follow=follow, until_end=until_end, stopped=stop) as files:
        path, reader = files.first()
        columns = choose_columns(reader, path, input_options.columns, (), options.time)
        prepared = PreparedModel(model, Preparation(columns.features))
        prepared.watched, prepared.dated = True, columns.dated
        bad, rows, started = BadRows(input_options.on_bad_row), 0, time.perf_counter()
        batches = in_batches(files, columns, Position(), size=batch)
        with (
            closing(bad),
            stop,
            LiveTable(prepared, ", ".join(files.paths)) as table,
            ReadAhead(batches, stop) as ahead,
        ):
            for part in ahead:
                part, _ = ordered(part, columns, prepared.clock)
                bad.add(part.bad)
                if len(part.values) and part.end is not None:
                    with named_rows(paths, part.end.file, part.row):
                        prepared_rows = prepared.prepare(part.values)
                        events = prepared.learn(prepared_rows, part.time, part.row)
                    rows += len(part.values)
                    table.show(rows, events)
                if stop():
                    break
                if rate is not None:
                    time.sleep(max(0.0, started + rows / rate - time.perf_counter()))
