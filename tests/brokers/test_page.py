"""The Python of docs/how-to/sources.md, with a real topic."""

import json
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "sources.md"


def test_the_code_learns_all_messages(server):
    (code,) = re.findall(r"```python\n(.+?)```", PAGE.read_text("utf-8"), re.S)
    server.create("flows")
    server.send("flows", [json.dumps({"seconds": n % 7, "bytes": n}).encode() for n in range(500)])
    assert "redis://localhost/flows" in code
    names = {}
    exec(code.replace("redis://localhost/flows", server.url("flows")), names)
    assert names["model"].n_samples_seen_ == 500
    assert names["batch"].row[-1] == 500
