"""`spclust watch`: the clusters of a stream, live on the terminal."""

import time
from contextlib import closing
from typing import Annotated

import typer

from spclust.cli.exit_codes import guarded
from spclust.cli.grouping import grouped
from spclust.cli.model_options import Parameters, given
from spclust.cli.options import Reading

EPILOG = """
**Examples**

`spclust watch drifting.csv --rate 2000 --scale 1.5 --n-structures 60 --beta 0.02 --gamma 0.1
--nlt-max 0.001 --track-every 25`

`spclust watch log.csv --follow --columns seconds,bytes`
"""
_DEFAULT_TRACK = 100  # rows between two looks at the clusters


@grouped
@guarded
def watch(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT", help="Files; -.", show_default=False)
    ],
    reading: Reading,
    parameters: Parameters,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for more when the file ends.")
    ] = False,
    rate: Annotated[
        float | None, typer.Option(min=0.1, help="Rows a second at the most, to see more.")
    ] = None,
    batch: Annotated[int, typer.Option(min=1, help="Rows between two pictures at the most.")] = 500,
) -> None:
    """Show clusters, their sizes and rates, and events, while a stream is learnt.

    Where there is no terminal, events are printed as lines instead.
    """
    from spclust.cli.learning import Learner
    from spclust.cli.live_table import View
    from spclust.cli.model_options import new_model
    from spclust.cli.prepared_model import Preparation
    from spclust.cli.stopping import Stop
    from spclust.tables.bad_rows import BadRows
    from spclust.tables.batches import Ahead, Tables, in_batches
    from spclust.tables.chunks import Position, Wanted
    from spclust.tables.inputs import expanded, refuse_following
    from spclust.tables.readers import chosen_features

    values = given(parameters)
    values.setdefault("track_every", _DEFAULT_TRACK)
    paths = expanded(inputs)
    if follow:
        refuse_following(paths, reading.format)
    stop, model = Stop(), new_model(values)
    with Tables(paths, reading, follow=follow, stopped=stop) as tables:
        path, source = tables.first()
        features = tuple(chosen_features(source, path, reading, ()))
        learner = Learner(model, Preparation(features))
        bad, rows, started = BadRows(reading.on_bad_row), 0, time.perf_counter()
        batches = in_batches(tables, Wanted(features), Position(), size=batch)
        with (
            closing(bad),
            stop,
            View(learner, ", ".join(paths)) as view,
            Ahead(batches, stop) as ahead,
        ):
            for part in ahead:
                bad.take(part.bad)
                if len(part.values):
                    events = learner.learn(learner.prepared(part.values))
                    rows += len(part.values)
                    view.show(rows, events)
                if stop():
                    break
                if rate is not None:
                    time.sleep(max(0.0, started + rows / rate - time.perf_counter()))
