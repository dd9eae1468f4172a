"""A model with its columns and standardisation, which are saved and loaded together.

`SPC.load` reads the same files and ignores the header's entry about columns and standardisation.
"""

from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from spclust.array_types import Floats, Integers
from spclust.persistence.atomic_file import AnyPath, write_whole
from spclust.persistence.container import RefusedError, decode, encode, read_saved
from spclust.time_units import date_text

if TYPE_CHECKING:
    from spclust.estimators.spc import SPC
    from spclust.tracking.events import ClusterEvent

_ENTRY = "prepared_by_command"  # of the header of a saved model
_DAMAGED = "its entry about columns is damaged"


class Preparation(NamedTuple):
    """Columns, by name, and standardisation of the rows that a model sees."""

    columns: tuple[str, ...]  # empty for a model that was saved in Python without names
    centre: Floats | None = None  # (d,) subtracted; None: no standardisation
    deviation: Floats | None = None  # (d,) standard deviations, divided by

    def standardised_by(self, rows: Floats) -> Self:
        """The same columns, standardised by the mean and standard deviation of rows (n, d).

        They stay fixed: coordinates must not move under a model that has learnt in them. A
        standard deviation of 0 is replaced by 1.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            centre, deviation = rows.mean(axis=0), rows.std(axis=0)
        if not (np.isfinite(centre).all() and np.isfinite(deviation).all()):  # huge numbers
            unit = np.maximum(np.abs(rows).max(axis=0), 1.0)
            centre, deviation = unit * (rows / unit).mean(axis=0), unit * (rows / unit).std(axis=0)
        deviation[deviation == 0.0] = 1.0
        return self._replace(centre=centre, deviation=deviation)

    def applied(self, rows: Floats) -> Floats:
        """Rows (n, d) in the units of the model."""
        if self.centre is None or self.deviation is None:
            return rows
        with np.errstate(over="ignore"):  # what is not finite then is refused
            prepared: Floats = (rows - self.centre) / self.deviation
        return prepared

    def centres_in_units(self, means: Floats) -> Floats:
        """Means (k, d) of the model in the units of the data."""
        if self.centre is None or self.deviation is None:
            return means
        in_units: Floats = means * self.deviation + self.centre
        return in_units

    def deviations_in_units(self, deviations: Floats) -> Floats:
        """Standard deviations (k, d) of the model in the units of the data."""
        return deviations if self.deviation is None else deviations * self.deviation

    def as_plain(self) -> dict[str, Any]:
        """The preparation as JSON can hold it; see `from_plain`."""
        return {
            "columns": list(self.columns),
            "centre": None if self.centre is None else self.centre.tolist(),
            "spread": None if self.deviation is None else self.deviation.tolist(),
        }

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """The preparation that `as_plain` wrote; RefusedError if it is damaged."""
        try:
            columns = tuple(str(name) for name in plain["columns"])
            if plain["centre"] is None:
                return cls(columns)
            centre, deviation = (np.array(plain[k], dtype=np.float64) for k in ("centre", "spread"))
            sound = (
                np.isfinite(centre).all() and np.isfinite(deviation).all() and (deviation > 0).all()
            )
            if not sound or centre.shape != (len(columns),) or deviation.shape != centre.shape:
                raise ValueError
        except (KeyError, TypeError, ValueError):
            raise RefusedError(_DAMAGED) from None
        return cls(columns, centre, deviation)


class Learnt(NamedTuple):
    """Rows that a model has learnt in one call."""

    before: int = 0  # points learnt before them
    time: Floats | None = None  # (n,)
    number: Integers | None = None  # (n,) in the whole input

    def place(self, index: int, *, dated: bool) -> dict[str, Any]:
        """Where an event is that was told after `index` points: points, row and time."""
        found: dict[str, Any] = {"after_rows": index}
        if self.number is not None:
            found["row"] = int(self.number[self._at(index, len(self.number))])
        if self.time is not None:
            seconds = float(self.time[self._at(index, len(self.time))])
            found["time"] = date_text(seconds) if dated else seconds
        return found

    def _at(self, index: int, rows: int) -> int:
        """Place of the last row that had been learnt then: an event may be of rows before these."""
        return min(max(index - self.before - 1, 0), rows - 1)


class PreparedModel:
    """A model and the preparation of its rows."""

    def __init__(self, model: "SPC", preparation: Preparation, *, warmup: int = 0) -> None:
        self.model, self.preparation = model, preparation
        self.warmup = warmup  # rows by which to standardise; 0: no standardisation
        self.watched = False  # True if events are wanted, whatever `track_every` is
        self.pace: float | None = None  # seconds between two observations, if no rows are counted
        self._observed = 0.0  # time of the last one
        self.dated = False  # True if time stamps are seconds of dates
        self._last = Learnt()  # what was learnt last
        self._lock = Lock()  # of learning and observing

    @property
    def has_learnt(self) -> bool:
        """True if the model has learnt rows."""
        return self.model.__sklearn_is_fitted__()

    def names(self) -> list[str]:
        """Names of the features, x0, x1, ... if the columns are unknown."""
        return list(self.preparation.columns) or [f"x{i}" for i in range(self.model.n_features_in_)]

    def prepare(self, values: Floats) -> Floats:
        """Rows in the units of the model; the first ones determine the standardisation."""
        if self.warmup and self.preparation.centre is None:
            self.preparation = self.preparation.standardised_by(values[: self.warmup])
        return self.preparation.applied(values)

    @property
    def clock(self) -> float | None:
        """The last time stamp; None if there is none."""
        clock: float | None = self.model._stream.clock if self.has_learnt else None
        return clock

    def learn(
        self, rows: Floats, time: Floats | None = None, number: Integers | None = None
    ) -> list[dict[str, Any]]:
        """Learn rows, in the units of the model; return records of events.

        Rows have time stamps (n,), or none has, and numbers (n,) in the whole input.
        """
        from spclust.estimators.queries import learn_unobserved, watch

        learnt = Learnt(self.model.n_samples_seen_ if self.has_learnt else 0, time, number)
        if self.pace is not None:
            with self._lock:
                learn_unobserved(self.model, rows, time)
                self._last = learnt
            return self.observe()
        self._last = learnt
        if self.watched or self.model.track_every is not None:
            return [self.event_record(event) for event in watch(self.model, [(rows, time)])]
        self.model.partial_fit(rows, t=time)
        return []

    def observe(self) -> list[dict[str, Any]]:
        """Observe the clusters if the last time is long enough ago; return records of events.

        Any thread may do that, beside the one that learns.
        """
        from spclust.estimators.queries import observe

        with self._lock:
            now = monotonic()
            if self.pace is None or not self.has_learnt or now - self._observed < self.pace:
                return []
            self._observed = now
            return [self.event_record(event) for event in observe(self.model)]

    def learn_and_label(
        self,
        rows: Floats,
        time: Floats | None = None,
        number: Integers | None = None,
        *,
        before: bool,
    ) -> tuple[Integers, list[dict[str, Any]]]:
        """Learn rows, in the units of the model; return their labels, and records of events.

        With `before`, labels are predicted before the rows are learnt, unless these are the first
        rows; else they are those after.
        """
        labels = self.model.predict(rows) if before and self.has_learnt else None
        events = self.learn(rows, time, number)
        return (self.model.labels_ if labels is None else labels), events

    def event_record(self, event: "ClusterEvent") -> dict[str, Any]:
        """An event as a JSON object, with its centre in the units of the data."""
        centre = self.preparation.centres_in_units(np.array([event.centre]))[0]
        return {
            "event": event.kind,
            **self._last.place(event.index, dated=self.dated),
            "before": list(event.before),
            "after": list(event.after),
            "centre": dict(zip(self.preparation.columns, centre.tolist(), strict=True)),
        }

    def diagnose(self) -> list[str]:
        """What `SPC.diagnose` says, with the names of the columns."""
        from spclust.estimators.queries import diagnose

        return [str(finding) for finding in diagnose(self.model, self.names())]

    def records(self, what: Literal["clusters", "structures"]) -> list[dict[str, Any]]:
        """A record for each cluster, or for each structure, oldest first, in units of the data."""
        from spclust.estimators.queries import has_ids_of_its_own, lasting_ids

        table, names = self.model.describe(what), self.names()
        if what == "clusters" and has_ids_of_its_own(self.model):
            ids = lasting_ids(self.model, table["label"])
            table = {"label": table.pop("label"), "id": ids, **table}
        table["centre"] = self.preparation.centres_in_units(table["centre"])
        table["spread"] = self.preparation.deviations_in_units(table["spread"])
        return [
            {
                name: (
                    dict(zip(names, column[i].tolist(), strict=True))
                    if column.ndim > 1
                    else _finite(column[i].item())
                )
                for name, column in table.items()
            }
            for i in range(len(table["centre"]))
        ]

    def to_bytes(self) -> bytes:
        """The bytes of `SPC.to_bytes`, with the names of the features and the preparation."""
        from spclust.estimators.model_file import content_of_model

        header, arrays = content_of_model(self.model)
        if self.preparation.columns:
            header["feature_names_in"] = list(self.preparation.columns)
            header[_ENTRY] = self.preparation.as_plain()
        return encode(header, arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """A model of the bytes of `to_bytes` or `SPC.to_bytes`; ValueError if they are none."""
        from spclust.estimators.spc import SPC

        model = SPC.from_bytes(data)
        header, _ = decode(data)
        preparation = Preparation(tuple(map(str, getattr(model, "feature_names_in_", ()))))
        if header.get(_ENTRY) is not None:
            preparation = Preparation.from_plain(header[_ENTRY])
            if len(preparation.columns) != model.n_features_in_:
                raise RefusedError(_DAMAGED)
        # The command passes arrays without names, whose columns it has put in order by name.
        if hasattr(model, "feature_names_in_"):
            del model.feature_names_in_
        return cls(model, preparation)

    def save(self, path: AnyPath) -> None:
        """Save the model; if that fails, the file is as it was."""
        write_whole(path, self.to_bytes())

    @classmethod
    def load(cls, path: str) -> Self:
        """The model in a file; ValueError, which names the file, if there is none in it."""
        try:
            return cls.from_bytes(read_saved(path))
        except RefusedError as error:
            raise ValueError(f"Cannot load {path!r}: {error}.") from None
        except ValueError as error:
            text = str(error).replace(
                "Cannot load a model from these bytes", f"Cannot load {path!r}"
            )
            raise ValueError(text) from None


def _finite(number: Any) -> Any:
    """A number for JSON: None, that is null, if it is not finite."""
    return number if not isinstance(number, float) or np.isfinite(number) else None
