import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Kernels compile during the first example: the time of one example says nothing. Continuous
# integration draws the same examples each time; everyone else draws new ones.
settings.register_profile(
    "spclust",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("spclust")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests go one by one to whoever is free; those that share what takes long, to one process."""
    from xdist.scheduler import LoadScopeScheduling

    together = (
        "tests/spark/test_failures.py",  # these two start clusters of their own
        "tests/spark/test_java.py",
        "tests/spark/",
        "tests/reproduce/test_command.py",
        "tests/command/test_checkpoints.py",
    )

    class SomeTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return next((start for start in together if nodeid.startswith(start)), nodeid)

    return SomeTogether(config, log)


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
