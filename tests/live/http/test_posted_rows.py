"""What is posted: formats, keys, scores."""

import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tests.live.common import ARROW, CSV, NDJSON, ndjson, needs_a_server, stream
from tests.live.http.common import BODIES, loaded

pytestmark = needs_a_server


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("form", BODIES)
def test_rows_of_each_format_are_learnt(service, form, compressed):
    rows = stream(50, seed=3)
    body, kind = BODIES[form](rows)
    before = service.metric("spclust_rows_total")
    headers = {"Content_Encoding": "gzip"} if compressed else {}
    answer = service.post("/learn", gzip.compress(body) if compressed else body, kind, **headers)
    assert answer.json() == {"rows": 50, "bad_rows": 0, "repeated": False}
    service.wait_for_rows(before + 50)


def test_a_key_counts_once(service):
    rows, before = stream(40, seed=8), service.metric("spclust_rows_total")
    first = service.learn(rows, Idempotency_Key="forty")
    again = service.learn(rows, Idempotency_Key="forty")
    other = service.learn(rows[:10], Idempotency_Key="forty")  # whatever it has
    assert [each["repeated"] for each in (first, again, other)] == [False, True, True]
    assert [each["rows"] for each in (first, again, other)] == [40, 40, 40]
    service.learn(rows)
    service.wait_for_rows(before + 80)
    assert service.metric("spclust_rows_total") == before + 80


@pytest.mark.parametrize("form", BODIES)
def test_scores_are_those_of_the_model_that_is_downloaded(service, form, tmp_path):
    rows = np.concatenate([stream(200, seed=4), [[1e6, -1e6]]])
    found = service.post("/score", *BODIES[form](rows)).json()
    model, named = loaded(service, tmp_path), pd.DataFrame(rows, columns=["x", "y"])
    assert found["label"] == model.predict(named).tolist()
    assert found["id"] == found["label"]  # in the automatic mode
    assert found["typicality"] == np.exp(model.score_samples(named)).tolist()
    assert found["outlier"] == (-model.score_samples(named) > 3.0).tolist()
    assert found["outlier"][-1]
    assert not all(found["outlier"])


def test_scores_come_in_the_format_that_is_asked_for(service):
    rows = ndjson(stream(20, seed=5))
    plain = service.post("/score", rows).json()
    lines = service.post("/score", rows, Accept=NDJSON)
    assert lines.headers["content-type"] == NDJSON
    table = pa.Table.from_pylist([json.loads(line) for line in lines.body.splitlines()])
    assert table.to_pydict() == plain
    stream_of_arrow = service.post("/score", rows, Accept=ARROW)
    assert pa.ipc.open_stream(stream_of_arrow.body).read_all().to_pydict() == plain


def test_scoring_learns_nothing(service):
    before = service.get("/model").body
    service.post("/score", ndjson(stream(500, seed=6)))
    assert service.get("/model").body == before


def test_columns_may_come_in_any_order_and_with_others(service):
    row = {"z": "text", "y": 1.0, "x": 2.0}
    told = service.post("/score", json.dumps(row).encode()).json()
    assert told == service.post("/score", b"x,y\n2,1\n", CSV).json()
