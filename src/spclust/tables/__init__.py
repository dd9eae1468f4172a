r"""Tables in files, read and written batch by batch. Needs PyArrow: the extra `cli`.

CSV, TSV, NDJSON, Parquet and Arrow IPC, also compressed. The command `spclust` is built on this
package, but the package does not need the command:

>>> import os, tempfile
>>> from spclust.tables import read_batches
>>> with tempfile.TemporaryDirectory() as folder:
...     path = os.path.join(folder, "points.csv")
...     with open(path, "w") as file:
...         _ = file.write("x,y,name\n1,2,a\n3,4,b\n5,6,c\n")
...     for batch in read_batches([path], size=2):
...         print(batch.row, batch.values.tolist())
[1 2] [[1.0, 2.0], [3.0, 4.0]]
[3] [[5.0, 6.0]]

`read_batches`
    Iterator of batches of rows from files, globs or standard input; `ReadOptions` has the format,
    delimiter, encoding and so on.
`open_writer`
    Writer of a table, to which PyArrow tables are added; the ending of the name is the format.
`TableError`
    Error about files or cells. Its message is one sentence, which calls options by their names in
    the command: `--encoding` is `ReadOptions.encoding`.

Modules: `formats` and `inputs` find out what to read; `csv_reader`, `ndjson_reader` and
`columnar_reader` turn files into `chunks` of rows, by `text_file` and `cells`; `batches` cuts
chunks into batches; `bad_rows` skips or collects bad rows; `writers` writes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spclust.tables.batches import Batch, read_batches
    from spclust.tables.formats import Format, ReadOptions
    from spclust.tables.table_error import TableError
    from spclust.tables.writers import open_writer

__all__ = ["Batch", "Format", "ReadOptions", "TableError", "open_writer", "read_batches"]

# Modules are imported when one of their names is first used: the help of the command needs
# `formats`, but not PyArrow.
_HOMES = {
    "Batch": "batches",
    "Format": "formats",
    "ReadOptions": "formats",
    "TableError": "table_error",
    "open_writer": "writers",
    "read_batches": "batches",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"spclust.tables.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'spclust.tables' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
