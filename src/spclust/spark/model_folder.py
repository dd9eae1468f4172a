"""A folder of published models: a version for each trigger, and always a complete newest one."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spclust.estimators.spc import SPC
from spclust.partitions import with_feature_names, without_feature_names
from spclust.persistence.atomic_file import write_whole
from spclust.spark.merge_tree import merged_shards

_NEWEST = "newest.spc"
_STATUS = "newest.json"


@dataclass(frozen=True)
class ModelFolder:
    """Stores the newest model of each shard, and publishes the merged model.

    The files that a trigger writes depend on the trigger alone: if it is repeated, after a driver
    was killed, it writes the same files again.
    """

    path: Path
    template: SPC
    names: list[str]
    vector: bool
    keep: int

    def publish(self, trigger: int, shards: dict[int, tuple[bytes, int]]) -> None:
        """Store the shards that changed, (model, rows skipped), and publish the merged model."""
        if trigger == 0:
            self._clear()
        self._refuse_other_columns(trigger)
        for shard, (model, skipped) in shards.items():
            write_whole(self._folder("shards") / f"{shard:05}.spc", model)
            write_whole(self._folder("shards") / f"{shard:05}.json", _json({"skipped": skipped}))
        files = sorted(self._folder("shards").glob("*.spc"))
        if not files:
            return
        whole = merged_shards(files, self.template)
        if not self.vector:
            whole = with_feature_names(whole, self.names)
        counts = [json.loads(file.with_suffix(".json").read_text()) for file in files]
        status = {
            "trigger": trigger,
            "points": whole.n_samples_seen_,
            "skipped": sum(count["skipped"] for count in counts),
            "shards": len(files),
        }
        data = whole.to_bytes()
        write_whole(self._folder("versions") / f"{trigger:012}.spc", data)
        write_whole(self.path / _NEWEST, data)
        write_whole(self.path / _STATUS, _json(status))
        for old in sorted(self._folder("versions").glob("*.spc"))[: -self.keep]:
            old.unlink(missing_ok=True)

    def _refuse_other_columns(self, trigger: int) -> None:
        """Fail if the stream has learnt other columns; then Spark does not commit the trigger."""
        if trigger == 0 or not (self.path / _NEWEST).exists():
            return
        learnt = getattr(SPC.load(self.path / _NEWEST), "feature_names_in_", self.names)
        if list(learnt) != self.names:
            raise ValueError(
                f"This stream has learnt the columns {', '.join(learnt)}, and cannot go on with "
                f"{', '.join(self.names)}: name the same columns in the same order, or take a new "
                "checkpoint."
            )

    def _folder(self, name: str) -> Path:
        """A folder inside this one, created if necessary."""
        folder = self.path / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _clear(self) -> None:
        """Remove the models of another stream: this one has just begun."""
        for name in ("shards", "versions"):
            for pattern in ("*.spc", "*.json"):
                for file in self._folder(name).glob(pattern):
                    file.unlink(missing_ok=True)


def newest_model_in(folder: str | os.PathLike[str]) -> Path:
    """The file of the newest model in a folder."""
    newest = Path(folder).absolute() / _NEWEST
    if not newest.is_file():
        raise ValueError(
            f"There is no model in {os.fspath(folder)!r}: a model appears there after the first "
            "trigger of fit_stream."
        )
    return newest


class ModelSource:
    """A model for rows without names: from bytes, or from a file, read again if it is replaced."""

    def __init__(self, source: bytes | Path) -> None:
        self._path = None if isinstance(source, bytes) else source
        self._version: Any = None
        if isinstance(source, bytes):
            self._model = without_feature_names(SPC.from_bytes(source))

    def newest(self) -> SPC:
        """The model, in its newest version."""
        if self._path is not None:
            status = self._path.stat()
            version = (status.st_ino, status.st_mtime_ns, status.st_size)
            if version != self._version:
                self._model, self._version = without_feature_names(SPC.load(self._path)), version
        return self._model


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"
