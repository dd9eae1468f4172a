"""One Spark session for all tests of this folder, on a Java that the machine or pip has."""

import numpy as np
import pytest

from spclust import SPC

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'spclust[spark]'")

from spclust.spark.java import NoJavaError, use_java
from tests.spark.common import session_in


def pytest_itemcollected(item):
    """All tests of this folder can be left out: -m "not spark"."""
    item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def java():
    try:
        return use_java()
    except NoJavaError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def spark(java, tmp_path_factory):
    """Two cores of this machine; what fails is not tried again: new workers take seconds."""
    SPC(n_structures=5).fit_predict(np.eye(20, 2))  # else all workers compile at once
    session = session_in(tmp_path_factory.mktemp("spark"), "local[2]")
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
