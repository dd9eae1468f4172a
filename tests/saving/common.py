"""Helpers that the tests of saved models share."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from spclust import SPC
from spclust.state.automatic_structures import AutomaticStructures
from spclust.state.kinds import LOWRANK
from spclust.state.record import Array, Together, Word
from spclust.state.structures import Structures
from tests.auto.automatic_states import WORKING_MEMORY

ROOT = Path(__file__).parents[2]
COVARIANCES = ("full", "lowrank", "diag", "spherical")

# Fields that say where in memory a number is, or in what order numbers were written.
OF_MEMORY = {"connections", "connection", "place", "free", "n", "blocks", "rows", "columns"}
# Fields that only those tell how to read: see `state_of`.
READ_BY_MEMORY = {"odds", "odds_back", "pair", "basis", "Sigma"}


class Renamed(SPC):
    """A class of its own, with all that SPC has."""


def state_of(model):
    """Everything that decides the future of a model, as bytes by name.

    It goes through all fields of the state, so that one that is added and not saved shows.
    """
    s = model._stream.structures
    if isinstance(s, AutomaticStructures):
        return automatic_state_of(s)
    k, found = s.live, {}
    for name, field in Structures.fields.items():
        if name in OF_MEMORY | READ_BY_MEMORY or isinstance(field, Together):
            continue
        if isinstance(field, Word):
            found[name] = repr(getattr(s, name)).encode()
        elif field.axes == ("d",):
            found[name] = getattr(s, name).tobytes()
        else:
            found[name] = rows_of(getattr(s, name), field)[:k].tobytes()
    found["odds"] = [odds_in(i, j, s) for i in range(k) for j in range(k) if i != j]
    found["pair"] = [s.pair[i, j] for i in range(k) for j in range(i + 1, k)]
    found["directions"] = b"".join(
        s.basis[s.place[i, row]].tobytes() for i in range(k) for row in range(s.rank[i])
    )
    found["covariances"] = b"".join(covariance_of(i, s).tobytes() for i in range(k))
    return found


def automatic_state_of(s):
    """The same of a state of the automatic mode."""
    k, found = s.live, {}
    for name, field in AutomaticStructures.fields.items():
        if name in WORKING_MEMORY | OF_MEMORY:
            continue
        if isinstance(field, Word):
            found[name] = repr(getattr(s, name)).encode()
        elif name in ("cluster_mass", "cluster_clock"):
            found[name] = getattr(s, name)[: s.clusters].tobytes()
        elif field.axes[0] in ("n", "blocks"):
            found[name] = rows_of(getattr(s, name), field)[:k].tobytes()
        else:
            found[name] = getattr(s, name).tobytes()
    return found


def rows_of(array, field):
    """An array with a row for each slot."""
    if field.axes[0] == "n":
        return array
    assert (field.axes[0], field.axes[-1]) == ("blocks", 8), "an array of another kind"
    return array.transpose(0, 2, 1).reshape(8 * len(array), array.shape[1])


def odds_in(i, j, s):
    """Odds of a structure in another one."""
    return s.odds[i, j] if s.connection[i] >= s.connection[j] else s.odds_back[j, i]


def covariance_of(i, s):
    """The numbers of a covariance that are in use."""
    if s.kind != LOWRANK:
        return s.Sigma[i]
    t, half = s.rank[i] * (s.rank[i] + 1) // 2, s.columns // 2
    return np.concatenate([s.Sigma[i, 0, :t], s.Sigma[i, 0, half : half + t]])


def same_models(again, whole):
    """True if two models are the same, to the last bit, in all that is known of them."""
    ours, theirs = again.structures_, whole.structures_
    names = ("mean", "covariance", "weight", "count", "age", "id", "label")
    return (
        all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in names)
        and state_of(again) == state_of(whole)
        and again._stream.params == whole._stream.params
        and again.to_bytes() == whole.to_bytes()
    )


def slots_behind(s):
    """What is in the slots behind the live ones, and the covariances behind the grown ones."""
    for name, field in Structures.fields.items():
        per_slot = isinstance(field, Array) and not isinstance(field, Together)
        if per_slot and field.axes[0] in ("n", "blocks"):
            first = s.grown if name in ("Sigma", "whiten") else s.live
            yield name, rows_of(getattr(s, name), field)[first:]


def run(program, *arguments):
    """What a program of the tests prints, in a process of its own."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, ROOT / "tests" / "saving" / program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    ).stdout
