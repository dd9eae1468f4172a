"""`spclust cluster`: cluster the rows of files and pipes."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from spclust.cli.exit_codes import guarded, say
from spclust.cli.model_options import ModelOptions, given_parameters
from spclust.cli.options import InputOptions, LabelOptions, RunOptions, grouped
from spclust.tables.table_error import printable, shortened

if TYPE_CHECKING:
    from spclust.cli.cluster_run import ClusterRun

EPILOG = """
**Examples**

`spclust cluster points.csv --scale 2 --out labels.csv --save model.spc`

`cat points.csv | spclust cluster - --columns x,y --out - | head`

`spclust cluster 'day-*.parquet' --standardise --n-structures 100 --label class --json`

`spclust cluster big.csv.gz --out labels.csv --checkpoint run.ck --every 1000000`

`spclust cluster sensors.ndjson --follow --half-life 1000 --events events.ndjson`

`spclust cluster kafka://broker/flows --out kafka://broker/labels --checkpoint run.ck`

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
            "Parquet files; - for standard input; a topic, as kafka://, redis://, nats:// or "
            "mqtt://host/topic.",
            show_default=False,
        ),
    ],
    input_options: InputOptions,
    label_options: LabelOptions,
    run_options: RunOptions,
    model_options: ModelOptions,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON, for scripts.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress bar and no summary.")
    ] = False,
) -> None:
    """Cluster the rows of files or pipes in one pass and in constant memory."""
    from spclust.cli.cluster_run import ClusterRun
    from spclust.tables.inputs import expand_inputs

    run = ClusterRun(
        expand_inputs(inputs),
        input_options,
        given_parameters(model_options, timed=input_options.time is not None),
        label_options,
        run_options,
    )
    run(quiet=quiet)
    _report(run, label_options, as_json=as_json, quiet=quiet)
    if run.stop.number is not None:
        say(f"stopped after {run.rows:,} rows; everything is saved.")
        if not run.follows:
            raise typer.Exit(128 + run.stop.number)


def _report(run: "ClusterRun", options: LabelOptions, *, as_json: bool, quiet: bool) -> None:
    """Print the summary, on standard error if labels are on standard output."""
    from spclust.cli.summary import print_json, print_table, table_of

    err = options.out == "-"
    record = _record(run)
    if as_json:
        print_json(record, err=err)
    elif not quiet and run.prepared.has_learnt:
        typer.echo(_headline(record), err=err)
        print_table(table_of(record["clusters"]), err=err)


def _record(run: "ClusterRun") -> dict[str, Any]:
    """The summary."""
    prepared, learnt = run.prepared, run.rows - run.resumed_at
    fitted = prepared.has_learnt
    return {
        "rows": run.rows,
        "resumed_after": run.resumed_at,
        "bad_rows": run.bad.count,
        "events": run.event_count,
        "seconds": round(run.seconds, 3),
        "rows_per_second": round(learnt / run.seconds) if run.seconds else None,
        "columns": list(prepared.preparation.columns),
        "standardised": prepared.preparation.centre is not None,
        "scores": run.scores.means(),
        "stopped": run.stop(),
        "structures": len(prepared.model.clustering()) if fitted else 0,
        "clusters": prepared.records("clusters") if fitted else [],
    }


def _headline(record: dict[str, Any]) -> str:
    bad = f", {record['bad_rows']:,} bad rows left out" if record["bad_rows"] else ""
    scores = "".join(f", {name} {value:.3f}" for name, value in record["scores"].items())
    columns = shortened([printable(name) for name in record["columns"]])
    return (
        f"{record['rows']:,} rows in {record['seconds']:.1f} s, by {columns}: "
        f"{len(record['clusters'])} clusters of {record['structures']} structures{scores}{bad}"
    )
