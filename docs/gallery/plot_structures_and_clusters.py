"""
Structures and clusters of a stream
===================================

SPC keeps no points. It keeps at most N *structures*, small summaries with a mean and a covariance,
and reads clusters from them at any moment: a cluster is a group of structures that no valley
separates. So clusters can have any shape, and their number need not be known.
"""

# %%
# The stream: two moons and two groups of different width, in random order. It arrives in batches,
# and no batch is kept.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons

from spclust import SPC, plot

moons, _ = make_moons(4000, noise=0.07, random_state=0)
groups, _ = make_blobs(
    [1200, 800], centers=[[2.6, 1.6], [-1.4, -1.1]], cluster_std=[0.25, 0.12], random_state=0
)
X = np.random.default_rng(0).permutation(np.vstack([moons, groups]))

model = SPC()
for batch in np.array_split(X, 30):
    model.partial_fit(batch)
print(f"{len(X):,} points, {len(model.structures_)} structures, {model.n_clusters_} clusters")

# %%
# On the left the structures: a circle is a mean, larger for more points, and an ellipse is drawn at
# two standard deviations. On the right the cluster that ``predict`` gives every place; grey places
# are too far from everything and get the label -1.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", sharex=True, sharey=True)
plot.structures(model, X[:1500], ax=axes[0]).set_title("Structures")
plot.decision_regions(model, ax=axes[1]).set_title("Clusters, by predict")
plt.show()

# %%
# Every point has a *typicality* in every cluster, from 0 to 1. The typicalities of a point need not
# add up to 1: a point between two clusters can be typical of neither, or of both.
between = [[0.5, 0.25], [2.6, 1.6], [2.0, 0.9]]
print(model.cluster_labels_)
print(model.typicality(between).round(2))

# %%
# A map of typicality has lines at 0.1, 0.5 and 0.9.
figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
plot.typicality_map(model, np.vstack([X[:1200], [[0.5, 2.2], [1.2, -2.0], [-2.0, 1.6]]]), ax=ax)
ax.set_title("Typicality; crosses are points of no cluster")
plt.show()
