import gc
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests.strategies import examples

# Kernels compile during the first example: the time of one example says nothing. Continuous
# integration draws the same examples each time; everyone else draws new ones.
settings.register_profile(
    "spclust",
    examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("spclust")


# What `make check` leaves out: tests that start other processes or take more than a second or two.
# Of every package something is left.
SLOW = (
    "tests/site/",
    "tests/spark/",
    "tests/reproduce/test_command.py",
    "tests/command/checkpoints/",
    "tests/command/test_models.py",
    "tests/command/test_pipes.py",
    "tests/command/test_terminal.py",
    "tests/command/test_tour.py",
    "tests/live/attacks/",
    "tests/live/http/",
    "tests/live/test_deploy.py::test_the_dashboard_asks",
    "tests/live/test_kills.py",
    "tests/live/test_posted_times.py",
    "tests/live/test_service_page.py",
    "tests/brokers/",
    "tests/command/test_comparison.py",
    "tests/command/test_guesses.py::test_a_pipe_is_recognised",
    "tests/command/test_guesses.py::test_columns_that_are_hardly_meant",
    "tests/command/test_rotation.py",
    "tests/command/test_time.py::test_a_resumed_run",
    "tests/command/test_time.py::test_rows_and_events_join",
    "tests/jit/test_notice.py",
    "tests/jit/test_cache.py::test_a_change_in_a_part",
    "tests/jit/test_cache.py::test_a_file_system",
    "tests/jit/test_cache.py::test_machine_code_that_may_only_be_read",
    "tests/jit/test_cache.py::test_kernels_of_two_kinds",
    "tests/jit/test_cache.py::test_of_two_processes",
    "tests/jit/test_internals.py::test_other_versions",
    "tests/jit/test_internals.py::test_garbage_is_collected",
    "tests/river_interface/test_rivers_checks.py",
    "tests/river_interface/test_anomaly.py::test_far_outliers_come_first",
    "tests/river_interface/test_automatic.py::test_features_appear",
    "tests/river_interface/test_clusterer.py::test_it_is_the_estimator_to_the_last_bit[1-",
    "tests/river_interface/test_clusterer.py::test_it_is_the_estimator_to_the_last_bit[3-",
    "tests/river_interface/test_features.py::test_structures_swell_less",
    "tests/river_interface/test_frames.py::test_rows_of_a_frame",
    "tests/river_interface/test_lasting_labels.py",
    "tests/river_interface/test_page.py",
    "tests/auto/test_copies.py::test_each_of_a_few_values_is_a_cluster",
    "tests/test_benchmarks.py",
    "tests/test_paper.py",
    "tests/test_quality_benchmark.py::test_a_small_run",
    "tests/saving/test_files.py",
    "tests/saving/refusals/test_any_damage.py",
    "tests/saving/refusals/test_automatic_content.py::test_any_odd_number",
    "tests/saving/refusals/test_crafted_content.py",
    "tests/saving/refusals/test_damaged_files.py",
    "tests/saving/refusals/test_earlier_versions.py",
    "tests/saving/resuming/test_interrupts.py",
    "tests/saving/resuming/test_labels_and_parameters.py",
    "tests/saving/resuming/test_states.py",
    "tests/algorithm/test_dbscan.py",
    "tests/algorithm/test_distances.py::test_distances_are_those",
    "tests/auto/test_automatic.py::test_cuts_single_points",
    "tests/auto/test_automatic.py::test_labels_do_not_depend_on_units",
    "tests/baselines/test_protocol.py::test_scikit_learns_checks",
    "tests/baselines/test_protocol.py::test_batches_make_no_difference",
    "tests/command/test_bad_input.py::test_an_endless_stream",
    "tests/command/test_bad_input.py::test_a_command_that_needs_pyarrow",
    "tests/command/test_bad_input.py::test_reproduce_says",
    "tests/covariance/test_lowrank.py",
    "tests/covariance/test_small_union.py",
    "tests/covariance/test_union.py",
    "tests/covariance/test_unrolled.py",
    "tests/reproduce/test_contestants.py::test_a_contestant_may_end",
    "tests/reproduce/test_contestants.py::test_the_page_does",
    "tests/reproduce/test_modules.py::test_scores_come_from_several_processes",
    "tests/reproduce/test_modules.py::test_every_point_of_a_search_space",
    "tests/reproduce/test_modules.py::test_a_search_is_seeded",
    "tests/state/test_kinds.py",
    "tests/stream/test_combination.py::test_eight_shards",
    "tests/test_dask.py",
    "tests/test_estimator.py::test_scikit_learns_checks",
    "tests/outliers/test_detector.py::test_scikit_learns_checks",
    "tests/outliers/test_benchmark.py::test_the_benchmark_runs",
    "tests/outliers/test_detector.py::test_contamination_of_a_stream",
    "tests/outliers/test_automatic_detector.py::test_of_a_clean_stream",
    "tests/test_times.py::test_cuts_single_points",
    "tests/test_work.py",
    "tests/tracking/test_comparison.py::test_streams_have_the_events",
    "tests/tracking/test_label_tracker.py::test_events_are_told_in_time",
    "tests/tracking/test_label_tracker.py::test_ids_of_events",
    "tests/tracking/test_tracker.py",
)


# Tests that share what takes long to prepare go to one process, in groups by how they begin.
KERNELS = "tests/state/test_kernels.py"  # each of these compiles a kernel that others wait for
COMMANDS = (  # these fork programs from one process that has imported everything
    "tests/command/checkpoints/test_resumed_runs.py",
    "tests/command/test_pipes.py",
    "tests/command/test_terminal.py",
    "tests/command/test_tour.py",
    "tests/command/test_bad_input.py::test_an_endless_stream",
    "tests/command/test_bad_input.py::test_a_command_that_needs_pyarrow",
    "tests/command/test_bad_input.py::test_reproduce_says",
)
# These start clusters, services and brokers, and mostly wait for them. Two processes do that, from
# the first minute on, while two others compute.
SPARK = ("tests/spark/",)
SERVERS = (
    "tests/brokers/",
    "tests/command/test_rotation.py",
    "tests/live/attacks/",
    "tests/live/http/",
    "tests/live/test_kills.py",
    "tests/live/test_page.py",
)
PROGRAMS = (  # these start programs, which take long
    "tests/reproduce/test_command.py",
    COMMANDS[0],
    "tests/jit/test_first_fit.py",
    "tests/jit/test_compilation.py",
)
# At the end, one of these would be waited for.
LONG = ("tests/tracking/test_comparison.py", "tests/test_work.py")
GROUPS = (*PROGRAMS, "tests/test_glossary.py", "tests/test_walkthrough.py")
# Files of these folders compile parts of kernels for themselves, anew in each process.
OF_PARTS = ("tests/algorithm/", "tests/covariance/", "tests/numerics/")
TESTS_BEFORE_PROGRAMS = 100  # in which the other kernels are compiled


def group_of(nodeid):
    """What a test begins with that belongs to a group, or the test itself."""
    if nodeid.startswith(OF_PARTS):
        return nodeid.split("::")[0]
    for starts in (COMMANDS, SPARK, SERVERS):
        if nodeid.startswith(starts):
            return starts[0]
    return next((start for start in GROUPS if nodeid.startswith(start)), nodeid)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    waiting = [item for item in items if item.nodeid.startswith((*SPARK, *SERVERS))]
    waiting.sort(key=lambda item: not item.nodeid.startswith(SPARK))
    programs = [item for item in items if group_of(item.nodeid) in PROGRAMS]
    programs.sort(key=lambda item: PROGRAMS.index(group_of(item.nodeid)))
    taken = {*waiting, *programs}
    others = [item for item in items if item not in taken]
    others.sort(key=lambda item: [not item.nodeid.startswith(start) for start in (KERNELS, *LONG)])
    at = TESTS_BEFORE_PROGRAMS
    items[:] = [*waiting, *others[:at], *programs, *others[at:]]


def pytest_collection_finish():
    """Take thousands of tests out of all later collections of garbage: a sixth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests go one by one, in this order, to whoever is free; those of a group to one process."""
    from xdist.scheduler import LoadScopeScheduling

    class InGroups(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return InGroups(config, log)


@pytest.fixture(scope="session")
def data_directory():
    """Published datasets: the folder SPCLUST_DATA, or shared/data beside the checkout."""
    default = Path(__file__).parents[2] / "shared" / "data"
    directory = Path(os.environ.get("SPCLUST_DATA", default))
    if not directory.is_dir():
        pytest.skip("no folder with the published datasets: set SPCLUST_DATA")
    return directory


@pytest.fixture(name="X")
def two_blobs():
    """Two clusters, one after the other."""
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(0, 1, (150, 2)), rng.normal(20, 1, (150, 2))])
