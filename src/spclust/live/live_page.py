"""A live page for a model in the same process: `SPC.live`."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spclust.array_types import Rows
from spclust.estimators.queries import feature_names, track
from spclust.live.guard import Guard, is_loopback
from spclust.live.http_server import HttpServer
from spclust.live.posts.posted_rows import ServiceOptions
from spclust.live.service import Service
from spclust.live.view.live_model import LiveModel
from spclust.live.view.viewer import Viewer
from spclust.parameters import is_automatic
from spclust.prepared_model import Preparation, PreparedModel

if TYPE_CHECKING:
    from spclust.estimators.spc import SPC

_PACE = 0.25  # seconds between two observations of the clusters


class LivePage:
    """The page of a model, open until it is closed."""

    def __init__(self, model: "SPC", host: str, port: int) -> None:
        """Open the page."""
        if not is_loopback(host):
            raise ValueError(
                f"live cannot listen at {host!r}, which other machines can reach: use spclust "
                "serve with a token for that."
            )
        if "_listener" in vars(model):
            raise ValueError("This model has a live page already: close that one first.")
        prepared = PreparedModel(model, Preparation(()))
        if is_automatic(model.scale) and model.track_every is None:
            prepared.pace = _PACE
            track(model)
        self._model, self._noticed = model, 0
        self._live = LiveModel(type(model).__name__, prepared)
        service = Service(self._live, None, ServiceOptions())
        self._open = ExitStack()
        server = HttpServer(Guard(service, None), host, port)
        self._open.callback(self._leave)
        self._open.enter_context(server)
        self._open.enter_context(Viewer(self._live))
        self.url = server.url
        model.__dict__["_listener"] = self._learnt

    def _learnt(self, rows: Rows) -> None:
        """Note rows that the model has learnt; it calls this."""
        model = self._model
        self._live.prepared.preparation = Preparation(tuple(feature_names(model)))
        events: list[Any] = []
        if self._live.prepared.pace is None and model._tracker is not None:
            new = model._tracker.noticed - self._noticed
            self._noticed = model._tracker.noticed
            told = model.events_[-new:] if new else []
            events = [self._live.prepared.event_record(event) for event in told]
        self._live.learnt(np.asarray(rows, dtype=np.float64), model.n_samples_seen_, events)

    def _leave(self) -> None:
        self._model.__dict__.pop("_listener", None)

    def close(self) -> None:
        """Close the page; the model stays as it is."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LivePage({self.url!r})"

    def _repr_html_(self) -> str:
        """A link, in a notebook."""
        return f'<a href="{self.url}" target="_blank">{self.url}</a>'
