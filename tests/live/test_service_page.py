"""The Python of docs/how-to/service.md, beside a service."""

import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ports import free_port

pytest.importorskip("uvicorn")

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "service.md"


@pytest.fixture
def served():
    port = free_port()
    words = ["serve", "--columns", "x,y", "--port", str(port)]
    process = subprocess.Popen([sys.executable, "-m", "spclust.cli", *words])
    for _ in range(600):
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield port
    process.terminate()
    assert process.wait(timeout=60) == 0


def test_the_code_runs_and_gets_the_answer_that_it_names(served, capsys):
    live, post = re.findall(r"```python\n(.+?)```", PAGE.read_text("utf-8"), re.S)
    names = {}
    exec(live, names)
    assert names["model"].n_samples_seen_ == len(names["X"])
    assert re.fullmatch(r"open http://\S+\n", capsys.readouterr().out)
    exec(post.replace("8765", str(served)), {})
    (answer,) = re.findall(r"print\(.+\)  # (\{.+\})", post)
    assert capsys.readouterr().out == f"{answer.encode()!r}\n"
