"""The application: all commands of `spclust`, and `--version`."""

from typing import Annotated

import typer

from spclust.cli.commands import (
    bench,
    cluster,
    compare_command,
    generate,
    info,
    merge_command,
    plot_command,
    predict,
    reproduce,
    serve,
    watch,
)
from spclust.cli.options import BadRowCommand
from spclust.cli.settings.shared_options import shared
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


app.command(cls=BadRowCommand, epilog=cluster.EPILOG)(shared(cluster.cluster))
app.command(cls=BadRowCommand, epilog=predict.EPILOG)(shared(predict.predict))
app.command(epilog=info.EPILOG)(shared(info.info))
app.command(cls=BadRowCommand, epilog=plot_command.EPILOG)(shared(plot_command.plot))
app.command(epilog=merge_command.EPILOG)(shared(merge_command.merge))
app.command(epilog=compare_command.EPILOG)(shared(compare_command.compare))
app.command(cls=BadRowCommand, epilog=watch.EPILOG)(shared(watch.watch))
app.command(cls=BadRowCommand, epilog=serve.EPILOG)(shared(serve.serve))
app.command(epilog=generate.EPILOG)(shared(generate.generate))
app.command()(shared(bench.bench))
app.command()(shared(reproduce.reproduce))
