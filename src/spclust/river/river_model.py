"""Base class of both River models: learning, and parameters that are checked when they are set."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from spclust.array_types import Booleans, Floats, HalfLife
from spclust.estimators.fit import online_parameters
from spclust.estimators.spc import SPC
from spclust.estimators.times import checked_times, refuse_duration
from spclust.inspection.findings import Finding
from spclust.parameters import FIXED, TABLE, Params, is_automatic, validate, validate_mode
from spclust.persistence.atomic_file import AnyPath
from spclust.river.dataframes import numbers_in
from spclust.river.feature_values import Name, in_order, observed_values
from spclust.river.model_exchange import as_estimator, of_estimator, refuse_other_names
from spclust.river.named_stream import NOT_COMPLETE, NamedStream
from spclust.state.kinds import kind_for
from spclust.stream.access import Access, learns, reads

# In River n_clusters is the number of clusters that were found.
_NAMES = tuple(name for name in TABLE if name != "n_clusters")


class RiverModel:
    """The stream of a River model, its parameters, and how it learns."""

    n_structures: int | str
    half_life: HalfLife
    m: float
    gamma: float
    beta: float
    w_min: float
    nlt_max: float
    scale: float | str
    covariance_type: str
    max_rank: int | None

    _known: NamedStream | None = None  # None until a point was learnt
    _access: Access

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """A model, which nobody has access to yet."""
        model = super().__new__(cls)
        model._access = Access(cls.__name__)
        return model

    @reads
    def __getstate__(self) -> dict[str, Any]:
        """The state without who has access."""
        return {name: value for name, value in vars(self).items() if name != "_access"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._known is not None:
            self._known.access = self._access
            self._known.refresh()

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        """Set the parameters among `arguments`, which are the locals of a model's `__init__`."""
        super().__init__()
        for name in _NAMES:
            if name in arguments:
                super().__setattr__(name, arguments[name])
        validate(self._parameters(), type(self).__name__)
        validate_mode(self._parameters(), type(self).__name__)

    def learn_one(self, x: dict[Name, Any], t: Any = None) -> None:
        """Learn a point.

        A feature that was never seen before is added to all structures, with this value. Missing
        features are filled in with the values expected in the structure of which the point is most
        typical. A point without any value is ignored.

        With a time stamp `t`, a number or a date, for every point of the stream, `half_life` is a
        time in the unit of t, seconds if they are dates; `gamma` and `beta` are rates per unit.
        """
        known = self._known
        if known is not None:
            try:
                learnt = known.learn_complete(x, t)
            except NOT_COMPLETE:
                learnt = 0
            if learnt == 1:
                return
            if learnt == -1:
                self._access.finish(known.finish)
                return
        self._access.learn(self._learn_values, observed_values(x), t)

    @learns
    def learn_many(self, X: Any, t: Any = None) -> None:
        """Learn the rows of a data frame, in order, as `learn_one` learns each of them.

        Time stamps `t`, if there are any, are one for each row.
        """
        names, cells = numbers_in(X)
        times, row = self._times(t, len(cells)), 0
        while row < len(cells):
            row = self._learn_until_new_features(names, cells, times, row)

    def _learn_until_new_features(
        self, names: list[Name], cells: Floats, times: Floats | None, row: int
    ) -> int:
        """Learn rows from `row` on, up to one with new features; return the row after the last."""
        known, present, end = self._known, ~np.isnan(cells), len(cells)
        complete: Booleans = np.zeros(end, dtype=np.bool_)
        if known is not None and set(known.names) <= set(names):
            order = [names.index(name) for name in known.names]
            others = [j for j, name in enumerate(names) if name not in known.names]
            complete = np.all(present[:, order], axis=1) & ~np.any(present[:, others], axis=1)
        for partial in [*(row + np.flatnonzero(~complete[row:])).tolist(), end]:
            if known is not None and partial > row:
                stamps = None if times is None else times[row:partial]
                known.learn_rows(cells[row:partial][:, order], stamps)
            row = partial + 1
            if partial < end:
                point = zip(names, cells[partial].tolist(), present[partial], strict=True)
                values = {name: value for name, value, is_present in point if is_present}
                self._learn_values(values, None if times is None else times[partial])
            if self._known is not known:
                break
        return row

    def _learn_values(self, values: dict[Name, float], t: Any) -> None:
        if not values:
            return
        known, times = self._known, self._times(t, 1)
        if known is None:
            known = NamedStream.begin(in_order(values), self._params_for, self._access)
        self._known = known.after(values, times, self._params_for)

    def _times(self, t: Any, rows: int) -> Floats | None:
        """Time stamps (rows,) of the next points, checked, or None."""
        new, last = self._known is None, None if self._known is None else self._known.stream.clock
        times = checked_times(t, rows, last, new=new)
        if times is None:
            refuse_duration(self.half_life, new=new)
        return times

    # Files

    @reads
    def save(self, path: AnyPath) -> None:
        """Save the model to a file, which is complete or, if anything fails, unchanged.

        It is a file of `spclust.SPC`, which can load it, too. Names of features must be strings.
        """
        refuse_other_names(self)
        as_estimator(self).save(path)

    @classmethod
    def load(cls, path: AnyPath, *, max_bytes: int | None = None) -> Self:
        """Load a model that `save`, or `spclust.SPC.save`, wrote; it goes on to the last bit.

        A ValueError says why if the file is not valid. Code in the file is not run. A model that
        takes more than `max_bytes` of memory is refused: None is all that this machine has.
        """
        model: Self = of_estimator(cls, SPC.load(path, max_bytes=max_bytes))
        return model

    @reads
    def diagnose(self) -> list[Finding]:
        """Sentences about probable problems, and what to change: see `spclust.SPC.diagnose`."""
        return as_estimator(self).diagnose()

    # Parameters

    def __setattr__(self, name: str, value: Any) -> None:
        """Check a parameter; a change takes effect at the next point."""
        if name not in _NAMES:
            super().__setattr__(name, value)
            return
        self._access.learn(self._set_parameter, name, value)

    def _set_parameter(self, name: str, value: Any) -> None:
        self._check(name, value)
        super().__setattr__(name, value)
        if self._known is not None:
            self._known.stream.configure(self._params_for(len(self._known.names)))
            self._known.refresh()

    def _check(self, name: str, value: Any) -> None:
        owner = type(self).__name__
        validate({name: value}, owner)
        validate_mode({**self._parameters(), name: value}, owner)
        if name == "half_life" and self._known is not None and self._known.stream.clock is None:
            refuse_duration(value, new=False)
        if self._known is not None and name in FIXED and value != getattr(self, name):
            raise ValueError(
                f"{name} cannot be changed to {value!r} in the middle of a stream: "
                f"clone({{{name!r}: {value!r}}}) makes a new model."
            )

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _NAMES if hasattr(self, name)}

    @property
    def _mutable_attributes(self) -> set[str]:
        """The parameters that River's `mutate` may change."""
        return {name for name in _NAMES if name not in FIXED and hasattr(self, name)}

    def _params_for(self, d: int) -> Params:
        """The parameters of the online phase for d features.

        covariance_type="auto" keeps the kind that it chose at the first point.
        """
        kind = kind_for(self.covariance_type, d, is_automatic(self.scale))
        if self._known is not None:
            kind = self._known.stream.params.kind
        return online_parameters(self, d, kind)
