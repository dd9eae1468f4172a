"""A model that learns batches of rows as they come out of files."""

from typing import TYPE_CHECKING, Any

import numpy as np

from spclust.arrays import Floats, Integers
from spclust.cli.prepared_model import Preparation

if TYPE_CHECKING:
    from spclust.estimators.spc import SPC
    from spclust.tracking.tracker import ClusterEvent


class Learner:
    """A model and what is done with rows before it sees them."""

    def __init__(self, model: "SPC", preparation: Preparation, *, warmup: int = 0) -> None:
        self.model, self.preparation = model, preparation
        self.warmup = warmup  # rows by which to standardise; 0 if that is not wanted

    @property
    def has_learnt(self) -> bool:
        """Whether there is anything to ask the model about."""
        return self.model.__sklearn_is_fitted__()

    def prepared(self, values: Floats) -> Floats:
        """Rows as the model sees them; the first ones decide about standardisation."""
        if self.warmup and self.preparation.centre is None:
            self.preparation = self.preparation.standardised_by(values[: self.warmup])
        return self.preparation.applied(values)

    def learn(self, rows: Floats) -> list[dict[str, Any]]:
        """Learn rows, as the model sees them: events."""
        if self.model.track_every is not None:
            return [self.as_record(event) for event in self.model.watch([rows])]
        self.model.partial_fit(rows)
        return []

    def learn_and_label(
        self, rows: Floats, *, before: bool
    ) -> tuple[Integers, list[dict[str, Any]]]:
        """Learn rows, as the model sees them: their labels, and events.

        Labels are those that the model gives `before` it has learnt these rows, unless they are
        the first, or else after that.
        """
        labels = self.model.predict(rows) if before and self.has_learnt else None
        events = self.learn(rows)
        return (self.model.labels_ if labels is None else labels), events

    def as_record(self, event: "ClusterEvent") -> dict[str, Any]:
        """An event as an object of JSON, its place in the units of the data."""
        centre = self.preparation.centres_in_units(np.array([event.centre]))[0]
        return {
            "event": event.kind,
            "after_rows": event.index,
            "before": list(event.before),
            "after": list(event.after),
            "centre": dict(zip(self.preparation.columns, centre.tolist(), strict=True)),
        }
