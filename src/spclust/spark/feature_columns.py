"""Columns of a Spark table as features: selected and checked before any job starts."""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, BooleanType, DataType, NumericType

from spclust.partitions import BadRows, checked_policy
from spclust.spark.row_reader import RowFormat

_VECTOR = "features"  # name, on the workers, of a column that holds all features
_SCALAR = (NumericType, BooleanType)


def column_names(columns: str | Sequence[str]) -> list[str]:
    """Return the names of columns as a list: at least one, and none twice."""
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise ValueError("There is no column to learn: columns must name one or more.")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"columns must be names, but one is {name!r}.")
        if names.count(name) > 1:
            raise ValueError(f"Column {name!r} is named twice.")
    return names


def feature_columns(
    df: DataFrame, names: list[str], bad_rows: BadRows
) -> tuple[list[Any], RowFormat]:
    """Spark columns of doubles for the named ones, and how workers read rows from them.

    Numbers, booleans and decimals become doubles. One column may hold all features, as an array of
    numbers or a vector of Spark ML.
    """
    policy = checked_policy(bad_rows)
    kinds = {field.name: field.dataType for field in df.schema.fields}
    for name in names:
        if name not in kinds:
            raise ValueError(f"There is no column {name!r}; there are {', '.join(kinds)}.")
    if len(names) == 1 and not isinstance(kinds[names[0]], _SCALAR):
        vector = _vector(names[0], kinds[names[0]])
        if vector is not None:
            return [vector.alias(_VECTOR)], RowFormat(names, True, policy)
    for name in names:
        if not isinstance(kinds[name], _SCALAR):
            raise TypeError(
                f"Column {name!r} holds {kinds[name].simpleString()}, not numbers: leave it out, "
                "or turn it into numbers."
            )
    doubles = [quoted(name).cast("double") for name in names]
    columns = [double.alias(f"x{position}") for position, double in enumerate(doubles)]
    return columns, RowFormat(names, False, policy)


def _vector(name: str, kind: DataType) -> Any:
    """The column as an array of doubles; None if it holds neither arrays nor vectors."""
    if isinstance(kind, ArrayType) and isinstance(kind.elementType, _SCALAR):
        return quoted(name).cast("array<double>")
    if kind.simpleString() == "vector":
        from pyspark.ml.functions import vector_to_array

        return vector_to_array(quoted(name))
    return None


def quoted(name: str) -> Any:
    """The column of this name, which may contain dots and blanks."""
    return sql.col("`" + name.replace("`", "``") + "`")
