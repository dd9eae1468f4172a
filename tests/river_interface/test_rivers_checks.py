"""River's own checks, all of them; on data of ours where River would have to download its own."""

from unittest import mock

import pytest
from river import checks, datasets
from river.checks import common

from spclust.river import SPC, SPCAnomalyDetector
from tests.river_interface.streams import WithOutliers

MODELS = (
    SPC(),
    SPC(n_structures=5, half_life=50),
    SPC(scale=1.0),
    SPC(n_structures=5, beta=0.1, w_min=0.2, gamma=0.1, scale=1.0),
    SPCAnomalyDetector(),
    SPCAnomalyDetector(scale=1.0),
)
# River runs these on neither clusterers nor on datasets that are at hand.
ON_DATA = (
    "check_learn_one",
    "check_pickling",
    "check_shuffle_features_no_impact",
    "check_emerging_features",
    "check_disappearing_features",
    "check_radically_disappearing_features",
    "check_no_state_aliasing_with_input",
    "check_clone_is_independent",
    "check_bounded_memory_growth",
    "check_learn_many_matches_learn_one",
)


def rivers_checks(model):
    with mock.patch.object(checks, "_yield_datasets", return_value=[WithOutliers()]):
        return list(checks.yield_checks(model))


def names(cases):
    return [f"{type(model).__name__}-{check.__name__}" for model, check in cases]


CASES = [(model, check) for model in MODELS for check in rivers_checks(model)]


@pytest.mark.parametrize(("model", "check"), CASES, ids=names(CASES))
def test_rivers_check(model, check):
    assert check.__name__ not in model._unit_test_skips()
    check(model.clone())


def test_river_checks_a_clusterer_in_all_the_ways_that_need_no_data():
    checks.check_estimator(SPC())
    assert len(list(checks.yield_checks(SPC()))) >= 15


class Approval:
    def __iter__(self):
        yield from datasets.TrumpApproval().take(200)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", ON_DATA)
def test_rivers_check_on_a_bundled_dataset(model, name):
    getattr(common, name)(model.clone(), Approval())
