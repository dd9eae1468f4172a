"""The files of `deploy/` and the page about the service: what they name exists."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from spclust.cli.commands.serve import serve
from tests.live.common import needs_a_server, served, stream, waiting

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def options_of_serve():
    import typer

    app = typer.Typer()
    app.command()(serve)
    return {name for option in typer.main.get_command(app).params for name in option.opts}


def dashboard():
    return json.loads((DEPLOY / "grafana.json").read_text())


def expressions(part):
    """Whatever a dashboard asks Prometheus."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name in ("expr", "query", "definition") and isinstance(value, str):
                yield value
            else:
                yield from expressions(value)
    elif isinstance(part, list):
        for each in part:
            yield from expressions(each)


@needs_a_server
def test_the_dashboard_asks_for_metrics_that_exist(tmp_path, quick):
    with served(tmp_path, "--checkpoint", tmp_path / "state", "--every", 1, command=quick) as found:
        found.learn(stream(50))
        found.wait_for_rows(50)
        for _ in waiting():  # until the first checkpoint is written
            text = found.get("/metrics").body.decode()
            if "spclust_last_checkpoint" in text:
                break
    there = set(re.findall(r"^(\w+)(?:\{.*\})? ", text, re.M))
    asked = {name for each in expressions(dashboard()) for name in re.findall(r"spclust_\w+", each)}
    assert len(asked) >= 10
    assert asked - there == set()
    for each in expressions(dashboard()):
        for labels in re.findall(r"by \((.+?)\)", each):
            assert all(f'{label}="' in text for label in labels.split(", "))


def test_the_panels_of_the_dashboard_do_not_overlap():
    places, titles = set(), []
    for panel in dashboard()["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells = {(at["x"] + i, at["y"] + j) for i in range(at["w"]) for j in range(at["h"])}
        assert not cells & places
        places |= cells
        titles.append(panel["title"])
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", ["Dockerfile", "spclust.service", "nginx.conf"])
def test_options_of_the_command_exist(name):
    text = (DEPLOY / name).read_text()
    commands = re.findall(r"spclust\"?,? \"?serve((?:\\\n|[^\n])+)", text)
    mentioned = {name for each in commands for name in re.findall(r"--[a-z][-a-z]+", each)}
    assert len(mentioned) >= 2
    assert mentioned <= options_of_serve()


def test_what_the_image_is_built_of_exists():
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    assert ignored[0] == "*"
    kept = {name.removeprefix("!") for name in ignored if name.startswith("!")}
    assert all((ROOT / name).exists() for name in kept)
    assert {"src", "pyproject.toml", "README.md", "LICENSE"} <= kept


def test_systemd_accepts_the_unit(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze: apt-get install systemd")
    unit = (DEPLOY / "spclust.service").read_text()
    (tmp_path / "spclust.service").write_text(unit.replace("/opt/spclust/bin/spclust", "/bin/true"))
    checked = subprocess.run(
        ["systemd-analyze", "verify", tmp_path / "spclust.service"],
        capture_output=True,
        text=True,
        check=False,
    )
    about = [line for line in checked.stderr.splitlines() if "spclust" in line]
    assert (checked.returncode, about) == (0, [])


def test_nginx_accepts_the_example(tmp_path):
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        pytest.skip("no nginx: apt-get install nginx-light openssl")
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], capture_output=True, check=True)
    server = (DEPLOY / "nginx.conf").read_text()
    server = re.sub(r"/etc/ssl/\S+\.pem", str(certificate), server)
    server = re.sub(r"/etc/ssl/\S+\.key", str(key), server)
    whole = f"pid {tmp_path}/pid; error_log {tmp_path}/log; events {{}} http {{ {server} }}"
    (tmp_path / "nginx.conf").write_text(whole)
    checked = subprocess.run(
        ["nginx", "-t", "-e", tmp_path / "log", "-c", tmp_path / "nginx.conf"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


@needs_a_server
def test_the_page_has_the_limits():
    from spclust.live import http_server, service
    from spclust.live.posts import bodies, intake, journal, posted_rows
    from spclust.live.view import feed

    names = ("reference/http.md", "how-to/service.md")
    page = "\n".join((ROOT / "docs" / name).read_text() for name in names)
    limits = dict(re.findall(r"^\| (.+?) \| (.+?) \| .+ \|$", page, re.M))
    options = posted_rows.ServiceOptions()
    megabyte, kilobyte = 10**6, 1024
    assert limits["body, also decompressed"] == f"{options.max_body // megabyte} MB (`--max-body`)"
    assert limits["bodies in memory at once"] == f"{posted_rows.AT_ONCE} of the longest"
    line = bodies.MOST_JSON // 2
    json_limits = f"{bodies.MOST_JSON // megabyte} MB; {line // megabyte} MB"
    assert limits["a JSON array; a line of NDJSON"] == json_limits
    assert limits["rows of a body"] == f"{options.max_rows:,}"
    assert limits["columns of a body"] == f"{bodies.MOST_COLUMNS:,}"
    bad = limits["bad rows of a body, with `--on-bad-row skip`"]
    assert bad == f"{bodies.MOST_BAD_ROWS:,}"
    queue = f"{intake.MOST_ROWS:,}, or {intake.MOST_BYTES // megabyte} MB"
    assert limits["rows that wait to be learnt"] == queue
    headers = f"{http_server.HEADER_BYTES // kilobyte} kB, {http_server.HEADER_SECONDS:g} s"
    assert limits["headers"] == headers
    unread = f"{http_server.STALLED_SECONDS:g} s without a byte"
    assert limits["an answer that is not read"] == unread
    assert limits["connections"] == f"{http_server.MOST_CONNECTIONS}"
    readers = f"{service.MOST_READERS} each, with {feed.MOST_VIEWS} pairs of axes"
    assert limits["readers of the page; of events"] == readers
    assert limits["`Idempotency-Key`"] == f"{service.LONGEST_KEY} bytes"
    assert f"the last {journal.MOST_KEYS:,} batches" in " ".join(page.split())
