"""
Clustering a stream in a thousand dimensions
============================================

Distances lose contrast in many dimensions, and covariances become large: a full one of 1,000
features has a million entries. Above 128 features ``SPC()`` keeps a variance for each feature. It
needs no dimension reduction, and the plots project by themselves.
"""

# %%
# Twelve clusters of 1,000 features, in random order.
import time

import matplotlib.pyplot as plt
import numpy as np

from spclust import SPC, datasets, metrics, plot

X, y = datasets.make_highdim(2400, n_features=1000, n_clusters=12)
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], y[order]

model = SPC()
started = time.perf_counter()
for batch in np.array_split(X, 24):
    model.partial_fit(batch)
took = time.perf_counter() - started
print(f"{model.n_clusters_} clusters, NMI {metrics.nmi(y, model.predict(X)):.2f}")
print(f"{1e6 * took / len(X):.0f} microseconds a point on this machine")

# %%
# Left: the structures along the first two principal components of their means, which show only a
# part of what keeps clusters apart. Right: the typicality of points in all clusters. Every point is
# typical in one, and in no other.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
plot.structures(model, X, ax=axes[0]).set_title("Two of a thousand directions")
by_class = np.argsort(y, kind="stable")
image = axes[1].imshow(
    model.typicality(X[by_class]), aspect="auto", cmap="cividis", vmin=0.0, vmax=1.0,
    interpolation="nearest",
)  # fmt: skip
axes[1].set(xlabel="cluster", ylabel="points, by class", xticks=range(model.n_clusters_))
axes[1].set_xticklabels(model.cluster_labels_)
axes[1].set_title("Typicality")
figure.colorbar(image, ax=axes[1])
plt.show()
