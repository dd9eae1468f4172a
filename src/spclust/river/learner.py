"""What both models have in common: parameters that are checked when set, and learning."""

from typing import Any

import numpy as np

from spclust.arrays import Booleans, Floats
from spclust.estimators.spc import online_params
from spclust.estimators.times import checked_times
from spclust.parameters import FIXED, Params, validate
from spclust.river.frames import numbers_in
from spclust.river.named import NOT_PLAIN, NamedStream
from spclust.river.values import Name, in_order, observed_values
from spclust.state.kinds import kind_for

_IN_FLIGHT = ("gamma", "beta", "w_min", "nlt_max", "eps", "min_samples")


class Learner:
    """The half of a model that learns; the other half is what River says that it is."""

    n_structures: int
    m: float
    gamma: float
    beta: float
    w_min: float
    nlt_max: float
    scale: float
    covariance_type: str
    max_rank: int | None

    _known: NamedStream | None = None  # None until something was learnt

    def learn_one(self, x: dict[Name, Any], t: Any = None) -> None:
        """Learn a point.

        A feature that was never seen before is added to all structures, with this value; what is
        missing is completed with what is expected in the structure of which the point is most
        typical. A point of which nothing was observed is passed over.

        With a time stamp `t`, a number or a date, for every point of the stream, what was learnt
        fades with time: `gamma` and `beta` are rates per unit of t, per second if they are dates.
        """
        known = self._known
        if known is not None:
            try:
                learnt = known.learn_plain(x, t)
            except NOT_PLAIN:
                learnt = 0
            if learnt == 1:
                return
            if learnt == -1:
                known.make_room()
                return
        self._learn_values(observed_values(x), t)

    def learn_many(self, X: Any, t: Any = None) -> None:
        """Learn the rows of a frame, in order: what `learn_one` does with each of them.

        With time stamps `t`, there is one for each row.
        """
        names, cells = numbers_in(X)
        known, row = self._known, 0
        times = (
            checked_times(t, len(cells), None, new=True)
            if known is None
            else known.times(t, len(cells))
        )
        while row < len(cells):
            row = self._learn_until_new_features(names, cells, times, row)

    def _learn_until_new_features(
        self, names: list[Name], cells: Floats, times: Floats | None, row: int
    ) -> int:
        """Learn rows from `row` on, up to one that brings new features; the row after the last."""
        known, there, end = self._known, ~np.isnan(cells), len(cells)
        plain: Booleans = np.zeros(end, dtype=np.bool_)
        if known is not None and set(known.names) <= set(names):
            order = [names.index(name) for name in known.names]
            others = [j for j, name in enumerate(names) if name not in known.names]
            plain = np.all(there[:, order], axis=1) & ~np.any(there[:, others], axis=1)
        for partial in [*(row + np.flatnonzero(~plain[row:])).tolist(), end]:
            if known is not None and partial > row:
                stamps = None if times is None else times[row:partial]
                known.learn_rows(cells[row:partial][:, order], stamps)
            row = partial + 1
            if partial < end:
                point = zip(names, cells[partial].tolist(), there[partial], strict=True)
                values = {name: value for name, value, is_there in point if is_there}
                self._learn_values(values, None if times is None else times[partial])
            if self._known is not known:
                break
        return row

    def _learn_values(self, values: dict[Name, float], t: Any) -> None:
        if not values:
            return
        known = self._known
        if known is None:
            known = NamedStream.begin(in_order(values), self._params_for)
        self._known = known.after(values, known.times(t, 1), self._params_for)

    # Parameters

    def __setattr__(self, name: str, value: Any) -> None:
        """Check parameters; those that may change in flight count from the next point on."""
        if name not in FIXED and name not in _IN_FLIGHT:
            super().__setattr__(name, value)
            return
        self._check(name, value)
        super().__setattr__(name, value)
        if self._known is not None:
            self._known.stream.configure(self._params_for(len(self._known.names)))
            self._known.refresh()

    def _check(self, name: str, value: Any) -> None:
        owner = type(self).__name__
        if name == "scale" and value == "auto":
            raise ValueError(
                f'scale of {owner} must be a number: "auto" is for arrays, spclust.SPC, where '
                "features do not come and go. StandardScaler() | SPC(scale=0.5) is a start."
            )
        validate({name: value}, owner)
        if self._known is not None and name in FIXED and value != getattr(self, name):
            raise ValueError(
                f"{name} cannot be changed to {value!r} in the middle of a stream: "
                f"clone({{{name!r}: {value!r}}}) makes a new model."
            )

    @property
    def _mutable_attributes(self) -> set[str]:
        return {name for name in _IN_FLIGHT if hasattr(self, name)}

    def _params_for(self, d: int) -> Params:
        """The parameters of the online phase; "auto" means what it meant at the first point."""
        kind = kind_for(self.covariance_type, d)
        if self._known is not None:
            kind = self._known.stream.params.kind
        return online_params(self, d, kind)
