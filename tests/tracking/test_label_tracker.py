"""Events of the automatic mode: with a half-life alone, about the labels that `predict` gives."""

import itertools
import json
from copy import deepcopy

import numpy as np
import pytest
from benchmarks.events import counted, f1
from hypothesis import given
from hypothesis import strategies as st

from spclust import SPC
from spclust.datasets import make_drifting
from spclust.tracking.arrivals import Remembered, arrivals
from spclust.tracking.label_tracker import LabelTracker
from spclust.tracking.schedule import interval
from spclust.tracking.silence import DEAD, Silence
from tests.auto.automatic_states import half_lives, memory
from tests.saving.crafted_models import sealed, split
from tests.strategies import examples, streams


def gaussians(centres, n, seed):
    rng = np.random.default_rng(seed)
    return np.array(centres, float)[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 2))


def told(events):
    return [(event.kind, event.before, event.after) for event in events]


@pytest.mark.parametrize(("half_life", "seeds"), [(300, range(7)), (1000, range(14))])
def test_events_are_told_in_time_with_a_half_life_alone(half_life, seeds):
    counts = sum(counted(seed, {"half_life": half_life}) for seed in seeds)
    assert min(map(f1, counts)) >= 0.9


def test_a_cluster_far_from_two_old_ones_is_born():
    model = SPC(half_life=500)
    list(model.watch([gaussians([(0, 0), (30, 0)], 2000, 0)]))
    known = set(model.cluster_labels_.tolist())
    events = list(model.watch([gaussians([(0, 0), (30, 0), (15, 26)], 900, 1)]))
    assert [event.kind for event in events] == ["birth"]
    assert events[0].index <= 2000 + 900  # 300 of its points
    new = events[0].after[0]
    assert new not in known
    assert model.predict([[15, 26]]).tolist() == [new]


def test_a_silent_cluster_dies_soon_and_is_born_again_with_its_label():
    both, one = [(0, 0), (30, 0)], [(0, 0)]
    model = SPC(half_life=1000)
    list(model.watch([gaussians(both, 1500, 0)]))
    silent = int(model.predict([[30, 0]])[0])
    deaths = list(model.watch([gaussians(one, 500, 1)]))
    assert told(deaths) == [("death", (silent,), ())]
    assert deaths[0].index <= 1500 + 150
    assert model.predict([[30, 0]]).tolist() == [silent]  # it is remembered
    assert model.cluster_ids_.tolist() == [-1 if k == silent else k for k in model.cluster_labels_]
    assert told(model.watch([gaussians(both, 400, 2)])) == [("birth", (), (silent,))]


def test_nothing_is_told_of_clusters_that_stay():
    model = SPC(half_life=500)
    list(model.watch([gaussians([(0, 0), (6, 0), (0, 6)], 1500, 0)]))
    assert model.n_clusters_ == 3
    assert list(model.watch([gaussians([(0, 0), (6, 0), (0, 6)], 15_000, 1)])) == []


def test_ids_of_events_are_the_labels_of_predict():
    X, _, truth = make_drifting(seed=1)
    model, alive = SPC(half_life=500), set()
    for start in range(0, len(X), 50):
        for event in model.watch([X[start : start + 50]]):
            alive = (alive - set(event.before)) | set(event.after)
            if event.kind == "birth":
                assert model.predict([event.centre]).tolist() == list(event.after)
        labels = set(model.cluster_labels_.tolist())
        ids = model.cluster_ids_
        assert set(ids[ids >= 0].tolist()) == alive & labels
        assert set(model.describe()["label"].tolist()) == labels
        assert set(model.labels_.tolist()) <= labels | {-1}
    assert len(truth) <= len(model.events_)


@examples(20)
@given(
    X=streams(least_points=40, most_points=120),
    half_life=half_lives,
    cuts=st.lists(st.integers(0, 120), max_size=5),
)
def test_events_do_not_depend_on_cuts_or_queries_or_files(X, half_life, cuts):
    whole, parts = SPC(8, half_life=half_life), SPC(8, half_life=half_life)
    events = list(whole.watch([X]))
    found = []
    for part in np.split(X, sorted(min(cut, len(X)) for cut in cuts)):
        if len(part):
            found += list(parts.watch([part]))
            parts.predict(X)
            parts = SPC.from_bytes(parts.to_bytes())
    assert found == events == whole.events_ == parts.events_
    assert np.array_equal(parts.predict(X), whole.predict(X))
    assert np.array_equal(parts.cluster_ids_, whole.cluster_ids_)
    assert memory(whole) == memory(SPC(8, half_life=half_life).partial_fit(X))


def test_drifting_events_do_not_depend_on_cuts_and_come_back_from_files():
    X, _, _ = make_drifting(6000, n_events=3, seed=1)
    whole, resumed, single = (SPC(half_life=300) for _ in range(3))
    events = list(whole.watch([X]))
    found = list(resumed.watch([X[:37], X[37:2980]]))
    resumed = SPC.from_bytes(resumed.to_bytes())
    assert found + list(resumed.watch([X[2980:3333], X[3333:]])) == events
    assert {event.kind for event in events} > {"birth", "split"} or len(events) > 4
    assert resumed._tracker.state() == whole._tracker.state()
    list(single.watch([X[:1]]))
    for x in X[1:]:
        single.learn_one(x)
    assert single.events_ == events


