"""Models of a folder by the times at which they were saved."""

import os
from datetime import datetime
from pathlib import Path

import typer

from spclust.cli.exit_codes import CommandError
from spclust.time_units import duration_of


def chosen_models(names: list[str], since: str | None) -> tuple[str, str]:
    """The earlier and the later model: the given ones, or two of a folder."""
    if len(names) == 1 and os.path.isdir(names[0]):
        return _of_folder(names[0], since)
    if len(names) != 2:
        raise typer.BadParameter(f"Name two models, or one directory, not {len(names)} of them.")
    if since is not None:
        raise typer.BadParameter("--since is for a directory of models.")
    return names[0], names[1]


def _of_folder(folder: str, since: str | None) -> tuple[str, str]:
    files = sorted(Path(folder).glob("*.spc"), key=lambda path: (path.stat().st_mtime_ns, path))
    if len(files) < 2:
        raise CommandError(f"{folder!r} has {len(files)} models, *.spc, but two are compared.")
    limit = files[-1].stat().st_mtime if since is None else _moment(since)
    earlier = [path for path in files[:-1] if since is None or path.stat().st_mtime <= limit]
    if not earlier:
        oldest = datetime.fromtimestamp(files[0].stat().st_mtime).isoformat(" ", "seconds")
        raise CommandError(
            f"{folder!r} has no model from before {since}: its oldest one is from {oldest}."
        )
    return str(earlier[-1]), str(files[-1])


def _moment(text: str) -> float:
    """Seconds since 1970 of a date, or of so long ago."""
    duration = duration_of(text)
    if duration is not None:
        return (datetime.now() - duration).timestamp()
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise typer.BadParameter(
            f"--since is a time such as 6h or 7d, or a date such as 2024-05-01, not {text!r}."
        ) from None
