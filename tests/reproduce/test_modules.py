import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spclust import metrics
from spclust.datasets import make_overlapping
from spclust.experiments.reproduction import claims, runs, search, search_space
from spclust.experiments.reproduction.runs import PAPER, Run, Scored, score
from spclust.experiments.reproduction.search_space import ALGORITHMS
from spclust.experiments.reproduction.setups import KEYS, _reordered, make_experiment

ENTRIES = (PAPER, *ALGORITHMS)


def scored(entry, nmi, purity=0.9, seed=0, clusters=3):
    scores = {"purity": purity, "nmi": nmi, "ari": nmi}
    return Scored(Run("sine", entry, seed, {}), scores, clusters, 0.0, 0.1, None)


@given(coordinates=st.lists(st.floats(0, 1, exclude_max=True), min_size=8, max_size=8))
def test_every_point_of_a_search_space_is_a_valid_setting(coordinates):
    X, _ = make_overlapping(30)
    for algorithm in ALGORITHMS.values():
        drawn = np.array(coordinates[: len(algorithm.axes)])
        model = algorithm.make(**algorithm.parameters(drawn, X, 3))
        assert len(model.partial_fit(X).predict(X)) == 30


def test_an_axis_goes_from_its_lowest_to_its_highest_value():
    size = {"1": 1.0, "data": 10.0, "feature": 5.0, "points": 100.0, "1 / points": 0.01}
    axis = search_space.Axis(0.1, 10.0, "data")
    assert [axis.value(at, size) for at in (0.0, 0.5, 1.0)] == [1.0, 10.0, 100.0]
    axis = search_space.Axis(1, 100, whole=True, off=0.5)
    assert [axis.value(at, size) for at in (0.0, 0.49, 0.5, 0.75)] == [0, 0, 1, 10]
    axis = search_space.Axis(1.0, 3.0, "feature", linear=True)
    assert axis.value(0.5, size) == 10.0
    choice = search_space.Choice(("a", "b"))
    assert [choice.value(at, size) for at in (0.0, 0.49, 0.5, 1.0)] == ["a", "a", "b", "b"]


def test_scores_are_those_of_the_labels_after_the_stream():
    run = Run("overlapping", PAPER, 3, make_experiment("overlapping").paper_parameters)
    X, y = make_overlapping(seed=3)
    labels = search_space.SPC(**run.parameters).partial_fit(X).predict(X)
    found = score(run)
    assert found.scores["nmi"] == metrics.nmi(y, labels)
    assert found.scores["purity"] == metrics.purity(y, labels)
    assert found.clusters == len(np.unique(labels))
    assert found.arrival is None


def test_labels_at_arrival_are_scored_where_all_classes_arrive_together():
    found = score(Run("sine", PAPER, 0, make_experiment("sine").paper_parameters))
    assert found.arrival is not None
    assert 0.9 < found.arrival <= 1.0


def test_another_order_has_the_same_points_cluster_by_cluster():
    X, y = make_overlapping()
    again, labels = _reordered(X, y, 5)
    assert np.array_equal(labels, y)
    assert not np.array_equal(again, X)
    for k in range(3):
        assert np.array_equal(np.sort(again[y == k], axis=0), np.sort(X[y == k], axis=0))
    assert _reordered(X, y, 0)[0] is X


def test_a_search_is_seeded_and_never_worse_than_what_it_tried(monkeypatch):
    for name, seeds in (("_FIRST", range(1)), ("_MORE", range(1, 2)), ("_LAST", range(2, 3))):
        monkeypatch.setattr(search, name, seeds)
    tried = {}

    def remember(run):
        result = score(run)
        tried.setdefault(str(run.parameters), []).append(result.scores["nmi"])
        return result

    monkeypatch.setattr(search, "score", remember)
    job = search.Search("overlapping", "DenStream", trials=30)
    found = search.find(job)
    complete = {key: np.mean(nmi) for key, nmi in tried.items() if len(nmi) == 3}
    assert np.mean(tried[str(found.parameters)]) == max(complete.values())
    assert found.runs == sum(map(len, tried.values()))
    assert search.find(job) == found


def test_what_was_found_is_stored_for_every_experiment_and_algorithm():
    stored = search.stored()
    assert set(stored) == set(KEYS)
    for by_name in stored.values():
        assert list(by_name) == list(ALGORITHMS)
        for name, found in by_name.items():
            ALGORITHMS[name].make(**found.parameters)
            assert 0.0 <= found.nmi <= 1.0
    assert search.as_json(stored) == search.as_json(search.stored())


def test_scores_come_from_several_processes():
    parameters = runs.cached_experiment("overlapping").paper_parameters
    jobs = [Run("overlapping", PAPER, seed, parameters) for seed in range(3)]
    answers = sorted(runs.in_parallel(score, jobs, 2), key=lambda answer: answer[0].seed)
    assert [job for job, _ in answers] == jobs
    for job, answer in answers:
        assert answer.run == job
        assert answer.scores == score(job).scores


@pytest.mark.parametrize("experiment", KEYS)
def test_claims_can_hold_and_fail(experiment):
    worst = {entry: [scored(entry, 0.5, 0.5, clusters=16)] for entry in ENTRIES}
    assert not all(claim.holds for claim in claims.verdicts(experiment, worst))
    assert not claims.verdicts(experiment, worst)[0].holds
    best = {entry: [scored(entry, 0.9, clusters=500)] for entry in ENTRIES}
    best[PAPER] = [scored(PAPER, 1.0, 1.0)]
    for good in {"sine": ("D-Stream", "DBSTREAM"), "highdim": ("DBSTREAM", "StreamSoNG")}.get(
        experiment, ()
    ):
        best[good] = [scored(good, 1.0)]
    if experiment == "aggregation":
        best["DBSTREAM"] = [scored("DBSTREAM", 0.97)]
    if experiment == "overlapping":
        best[PAPER] = [scored(PAPER, 0.94, 0.99)]
    assert all(claim.holds for claim in claims.verdicts(experiment, best)), claims.verdicts(
        experiment, best
    )


def test_level_with_the_first_is_a_matter_of_a_hundredth():
    results = {entry: [scored(entry, 0.9)] for entry in ENTRIES}
    assert claims.level_with_the_first(results).holds
    results["DBSTREAM"] = [scored("DBSTREAM", 0.909)]
    assert claims.level_with_the_first(results).holds
    results["DBSTREAM"] = [scored("DBSTREAM", 0.911)]
    verdict = claims.level_with_the_first(results)
    assert not verdict.holds
    assert verdict.found == "SPC 0.900, best other DBSTREAM 0.911"
