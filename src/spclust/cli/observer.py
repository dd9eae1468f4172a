"""What a run tells somebody who observes it, such as a service."""

from typing import Any, Protocol

from spclust.prepared_model import PreparedModel
from spclust.tables.batches import Batch
from spclust.tables.chunks import Position


class Observer(Protocol):
    """Somebody who is told what a run does."""

    def began(self, prepared: PreparedModel) -> None:
        """The run has a model, new or from a checkpoint, that may have learnt nothing yet."""

    def learnt(self, batch: Batch, events: list[dict[str, Any]]) -> None:
        """A batch was learnt."""

    def saved(self, position: Position) -> None:
        """A checkpoint was written."""
