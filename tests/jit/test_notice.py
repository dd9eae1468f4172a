"""The line about compilation: once, on a terminal, with the seconds at its end."""

import logging
import re
import subprocess

import pytest

from spclust.jit import notice
from tests.jit.processes import Terminal, command, environment

# Two small kernels, in one operation or each on its own; "done" follows.
TWO_KERNELS = """
import numpy as np
from contextlib import nullcontext
from spclust.formulas import _mahalanobis_sq, _nlt_from_log_odds
from spclust.jit import notice
for _ in range(2):
    with {context}:
        _mahalanobis_sq(np.zeros(1), np.ones(1))
        _nlt_from_log_odds(0.0)
print("done")
"""
LINE = re.compile(
    r"spclust compiles kernels, once per environment, which takes some seconds:([ 0-9]+), "
    r"done in [0-9]+ s"
)


def on_a_terminal(code, cache):
    """Lines that code prints on a terminal."""
    return Terminal(code, cache).lines()


@pytest.mark.parametrize(
    ("context", "kernels"), [("notice.one_line()", "1 2"), ("nullcontext()", "1")]
)
def test_the_first_compilation_is_told_in_one_line(context, kernels, tmp_path):
    line, done = on_a_terminal(TWO_KERNELS.format(context=context), tmp_path)
    assert LINE.fullmatch(line)[1].strip() == kernels
    assert done == "done"
    assert on_a_terminal(TWO_KERNELS.format(context=context), tmp_path) == ["done"]  # cached


def test_a_second_operation_that_compiles_is_told_too(tmp_path):
    code = """
from spclust.formulas import _nlt_from_log_odds
from spclust.jit import notice
for argument in (0.0, 0):
    with notice.one_line():
        _nlt_from_log_odds(argument)
"""
    lines = on_a_terminal(code, tmp_path)
    assert [LINE.fullmatch(line)[1] for line in lines] == [" 1"]  # for other types: on disk
    code = code.replace("(0.0, 0)", "(0.0, None)").replace(
        "_nlt_from_log_odds(argument)",
        "_nlt_from_log_odds(0.0) if argument is None else _mahalanobis_sq(np.zeros(1), np.ones(1))",
    )
    code = "import numpy as np\nfrom spclust.formulas import _mahalanobis_sq\n" + code
    lines = on_a_terminal(code, tmp_path / "other")
    assert [LINE.fullmatch(line)[1] for line in lines] == [" 1", " 1"]


def test_nothing_is_printed_on_a_pipe(tmp_path):
    code = TWO_KERNELS.format(context="notice.one_line()")
    result = subprocess.run(command(code), env=environment(tmp_path), capture_output=True)
    assert (result.stdout, result.stderr) == (b"done\n", b"")


def test_nothing_is_printed_where_somebody_has_replaced_standard_error(tmp_path):
    """A progress bar, say, which has the terminal to itself."""
    code = """
import sys
class Display:
    def __getattr__(self, name):
        return getattr(sys.__stderr__, name)
sys.stderr = Display()
assert sys.stderr.isatty()
"""
    code += TWO_KERNELS.format(context="notice.one_line()")
    assert on_a_terminal(code, tmp_path) == ["done"]


@pytest.fixture(name="untold")
def as_in_a_new_process(monkeypatch):
    monkeypatch.setattr(notice._Line, "told", False)


def test_the_log_tells_it_once_and_each_kernel(untold, caplog):
    compiled = iter(range(10))
    with caplog.at_level(logging.DEBUG, logger="spclust"):
        for name in ("first", "second"):
            with notice.of_kernel(name, False, lambda: next(compiled)):
                pass
        with notice.of_kernel("third", True, lambda: 0):
            pass
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert told[0][0] == "INFO"
    assert "python -m spclust.compilation" in told[0][1]
    assert [level for level, _ in told[1:]] == ["DEBUG"] * 3
    assert re.fullmatch(r"compiled first in [0-9.]+ s", told[1][1])
    assert re.fullmatch(r"compiled second in [0-9.]+ s", told[2][1])
    assert re.fullmatch(r"loaded third in [0-9.]+ s", told[3][1])


def test_a_kernel_that_cannot_be_compiled_closes_the_line(untold):
    def fail():
        with notice.one_line(), notice.of_kernel("bad", False, lambda: 0):
            assert notice._Line.kernels == 1
            raise TypeError("no such type")

    with pytest.raises(TypeError, match="no such type"):
        fail()
    assert (notice._Line.kernels, notice._Line.under_way, notice._Line.operations) == (0, 0, 0)
