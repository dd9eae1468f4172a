"""Names of clusters and events: against what happened in truth, and by hand."""

import pickle

import numpy as np
import pytest
from benchmarks.events import BURN_IN, f1, hits
from hypothesis import given
from hypothesis import strategies as st

from spclust.datasets import make_drifting
from spclust.tracking.observation import Observation
from spclust.tracking.tracker import Tracker
from tests.fixed import SPC
from tests.strategies import examples, online_params, streams

# Many structures, a short memory, and what is pruned is forgotten: for streams that change.
DRIFTING = {"scale": 1.5, "beta": 0.02, "gamma": 0.1, "nlt_max": 0.001, "track_every": 25}


def test_births_deaths_merges_and_splits_are_told_in_time():
    counts = dict.fromkeys(("birth", "death", "merge", "split"), 0)
    for seed in range(10):
        X, _, truth = make_drifting(seed=seed)
        found = SPC(60, **DRIFTING).partial_fit(X).events_
        counts = {kind: total + hits(truth, found, kind) for kind, total in counts.items()}
    assert {kind: f1(each) >= 0.9 for kind, each in counts.items()} == dict.fromkeys(counts, True)


@pytest.mark.parametrize("seed", range(10))
def test_a_cluster_that_only_moves_keeps_its_id(seed):
    X, y, truth = make_drifting(kinds=("move",), seed=seed)
    model, ids = SPC(60, **DRIFTING), {}
    for start in range(0, len(X), 500):
        model.partial_fit(X[start : start + 500])
        if start < BURN_IN:
            continue
        for label in set(y[start : start + 500]):
            rows = model.labels_[y[start : start + 500] == label]
            most = np.bincount(rows[rows >= 0]).argmax()
            ids.setdefault(label, set()).add(int(model.cluster_ids_[most]))
    assert all(len(names) == 1 for names in ids.values())
    assert len(set.union(*ids.values())) == len(ids) == 4
    late = [event for event in model.events_ if event.index > BURN_IN]
    assert {event.kind for event in late} == {"move"}
    moved = {event.before[0] for event in late}
    assert moved == set.union(*(ids[label] for event in truth for label in event.before))


@examples(40)
@given(
    X=streams(least_points=30, most_points=120),
    params=online_params(most_structures=12),
    cuts=st.lists(st.integers(0, 120), max_size=5),
    every=st.integers(1, 20),
)
def test_names_and_events_do_not_depend_on_how_a_stream_is_cut(X, params, cuts, every):
    whole = SPC(track_every=every, **params).fit(X)
    parts = SPC(track_every=every, **params)
    for part in np.split(X, sorted(min(cut, len(X)) for cut in cuts)):
        if len(part):
            parts.partial_fit(part)
    assert whole.events_ == parts.events_
    plain = SPC(**params).fit(X)
    assert plain._stream.structures.memory.tobytes() == whole._stream.structures.memory.tobytes()
    one_by_one = SPC(track_every=every, **params)
    for x in X:
        one_by_one.learn_one(x)
    assert one_by_one.events_ == whole.events_
    before = pickle.dumps(whole._tracker)
    names = whole.cluster_ids_
    assert len(names) == whole.n_clusters_
    assert len(set(names[names >= 0])) == np.sum(names >= 0)
    assert pickle.dumps(whole._tracker) == before


def look(seen, *structures):
    """What is seen: (id, cluster, mass, place) of each structure, on a line."""
    ids, clusters, masses, places = zip(*structures, strict=True)
    means = np.array(places, dtype=float)[:, np.newaxis]
    ones = np.ones(len(ids))
    return Observation(
        seen, np.array(ids), np.array(clusters), np.array(masses, float), means, ones
    )


def tell(tracker, *looks):
    return [(e.kind, e.before, e.after) for each in looks for e in tracker.observe(each)]


def test_what_is_seen_has_to_be_seen_several_times():
    tracker = Tracker(patience=3)
    one = look(1, (0, 0, 9.0, 0.0))
    assert tell(tracker, one, one) == []
    assert tell(tracker, one) == [("birth", (), (0,))]
    both = look(2, (0, 0, 9.0, 0.0), (5, 1, 9.0, 50.0))
    assert tell(tracker, both, both, one, both, both) == []  # the other one was gone in between
    assert tell(tracker, both) == [("birth", (), (1,))]


def test_a_life_of_two_clusters():
    tracker = Tracker(patience=1)
    assert tell(tracker, look(1, (0, 0, 9.0, 0.0), (1, 1, 9.0, 50.0))) == [
        ("birth", (), (0,)),
        ("birth", (), (1,)),
    ]
    together = look(2, (0, 0, 9.0, 0.0), (1, 0, 9.0, 50.0), (2, 0, 9.0, 25.0))
    assert tell(tracker, together)[0] == ("merge", (0, 1), (0,))
    apart = look(3, (0, 0, 9.0, 0.0), (1, 1, 6.0, 50.0), (2, 0, 9.0, 25.0))
    assert tell(tracker, apart)[0] == ("split", (0,), (0, 2))  # the larger part keeps the name
    assert tracker.cluster_ids(apart) == {0: 0, 1: 2}
    assert tell(tracker, look(4, (0, 0, 9.0, 0.0), (2, 0, 9.0, 25.0)))[0] == ("death", (2,), ())


