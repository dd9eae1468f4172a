"""
Overview of a model with many features
======================================

``plot.plot_all`` draws a page about a model of any number of features: the structures in a
projection, the sizes of the clusters, how typical the points are, and what ``diagnose`` says. If
the clusters were tracked, it has a timeline, too.
"""

# %%
# A stream of five features with clusters that come and go.
import matplotlib.pyplot as plt
import numpy as np

from spclust import SPC, datasets, plot

X, y, truth = datasets.make_drifting(10_000, n_features=5, n_events=6, seed=4)
model = SPC(half_life=500)
for _ in model.watch(np.array_split(X, 100)):
    pass
plot.plot_all(model, X[-1000:])
plt.show()

# %%
# Each part is a function of its own that draws into axes. Two features can be chosen by name or
# position; a matrix with two columns gives any other projection. In a projection a place is not a
# point, so the typicality map colours the points themselves.
figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
plot.structures(model, X[-1000:], ax=axes[0], features=(0, 1)).set_title("two features")
mean_of_halves = np.repeat([[0.5, 0.0], [0.0, 1 / 3]], [2, 3], axis=0)
plot.structures(model, X[-1000:], ax=axes[1], projection=mean_of_halves)
axes[1].set(title="a projection", xlabel="mean of x0 and x1", ylabel="mean of x2 to x4")
plot.typicality_map(model, X[-1000:], ax=axes[2]).set_title("typicality of points")
axes[2].set(xlabel="component 1", ylabel="component 2")
plt.show()
