"""Maps of typicality."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.contour import QuadContourSet

import spclust
from spclust import plot
from spclust.plot.typicality_figure import LEVELS
from tests.fixed import SPC


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(1000, 2)) + 12.0 * rng.integers(2, size=(1000, 1))


def test_lines_are_where_typicality_has_their_level(rows):
    model = spclust.SPC(20).fit(rows)
    ax = plot.typicality_map(model, rows)
    lines = [c for c in ax.collections if isinstance(c, QuadContourSet) and not c.filled]
    assert len(lines) == model.n_clusters_ == 2
    for k, drawn in enumerate(lines):
        for level, path in zip(LEVELS, drawn.get_paths(), strict=True):
            u = model.typicality(path.vertices)[:, k]
            assert np.median(np.abs(u - level)) < 0.02


def test_points_are_darker_than_any_shade(rows):
    """The lightest channel of a point is below that of the fullest tint, in both figures."""
    model = spclust.SPC(20).fit(rows)
    image = plot.structures(model, rows).images[0].get_array()
    opacity = image[..., 3:]
    shade = (opacity * image[..., :3] + (1.0 - opacity)).sum(axis=2).min()
    dots = plt.gca().collections[0].get_facecolor()[0]
    assert (dots[3] * dots[:3]).sum() + (1.0 - dots[3]) * shade < shade - 0.3


def test_outliers_are_crosses(rows):
    model = spclust.SPC(20).fit(rows)
    given = np.vstack([rows[:50], [[500.0, -500.0], [-400.0, 0.0]]])
    outlying = model.predict(given) == -1
    assert 2 <= outlying.sum() < 10
    ax = plot.typicality_map(model, given)
    np.testing.assert_array_equal(ax.collections[-1].get_offsets(), given[outlying])


def test_in_a_projection_points_have_the_colour_of_their_typicality():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)) + 20.0 * rng.integers(2, size=(500, 1))
    model = spclust.SPC(20).fit(X)
    ax = plot.typicality_map(model, X)
    expected = np.sort(model.typicality(X).max(axis=1)[model.predict(X) >= 0])
    np.testing.assert_allclose(np.sort(ax.collections[0].get_array()), expected)
    assert not [c for c in ax.collections if isinstance(c, QuadContourSet)]
    with pytest.raises(ValueError, match="needs points X"):
        plot.typicality_map(model)


def test_one_feature_has_no_map():
    with pytest.raises(ValueError, match=r"plot\.structures draws the typicality along one"):
        plot.typicality_map(SPC(5).fit([[1.0], [2.0]]))


def test_a_model_of_noise_has_a_map():
    model = SPC(10, min_samples=5).fit([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]])
    ax = plot.typicality_map(model, [[0.0, 0.0]])
    assert len(ax.collections[-1].get_offsets()) == 1
