"""A run of `spclust cluster`: batch by batch it reads, learns, labels and writes."""

import time
from contextlib import ExitStack, nullcontext
from dataclasses import asdict
from functools import partial
from typing import Any

import pyarrow as pa

from spclust.cli.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointFile,
    require_same_run,
    settings_of,
)
from spclust.cli.checkpoints.checkpoint_lock import checkpoint_lock
from spclust.cli.exit_codes import CommandError, StopSignal, named_rows, say
from spclust.cli.labels import Labels
from spclust.cli.model_figure import draw, require_drawable
from spclust.cli.model_options import new_model, track_by_default
from spclust.cli.observer import Observer
from spclust.cli.options import InputOptions, LabelOptions, RunOptions
from spclust.cli.progress import ProgressBar
from spclust.cli.sources.broker_source import (
    EventWriter,
    event_writer,
    label_writer,
    named_source,
    shown_names,
)
from spclust.cli.sources.source import Source
from spclust.persistence.atomic_file import write_whole
from spclust.prepared_model import Preparation, PreparedModel
from spclust.tables.bad_rows import BadRows, collection_path
from spclust.tables.batches import Batch, ReadAhead, default_batch_size
from spclust.tables.chunks import Columns, Position
from spclust.tables.columns.time_order import ordered
from spclust.tables.files.output_files import require_truncatable, require_writable
from spclust.tables.readers import extra_columns
from spclust.tables.writers import TableWriter, Written

_PACE = 0.25  # seconds between two observations for an observer
_TRACK_EVERY = 1000  # default of --track-every with --events, in the mode of the paper
# Options that do not influence the results: they may change when a run is resumed.
_FREE = ("checkpoint", "every", "follow", "until_end", "save", "plot", "read_bytes", "n_jobs")


