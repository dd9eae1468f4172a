"""
Cluster shards in parallel and merge the models
===============================================

A stream that is too wide for one process can be divided: each shard learns a model of its own, and
``merge_all`` makes one model of them, without the points. Shards may even see different parts of
the data.
"""

# %%
# Two rings and a group, divided among six shards. Each shard sees one sector more often than
# others, as when machines stand in different places.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from spclust import SPC, merge_all, metrics, plot

rings, y = make_circles(9000, noise=0.05, factor=0.5, random_state=0)
group = np.random.default_rng(0).normal(0.0, 0.07, (2000, 2))
X, y = np.vstack([rings, group]), np.append(y, np.full(2000, 2))
order = np.random.default_rng(1).permutation(len(X))
X, y = X[order], y[order]

sector = ((np.arctan2(X[:, 1], X[:, 0]) + np.pi) / (2 * np.pi) * 6).astype(int) % 6
anywhere = np.random.default_rng(2).integers(6, size=len(X))
shard = np.where(np.random.default_rng(3).random(len(X)) < 0.7, sector, anywhere)

shards = [SPC().fit(X[shard == k]) for k in range(6)]  # in six processes, or on six machines
merged = merge_all(shards)
print(f"{merged.n_samples_seen_:,} points, {len(merged.structures_)} structures")

# %%
# The merged model has as many structures as each of its parts, and can learn on. It is nearly the
# model of the whole stream.
whole = SPC().fit(X)
figure, axes = plt.subplots(2, 4, figsize=(10, 5.2), layout="constrained", sharex=True, sharey=True)
parts = [*shards, merged, whole]
names = [f"shard {k}" for k in range(6)] + ["merged", "one process"]
for ax, model, name in zip(axes.T.flat, parts, names):
    table = model.structures_
    plot.means(ax, table.mean, table.label, table.count)
    ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-1.25, 1.25), ylim=(-1.25, 1.25))
    score = metrics.nmi(y, model.predict(X))
    ax.set_title(f"{name}: {model.n_clusters_} clusters, NMI {score:.2f}", fontsize=9)
for ax in axes[:, 3]:
    ax.set_facecolor("#f3f6fa")
plt.show()
