"""What `watch` takes: batches, or pairs of a batch and its time stamps."""

from datetime import timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from spclust import SPC
from spclust.datasets import make_drifting

PAPER = {"scale": 1.5, "beta": 0.02, "gamma": 0.1, "nlt_max": 0.001, "track_every": 25}


@pytest.mark.parametrize("params", [{"half_life": timedelta(seconds=300)}, PAPER], ids=str)
@pytest.mark.parametrize(
    "form",
    [np.asarray, np.ndarray.tolist, pd.DataFrame, pl.DataFrame, pa.table],
    ids=["array", "lists", "pandas", "polars", "arrow"],
)
@pytest.mark.parametrize("pair", [tuple, list])
def test_batches_with_time_stamps_are_pairs(params, form, pair):
    X, _, _ = make_drifting(2000, n_events=1, seed=1)
    t = np.cumsum(np.random.default_rng(0).exponential(size=len(X)))
    named = form in (pl.DataFrame, pa.table)
    rows = [form({"a": x[:, 0], "b": x[:, 1]} if named else x) for x in np.array_split(X, 4)]
    model, whole = SPC(60, **params), SPC(60, **{"track_every": 30, **params})
    batches = zip(rows, np.array_split(t, 4), strict=True)
    events = list(model.watch(pair(batch) for batch in batches))
    whole.partial_fit(X, t=t)
    assert model._stream.clock == t[-1]
    assert [str(event) for event in events] == [str(event) for event in whole.events_]
    assert events


def test_two_rows_are_no_pair():
    rows = [[0.0, 1.0], [2.0, 3.0]]
    for batch in (rows, tuple(rows), tuple(map(tuple, rows)), tuple(np.array(rows)), [[1], [2]]):
        model = SPC(10)
        assert list(model.watch([batch])) == []
        assert model.n_samples_seen_ == 2
        assert model._stream.clock is None
    with pytest.raises(ValueError, match="rows are of different lengths"):
        next(SPC().watch([([1.0, 2.0], [1.0])]))
