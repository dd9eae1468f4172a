import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Ellipse

import spclust
from spclust import datasets, plot
from tests.fixed import SPC

AUTOMATIC = {"scale": "auto", "eps": "auto"}


@pytest.fixture
def model():
    yield SPC(30, m=1.4, gamma=0.1, beta=0.05).fit(datasets.make_sine()[0])
    plt.close("all")


def test_structures_draws_every_structure_where_its_typicality_is_a_half(model):
    X, _ = datasets.make_sine()
    ax = plot.structures(model, X)
    assert ax is plt.gca()
    outlines = [patch for patch in ax.patches if isinstance(patch, Ellipse)]
    table = model.structures_
    assert len(outlines) == len(table)
    from spclust import typicality

    for outline, mean, covariance in zip(outlines, table.mean, table.covariance, strict=True):
        edge = outline.get_patch_transform().transform([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
        np.testing.assert_allclose(typicality(edge, mean, covariance, 1.4), 0.5, rtol=1e-9)
    assert ax.get_xlim()[0] < X[:, 0].min()
    assert ax.get_ylim()[1] > X[:, 1].max()


def ellipses(ax):
    return [patch for patch in ax.patches if isinstance(patch, Ellipse)]


def test_outlines_of_an_automatic_scale_are_as_wide_as_the_points():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2)) * [1.0, 0.2] + 30.0 * rng.integers(2, size=(3000, 1))
    model = SPC(2, **AUTOMATIC).fit(X)
    ax = plot.structures(model, X)
    first, second = ellipses(ax)
    for outline in (first, second):
        edge = outline.get_patch_transform().transform(np.vstack([np.eye(2), -np.eye(2)]))
        assert np.ptp(edge, axis=0) == pytest.approx([4.0, 0.8], rel=0.1)
    # Points decide what is in the picture: the unit, which covariances contain, is far larger.
    assert ax.get_xlim()[1] - ax.get_xlim()[0] < 1.1 * np.ptp(X[:, 0])
    plt.close("all")


def test_single_points_of_an_automatic_scale_have_no_outline():
    model = SPC(5, **AUTOMATIC).fit(
        [[0.0, 0.0], [1.0, 0.0], [0.0, 9.0], [0.0, 0.0], [0.1, 0.0], [9, 9]]
    )
    many = np.sum(model.structures_.count > 1)
    assert 0 < many < len(model.structures_)
    assert len(ellipses(plot.structures(model))) <= many
    rng = np.random.default_rng(0)
    wide = spclust.SPC(20).fit(rng.normal(size=(100, 2)))
    enough = np.sum(wide.structures_.count >= 3)
    assert 0 < enough < len(wide.structures_)  # two points are a line
    assert len(ellipses(plot.structures(wide, ax=plt.figure().gca()))) == enough
    plt.close("all")
    one = SPC(5, **AUTOMATIC).fit([[3.0, 4.0]])
    ax = plot.structures(one)
    assert ellipses(ax) == []
    assert ax.get_xlim()[0] < 3.0 < ax.get_xlim()[1]
    assert ax.get_ylim()[0] < 4.0 < ax.get_ylim()[1]
    plt.close("all")


def test_decision_regions_colours_places_as_predict_does(model):
    _, ax = plt.subplots()
    ax.set(xlim=(0, 40), ylim=(-5, 30))
    ax.plot([0, 40], [-5, 30])
    assert plot.decision_regions(model, ax=ax) is ax
    picture = ax.images[0].get_array()
    places = np.array([[20.0, 0.0], [20.0, 12.0], [20.0, 24.0]])
    left, right, bottom, top = ax.images[0].get_extent()
    size = len(picture)
    columns = ((places[:, 0] - left) / (right - left) * size).astype(int)
    rows = ((places[:, 1] - bottom) / (top - bottom) * size).astype(int)
    expected = 0.5 + 0.5 * plot.cluster_colours(model.predict(places))
    np.testing.assert_allclose(picture[rows, columns], expected)
    assert len({tuple(colour) for colour in expected}) == 3


def test_names_of_features_become_names_of_axes_and_noise_is_grey():
    X = pd.DataFrame({"speed": [0.0, 0.1, 0.2, 90.0], "load": [0.0, 0.1, 0.0, 0.0]})
    model = SPC(10, min_samples=2).fit(X)
    ax = plot.structures(model)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("speed", "load")
    assert plot.cluster_colours(np.array([-1]))[0].tolist() == pytest.approx([0.6, 0.6, 0.6])
    plt.close("all")


def test_clusters_have_the_colours_of_the_palette_in_turn():
    labels = np.arange(2 * len(plot.CLUSTER_COLOURS))
    colours = plot.cluster_colours(labels)
    expected = [to_rgb(colour) for colour in plot.CLUSTER_COLOURS * 2]
    np.testing.assert_allclose(colours, expected)
    assert len({tuple(colour) for colour in colours}) == len(plot.CLUSTER_COLOURS)


def test_a_model_that_finds_only_noise_can_be_drawn():
    model = SPC(10, min_samples=5).fit([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]])
    assert model.n_clusters_ == 0
    plot.structures(model)
    plot.decision_regions(model)
    plt.close("all")


def test_the_shade_of_a_cluster_has_the_colour_of_its_structures():
    """Whatever its label is: one that lasts need not be the position of the cluster."""
    rng = np.random.default_rng(0)
    both = np.concatenate([rng.normal(0.0, 1.0, (300, 2)), rng.normal(50.0, 1.0, (300, 2))])
    model = spclust.SPC(half_life=100).partial_fit(rng.permutation(both))
    known = model.predict([[0.0, 0.0], [50.0, 50.0]])
    lives = int(known.argmax())  # the cluster of the larger label goes on
    model.partial_fit(rng.normal(50.0 * lives, 1.0, (3000, 2)))
    (label,) = model.cluster_labels_
    assert label == known.max() > 0
    figure, ax = plt.subplots()
    image = plot.structures(model, ax=ax).images[0].get_array().reshape(-1, 4)
    assert np.allclose(image[image[:, 3].argmax(), :3], plot.cluster_colours(np.array([label])))
    plt.close(figure)
