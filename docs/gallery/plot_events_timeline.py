"""
Births, merges and splits of clusters on a timeline
===================================================

``watch`` learns a stream and reports what happens to its clusters: births, deaths, merges, splits
and moves. The ids in these events are the labels that ``predict`` gives, and they last.
"""

# %%
# The stream is generated, so that we know what truly happens. ``watch`` takes any iterable of
# batches, also an endless one, and yields events as they are noticed.
import matplotlib.pyplot as plt
import numpy as np

from spclust import SPC, datasets, plot

X, y, truth = datasets.make_drifting(12_000, n_events=8, seed=2)
model = SPC(half_life=300)
labels = []
for batch in np.array_split(X, 120):
    for event in model.watch([batch]):
        if event.index > 1000:  # before, the first clusters are born
            print(f"point {event.index:6,}: {event.kind:5} {event.before} -> {event.after}")
    labels.append(model.labels_)
labels = np.concatenate(labels)

# %%
# Above: the first feature of every point, in the colour of its label when it arrived. Below: the
# timeline. Dashed lines are the true events. An event is reported a little later, because it takes
# some points to be sure.
figure, axes = plt.subplots(
    2, 1, figsize=(9, 6.6), height_ratios=[1.3, 1], layout="constrained", sharex=True
)
axes[0].scatter(
    np.arange(len(X)), X[:, 0], s=2, c=plot.cluster_colours(labels), linewidths=0, rasterized=True
)
axes[0].set(ylabel="feature x0")
plot.events(model, ax=axes[1])
for event in truth:
    for ax in axes:
        ax.axvline(event.index, color="0.35", linestyle="--", linewidth=0.9, zorder=0)
    axes[0].annotate(
        event.kind,
        (event.index, 1.01),
        xycoords=("data", "axes fraction"),
        fontsize=8,
        ha="center",
    )
plt.show()