class ClusterRun:
    """A run, and its results afterwards."""

    def __init__(
        self,
        paths: list[str],
        input_options: InputOptions,
        parameters: dict[str, Any],
        label_options: LabelOptions,
        run_options: RunOptions,
        source: Source | None = None,
        observer: Observer | None = None,
        stop: StopSignal | None = None,
    ) -> None:
        """Prepare a run; wrong options and files that cannot be written are refused at once.

        The source is that of the files, unless another one is given. The observer is told of every
        batch and of every checkpoint; for it, clusters are observed several times a second, unless
        their events are written, too.
        """
        if run_options.events is not None:
            track_by_default(parameters, _TRACK_EVERY)
        if run_options.checkpoint is not None and label_options.out is not None:
            require_truncatable(label_options.out, label_options.out_format)
        collected = collection_path(input_options.on_bad_row)
        targets = {"--out": label_options.out, "--on-bad-row collect": collected}
        for name in ("events", "save", "plot", "checkpoint"):
            targets[f"--{name}"] = getattr(run_options, name)
        require_writable(targets, paths)
        self.paths = shown_names(paths)
        self._input, self._label, self._run = input_options, label_options, run_options
        warmup = run_options.warmup if run_options.standardise else 0
        self.prepared = PreparedModel(new_model(parameters), Preparation(()), warmup=warmup)
        self._observer = observer
        self._watch()
        self.stop = stop or StopSignal()
        path = run_options.checkpoint
        self._checkpoint = None if path is None else CheckpointFile(str(path))
        self._source: Source = source or named_source(
            paths,
            input_options.read_options(),
            follow=run_options.follow,
            until_end=input_options.until_end,
            stopped=self.stop,
            checkpoint=path,
        )
        self._settings = self._all_settings(parameters)
        self._labels = Labels(label_options, run_options)
        self.scores = self._labels.scores
        self.rows = self.resumed_at = self.event_count = 0
        self.seconds = 0.0
        self._position = Position()
        self._keep: tuple[str, ...] = ()
        self._out: TableWriter | None = None
        self._events: EventWriter | None = None

    def _watch(self) -> None:
        """Let the model tell events, if they are wanted."""
        prepared = self.prepared
        prepared.watched = self._run.events is not None
        by_rows = prepared.watched or prepared.model.track_every is not None
        if self._observer is not None and not by_rows:
            prepared.pace = _PACE

    def _all_settings(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Options that influence the results, as a checkpoint has them."""
        groups = (asdict(group) for group in (self._input, self._label, self._run))
        return settings_of([parameters, *groups], _FREE)

    @property
    def follows(self) -> bool:
        """True if the inputs have no end."""
        return self._source.follows

    def __call__(self, *, quiet: bool) -> None:
        """Read, learn, label and write until the inputs end or a signal arrives."""
        path = self._run.checkpoint
        lock = nullcontext() if path is None else checkpoint_lock(str(path))
        with lock, self._source, ExitStack() as self._outputs:
            self._read_all(self._begin(), quiet=quiet)

    def _read_all(self, columns: Columns, *, quiet: bool) -> None:
        self._columns = columns
        if self._observer is not None:
            self._observer.began(self.prepared)
        size = self._run.batch or default_batch_size(max(1, len(columns.features)))
        warmup = 0 if self.prepared.has_learnt else self.prepared.warmup
        batches = self._source.batches(columns, self._position, size=size, warmup=warmup)

        def given_up() -> bool:
            return self.stop() and not self._source.follows

        total = self._source.size()
        started, written = time.perf_counter(), self.rows
        task = f"checking the first {self.rows:,} rows" if self.rows else "reading"
        read = nullcontext if self._source.in_memory else partial(ReadAhead, given_up=given_up)
        with (
            self.stop,
            ProgressBar(total, quiet=quiet, task=task) as bar,
            read(batches) as ahead,
        ):
            for batch in ahead:
                self._add(batch)
                bar.update(self.prepared.model, self.rows - self.resumed_at, batch.consumed)
                if self.rows - written >= self._run.every:
                    self._save_checkpoint()
                    written = self.rows
                if given_up():
                    break
            self.seconds = time.perf_counter() - started
            self._end()

    def _begin(self) -> Columns:
        """Choose the columns or resume from the checkpoint, and open the outputs."""
        file = self._checkpoint
        digests = file is not None
        earlier = None if file is None else file.read()
        if file is None or earlier is None:
            columns, written = self._chosen_columns(), dict[str, Written]()
        else:
            require_same_run(file.path, earlier, self._settings, self.paths)
            columns, written = self._resume(earlier), earlier.written
        if self._run.plot is not None:
            require_drawable()
        if self._label.out is not None:
            name, kind = self._label.out, self._label.out_format
            self._out = label_writer(name, kind, written.get("out"), self.stop, digests=digests)
            self._outputs.callback(self._out.close)
        if self._run.events is not None:
            name, keep, count = self._run.events, written.get("events"), self.event_count
            self._events = event_writer(name, keep, self.stop, count=count, digests=digests)
            self._outputs.callback(self._events.close)
        self.bad = BadRows(self._input.on_bad_row, written.get("bad"), digests=digests)
        self._outputs.callback(self.bad.close)
        if earlier is not None:
            self.bad.count = int(earlier.counts["bad"])
        self._bad_state = self.bad.state()
        return columns

    def _chosen_columns(self) -> Columns:
        columns, self._keep = self._source.choose(
            self._input.columns, self._label.label, self._label.keep
        )
        self.prepared.preparation = Preparation(columns.features)
        self.prepared.dated = columns.dated
        return columns

    def _resume(self, earlier: Checkpoint) -> Columns:
        warmup = self.prepared.warmup
        self.prepared = PreparedModel.from_bytes(earlier.model)
        self.prepared.warmup = warmup
        self._watch()
        self._position = earlier.position
        self._source.resume(earlier.ends)
        self.rows = self.resumed_at = int(earlier.counts["rows"])
        self.event_count = int(earlier.counts["events"])
        self.scores.restore(earlier.counts["scores"])
        self._keep = tuple(earlier.counts["keep"])
        dated = self.prepared.dated = bool(earlier.counts.get("dated"))
        say(f"going on after row {self.rows:,}, from the checkpoint.")
        features = self.prepared.preparation.columns
        extra = extra_columns(self._label.label, self._keep)
        return Columns(features, extra, self._input.time, dated=dated)

    def _add(self, batch: Batch) -> None:
        """Learn a batch, and write its labels, events and bad rows."""
        batch = self._in_order(batch)
        self.bad.add(batch.bad)
        if len(batch.values) and batch.end is not None:
            self._learn(batch)
        self.rows += len(batch.values)
        if batch.end is not None:
            self._position, self._bad_state = batch.end, self.bad.state()

    def _in_order(self, batch: Batch) -> Batch:
        """The batch without rows whose time goes backwards, which are bad ones."""
        return ordered(batch, self._columns, self.prepared.clock)[0]

    def _learn(self, batch: Batch) -> None:
        """Learn a batch; where rows are labelled, in parts of half a half-life."""
        rows, tables = self.prepared.prepare(batch.values), []
        end = 0 if batch.end is None else batch.end.file
        for each in batch.parts(self._labels.limit(self.prepared.model, self._columns)):
            part = batch.part(each)
            with named_rows(self.paths, end, part.row):
                events, table = self._labels.learnt(self.prepared, part, rows[each], self._keep)
            tables.append(table)
            self.event_count += len(events)
            if self._events is not None:
                for event in events:
                    self._events.add(event)
            if self._observer is not None:
                self._observer.learnt(part, events)
        if self._out is not None:
            self._out.add(pa.concat_tables(tables))

    def _save_checkpoint(self, model: bytes | None = None) -> None:
        """Replace the checkpoint after the outputs are on the disk; encode the model if needed."""
        if self._checkpoint is None or not self.prepared.has_learnt:
            return
        outputs = {"out": self._out, "events": self._events, "bad": self.bad.file}
        written = {name: file.sync() for name, file in outputs.items() if file is not None}
        # Bad rows after the end of the last batch are read again when the run is resumed.
        bad, written["bad"] = self._bad_state
        counts = {
            "rows": self.rows,
            "bad": bad,
            "events": self.event_count,
            "scores": self.scores.state(),
            "keep": list(self._keep),
            "dated": self.prepared.dated,
        }
        data = self.prepared.to_bytes() if model is None else model
        position = self._position
        ends = self._source.ends_before(position)
        self._checkpoint.write(
            Checkpoint(data, position, self.paths, ends, self._settings, written, counts)
        )
        if self._observer is not None:
            self._observer.saved(position)

    def _end(self) -> None:
        """Write the last checkpoint, close the outputs, save the model and draw the figure."""
        learnt, options = self.prepared.has_learnt, self._run
        if not learnt and not self.stop():
            raise CommandError(self._no_rows())
        # The checkpoint and the saved model are the same bytes, which are made once.
        needed = learnt and (options.save is not None or options.checkpoint is not None)
        model = self.prepared.to_bytes() if needed else None
        self._save_checkpoint(model)
        self._outputs.close()
        if model is not None and options.save is not None:
            write_whole(options.save, model)
        if learnt and options.plot is not None:
            draw(self.prepared, options.plot)

    def _no_rows(self) -> str:
        names = ", ".join(self.paths[:3]) + (", ..." if len(self.paths) > 3 else "")
        if self.bad.count:
            return f"{names!r}: all {self.bad.count} rows are bad, nothing was learnt."
        return f"{names!r} has columns, but no rows."
