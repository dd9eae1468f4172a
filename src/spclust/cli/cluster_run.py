"""A run of `spclust cluster`: batch after batch is read, learnt, labelled and written down."""

import time
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from spclust.cli.checkpoint import (
    Checkpoint,
    read_checkpoint,
    refuse_differences,
    write_checkpoint,
)
from spclust.cli.exit_codes import CommandError, say
from spclust.cli.labels import label_table
from spclust.cli.learning import Learner
from spclust.cli.model_figure import draw, refuse_undrawable
from spclust.cli.model_options import new_model
from spclust.cli.models import model_bytes, model_of_bytes, save_model
from spclust.cli.options import Labelling, Reading, Running
from spclust.cli.prepared_model import Preparation
from spclust.cli.progress import Bar
from spclust.cli.scoring import Scores
from spclust.cli.stopping import Stop
from spclust.tables.bad_rows import BadRows, collected_to
from spclust.tables.batches import Ahead, Batch, Tables, in_batches, usual_size
from spclust.tables.chunks import Position, Wanted
from spclust.tables.inputs import refuse_following, sizes
from spclust.tables.readers import besides, chosen_features, refuse_missing, split_names
from spclust.tables.writers import Records, TableFile, open_table, refuse_targets, refuse_uncuttable

_TRACK_EVERY = 1000  # rows, if events are wanted and nobody says how often to look


