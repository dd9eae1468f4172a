"""Rows of a file with their classes, for evaluations."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from spclust.cli.exit_codes import CommandError

if TYPE_CHECKING:
    from spclust.experiments.reproduction import OwnData

_USUAL = ("label", "class", "target", "y")  # names of the column of classes


def labelled_rows(path: Path, label: str | None) -> "OwnData":
    """The rows of a table, or of arrays X and y in an .npz, and their classes."""
    from spclust.experiments.reproduction import own_data

    if path.suffix.lower() == ".npz":
        return own_data(path.name, *_arrays(path))
    from spclust.tables import read_batches

    column = label or _label_column(path)
    batches = list(read_batches([str(path)], extra=[column]))
    if not batches:
        raise CommandError(f"{path} has no rows.")
    rows = np.concatenate([batch.values for batch in batches])
    classes = [text for batch in batches for text in batch.extra.column(column).to_pylist()]
    if None in classes or "" in classes:
        number = 1 + next(i for i, text in enumerate(classes) if text in (None, ""))
        raise CommandError(f"{path}, row {number:,}, has no class in the column {column!r}.")
    return own_data(path.name, rows, np.array(classes, dtype=str))


def _arrays(path: Path) -> tuple[Any, Any]:
    try:
        arrays = np.load(path, allow_pickle=False)
    except (ValueError, OSError, BadZipFile) as error:
        raise CommandError(f"{path} cannot be read: {error}") from None
    with arrays:
        if not {"X", "y"} <= set(arrays.files):
            raise CommandError(
                f"{path} must have arrays X (n, d) and y (n,), but has {', '.join(arrays.files)}."
            )
        return arrays["X"], arrays["y"]


def _label_column(path: Path) -> str:
    """The column of classes by one of its usual names."""
    from spclust.tables.files.input_files import InputFiles
    from spclust.tables.formats import ReadOptions
    from spclust.tables.inputs import expand_inputs

    with InputFiles(expand_inputs([str(path)]), ReadOptions()) as files:
        names = files.first()[1].names
    for usual in _USUAL:
        for name in names:
            if name.lower() == usual:
                return name
    raise CommandError(
        f"{path} has no column {', '.join(_USUAL[:-1])} or {_USUAL[-1]}: name the one with the "
        f"known classes by --label, of {', '.join(names)}."
    )
