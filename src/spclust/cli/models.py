"""Models in files, with what the command knows of them: columns and standardisation.

`SPC.load` reads these files too; the entry that it does not know is passed over.
"""

from typing import TYPE_CHECKING

import numpy as np

from spclust.cli.exit_codes import CommandError
from spclust.cli.prepared_model import Preparation
from spclust.persistence.atomic_file import AnyPath, write_whole
from spclust.persistence.container import RefusedError, decode, encode

if TYPE_CHECKING:
    from spclust.estimators.spc import SPC

_ENTRY = "prepared_by_command"


def model_bytes(model: "SPC", preparation: Preparation) -> bytes:
    """A model as `SPC.to_bytes` has it, with the names of its features and its preparation."""
    header, arrays = decode(model.to_bytes())
    if preparation.columns:  # a model that was made in Python may have no names
        header["feature_names_in"] = list(preparation.columns)
        header[_ENTRY] = preparation.as_plain()
    return encode(header, arrays)


def model_of_bytes(data: bytes) -> tuple["SPC", Preparation]:
    """A model and its preparation; RefusedError or ValueError if these bytes are none."""
    from spclust.estimators.spc import SPC

    model = SPC.from_bytes(data)
    header, _ = decode(data)
    d = model.n_features_in_
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    preparation = Preparation(tuple(names))
    if header.get(_ENTRY) is not None:
        preparation = Preparation.from_plain(header[_ENTRY])
        if len(preparation.columns) != d:
            raise CommandError("What the file says about its columns is damaged.")
    # Rows come as plain arrays whose columns were put in order before.
    if hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
    return model, preparation


def save_model(path: AnyPath, model: "SPC", preparation: Preparation) -> None:
    """Save a model, all of it or nothing."""
    write_whole(path, model_bytes(model, preparation))


def load_model(path: str) -> tuple["SPC", Preparation]:
    """The model in a file and its preparation; one sentence that names the file if it is none.

    The columns are empty if the model was saved in Python, from rows without names.
    """
    try:
        with open(path, "rb") as file:
            return model_of_bytes(file.read())
    except (ValueError, RefusedError, CommandError) as error:
        text = str(error).replace("Cannot load a model from these bytes", f"Cannot load {path!r}")
        raise CommandError(text) from None


def named(preparation: Preparation, d: int) -> list[str]:
    """Names of the features, x0, x1, ... if they have none."""
    return list(preparation.columns) or [f"x{i}" for i in np.arange(d)]
