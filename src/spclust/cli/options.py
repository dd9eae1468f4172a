"""Options that several commands share, in groups. This module must import fast, for `--help`."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from spclust.tables.formats import Format, ReadOptions
from spclust.tables.inputs import is_topic

_READING, _LABELS, _RUNNING = "Reading", "Labels", "Running"


def _file_or_topic(name: str) -> str:
    """A name as given if it is that of a topic, else as that of a file in one spelling."""
    return name if is_topic(name) else str(Path(name))


@dataclass(frozen=True)
class InputOptions:
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
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of times, numbers or dates, that never go backwards: influence fades with "
            "time, not with rows (--half-life 10m). It is not clustered by.",
            rich_help_panel=_READING,
        ),
    ] = None
    format: Annotated[
        Format | None,
        typer.Option(
            help="Format of the input: by the ending of the name if not given.",
            rich_help_panel=_READING,
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(help="Delimiter of CSV: a comma if not given.", rich_help_panel=_READING),
    ] = None
    decimal: Annotated[
        str, typer.Option(help="Decimal point of CSV.", rich_help_panel=_READING)
    ] = "."
    header: Annotated[
        bool | None,
        typer.Option(
            help="Whether the first row of CSV has the names of columns. If not given: unless it "
            "is all numbers.",
            rich_help_panel=_READING,
        ),
    ] = None
    encoding: Annotated[
        str, typer.Option(help="Encoding of text files.", rich_help_panel=_READING)
    ] = "utf-8"
    on_bad_row: Annotated[
        str,
        typer.Option(
            metavar="skip|stop|collect FILE",
            help="How to handle rows with cells that are missing, not numbers or not finite, or "
            "with too few or too many cells: leave them out, stop, or leave them out and write "
            "them to a file, as NDJSON.",
            rich_help_panel=_READING,
        ),
    ] = "stop"
    read_bytes: Annotated[
        int, typer.Option(min=64, help="Bytes of text to parse at a time.", hidden=True)
    ] = 1_000_000

    until_end: Annotated[
        bool,
        typer.Option(
            "--until-end",
            help="End with the last message that is in a topic now, instead of waiting for more.",
            rich_help_panel=_READING,
        ),
    ] = False

    def read_options(self) -> ReadOptions:
        """The options that readers of tables take."""
        return ReadOptions(
            format=self.format,
            delimiter=self.delimiter,
            decimal=self.decimal,
            header=self.header,
            encoding=self.encoding,
            read_bytes=self.read_bytes,
            time=self.time,
        )


@dataclass(frozen=True)
class LabelOptions:
    """Options of commands that write labels."""

    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE|URL",
            help="File for the labels, - for standard output: CSV, TSV, NDJSON, Parquet or Arrow "
            "by the ending of the name, also .gz, .zst and .lz4; or a topic of a broker.",
            rich_help_panel=_LABELS,
        ),
    ] = None
    out_format: Annotated[
        Format | None,
        typer.Option(
            help="Format of the labels: by the ending of the name if not given.",
            rich_help_panel=_LABELS,
        ),
    ] = None
    typicality: Annotated[
        bool,
        typer.Option(
            "--typicality",
            help="Add a column: typicality of the row in its most typical structure, 0 to 1.",
            rich_help_panel=_LABELS,
        ),
    ] = False
    outlier: Annotated[
        bool,
        typer.Option(
            "--outlier",
            help="Add a column: whether the row is an outlier, by --outlier-nlt or else by a "
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
class RunOptions:
    """Options of a run of `spclust cluster`."""

    standardise: Annotated[
        bool,
        typer.Option(
            "--standardise/--no-standardise",
            help="Standardise each column by the mean and standard deviation of the first rows "
            "(see --warmup). Then --scale is in standard deviations.",
            rich_help_panel=_RUNNING,
        ),
    ] = False
    warmup: Annotated[
        int,
        typer.Option(min=2, help="Number of rows to standardise by.", rich_help_panel=_RUNNING),
    ] = 10_000
    batch: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Rows to learn, then to label, at a time. [default: 10,000, fewer in tables of "
            "more than 100 columns; with --half-life, half of it, but 100 rows or more]",
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
        str | None,
        typer.Option(
            metavar="FILE|URL",
            parser=_file_or_topic,
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
            help="Draw the structures and clusters: .png, .svg or .pdf.",
            rich_help_panel=_RUNNING,
        ),
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Save the state of the run to a file. If the run is killed, the same command "
            "resumes it.",
            rich_help_panel=_RUNNING,
        ),
    ] = None
    every: Annotated[
        int,
        typer.Option(
            min=1,
            help="Rows between two checkpoints, rounded up to whole batches.",
            rich_help_panel=_RUNNING,
        ),
    ] = 100_000
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            "-f",
            help="Wait for more when a file ends, as tail -F does, also through rotations. Ctrl-C "
            "ends it.",
            rich_help_panel=_RUNNING,
        ),
    ] = False


class BadRowCommand(TyperCommand):
    """A command whose option --on-bad-row takes one word, or `collect` and a file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Join `collect FILE` to one value: an option takes a fixed number of words."""
        for at, word in enumerate(args[:-2]):
            if word == "--on-bad-row" and args[at + 1] == "collect":
                args = [*args[: at + 1], f"collect {args[at + 2]}", *args[at + 3 :]]
                break
        return super().parse_args(ctx, args)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with an option for each field of each dataclass among its parameters.

    Typer reads the signature of a function. This one has the fields as parameters, and calls the
    command with the dataclasses.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind = parameter.annotation
        if not is_dataclass(kind):
            parameters.append(parameter)
            continue
        groups[parameter.name] = kind
        hints = get_type_hints(kind, include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )
            for field in fields(kind)
        ]
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            values = {field.name: given.pop(field.name) for field in fields(group)}
            given[name] = group(**values)
        command(**given)

    vars(run).pop("__wrapped__")  # Typer would read the signature of the command through it
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run
