"""Figures of any number of features: two of them, or a projection."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Ellipse

import spclust
from spclust import plot
from tests.fixed import SPC

NAMES = ["a", "b", "c"]
CENTRES = np.array([[0.0, 0.0, 0.0], [0.0, 40.0, 5.0], [0.0, 0.0, 10.0], [0.0, 40.0, 0.0]])


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    X = CENTRES[rng.integers(4, size=800)] + rng.normal(size=(800, 3)) * [1.0, 0.5, 0.1]
    return pd.DataFrame(X, columns=NAMES)


@pytest.fixture(scope="module")
def model(points):
    return SPC(20).fit(points)


def ellipses(ax):
    return [patch for patch in ax.patches if isinstance(patch, Ellipse)]


def drawn_means(ax):
    return np.asarray(ax.collections[-1].get_offsets())


@pytest.mark.parametrize("features", [("c", "a"), (2, 0), (-1, np.int64(0))])
def test_two_features_are_drawn_as_they_are(model, points, features):
    ax = plot.structures(model, points, features=features)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "a")
    np.testing.assert_allclose(drawn_means(ax), model.structures_.mean[:, [2, 0]])
    np.testing.assert_allclose(ax.collections[0].get_offsets(), points[["c", "a"]])
    assert not ax.images  # a place of a plane in space has no typicality


def test_outlines_are_projected_covariances(model):
    matrix = np.array([[1.0, 0.0], [0.5, 2.0], [0.0, -1.0]])
    ax = plot.structures(model, projection=matrix)
    table = model.structures_
    np.testing.assert_allclose(drawn_means(ax), table.mean @ matrix)
    covariance = matrix.T @ table.covariance @ matrix
    for outline, place, expected in zip(ellipses(ax), drawn_means(ax), covariance, strict=True):
        edge = outline.get_patch_transform().transform([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
        distance = np.linalg.solve(expected, (edge - place).T).T * (edge - place)
        np.testing.assert_allclose(distance.sum(axis=1), 1.0, rtol=1e-6)


def test_the_default_of_many_features_shows_where_the_means_differ(model, points):
    """The same picture whatever the units are, and far from that of a feature without clusters."""
    ax = plot.structures(model, points)
    default = drawn_means(ax)
    assert ax.get_xlabel().startswith("component 1 (")
    np.testing.assert_array_equal(
        drawn_means(plot.structures(model, ax=plt.figure().gca(), projection="pca")), default
    )
    away = np.linalg.norm(model.structures_.mean[:, np.newaxis] - CENTRES, axis=2)
    places = np.array([default[away.argmin(axis=1) == k].mean(axis=0) for k in range(4)])
    gaps = np.linalg.norm(places[:, np.newaxis] - places, axis=2)[~np.eye(4, dtype=bool)]
    assert gaps.min() > 0.5  # in standard deviations of the means
    first, second = (
        drawn_means(plot.structures(spclust.SPC(20).fit(rows), ax=plt.figure().gca()))
        for rows in (points, points * [1.0, 1024.0, 1.0])
    )
    np.testing.assert_allclose(first, second, atol=1e-9)


def test_structures_count_by_their_mass():
    """Two heavy ones differ in two features; a light one differs from them in the third."""
    rows = np.repeat([[0.0, 0.0, 0.0], [9.0, 9.0, 0.0], [0.0, 0.0, 9.0]], [200, 200, 2], axis=0)
    ax = plot.structures(spclust.SPC(3).fit(rows))
    weighted = np.corrcoef(rows, rowvar=False)
    share = np.linalg.eigvalsh(weighted)[::-1] / 3.0
    assert ax.get_xlabel() == f"component 1 ({share[0]:.0%})" == "component 1 (67%)"
    assert ax.get_ylabel() == f"component 2 ({share[1]:.0%})"


@pytest.mark.parametrize("rows", [[[1.0, 2.0, 3.0]], [[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]]])
def test_means_on_a_line_or_at_a_point_are_drawn(rows):
    """Then features are the other axes."""
    ax = plot.structures(SPC(5).fit(rows), rows)
    assert ax.get_ylabel() in ("x0", "x1", "x2")
    assert np.isfinite(drawn_means(ax)).all()
    assert len(ellipses(ax)) == len(rows)  # each is as wide as its scale, in both directions
    assert all(outline.width > 0.0 and outline.height > 0.0 for outline in ellipses(ax))


def test_a_projection_of_many_features_makes_no_dense_covariance(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 300))
    model = spclust.SPC(5).fit(X)
    table = type(model.structures_)
    monkeypatch.setattr(table, "covariance", property(lambda self: pytest.fail("dense")))
    ax = plot.structures(model, X)
    assert len(ellipses(ax)) == len(model.structures_)


def test_one_feature_is_drawn_along_a_line():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 1)) + 20.0 * rng.integers(2, size=(600, 1))
    model = spclust.SPC().fit(pd.DataFrame(X, columns=["speed"]))
    ax = plot.structures(model, pd.DataFrame(X, columns=["speed"]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("speed", "typicality")
    curves = [line for line in ax.lines if len(line.get_xdata()) == 1000]
    assert len(curves) == model.n_clusters_ == 2
    x = curves[0].get_xdata()
    typical = model.typicality(pd.DataFrame(x, columns=["speed"]))
    for curve, expected in zip(curves, typical.T, strict=True):
        np.testing.assert_allclose(curve.get_ydata(), expected)


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"features": ("a", "z")}, "There is no feature 'z': there are 3, a, b, c"),
        ({"features": ("a", 3)}, "There is no feature 3"),
        ({"features": ("a", 1.0)}, "There is no feature 1.0"),
        ({"features": ("a",)}, "must be two names"),
        ({"features": "ab"}, "must be two names"),
        ({"projection": "t-sne"}, '"pca" or a matrix'),
        ({"projection": np.eye(2)}, r"shape \(3, 2\), .* but has shape \(2, 2\)"),
        ({"projection": np.full((3, 2), np.nan)}, "finite"),
        ({"projection": "pca", "features": (0, 1)}, "one of them"),
    ],
)
def test_what_cannot_be_drawn_is_refused(model, points, wanted, sentence):
    for draw in (plot.structures, plot.typicality_map, plot.plot_all):
        with pytest.raises(ValueError, match=sentence):
            draw(model, points, **wanted)


def test_features_of_a_plane_can_change_places():
    """The shade changes places with them."""
    X = np.random.default_rng(0).normal(size=(300, 2)) * [5.0, 1.0]
    model = SPC(10).fit(X)
    upright = plot.structures(model, X).images[0]
    lying = plot.structures(model, X, ax=plt.figure().gca(), features=(1, 0)).images[0]
    np.testing.assert_allclose(upright.get_extent(), np.roll(lying.get_extent(), 2))
    np.testing.assert_allclose(upright.get_array(), lying.get_array().transpose(1, 0, 2))
