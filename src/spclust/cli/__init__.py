"""The command `spclust`: options, progress and summaries. Needs the extra `cli`.

`commands` has one module per command; tables are read and written by `spclust.tables`.
"""

from importlib.util import find_spec as _find

for _needed in ("typer", "rich"):  # PyArrow only by the commands that read or write tables
    if _find(_needed) is None:  # pragma: no cover - depends on the installation
        raise SystemExit(
            f"The command spclust needs {_needed}: install it with pip install 'spclust[cli]'."
        )

from spclust.cli.app import app  # noqa: E402

__all__ = ["app"]