def test_little_is_no_cluster_and_noise_is_none():
    tracker = Tracker(patience=1)
    assert tell(tracker, look(1, (0, 0, 3.9, 0.0), (1, -1, 99.0, 9.0))) == []
    assert tell(tracker, look(2, (0, 0, 4.1, 0.0))) == [("birth", (), (0,))]
    assert tell(tracker, look(3, (0, 0, 2.1, 0.0))) == []  # enough to stay
    assert tell(tracker, look(4, (0, 0, 1.9, 0.0))) == [("death", (0,), ())]
    assert tell(tracker, look(5, (0, -1, 9.0, 0.0))) == []


def test_new_structures_belong_to_the_cluster_they_are_in():
    tracker = Tracker(patience=1)
    tell(tracker, look(1, (0, 0, 9.0, 0.0)))
    for k in range(1, 20):  # none of the first structures is left in the end
        assert tell(tracker, look(k, (k - 1, 0, 9.0, 0.0), (k, 0, 9.0, 0.0))) == []
    assert tracker.cluster_ids(look(20, (19, 0, 9.0, 0.0))) == {0: 0}


def test_a_way_is_told_when_it_is_long():
    tracker = Tracker(patience=1)
    tell(tracker, look(1, (0, 0, 9.0, 0.0)))
    assert tell(tracker, look(2, (0, 0, 9.0, 2.9))) == []
    assert tell(tracker, look(3, (0, 0, 9.0, 3.1))) == [("move", (0,), (0,))]
    assert tracker.events[-1].centre == (3.1,)
    assert tell(tracker, look(4, (0, 0, 9.0, 6.0))) == []


def test_the_log_has_its_limit():
    tracker = Tracker(patience=1, most_events=3)
    for k in range(10):
        tell(tracker, look(k, (k, 0, 9.0, 100.0 * k)))
    assert len(tracker.events) == 3
    assert tracker.noticed > 10


def test_events_come_out_of_an_endless_stream():
    X, _, _ = make_drifting(6000, n_events=2, kinds=("birth",))

    def batches():
        yield from np.array_split(X, 60)
        raise AssertionError("nobody asked for more")

    model = SPC(60, **DRIFTING)
    kinds = []
    for event in model.watch(batches()):
        kinds.append(event.kind)
        if kinds.count("birth") == 6:
            break
    assert model.n_samples_seen_ < 6000
    assert model.events_[0].kind == "birth"
    with pytest.raises(ValueError, match="set track_every"):
        next(SPC().watch([X]))
    with pytest.raises(AttributeError, match="needs track_every"):
        _ = SPC().fit(X[:50]).events_


def test_an_interrupted_look_leaves_everything_as_it_was(monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 2))
    params = {"track_every": 5, "scale": 2.0}
    whole, broken = SPC(10, **params).fit(X), SPC(10, **params).partial_fit(X[:22])
    before = pickle.dumps(broken._tracker)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Tracker, "_moves", interrupt)
        with pytest.raises(KeyboardInterrupt):
            broken.partial_fit(X[22:60])
    assert pickle.dumps(broken._tracker) == before
    broken.partial_fit(X[broken.n_samples_seen_ :])  # the look that was missed is taken first
    assert broken.events_ == whole.events_
    assert broken._tracker.state() == whole._tracker.state()


def test_a_split_names_no_cluster_that_has_a_name():
    tracker = Tracker(patience=5)
    home = [(0, 0, 20, 0), (1, 0, 10, 1), (10, 1, 20, 20), (11, 1, 10, 19)]
    for k in range(6):
        tell(tracker, look(k, *home))
    both_lose = [(0, 0, 20, 0), (1, 2, 10, 10), (10, 1, 20, 20), (11, 2, 10, 10)]
    told = tell(tracker, *(look(k, *both_lose) for k in range(6, 20)))
    named = [name for kind, _, after in told if kind == "split" for name in after[1:]]
    assert len(named) == 1
    assert "merge" not in {kind for kind, _, _ in told}


@pytest.mark.parametrize("size", [1e180, 1e307])
def test_the_largest_numbers_can_be_looked_at_and_saved(size):
    model = SPC(5, track_every=5, beta=0.01, w_min=0.0)
    for k in range(4):
        model.partial_fit(np.full((60, 2), k * size / 4))
    assert np.isfinite([event.centre for event in model.events_]).all()
    assert SPC.from_bytes(model.to_bytes()).events_ == model.events_


CRAFTED = {
    "owners": [99, 99],
    "centres": [],
    "waiting": [["merge", [0], 50]],
    "names": 0,
    "noticed": 0,
    "most_events": 2**61,
    "patience": 0,
    "ids": [1, 1],
    "events": [{"kind": "end", "index": 1, "before": [], "after": [], "centre": [0.0]}],
}


@pytest.mark.parametrize("name", CRAFTED)
def test_a_state_that_cannot_have_been_one_is_refused(name):
    tracker = Tracker(patience=1)
    tell(tracker, look(1, (0, 0, 9.0, 0.0), (1, 1, 9.0, 50.0)))
    state = tracker.state()
    assert Tracker.restored(state, 1).state() == state
    with pytest.raises((ValueError, TypeError, KeyError)):
        Tracker.restored({**state, name: CRAFTED[name]}, 1)


def test_watch_needs_a_model_that_tracks_from_the_start():
    X = np.zeros((20, 2))
    model = SPC(5).fit(X)
    model.set_params(track_every=5)
    with pytest.raises(AttributeError, match="before the stream begins"):
        next(model.watch([X]))
    assert model.n_samples_seen_ == 20
