"""A folder of models: one a trigger, the newest of them always whole."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spclust.estimators.model_merge import merge_all
from spclust.estimators.spc import SPC
from spclust.persistence.atomic_file import write_whole
from spclust.spark.trees import named_features

NEWEST = "newest.spc"
STATUS = "newest.json"


@dataclass(frozen=True)
class Publisher:
    """Keeps the newest model of each shard, and publishes what they know together.

    Whatever a trigger writes depends on the trigger alone: one that is repeated, after a driver was
    killed, writes the same once more.
    """

    folder: Path
    template: SPC
    names: list[str]
    vector: bool
    keep: int

    def publish(self, trigger: int, shards: dict[int, tuple[bytes, int]]) -> None:
        """Take in the shards that changed, (model, rows skipped), and publish the whole."""
        if trigger == 0:
            self._forget()
        self._refuse_other_columns(trigger)
        for shard, (model, skipped) in shards.items():
            write_whole(self._made("shards") / f"{shard:05}.spc", model)
            write_whole(self._made("shards") / f"{shard:05}.json", _json({"skipped": skipped}))
        files = sorted(self._made("shards").glob("*.spc"))
        if not files:
            return
        whole = merge_all(SPC.load(file).set_params(**self.template.get_params()) for file in files)
        whole = named_features(whole, self.names, self.vector)
        counts = [json.loads(file.with_suffix(".json").read_text()) for file in files]
        status = {
            "trigger": trigger,
            "points": whole.n_samples_seen_,
            "skipped": sum(count["skipped"] for count in counts),
            "shards": len(files),
        }
        data = whole.to_bytes()
        write_whole(self._made("versions") / f"{trigger:012}.spc", data)
        write_whole(self.folder / NEWEST, data)
        write_whole(self.folder / STATUS, _json(status))
        for old in sorted(self._made("versions").glob("*.spc"))[: -self.keep]:
            old.unlink(missing_ok=True)

    def _refuse_other_columns(self, trigger: int) -> None:
        """Stop a stream that goes on with other columns: nothing of this trigger will count."""
        if trigger == 0 or not (self.folder / NEWEST).exists():
            return
        learnt = getattr(SPC.load(self.folder / NEWEST), "feature_names_in_", self.names)
        if list(learnt) != self.names:
            raise ValueError(
                f"This stream has learnt the columns {', '.join(learnt)}, and cannot go on with "
                f"{', '.join(self.names)}: name the same columns in the same order, or take a new "
                "checkpoint."
            )

    def _made(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _forget(self) -> None:
        """Remove what another stream has published here: this one has just begun."""
        for name in ("shards", "versions"):
            for pattern in ("*.spc", "*.json"):
                for file in self._made(name).glob(pattern):
                    file.unlink(missing_ok=True)


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"
