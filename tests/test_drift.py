import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust.datasets import Event, make_drifting
from spclust.datasets.drift import APART, KINDS
from tests.strategies import seeds


def centre(X, y, label, start, stop):
    return X[start:stop][y[start:stop] == label].mean(axis=0)


@given(seed=seeds, n_features=st.integers(2, 5), n_events=st.integers(0, 12))
def test_labels_are_what_the_events_tell(seed, n_features, n_events):
    X, y, events = make_drifting(6000, n_features=n_features, n_events=n_events, seed=seed)
    assert X.shape == (6000, n_features)
    assert len(events) == n_events
    alive, ends = set(range(4)), [*(event.index for event in events), len(X)]
    assert set(y[: ends[0]]) == alive
    for event, end in zip(events, ends[1:], strict=True):
        assert set(event.before) <= alive
        alive = (alive - set(event.before)) | set(event.after)
        assert set(y[event.index : end]) == alive
        assert event.start <= event.index < end


@given(seed=seeds)
def test_clusters_are_apart_between_events(seed):
    X, y, events = make_drifting(20_000, n_events=6, seed=seed)
    gap = 20_000 / 7
    for k in range(7):
        start, stop = int((k + 0.5) * gap) + 1 if k else 0, int((k + 1) * gap)
        means = [centre(X, y, label, start, stop) for label in set(y[start:stop])]
        distances = np.linalg.norm(
            np.subtract.outer(means, means).diagonal(axis1=1, axis2=3), axis=2
        )
        assert distances[np.triu_indices(len(means), 1)].min() > 9.0
    assert len(events) == 6


@pytest.mark.parametrize("seed", range(5))
def test_a_split_and_a_merge_happen_at_their_distance(seed):
    X, y, (event,) = make_drifting(40_000, n_events=1, kinds=("split",), seed=seed)
    a, b = (centre(X, y, label, event.index, event.index + 400) for label in event.after)
    assert np.linalg.norm(a - b) == pytest.approx(APART, abs=1.0)
    X, y, (event,) = make_drifting(40_000, n_events=1, kinds=("merge",), seed=seed)
    a, b = (centre(X, y, label, event.index - 400, event.index) for label in event.before)
    assert np.linalg.norm(a - b) == pytest.approx(APART, abs=1.0)


def test_a_move_goes_far_and_keeps_its_name():
    X, y, (event,) = make_drifting(40_000, n_events=1, kinds=("move",))
    assert event == Event("move", event.index, event.start, event.before, event.before)
    (label,) = event.before
    here, there = centre(X, y, label, 0, event.start), centre(X, y, label, event.index, len(X))
    assert np.linalg.norm(here - there) >= 19.0


def test_kinds_can_be_chosen_and_a_birth_replaces_what_cannot_be():
    for kind in KINDS:
        _, _, events = make_drifting(5000, n_clusters=3, kinds=(kind,), n_events=3)
        assert {event.kind for event in events} <= {kind, "birth"}
        assert events[0].kind == kind
    for wrong in (("nothing",), ()):
        with pytest.raises(ValueError, match="kinds must be some of birth"):
            make_drifting(kinds=wrong)
    with pytest.raises(ValueError, match="at least 2"):
        make_drifting(n_clusters=1)
