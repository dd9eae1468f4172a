"""
The four experiments of the paper
=================================

*Single-pass Possibilistic Clustering with Damped Window Footprints* (Dale, Keller, Galusha) shows
SPC on four streams. ``SPC(scale=...)`` is the algorithm of the paper; here it runs with the
parameters of its Table I, beside the automatic mode, which gets no parameter but the half-life of
the moving waves.
"""

# %%
# Two of the streams are published sets. They are replaced by generated ones of the same kind, so
# that this page needs no download; ``spclust reproduce`` runs the published ones, with five other
# stream clusterers.
import matplotlib.pyplot as plt
import numpy as np

from spclust import SPC, metrics, plot
from spclust.experiments.reproduction.setups import KEYS, make_experiment

figure, axes = plt.subplots(2, 4, figsize=(11, 5.6), layout="constrained")
for column, key in enumerate(KEYS):
    experiment = make_experiment(key, published=False)
    X, y = experiment.stream(0)
    automatic = SPC(half_life=300 if key == "sine" else None, outlier_nlt=None)
    for ax, model in zip(axes[:, column], (SPC(**experiment.paper_parameters), automatic)):
        for batch in np.array_split(X, 30):
            model.partial_fit(batch)
        plot.structures(model, X, ax=ax)
        scored = slice(-300, None) if key == "sine" else slice(None)
        score = metrics.nmi(y[scored], model.predict(X[scored]))
        if key == "sine":
            print(f"waves, whole stream: NMI {metrics.nmi(y, model.predict(X)):.2f}")
        ax.set_title(f"{model.n_clusters_} clusters, NMI {score:.2f}", fontsize=9)
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    axes[0, column].set_title(
        f"{experiment.title}, {experiment.clusters} classes\n" + axes[0, column].get_title(),
        fontsize=9,
    )
axes[0, 0].set_ylabel("parameters of the paper")
axes[1, 0].set_ylabel("automatic")
plt.show()

# %%
# The score is the normalised mutual information of classes and labels of all points after the
# stream; 1 is perfect. With ``outlier_nlt=None`` every point belongs to a cluster in both modes. Of
# the moving waves the last 300 points are scored: the automatic mode has forgotten where they were
# before, and gives those places to any cluster. The scores of the whole stream are printed above,
# that of the paper's parameters first.
#
# With these, the sides of the triangle are split, and in 1,024 dimensions nearly every structure is
# a cluster: pure, but too many. The automatic mode joins two groups of the first stream that touch.