class Run:
    """From the first batch to the last one, and what is left of it."""

    def __init__(
        self,
        paths: list[str],
        reading: Reading,
        values: dict[str, Any],
        labelling: Labelling,
        running: Running,
    ) -> None:
        if running.events is not None:
            values.setdefault("track_every", _TRACK_EVERY)
        if running.follow:
            refuse_following(paths, reading.format)
        if running.checkpoint is not None and labelling.out is not None:
            refuse_uncuttable(labelling.out, labelling.out_format)
        # A wrong word, or a file that cannot be, is refused before anything is read.
        collected = collected_to(reading.on_bad_row)
        targets = (running.events, running.save, running.plot, running.checkpoint)
        refuse_targets((labelling.out, collected, *targets), paths)
        self.stop = Stop()
        self.paths, self._reading = paths, reading
        self._labelling, self._running = labelling, running
        warmup = running.warmup if running.standardise else 0
        self.learner = Learner(new_model(values), Preparation(()), warmup=warmup)
        self._tables = Tables(paths, reading, follow=running.follow, stopped=self.stop)
        self._settings = self._all_settings(values)
        self.scores = Scores()
        self.rows = self.resumed_at = self.event_count = 0
        self.seconds = 0.0
        self._at = Position()
        self._keep: tuple[str, ...] = ()
        self._out: TableFile | None = None
        self._events: Records | None = None

    def _all_settings(self, values: dict[str, Any]) -> dict[str, Any]:
        """Options that decide what comes out, as they are in a checkpoint."""
        left_out = ("checkpoint", "every", "follow", "save", "plot", "read_bytes", "n_jobs")
        options = {
            **values,
            **asdict(self._reading),
            **asdict(self._labelling),
            **asdict(self._running),
        }
        return {
            name: None if value is None else str(value)
            for name, value in options.items()
            if name not in left_out
        }

    def __call__(self, *, quiet: bool) -> None:
        """Read, learn, label and write until the inputs end or somebody stops it."""
        with self._tables, ExitStack() as self._outputs:
            self._run(self._begin(), quiet=quiet)

    def _run(self, wanted: Wanted, *, quiet: bool) -> None:
        size = self._running.batch or usual_size(len(wanted.features))
        warmup = 0 if self.learner.has_learnt else self.learner.warmup
        batches = in_batches(self._tables, wanted, self._at, size=size, warmup=warmup)

        def given_up() -> bool:
            return self.stop() and not self._running.follow

        lengths = sizes(self.paths)
        total = None if lengths is None or self._running.follow else sum(lengths)
        started, written = time.perf_counter(), self.rows
        with self.stop, Bar(total, quiet=quiet) as bar, Ahead(batches, given_up) as ahead:
            for batch in ahead:
                self._take(batch)
                bar.update(self.learner.model, self.rows - self.resumed_at, batch.consumed)
                if self.rows - written >= self._running.every:
                    self._note_checkpoint()
                    written = self.rows
                if given_up():
                    break
            self.seconds = time.perf_counter() - started
            self._end()

    def _begin(self) -> Wanted:
        """Where to start, which columns to read, and files to write to."""
        path = self._running.checkpoint
        then = None if path is None else read_checkpoint(str(path))
        if then is None:
            wanted, lengths = self._chosen(), dict[str, int]()
        else:
            refuse_differences(str(path), then, self._settings, self.paths)
            wanted, lengths = self._restored(then), then.lengths
        if self._running.plot is not None:
            refuse_undrawable(len(wanted.features))
        if self._labelling.out is not None:
            self._out = open_table(
                self._labelling.out, self._labelling.out_format, lengths.get("out")
            )
            self._outputs.callback(self._out.close)
        if self._running.events is not None:
            self._events = Records(self._running.events, lengths.get("events"))
            self._outputs.callback(self._events.close)
        self.bad = BadRows(self._reading.on_bad_row, lengths.get("bad"))
        self._outputs.callback(self.bad.close)
        if then is not None:
            self.bad.count = int(then.counts["bad"])
        self._bad_then = self.bad.state()
        return wanted

    def _chosen(self) -> Wanted:
        path, source = self._tables.first()
        self._keep = split_names(self._labelling.keep, source.names)
        extra = besides(self._labelling.label, self._keep)
        refuse_missing(extra, source, path)
        features = chosen_features(source, path, self._reading, extra)
        self.learner.preparation = Preparation(tuple(features))
        return Wanted(tuple(features), extra)

    def _restored(self, then: Checkpoint) -> Wanted:
        learner = self.learner
        learner.model, learner.preparation = model_of_bytes(then.model)
        self._at = then.position
        self.rows = self.resumed_at = int(then.counts["rows"])
        self.event_count = int(then.counts["events"])
        self.scores.restore(then.counts["scores"])
        self._keep = tuple(then.counts["keep"])
        say(f"going on after row {self.rows:,}, from the checkpoint.")
        return Wanted(learner.preparation.columns, besides(self._labelling.label, self._keep))

    def _take(self, batch: Batch) -> None:
        """Learn a batch, and write down what is to be written about it."""
        self.bad.take(batch.bad)
        if len(batch.values):
            self._learn(batch)
        self.rows += len(batch.values)
        if batch.end is not None:
            self._at, self._bad_then = batch.end, self.bad.state()

    def _learn(self, batch: Batch) -> None:
        learner, label = self.learner, self._labelling.label
        rows = learner.prepared(batch.values)
        if self._out is None and label is None:
            events = learner.learn(rows)
        else:
            labels, events = learner.learn_and_label(rows, before=self._running.prequential)
            if label is not None:
                self.scores.add(batch.extra[label], labels)
            if self._out is not None:
                table = label_table(
                    learner.model, rows, batch.row, labels, batch.extra, self._labelling, self._keep
                )
                self._out.add(table)
        self.event_count += len(events)
        if self._events is not None:
            for event in events:
                self._events.add(event)

    def _note_checkpoint(self) -> None:
        """Replace the checkpoint, after everything it speaks of is on the disk."""
        path, learner = self._running.checkpoint, self.learner
        if path is None or not learner.has_learnt:
            return
        outputs = {"out": self._out, "events": self._events, "bad": self.bad.file}
        lengths = {name: file.settle() for name, file in outputs.items() if file is not None}
        # Bad rows that come after the last batch will be met once more.
        bad, lengths["bad"] = self._bad_then
        counts = {
            "rows": self.rows,
            "bad": bad,
            "events": self.event_count,
            "scores": self.scores.state(),
            "keep": list(self._keep),
        }
        model = model_bytes(learner.model, learner.preparation)
        write_checkpoint(
            str(path),
            Checkpoint(model, self._at, self.paths, self._settings, lengths, counts),
        )

    def _end(self) -> None:
        """Close and save everything."""
        if not self.learner.has_learnt and not self.stop():
            raise CommandError(self._why_nothing())
        self._note_checkpoint()
        self._outputs.close()
        learner, running = self.learner, self._running
        if learner.has_learnt and running.save is not None:
            save_model(running.save, learner.model, learner.preparation)
        if learner.has_learnt and running.plot is not None:
            draw(learner.model, learner.preparation, running.plot)

    def _why_nothing(self) -> str:
        names = ", ".join(self.paths[:3]) + (", ..." if len(self.paths) > 3 else "")
        if self.bad.count:
            return f"{names!r}: all {self.bad.count} rows are bad, nothing was learnt."
        return f"{names!r} has columns, but no rows."
