import pytest

from tests.live.attacks.common import LONGEST, MOST_MEMORY, TOKEN, wait_for_health
from tests.live.common import ndjson, served, stream


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """A process of its own, whose memory can be measured."""
    folder = tmp_path_factory.mktemp("attacked")
    options = ("--columns", "x,y", "--on-bad-row", "skip", "--max-body", LONGEST)
    with served(folder, *options) as found:
        found.learn(stream(3000))
        found.post("/score", ndjson(stream(1000)))
        found.wait_for_rows(3000)
        yield found


@pytest.fixture(scope="session")
def guarded(tmp_path_factory, quick):
    """One that needs a token, and has a name."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "token").write_text(f"{TOKEN}\n")
    options = ("--token-file", folder / "token", "--allowed-host", "stream.example.org")
    with served(folder, *options, command=quick) as found:
        yield found


@pytest.fixture(autouse=True)
def _unharmed(request):
    """After each test the service answers, quickly, and its memory is what it was, about."""
    if "service" not in request.fixturenames:
        yield
        return
    service = request.getfixturevalue("service")
    before = service.memory()
    yield
    wait_for_health(service)
    assert service.get("/healthz").body == b"ok\n"
    assert service.memory() < before + MOST_MEMORY
    assert "Traceback" not in service.log()
