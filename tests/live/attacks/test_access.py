"""Who may ask: tokens, names of the host, pages of other sites, files."""

import pytest

from tests.command.common import spclust
from tests.live.attacks.common import (
    TOKEN,
    new_lines,
)
from tests.live.common import (
    ndjson,
    needs_a_server,
    served,
    stream,
)

pytestmark = needs_a_server


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


WITHOUT = {
    "none": ("/clusters", {}),
    "a wrong one": ("/clusters", bearer("wrong" * 10)),
    "a part of it": ("/clusters", bearer(TOKEN[:-1])),
    "more than it": ("/clusters", bearer(TOKEN + "x")),
    "another way": ("/clusters", {"Authorization": f"Basic {TOKEN}"}),
    "not ASCII": ("/clusters", bearer("\xfc" * 30)),
    "a wrong cookie": ("/clusters", {"Cookie": "spclust_token=wrong"}),
    "an odd cookie": ("/clusters", {"Cookie": 'a="b; c[]=1; =; spclust_token'}),
    "a cookie of another name": ("/clusters", {"Cookie": f"token={TOKEN}"}),
    "in a wrong query": ("/clusters?token=wrong", {}),
    "in an empty query": ("/?token=", {}),
    "on the page": ("/", {}),
    "for a file of the page": ("/page/style.css", {}),
    "for metrics": ("/metrics", {}),
    "for what is not there": ("/nothing", {}),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_without_the_token_nothing_is_told(guarded, name):
    path, headers = WITHOUT[name]
    answer, said = new_lines(guarded, lambda: guarded.get(path, **headers))
    assert answer.status == 401
    assert answer.body.startswith(b"This service needs a token: ")
    assert len(said) == 1
    assert said[0].startswith("spclust: refused GET '/")
    assert TOKEN not in guarded.log()
    assert "wrong" not in guarded.log()


WITH = {
    "a header": ("/clusters", bearer(TOKEN)),
    "a cookie": ("/clusters", {"Cookie": f"spclust_token={TOKEN}"}),
    "a cookie among odd ones": ("/", {"Cookie": f'a[]="; b=1;spclust_token={TOKEN}; c'}),
    "a query": ("/clusters?token=correct-horse-battery-staple%2B%2F%3D", {}),
    "a query as it is": (f"/clusters?token={TOKEN}", {}),
    "nothing, for its health": ("/healthz", {}),
    "nothing, for its readiness": ("/readyz", {}),
}


@pytest.mark.parametrize("name", WITH)
def test_with_the_token_it_answers(guarded, name):
    path, headers = WITH[name]
    assert guarded.get(path, **headers).status == 200


def test_the_page_keeps_the_token_in_a_cookie(guarded):
    answer = guarded.get(f"/?token={TOKEN}")
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Strict"}
    assert guarded.get("/", Cookie=cookie).status == 200


def test_posting_needs_the_token(guarded):
    assert guarded.post("/learn", ndjson(stream(1))).status == 401
    assert guarded.post("/learn", ndjson(stream(1)), **bearer(TOKEN)).status == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_another_address_needs_a_token(host, quick):
    done = spclust("serve", "--port", 0, "--host", host, command=quick)
    assert done.returncode == 1
    said = done.stderr.decode()
    assert said.startswith(f"spclust: Other machines can reach {host!r}: say --token-file FILE")
    assert said.count("\n") == 1


@pytest.mark.parametrize("token", [b"", b"short", b"with a space in the middle", b"\xff" * 20])
def test_a_token_that_cannot_be_sent_is_refused(token, quick, tmp_path):
    (tmp_path / "token").write_bytes(token)
    done = spclust("serve", "--port", 0, "--token-file", tmp_path / "token", command=quick)
    assert done.returncode == 1
    assert "must have 16 letters" in done.stderr.decode()


def test_with_a_token_it_may_listen_everywhere(quick, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    options = ("--host", "0.0.0.0", "--token-file", tmp_path / "token")
    with served(tmp_path, *options, command=quick) as service:
        assert service.get("/clusters", **bearer(TOKEN)).status == 200
        assert service.get("/clusters").status == 401


FOREIGN = ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", "[", ""]


@pytest.mark.parametrize("host", FOREIGN)
def test_another_name_is_refused(service, host):
    """A site that gave itself this address would ask with its own name."""
    answer, said = new_lines(service, lambda: service.get("/clusters", Host=host))
    assert answer.status == 421
    assert b"is not known here" in answer.body
    assert len(said) == 1


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:80", "192.0.2.7", "LOCALHOST"])
def test_own_names_and_addresses_are_known(service, host):
    assert service.get("/clusters", Host=host).status == 200


def test_allowed_names_are_known(guarded):
    given = bearer(TOKEN)
    assert guarded.get("/clusters", Host="stream.example.org", **given).status == 200
    assert guarded.get("/clusters", Host="other.example.org", **given).status == 421
    origin = "https://stream.example.org"
    rows = ndjson(stream(1))
    headers = {"Host": "stream.example.org", "Origin": origin, **given}
    assert guarded.post("/learn", rows, **headers).status == 200


CROSS = {
    "origin": {"Origin": "https://evil.example"},
    "origin without a name": {"Origin": "null"},
    "origin that is none": {"Origin": "http://["},
    "origin at another port": {"Origin": "http://127.0.0.1:1"},
    "another site": {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
    "another port of this name": {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"},
}


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("name", CROSS)
def test_pages_of_other_sites_are_refused(service, name, method):
    before = service.metric("spclust_rows_total")
    headers = {**CROSS[name], "Content_Type": "text/plain"}
    answer, said = new_lines(
        service, lambda: service.ask(method, "/learn", ndjson(stream(1)), **headers)
    )
    assert answer.status == 403
    assert len(said) == 1
    assert "access-control-allow-origin" not in answer.headers
    assert service.metric("spclust_rows_total") == before


def test_a_form_of_another_site_is_refused(service):
    headers = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert service.post("/learn", ndjson(stream(1)), **headers).status == 403


def test_a_link_of_another_site_and_the_own_page_are_answered(service):
    headers = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    answer = service.get("/", **headers)
    assert answer.status == 200
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    own = {"Origin": f"http://127.0.0.1:{service.port}", "Sec_Fetch_Site": "same-origin"}
    assert service.post("/score", ndjson(stream(1)), **own).status == 200


TRAVERSALS = [
    "/page/../guard.py",
    "/page/..%2fguard.py",
    "/page/%2e%2e/guard.py",
    "/page/..%5cguard.py",
    "/page//etc/passwd",
    "/page/%2Fetc/passwd",
    "/page/scatter/../../service.py",
    "/page/style.css%00.js",
    "/page/" + "a/" * 20_000,
    "/page/" + "../" * 50 + "etc/passwd",
    "/page/",
    "/page/scatter",
]


@pytest.mark.parametrize("path", TRAVERSALS, ids=range(len(TRAVERSALS)))
def test_no_other_file_is_served(service, path):
    answer = service.get(path)
    assert answer.status in (400, 404)
    assert b"import" not in answer.body
    assert b"root:" not in answer.body
