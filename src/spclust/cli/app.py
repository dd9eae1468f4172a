"""The commands, put together. What they need is imported when they run, so that help is quick."""

from typing import Annotated

import typer

from spclust.cli.commands import bench, cluster, generate, info, predict, reproduce, watch
from spclust.cli.options import BadRowCommand
from spclust.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version."),
    ] = False,
) -> None:
    """Single-pass possibilistic clustering of data streams, files and pipes."""


app.command(cls=BadRowCommand, epilog=cluster.EPILOG)(cluster.cluster)
app.command(cls=BadRowCommand, epilog=predict.EPILOG)(predict.predict)
app.command(epilog=info.INFO_EPILOG)(info.info)
app.command(cls=BadRowCommand, epilog=info.PLOT_EPILOG)(info.plot)
app.command(epilog=info.MERGE_EPILOG)(info.merge)
app.command(cls=BadRowCommand, epilog=watch.EPILOG)(watch.watch)
app.command(epilog=generate.EPILOG)(generate.generate)
app.command()(bench.bench)
app.command()(reproduce.reproduce)
