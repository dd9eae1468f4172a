"""Advice about columns that nobody named, and that are hardly meant to be clustered by."""

import logging
import re
from collections.abc import Sequence

from spclust.tables.table_error import shortened

_KINDS = {
    "an identifier": (r"(.*[_ .-])?(id|uuid|guid|key|index|idx)|row(_?(nr|number))?", ""),
    "a known class": (
        r"(.*[_ ])?(class|label|target|cluster|category)|y_true",
        " (--label says so)",
    ),
    "a time": (
        r"(.*[_ ])?(time|timestamp|ts|date|datetime|epoch|unixtime)|(.*_)?at",
        " (--time says so)",
    ),
}  # names, and the option for such a column

logger = logging.getLogger("spclust.tables")


def advise(path: str, features: Sequence[str]) -> None:
    """Warn once about columns that are about to be clustered by, if their names are suspicious."""
    doubtful = {name: kind for name in features if (kind := _kind(name)) is not None}
    if not doubtful:
        return
    said = [f"{name!r} may be {kind}{_KINDS[kind][1]}" for name, kind in doubtful.items()]
    rest = [name for name in features if name not in doubtful]
    choice = f" such as --columns {','.join(rest)}" if 0 < len(rest) <= 6 else ""
    logger.warning(
        "%r is clustered by all columns of numbers, but %s: choose by --columns,%s if not meant.",
        path,
        shortened(said),
        choice,
    )


def _kind(name: str) -> str | None:
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return next((kind for kind, (words, _) in _KINDS.items() if re.fullmatch(words, snake)), None)
