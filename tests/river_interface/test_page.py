"""The page about River, and the examples in the docstrings, do what they say."""

import doctest
import re
from pathlib import Path

import pytest

from spclust.river import SPC, anomaly_detector, clusterer

PAGE = Path(__file__).parents[2] / "docs/how-to/river.md"


def test_the_pages_code_does_what_it_says():
    (code,) = re.findall(r"```python\n(.+?)```", PAGE.read_text(), re.S)
    names = {}
    lines = code.replace("evaluate.progressive", "ari = evaluate.progressive", 1)
    exec(lines, names)
    model, detector = names["model"], names["detector"]
    figures = [
        float(re.search(rf"# {comment}", code)[1])
        for comment in (r"above ([\d.]+)", r"(\d+)\n", r"more than (\d+)", r".*below (\d+)\n")
    ]
    above, clusters, far, near = figures
    assert names["ari"].get() > above
    assert model.n_clusters == clusters
    assert model.predict_one({"x": 19.0, "y": 0.5}) == model.predict_one({"x": 19.0}) in (0, 1)
    assert max(model.typicality_one({"x": 10.0, "y": 0.0}).values()) < 0.2
    assert set(model.centers) == {0, 1}
    assert model.half_life == 500
    assert names["scaled"]["SPC"].n_clusters > 1
    assert detector.score_one({"x": 1000.0, "y": 0.0}) > far
    assert detector.score_one({"x": 20.0, "y": 0.0}) < near


def test_the_page_names_the_parameters_that_may_change_in_the_middle_of_a_stream():
    (row,) = re.findall(r"^\| `mutate` \| changes (.+?) from", PAGE.read_text(), re.M)
    assert set(re.findall(r"`(\w+)`", row)) == SPC()._mutable_attributes


@pytest.mark.parametrize("module", [clusterer, anomaly_detector])
def test_examples_in_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 3
    assert result.failed == 0
