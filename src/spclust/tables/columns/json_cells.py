"""Cells of JSON: kept as they are, until it is known what they are written as."""

import json
from typing import Any

import pyarrow as pa

_MARK = {b"spclust": b"json"}  # of a column whose cells are JSON


def json_field(name: str) -> pa.Field:
    """The field of a column of JSON."""
    return pa.field(name, pa.string(), metadata=_MARK)


def is_json(field: pa.Field) -> bool:
    """True for a column of JSON."""
    return field.metadata is not None and field.metadata.get(b"spclust") == b"json"


def value_of(cell: str | None) -> Any:
    """The value of a cell, None if there is none; text that is no JSON stays as it is."""
    try:
        return None if cell is None else json.loads(cell)
    except ValueError:
        return cell


def as_text(table: pa.Table) -> pa.Table:
    """A table with texts instead of JSON: a text is itself, all else is written as JSON."""
    for i, field in enumerate(table.schema):
        if is_json(field):
            texts = [_text(cell) for cell in table[field.name].to_pylist()]
            table = table.set_column(i, field.name, pa.array(texts, pa.string()))
    return table


def joined(tables: list[pa.Table]) -> pa.Table:
    """Tables with the same columns as one; as texts, if some have JSON where others have not."""
    if not all(table.schema.equals(tables[0].schema, check_metadata=True) for table in tables):
        tables = [as_text(table) for table in tables]
    return pa.concat_tables(tables)


def as_records(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table, with the values of JSON."""
    marked = [field.name for field in table.schema if is_json(field)]
    rows: list[dict[str, Any]] = table.to_pylist()
    for row in rows if marked else ():
        row.update({name: value_of(row[name]) for name in marked})
    return rows


def _text(cell: str | None) -> str | None:
    value = value_of(cell)
    return value if value is None or isinstance(value, str) else cell
