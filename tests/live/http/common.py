"""Bodies of requests, and what a service has to be asked for in several tests."""

import json
import time

from spclust import SPC
from tests.live.common import ARROW, CSV, JSON, NDJSON, SECONDS, arrow, csv, ndjson, records

BODIES = {
    "ndjson": lambda rows: (ndjson(rows), NDJSON),
    "json": lambda rows: (json.dumps(records(rows)).encode(), JSON),
    "csv": lambda rows: (csv(rows).encode(), CSV),
    "tsv": lambda rows: (csv(rows).replace(",", "\t").encode(), "text/tab-separated-values"),
    "arrow": lambda rows: (arrow(rows), ARROW),
    "charset": lambda rows: (csv(rows).encode(), "Text/CSV; charset=utf-8"),
}


def loaded(service, folder):
    """The model of a service."""
    answer = service.get("/model")
    assert answer.headers["content-disposition"] == 'attachment; filename="model.spc"'
    (folder / "model.spc").write_bytes(answer.body)
    return SPC.load(folder / "model.spc")


def messages(service, path, count, **headers):
    """The first server-sent events of a stream, as dictionaries."""
    connection = service.connection()
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        found, record, until = [], {}, time.monotonic() + SECONDS
        while len(found) < count:
            assert time.monotonic() < until, found
            name, _, value = answer.readline().decode().rstrip("\n").partition(": ")
            if name:
                record[name] = value
            elif "data" in record:
                found.append({**record, "data": json.loads(record["data"])})
                record = {}
        return found
    finally:
        connection.close()
