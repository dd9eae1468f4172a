"""`spclust serve`: learn a stream, show it on a page, and answer over HTTP."""

import re
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from spclust.cli.exit_codes import CommandError, guarded, say
from spclust.cli.model_options import ModelOptions, given_parameters
from spclust.cli.options import InputOptions, LabelOptions, RunOptions, grouped

EPILOG = """
**Examples**

`spclust serve flows.csv --follow --half-life 10000`

`spclust serve --columns seconds,bytes --checkpoint state/`, then
`curl --data-binary @rows.ndjson -H 'Content-Type: application/x-ndjson' localhost:8765/learn`

`spclust serve sensors.parquet --host 0.0.0.0 --token-file token.txt`

**Exit codes**: 0 ended by Ctrl-C or SIGTERM, everything learnt and saved; 1 bad data, files or
models; 2 wrong options.
"""
_SERVICE = "Service"
_TOKEN = re.compile(r"[-\w.~+/=]{16,}", re.ASCII)  # what headers, cookies and addresses can hold
_PACKAGES = ("starlette", "uvicorn", "httptools", "prometheus_client")


@grouped
@guarded
def serve(
    input_options: InputOptions,
    label_options: LabelOptions,
    run_options: RunOptions,
    model_options: ModelOptions,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INPUT]",
            help="What `spclust cluster` reads. Without one, the service learns what is posted to "
            "/learn.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen at. One that other machines can reach needs --token-file.",
            rich_help_panel=_SERVICE,
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="0: any free one.", rich_help_panel=_SERVICE)
    ] = 8765,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with a token, which every request then needs.",
            rich_help_panel=_SERVICE,
        ),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Name of this service, if it is behind a proxy; may be repeated.",
            rich_help_panel=_SERVICE,
        ),
    ] = None,
    max_body: Annotated[
        int,
        typer.Option(min=1000, help="Bytes of a posted body.", rich_help_panel=_SERVICE),
    ] = 64_000_000,
) -> None:
    """Learn a file, a pipe or what is posted, and serve a live page and an HTTP interface.

    The options are those of `spclust cluster`; --checkpoint names a directory.
    """
    try:
        from spclust.cli.serve_run import ServeRun
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in _PACKAGES:
            raise
        raise CommandError(
            "This command needs a web server: install it with pip install 'spclust[live]'."
        ) from None
    from spclust.cli.checkpoints.checkpoint_lock import checkpoint_lock

    token = _token(token_file, host)
    lock: AbstractContextManager[None] = nullcontext()
    if run_options.checkpoint is not None:
        run_options.checkpoint.mkdir(parents=True, exist_ok=True)
        lock = checkpoint_lock(str(run_options.checkpoint / "service"))
        run_options = replace(run_options, checkpoint=run_options.checkpoint / "checkpoint")
    with lock:  # before the journal is opened
        run = ServeRun(
            inputs or [],
            input_options,
            given_parameters(model_options, timed=input_options.time is not None),
            label_options,
            run_options,
            host=host,
            port=port,
            token=token,
            hosts=tuple(allowed_host or ()),
            max_body=max_body,
        )
        run()
    say(f"stopped after {run.rows:,} rows; everything is saved.")


def _token(path: Path | None, host: str) -> str | None:
    from spclust.live.guard import is_loopback

    if path is None:
        if not is_loopback(host):
            raise CommandError(
                f"Other machines can reach {host!r}: say --token-file FILE, or listen at 127.0.0.1."
            )
        return None
    token = path.read_text(errors="replace").strip()
    if not _TOKEN.fullmatch(token):
        raise CommandError(
            f"The token in {str(path)!r} must have 16 letters, digits or any of -._~+/= or more: "
            "make one with python -c 'import secrets; print(secrets.token_urlsafe())'."
        )
    return token
