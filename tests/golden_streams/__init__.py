"""Streams that one SPC learns, by theme: see `LEARNING`.

A stream is a function of a random generator that yields (name of a quantity, its value).
"""

from tests.golden_streams import (
    covariances,
    forms_of_rows,
    odd_data,
    stored_and_changed,
    timed_and_tracked,
)

THEMES = (covariances, odd_data, timed_and_tracked, stored_and_changed, forms_of_rows)
LEARNING = {name: stream for theme in THEMES for name, stream in theme.STREAMS.items()}
assert len(LEARNING) == sum(len(theme.STREAMS) for theme in THEMES), "a name is there twice"
