"""One Spark session for all tests of this folder, on a Java that the machine or pip has."""

import shlex

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'spclust[spark]'")

from spclust.spark.java import NoJavaError, use_java
from tests.preloaded import preloaded
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
    folder = tmp_path_factory.mktemp("spark")
    with preloaded("tests.spark.imported") as command:
        python = folder / "python"
        python.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        python.chmod(0o755)
        session = session_in(folder, "local[2]", python)
        session.sparkContext.setLogLevel("OFF")
        # Each query has few rows: to compile Java for it takes longer than to run it without. The
        # programs of test_failures.py and test_java.py compile, as the engine does by default.
        session.conf.set("spark.sql.codegen.wholeStage", "false")
        session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        yield session
        session.stop()
