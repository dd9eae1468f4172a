"""`spclust cluster`: files and pipes to clusters."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from spclust.cli.exit_codes import guarded, say, shortened
from spclust.cli.grouping import grouped
from spclust.cli.model_options import Parameters, given
from spclust.cli.options import Labelling, Reading, Running

if TYPE_CHECKING:
    from spclust.cli.cluster_run import Run

EPILOG = """
**Examples**

`spclust cluster points.csv --scale 2 --out labels.csv --save model.spc`

`cat points.csv | spclust cluster - --columns x,y --out - | head`

`spclust cluster 'day-*.parquet' --standardise --n-structures 100 --label class --json`

`spclust cluster big.csv.gz --out labels.csv --checkpoint run.ck --every 1000000`

`spclust cluster sensors.ndjson --follow --beta 0.001 --events events.ndjson`

**Exit codes**: 0 done; 1 bad data, files or models; 2 wrong options; 130 and 143 ended by Ctrl-C
and SIGTERM, everything saved (0 with --follow); 141 the pipe that labels went to was closed.
"""


@grouped
@guarded
def cluster(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="CSV, TSV, NDJSON, Parquet or Arrow files, also compressed; globs; directories of "
            "Parquet files; - for standard input.",
            show_default=False,
        ),
    ],
    reading: Reading,
    labelling: Labelling,
    running: Running,
    parameters: Parameters,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON, for scripts.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress bar and no summary.")
    ] = False,
) -> None:
    """Cluster the rows of files or pipes in one pass, in memory that does not grow."""
    from spclust.cli.cluster_run import Run
    from spclust.tables.inputs import expanded

    run = Run(expanded(inputs), reading, given(parameters), labelling, running)
    run(quiet=quiet)
    _report(run, labelling, as_json=as_json, quiet=quiet)
    if run.stop.signal is not None:
        say(f"stopped after {run.rows:,} rows; everything is saved.")
        if not running.follow:
            raise typer.Exit(128 + run.stop.signal)


def _report(run: "Run", labelling: Labelling, *, as_json: bool, quiet: bool) -> None:
    from spclust.cli.summary import print_json, print_table, table_of

    beside = labelling.out == "-"  # labels are on standard output: all else goes beside it
    record = _record(run)
    if as_json:
        print_json(record, err=beside)
    elif not quiet and run.learner.has_learnt:
        typer.echo(_headline(record), err=beside)
        print_table(table_of(record["clusters"]), err=beside)


def _record(run: "Run") -> dict[str, Any]:
    """The summary."""
    from spclust.cli.progress import structures
    from spclust.cli.summary import clusters_of

    learner, learnt = run.learner, run.rows - run.resumed_at
    fitted = learner.has_learnt
    return {
        "rows": run.rows,
        "resumed_after": run.resumed_at,
        "bad_rows": run.bad.count,
        "events": run.event_count,
        "seconds": round(run.seconds, 3),
        "rows_per_second": round(learnt / run.seconds) if run.seconds else None,
        "columns": list(learner.preparation.columns),
        "standardised": learner.preparation.centre is not None,
        "scores": run.scores.means(),
        "stopped": run.stop.signal is not None,
        "structures": structures(learner.model) if fitted else 0,
        "clusters": clusters_of(learner.model, learner.preparation) if fitted else [],
    }


def _headline(record: dict[str, Any]) -> str:
    bad = f", {record['bad_rows']:,} bad rows left out" if record["bad_rows"] else ""
    scores = "".join(f", {name} {value:.3f}" for name, value in record["scores"].items())
    return (
        f"{record['rows']:,} rows in {record['seconds']:.1f} s, by {shortened(record['columns'])}: "
        f"{len(record['clusters'])} clusters of {record['structures']} structures{scores}{bad}"
    )
