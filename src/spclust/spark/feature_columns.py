"""Columns of a Spark table as features: chosen and checked before any work begins."""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, BooleanType, DataType, NumericType

VECTOR = "features"  # name, on the way to the workers, of a column that has all features
_PLAIN = (NumericType, BooleanType)


def named(columns: str | Sequence[str]) -> list[str]:
    """The names of columns, of which there is at least one and none twice."""
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise ValueError("There is no column to learn: columns must name one or more.")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"columns must be names, but one is {name!r}.")
        if names.count(name) > 1:
            raise ValueError(f"Column {name!r} is named twice.")
    return names


def feature_columns(df: DataFrame, names: list[str]) -> tuple[list[Any], bool]:
    """Spark columns of doubles for the named ones, and whether it is a single one of vectors.

    Numbers, booleans and decimals become doubles. One column may hold all features, as an array of
    numbers or a vector of Spark ML.
    """
    kinds = {field.name: field.dataType for field in df.schema.fields}
    for name in names:
        if name not in kinds:
            raise ValueError(f"There is no column {name!r}; there are {', '.join(kinds)}.")
    if len(names) == 1 and not isinstance(kinds[names[0]], _PLAIN):
        vector = _vector(names[0], kinds[names[0]])
        if vector is not None:
            return [vector.alias(VECTOR)], True
    for name in names:
        if not isinstance(kinds[name], _PLAIN):
            raise TypeError(
                f"Column {name!r} holds {kinds[name].simpleString()}, not numbers: leave it out, "
                "or turn it into numbers."
            )
    doubles = [quoted(name).cast("double") for name in names]
    return [double.alias(f"x{place}") for place, double in enumerate(doubles)], False


def _vector(name: str, kind: DataType) -> Any:
    if isinstance(kind, ArrayType) and isinstance(kind.elementType, _PLAIN):
        return quoted(name).cast("array<double>")
    if kind.simpleString() == "vector":
        from pyspark.ml.functions import vector_to_array

        return vector_to_array(quoted(name))
    return None


def quoted(name: str) -> Any:
    """The column of this name, which may have dots and blanks in it."""
    return sql.col("`" + name.replace("`", "``") + "`")
