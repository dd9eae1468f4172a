"""Crafted files, and what must be said of them, in both modes."""

import re

import numpy as np
import pytest

from spclust import SPC
from tests.saving.crafted_models import arrays_in, model_of, with_arrays

LABELS = ("nearest", "nlt", "first")


def refused(data, sentence):
    """Assert that a model is refused with one sentence."""
    with pytest.raises(ValueError, match=sentence) as caught:
        SPC.from_bytes(data)
    assert re.fullmatch(r"Cannot load a model from these bytes: [^\n]+[^.]\.", str(caught.value))


def crafted_from(kind):
    """The bytes of a model, which can be loaded as they are."""
    data = model_of(kind).to_bytes()
    SPC.from_bytes(data)
    return data


def with_number(data, name, index, number):
    """A saved model in which one number of an array is another one."""
    header, arrays = arrays_in(data)
    assert np.any(arrays[name][index] != number)
    arrays[name][index] = number
    return with_arrays(data, header, arrays)


def every_array_is_needed(kind, least):
    """Assert that a model of some kind has many arrays, each of which has its shape and type."""
    data = model_of(kind).to_bytes()
    header, arrays = arrays_in(data)
    assert len(arrays) > least
    for name, array in arrays.items():
        less, more = array[:-1], np.concatenate([array, array[:1]])
        another = np.ones(array.shape, "<i8" if array.dtype == "<f8" else "<f8")
        flat = array.reshape(-1, 1) if array.ndim == 1 else array.reshape(-1)
        for other in (less, more, another, flat):
            if other.shape == array.shape and other.dtype == array.dtype:
                continue  # of nothing there is nothing to take away
            if name in LABELS and other.dtype == array.dtype and other.ndim == 1:
                continue  # any number of rows may have been learnt
            crafted = with_arrays(data, header, {**arrays, name: other})
            refused(crafted, rf"its array '{name}'|its labels do not match")
        without = {other: arrays[other] for other in arrays if other != name}
        sentence = rf"its array '{name}' is missing|arrays do not match"
        refused(with_arrays(data, header, without), sentence)
    more = with_arrays(data, header, {**arrays, "more": arrays["count"]})
    refused(more, "it holds arrays that belong to no state")
