"""What is asked of the service itself: its page, health, description and metrics."""

import re
import shutil
import subprocess

import pytest

from tests.live.common import needs_a_server, stream, waiting

pytestmark = needs_a_server


def test_the_pages_files_are_there(service):
    """Those that documents name, and those that these name."""
    for path in ("/", "/docs"):
        page = service.get(path)
        assert page.status == 200
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'self'" in page.headers["content-security-policy"]
        named = re.findall(rb'(?:src|href)="?(/?[-\w./]+\.(?:json|js|css|svg))\b', page.body)
        assert named
        for file in named:
            assert service.get(f"/{file.decode().lstrip('/')}").status == 200, file


def test_it_is_alive_and_ready(service):
    assert service.get("/healthz").body == b"ok\n"
    assert service.get("/readyz").body == b"ready\n"
    assert service.ask("HEAD", "/healthz").status == 200


def test_the_description_has_every_path(service):
    described = service.get("/openapi.json").json()
    assert described["openapi"].startswith("3.")
    asked = {path for path, methods in described["paths"].items() if "get" in methods}
    assert asked >= {"/clusters", "/structures", "/events", "/model", "/metrics", "/healthz"}
    for path in asked - {"/events/stream", "/live"}:
        assert service.get(path).status == 200, path
    page = service.get("/docs").body.decode()
    assert all(path in page for path in described["paths"])


def test_metrics_are_those_that_prometheus_reads(service):
    answer = service.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    if shutil.which("promtool") is None:
        pytest.skip("no promtool: apt-get install prometheus")
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=answer.body, capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


def test_metrics_count(service):
    before = service.metric("spclust_rows_total")
    service.learn(stream(30, seed=7))
    service.wait_for_rows(before + 30)
    text = service.get("/metrics").body.decode()
    assert re.search(r'^spclust_answers_total\{path="/learn",status="200"\} \d', text, re.M)
    assert re.search(r'^spclust_events_total\{kind="birth"\} [1-9]', text, re.M)
    assert re.search(r'^spclust_typicality_bucket\{le="\+Inf"\} \d', text, re.M)
    for _ in waiting():  # what is read from the model is renewed once a second
        if service.metric("spclust_points_total") == before + 30:
            break
    assert service.metric("spclust_points_total") == before + 30
    assert service.metric("spclust_clusters") >= 4
    assert service.metric("spclust_memory_bytes") > 1e7
