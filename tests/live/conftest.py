import pytest

from tests.command.common import ENVIRONMENT
from tests.preloaded import preloaded


@pytest.fixture(scope="session")
def quick():
    """The command in a process of its own that has imported everything, which takes 2 s else."""
    with preloaded("tests.live.imported", environment=ENVIRONMENT) as python:
        yield [*python, "-m", "spclust.cli"]
