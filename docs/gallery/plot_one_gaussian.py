"""
One Gaussian is one cluster
===========================

Many clusterers cannot say "one": k-means with a silhouette starts at two, and HDBSCAN looks for
two or more unless ``allow_single_cluster`` is set. SPC divides a group only where the density has a
valley that chance does not explain.
"""

# %%
# The same 1,000 points of one Gaussian, in three pictures, with default parameters.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import silhouette_score

from spclust import SPC, plot

rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 2))
model = SPC().fit(X)
density = HDBSCAN(copy=True).fit_predict(X)
k_means = max(
    (KMeans(k, n_init=3, random_state=0).fit_predict(X) for k in range(2, 7)),
    key=lambda labels: silhouette_score(X, labels),
)

figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained", sharex=True, sharey=True)
for ax, labels, name in zip(
    axes, (model.labels_, density, k_means), ("SPC()", "HDBSCAN()", "k-means, best silhouette")
):
    ax.scatter(*X.T, s=6, c=plot.cluster_colours(labels), linewidths=0)
    ax.set(xticks=[], yticks=[], aspect="equal")
    clusters = labels.max() + 1
    noise = f", {np.mean(labels < 0):.0%} noise" if (labels < 0).any() else ""
    ax.set_title(f"{name}: {clusters} cluster{'s' if clusters > 1 else ''}{noise}", fontsize=10)
plt.show()

# %%
# When are two Gaussians two? At a distance of two standard deviations their sum has one peak;
# beyond that there is a valley, at first too shallow to be seen in 1,000 points. Eight streams for
# each distance:
distances = np.arange(0.0, 6.1, 0.5)
share = np.zeros((3, distances.size))
for i, distance in enumerate(distances):
    for seed in range(8):
        rng = np.random.default_rng([seed, i])
        X = rng.normal(size=(1000, 2))
        X[:, 0] += distance * rng.integers(2, size=1000)
        found = SPC().fit(X).n_clusters_
        share[min(found, 3) - 1, i] += 1 / 8

figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
ax.stackplot(
    distances,
    share,
    labels=("one cluster", "two clusters", "more"),
    colors=("#0072B2", "#E69F00", "#CC79A7"),
    alpha=0.85,
)
ax.axvline(2.0, color="white", linestyle="--", linewidth=1.2)
ax.text(2.05, 0.05, "two peaks from here on", color="white", fontsize=9)
ax.set(
    xlabel="distance of the two means, in standard deviations",
    ylabel="share of streams",
    xlim=(0, 6),
    ylim=(0, 1),
)
ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
plt.show()
