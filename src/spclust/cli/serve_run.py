"""A run of `spclust serve`: a run of `spclust cluster` that can be seen and asked."""

import logging
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from spclust.array_types import Booleans
from spclust.cli.cluster_run import ClusterRun
from spclust.cli.exit_codes import CommandError, StopSignal, say
from spclust.cli.options import InputOptions, LabelOptions, RunOptions
from spclust.cli.sources.posted_source import PostedSource
from spclust.cli.sources.source import Source
from spclust.live.guard import Guard
from spclust.live.http_server import HttpServer
from spclust.live.posts.bodies import NAME
from spclust.live.posts.intake import Intake
from spclust.live.posts.journal import Journal
from spclust.live.posts.posted_rows import ServiceOptions
from spclust.live.service import Service
from spclust.live.view.live_model import LiveModel
from spclust.live.view.viewer import Viewer
from spclust.prepared_model import Preparation, PreparedModel
from spclust.tables.bad_rows import BadRows
from spclust.tables.batches import Batch
from spclust.tables.chunks import Position
from spclust.tables.inputs import expand_inputs

_JOURNAL = "posted"  # folder beside the checkpoint


class PostedRun(ClusterRun):
    """A run of rows that were accepted already: none of them may end it."""

    def _in_order(self, batch: Batch) -> Batch:
        found = super()._in_order(batch)
        late = len(batch.values) - len(found.values)
        if late and self._input.on_bad_row == "stop":
            say(f"left out {late:,} posted rows whose time goes backwards.", logging.WARNING)
            return found._replace(bad=batch.bad)
        return found

    def _learn(self, batch: Batch) -> None:
        if not self.prepared.warmup:  # they were finite when they were posted
            super()._learn(batch)
            return
        finite = np.isfinite(self.prepared.prepare(batch.values))
        good: Booleans = np.asarray(finite.all(axis=1))
        if not good.all():
            say(
                f"left out {np.sum(~good):,} posted rows that are too large to be standardised.",
                logging.WARNING,
            )
            batch = batch.kept(good)
        if good.any():
            super()._learn(batch)


class ServeRun:
    """A run with a service around it."""

    def __init__(
        self,
        inputs: list[str],
        input_options: InputOptions,
        parameters: dict[str, Any],
        label_options: LabelOptions,
        run_options: RunOptions,
        *,
        host: str,
        port: int,
        token: str | None,
        hosts: tuple[str, ...],
        max_body: int,
    ) -> None:
        self.stop = StopSignal()
        self._intake = None
        if not inputs:
            stops = input_options.on_bad_row == "stop"
            self._intake = Intake(self._journal(run_options.checkpoint), stops=stops)
        source: Source | None = None
        if self._intake is not None:
            source = PostedSource(self._intake, self.stop, input_options.time)
        paths = expand_inputs(inputs) if inputs else [NAME]
        self._run = (PostedRun if self._intake else ClusterRun)(
            paths,
            input_options,
            parameters,
            label_options,
            run_options,
            source,
            observer=self,
            stop=self.stop,
        )
        shown = ", ".join(self._run.paths) if inputs else "POST /learn"
        self._live = LiveModel(shown, PreparedModel(self._run.prepared.model, Preparation(())))
        self._service = Service(
            self._live,
            self._intake,
            ServiceOptions(
                columns=input_options.columns,
                label=label_options.label,
                keep=label_options.keep,
                reading=input_options.read_options(),
                stops_at_bad_rows=input_options.on_bad_row == "stop",
                max_body=max_body,
            ),
        )
        checkpoint = run_options.checkpoint
        self._service.resuming = checkpoint is not None and checkpoint.exists()
        self._live.bad_rows = self._bad_rows
        if self._intake is not None:
            intake = self._intake
            self._live.waiting_rows = lambda: intake.waiting_rows
            self.stop.then(intake.close)
        self._saved = Position()
        self._host, self._port = host, port
        self._app = Guard(self._service, token, hosts)

    def _journal(self, checkpoint: Path | None) -> Journal | None:
        if checkpoint is None:
            return None
        journal = Journal(checkpoint.parent / _JOURNAL)
        if journal.cut_off:
            say(
                f"left out {journal.cut_off:,} bytes of posted rows that were never accepted.",
                logging.WARNING,
            )
        return journal

    def _bad_rows(self) -> int:
        bad: BadRows | None = getattr(self._run, "bad", None)  # there is none before it begins
        return 0 if bad is None else bad.count

    @property
    def rows(self) -> int:
        """Rows learnt, those before a checkpoint included."""
        return self._run.rows

    def __call__(self) -> None:
        """Learn and answer until a signal arrives; a file that ends is still answered for."""
        with ExitStack() as stack:
            try:
                server = HttpServer(self._app, self._host, self._port)
            except OSError as error:
                raise CommandError(
                    f"Cannot listen at {self._host}, port {self._port}: {error.strerror}. Say "
                    "--port 0 for any free one."
                ) from None
            stack.enter_context(server)
            stack.callback(self._stop_answering)
            stack.enter_context(Viewer(self._live))  # it lets the readers go before the server ends
            if self._intake is not None:  # a file is waited for as `spclust cluster` does
                stack.enter_context(self.stop)
            say(f"listening at {server.url}")
            self._run(quiet=True)
            self._live.state = "ended"
            with self.stop:
                self.stop.wait()

    def _stop_answering(self) -> None:
        self._service.stopping = True

    # What the run tells

    def began(self, prepared: PreparedModel) -> None:
        """The run has a model."""
        self._live.prepared = prepared
        self._service.resuming = False

    def learnt(self, batch: Batch, events: list[dict[str, Any]]) -> None:
        """A batch was learnt."""
        self._live.learnt(batch.values, int(batch.row[-1]), events)

    def saved(self, position: Position) -> None:
        """A checkpoint was written: the journal before the one before it is not needed."""
        self._live.checkpointed = time.time()
        if self._intake is not None and self._intake.journal is not None:
            self._intake.journal.renew(self._saved)
        self._saved = position
