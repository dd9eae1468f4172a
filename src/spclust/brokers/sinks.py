"""Labels and events as messages of a topic, in the place of the files that they are written to."""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pyarrow as pa

from spclust.brokers.broker_url import BrokerUrl
from spclust.brokers.message import Outgoing, Sink, Stopped, needed_package
from spclust.tables.formats import Format
from spclust.tables.table_error import TableOptionError
from spclust.tables.writers import Written, encoded

_ROWS = 1000  # of a message: servers limit its length, many to a megabyte


def opened_sink(url: BrokerUrl, stopped: Stopped) -> Sink:
    """A topic to write to; TableError if its client is not installed."""
    with needed_package(url.scheme):
        module = import_module(f"spclust.brokers.{url.scheme}_broker")
    made: Sink = getattr(module, f"{url.scheme.capitalize()}Sink")(url, stopped)
    return made


class _SinkWriter:
    def __init__(self, url: BrokerUrl, stopped: Stopped) -> None:
        self._sink = opened_sink(url, stopped)

    def sync(self) -> Written:
        """Wait until the server has everything; nothing of it can be taken back."""
        self._sink.flush()
        return Written()

    def close(self) -> None:
        """Leave the server, which has everything."""
        try:
            self._sink.flush()
        finally:
            self._sink.close()


class TableSink(_SinkWriter):
    """A writer of tables, some rows in each message."""

    def __init__(self, url: BrokerUrl, kind: Format | None, stopped: Stopped) -> None:
        if kind is Format.PARQUET:
            raise TableOptionError("Messages of a broker are ndjson, csv, tsv or arrow.")
        super().__init__(url, stopped)
        self._kind = kind or Format.NDJSON

    def add(self, table: pa.Table) -> None:
        """Send rows, with the numbers of the first and the last one of each message."""
        messages = []
        for start in range(0, len(table), _ROWS):
            part = table.slice(start, _ROWS)
            numbers = part["row"]
            headers = {"rows": f"{numbers[0].as_py()}-{numbers[-1].as_py()}"}
            messages.append(Outgoing(encoded(part, self._kind, first=True), headers))
        self._sink.send(messages)


class RecordSink(_SinkWriter):
    """A writer of records, each a message of its own, which is numbered."""

    def __init__(self, url: BrokerUrl, count: int, stopped: Stopped) -> None:
        """Go on after `count` records, which were sent before."""
        super().__init__(url, stopped)
        self._count = count

    def add(self, record: Mapping[str, Any]) -> None:
        """Send a record."""
        self._count += 1
        text = json.dumps({"number": self._count, **record}, ensure_ascii=False)
        self._sink.send([Outgoing(text.encode(), {"number": str(self._count)})])