def test_a_model_that_was_not_watched_takes_its_clusters_for_known():
    X = gaussians([(0, 0), (30, 0)], 1000, 0)
    model = SPC(half_life=500).partial_fit(X)
    assert model._tracker is None
    with pytest.raises(AttributeError, match="call watch, or set it before"):
        _ = model.events_
    labels = model.predict(X)
    assert list(model.watch([X[:200]])) == []
    assert np.array_equal(model.predict(X), labels)
    assert model.cluster_ids_.tolist() == model.cluster_labels_.tolist() == [0, 1]


def test_labels_of_a_merged_model_do_not_depend_on_queries_or_files():
    """Its tracker has seen nothing of the clusters of the other one."""
    places = [(0, 0), (30, 0), (0, 30)]
    models = [SPC(20, half_life=200, track_every=20) for _ in range(2)]
    models[0].partial_fit(gaussians(places[:1], 200, 0))
    models[1].partial_fit(gaussians(places[1:], 300, 1))
    merged, more = models[0] + models[1], gaussians(places, 300, 2)
    saved, queried = SPC.from_bytes(merged.to_bytes()), deepcopy(merged)
    assert queried.predict(places).tolist() == [0, 1, 2]
    assert saved.predict(places).tolist() == [0, 1, 2]
    for each in (merged, saved, queried):
        each.partial_fit(more)
    assert merged.events_ == saved.events_ == queried.events_
    assert {event.after for event in merged.events_} >= {(0,), (1,), (2,)}
    assert merged.predict(places).tolist() == saved.predict(places).tolist() == [0, 1, 2]


def test_an_interrupted_observation_leaves_the_tracker_as_it_was(monkeypatch):
    X = gaussians([(0, 0), (30, 0)], 400, 0)
    whole, broken = SPC(20, half_life=200), SPC(20, half_life=200)
    list(whole.watch([X]))
    list(broken.watch([X[:95]]))
    before = json.dumps(broken._tracker.state())

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LabelTracker, "_moves", interrupt)
        with pytest.raises(KeyboardInterrupt):
            list(broken.watch([X[95:]]))
    assert json.dumps(broken._tracker.state()) == before
    list(broken.watch([X[broken.n_samples_seen_ :]]))
    assert broken.events_ == whole.events_


@pytest.mark.parametrize(
    ("track_every", "half_life", "timed", "every"),
    [
        (None, 300.0, False, 50),
        (None, 100.0, False, 25),
        (None, 1.0, True, 50),
        (7, 300.0, False, 7),
    ],
)
def test_the_interval_is_chosen_from_structures_and_half_life(track_every, half_life, timed, every):
    stream = SPC(half_life=half_life).fit(np.eye(3))._stream
    assert interval(track_every, stream, timed=timed) == every


def test_points_of_structures_that_were_merged_are_no_arrivals():
    ids, partners = np.array([0, 1, 2]), np.array([[1, 2], [0, 2], [1, 0]])
    last = Remembered(ids, ids, np.array([10.0, 6.0, 3.0]), np.array([4.0, 2.0, 1.0]), partners)
    arrived, recent = arrivals(last, np.array([0, 2, 9]), np.array([17.0, 3.0, 1.0]))
    assert arrived.tolist() == [1.0, 0.0, 1.0]  # 1 was merged into 0
    assert recent.tolist() == [6.0, 1.0, 0.0]
    arrived, _ = arrivals(last, np.array([0, 2]), np.array([12.0, 4.0]))
    assert arrived.tolist() == [2.0, 1.0]  # 1 was removed


def test_evidence_of_silence_needs_more_than_one_observation():
    silence, steps = Silence(0.5), 0
    while silence.evidence <= DEAD:
        silence, steps = silence.after(1000, 0, 0.4), steps + 1
    assert steps == 3
    assert silence.share == 0.5
    assert silence.after(50, 50, 0.4) == Silence(0.4)
    rare = list(
        itertools.accumulate(range(20), lambda s, _: s.after(50, 5, 0.5), initial=Silence(0.5))
    )
    assert max(each.evidence for each in rare) < DEAD  # a fifth of its share is no silence


CRAFTED = {
    "descent": [99],
    "centres": [],
    "silence": [[0, -1.0, 0.0]],
    "waiting": [["merge", [0], 50]],
    "arrived": [[99, 1.0]],
    "noticed": 0,
    "looked": 10**6,
    "ids": [1, 1],
    "counts": [-1.0],
    "recent": [0.5],
    "partners": [[0.5]],
    "events": [{"kind": "end", "index": 1, "before": [], "after": [], "centre": [0.0, 0.0]}],
}


@pytest.fixture(scope="module")
def saved():
    model = SPC(20, half_life=200)
    list(model.watch([gaussians([(0, 0), (30, 0)], 400, 0)]))
    assert len(model.events_) >= 2
    return split(model.to_bytes())


@pytest.mark.parametrize("name", CRAFTED)
def test_a_state_that_cannot_have_been_one_is_refused(saved, name):
    header, body = json.loads(json.dumps(saved[0])), saved[1]
    assert set(CRAFTED) == set(header["tracker"])
    assert SPC.from_bytes(sealed(header, body)).events_
    header["tracker"][name] = CRAFTED[name]
    with pytest.raises(ValueError, match="the ids of its clusters and its state do not match"):
        SPC.from_bytes(sealed(header, body))
