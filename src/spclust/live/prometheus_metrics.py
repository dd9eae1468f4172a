"""Metrics of the service for Prometheus."""

from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.metrics_core import Metric

from spclust.live.view.live_model import TYPICALITY_BOUNDS, LiveModel, memory
from spclust.version import __version__

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_KINDS = ("birth", "death", "merge", "split", "move")


class Metrics:
    """A collector of what a live model knows, and of the requests that were answered."""

    def __init__(self, live: LiveModel) -> None:
        self._live = live
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        self.answers: dict[tuple[str, int], int] = {}  # by path and status

    def text(self) -> bytes:
        """All metrics in the format of Prometheus."""
        return generate_latest(self._registry)

    def count(self, path: str, status: int) -> None:
        """Count an answer."""
        self.answers[path, status] = self.answers.get((path, status), 0) + 1

    def collect(self) -> Iterator[Metric]:
        """The metrics of now."""
        live, moment = self._live, self._live.moment
        yield InfoMetricFamily("spclust", "Version of the service", {"version": __version__})
        points = 0 if moment is None else moment.points
        yield _counter("points", "Points that the model has learnt", points)
        yield _counter("rows", "Rows that this process has learnt", live.recent.rows)
        yield _counter("bad_rows", "Rows that were left out", live.bad_rows())
        yield _gauge("rate", "Rows learnt per second, lately", live.rate)
        yield _gauge("clusters", "Clusters", 0 if moment is None else len(moment.cluster_ids))
        yield _gauge("structures", "Structures", 0 if moment is None else len(moment.ids))
        events = CounterMetricFamily("spclust_events", "Events of clusters", labels=["kind"])
        for kind in _KINDS:
            events.add_metric([kind], live.recent.kinds[kind])
        yield events
        yield _counter(
            "scored_rows", "Rows of the sample that outliers are counted in", live.scored
        )
        yield _counter("outliers", "Outliers among the sampled rows", live.outliers_seen)
        share = live.outlier_share
        if share is None:
            share = live.outliers_seen / live.scored if live.scored else 0.0
        yield _gauge("outlier_share", "Share of outliers in the sample", share)
        yield self._typicality()
        yield _gauge(
            "queue_rows", "Rows that were accepted and wait to be learnt", live.waiting_rows()
        )
        yield _gauge("readers", "Readers of the page", len(live.feed))
        yield _counter("lost_snapshots", "Snapshots that readers were too slow for", live.feed.lost)
        yield _gauge("memory_bytes", "Resident memory", memory())
        if live.checkpointed is not None:
            yield _gauge(
                "last_checkpoint_timestamp_seconds",
                "Time of the last checkpoint",
                live.checkpointed,
            )
        answers = CounterMetricFamily(
            "spclust_answers", "Requests that were answered", labels=["path", "status"]
        )
        for (path, status), number in sorted(self.answers.items()):
            answers.add_metric([path, str(status)], number)
        yield answers

    def _typicality(self) -> Metric:
        total, buckets = 0, []
        for bound, count in zip(TYPICALITY_BOUNDS, self._live.typicality_counts, strict=True):
            total += count
            buckets.append((str(bound), total))
        return HistogramMetricFamily(
            "spclust_typicality",
            "Typicality of the sampled rows",
            buckets=[*buckets, ("+Inf", total)],
            sum_value=self._live.typicality_sum,
        )


def _counter(name: str, text: str, value: Any) -> Metric:
    return CounterMetricFamily(f"spclust_{name}", text, value)


def _gauge(name: str, text: str, value: Any) -> Metric:
    return GaugeMetricFamily(f"spclust_{name}", text, value)
