import pytest

from tests.command.common import csv_file
from tests.live.common import served, stream


@pytest.fixture(scope="session")
def service(tmp_path_factory, quick):
    """A service that has learnt a stream that was posted."""
    options = ("--half-life", 1000, "--track-every", 50)
    with served(tmp_path_factory.mktemp("posted"), *options, command=quick) as found:
        assert found.get("/readyz").status == 200
        assert found.post("/score", b"").error.startswith("Nothing was learnt yet")
        assert found.get("/model").status == 503
        assert found.get("/clusters").json() == {"clusters": []}
        found.learn(stream())
        found.wait_for_rows(2000)
        yield found


@pytest.fixture(scope="session")
def of_a_file(tmp_path_factory, quick):
    """A service that learns from a file, which has ended."""
    folder = tmp_path_factory.mktemp("file")
    path = csv_file(folder / "rows.csv", 3000)
    with served(folder, path, "--keep", "name", command=quick) as found:
        found.wait_for_rows(3000)
        yield found
