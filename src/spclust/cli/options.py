"""Options that commands share, in groups; nothing here takes long to import."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from spclust.tables.formats import Format

_READING, _LABELS, _RUNNING = "Reading", "Labels", "Running"


@dataclass(frozen=True)
class Reading:
    """Options of commands that read tables."""

    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            "-c",
            help="Columns to cluster by, as a,b,c or given repeatedly. All columns of numbers if "
            "not given.",
            rich_help_panel=_READING,
        ),
    ] = None
    format: Annotated[
        Format | None,
        typer.Option(help="By the ending of the name if not given.", rich_help_panel=_READING),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="Between the cells of CSV: a comma if not given.", rich_help_panel=_READING
        ),
    ] = None
    decimal: Annotated[
        str, typer.Option(help="Decimal point of CSV.", rich_help_panel=_READING)
    ] = "."
    header: Annotated[
        bool | None,
        typer.Option(
            help="Whether the first row of CSV has names. If not given: unless it is all numbers.",
            rich_help_panel=_READING,
        ),
    ] = None
    encoding: Annotated[str, typer.Option(help="Of text files.", rich_help_panel=_READING)] = (
        "utf-8"
    )
    on_bad_row: Annotated[
        str,
        typer.Option(
            metavar="skip|stop|collect FILE",
            help="What to do about rows with cells that are missing, not numbers or not finite, "
            "or with too few or too many cells: leave them out, stop, or leave them out and write "
            "them to a file, as NDJSON.",
            rich_help_panel=_READING,
        ),
    ] = "stop"
    read_bytes: Annotated[
        int, typer.Option(min=64, help="Bytes of text to parse at a time.", hidden=True)
    ] = 1_000_000


@dataclass(frozen=True)
class Labelling:
    """Options of commands that write labels."""

    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Where labels go, - for standard output: CSV, TSV, NDJSON, Parquet or Arrow by "
            "the ending of the name, also .gz, .zst and .lz4.",
            rich_help_panel=_LABELS,
        ),
    ] = None
    out_format: Annotated[
        Format | None,
        typer.Option(help="By the ending of the name if not given.", rich_help_panel=_LABELS),
    ] = None
    typicality: Annotated[
        bool,
        typer.Option(
            "--typicality",
            help="Add a column: how typical a row is where it is most typical, 0 to 1.",
            rich_help_panel=_LABELS,
        ),
    ] = False
    outlier: Annotated[
        bool,
        typer.Option(
            "--outlier",
            help="Add a column: whether a row is typical nowhere, by --outlier-nlt or else by a "
            "typicality below 0.05.",
            rich_help_panel=_LABELS,
        ),
    ] = False
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns of the input to write beside the labels, as a,b or given repeatedly.",
            rich_help_panel=_LABELS,
        ),
    ] = None
    label: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of known classes: it is not clustered by, but labels are scored by it.",
            rich_help_panel=_LABELS,
        ),
    ] = None


@dataclass(frozen=True)
class Running:
    """Options of a run."""

    standardise: Annotated[
        bool,
        typer.Option(
            "--standardise/--no-standardise",
            help="Whether to give each column mean 0 and standard deviation 1, those of the first "
            "rows (see --warmup). Then --scale is in standard deviations.",
            rich_help_panel=_RUNNING,
        ),
    ] = False
    warmup: Annotated[
        int,
        typer.Option(min=2, help="Rows by which to standardise.", rich_help_panel=_RUNNING),
    ] = 10_000
    batch: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Rows to learn, then to label, at a time. [default: 10,000, less in tables of "
            "more than 100 columns]",
            rich_help_panel=_RUNNING,
        ),
    ] = None
    prequential: Annotated[
        bool,
        typer.Option(
            "--prequential",
            help="Label each batch before it is learnt: test, then learn.",
            rich_help_panel=_RUNNING,
        ),
    ] = False
    events: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write births, deaths, merges, splits and moves of clusters, as NDJSON.",
            rich_help_panel=_RUNNING,
        ),
    ] = None
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", "-s", metavar="FILE", help="Save the model.", rich_help_panel=_RUNNING
        ),
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the structures and clusters of two columns: .png, .svg or .pdf.",
            rich_help_panel=_RUNNING,
        ),
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep in a file where the run stands. If it is killed, the same command goes on "
            "from there.",
            rich_help_panel=_RUNNING,
        ),
    ] = None
    every: Annotated[
        int,
        typer.Option(
            min=1, help="Rows between two checkpoints, whole batches.", rich_help_panel=_RUNNING
        ),
    ] = 100_000
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            "-f",
            help="Wait for more when a file ends, as tail -f does. Ctrl-C ends it.",
            rich_help_panel=_RUNNING,
        ),
    ] = False


class BadRowCommand(TyperCommand):
    """A command whose option --on-bad-row takes one word, or `collect` and a file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Make one value of `collect FILE`, since an option takes always as many words."""
        for at, word in enumerate(args[:-2]):
            if word == "--on-bad-row" and args[at + 1] == "collect":
                args = [*args[: at + 1], f"collect {args[at + 2]}", *args[at + 3 :]]
                break
        return super().parse_args(ctx, args)
