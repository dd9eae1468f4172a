"""Time that a new process needs to import SPC and to learn its first points."""

import json
import subprocess
import sys
import tempfile

IMPORT = """
import json, time
started = time.perf_counter()
import spclust
print(json.dumps(time.perf_counter() - started))
"""

FIRST_FIT = """
import json, time
started = time.perf_counter()
import numpy as np
from spclust import SPC
SPC().fit(np.random.default_rng(0).normal(size=(100, 2)))
print(json.dumps(time.perf_counter() - started))
"""


COMPILE = """
import json, time
import numpy as np
from spclust import SPC
X = np.random.default_rng(0).normal(size=(100, 2))
started = time.perf_counter()
SPC().fit(X).labels_
print(json.dumps(time.perf_counter() - started))
"""


def _seconds(code: str, environment: dict[str, str]) -> float:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout))


def measure(what: str, environment: dict[str, str]) -> float:
    """Seconds of "import", "import and first fit" or "cold compile", in a process of its own."""
    if what == "import":
        return _seconds(IMPORT, environment)
    if what == "import and first fit":
        return _seconds(FIRST_FIT, environment)
    with tempfile.TemporaryDirectory() as empty:
        return _seconds(COMPILE, {**environment, "NUMBA_CACHE_DIR": empty})
