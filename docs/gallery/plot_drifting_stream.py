"""
Follow a data stream that drifts (animation)
============================================

Clusters of a stream move, appear and vanish. With ``half_life=h`` a point has half its influence h
points later, so the model is always about the recent past. A cluster keeps its label, and with it
its colour, for as long as it lives.
"""

# %%
# The stream has 8,000 points with six events: clusters are born, die, merge, split and move. After
# each batch we note the structures and the last points.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation

from spclust import SPC, datasets, plot

X, y, events = datasets.make_drifting(8000, n_events=6, seed=5)
for event in events:
    print(f"point {event.index:5,}: {event.kind} {event.before} -> {event.after}")

model = SPC(half_life=300)
frames = []
for batch in np.array_split(X, 40):
    model.partial_fit(batch)
    seen = model.n_samples_seen_
    frames.append((seen, X[max(seen - 800, 0) : seen], model.structures_))

# %%
# Small grey dots are the points of the last four batches; circles are the structures, in the colour
# of their cluster. Grey circles are strays: too few points to be a cluster. A new cluster begins as
# some of these. One that gets no more points is remembered for a while, and then fades.
figure, ax = plt.subplots(figsize=(5.6, 4.4), dpi=72, layout="constrained")


def draw(frame):
    """Draw one moment."""
    seen, points, table = frame
    ax.clear()
    ax.scatter(*points.T, s=4, color="0.7", linewidths=0)
    plot.means(ax, table.mean, table.label, table.count)
    low, high = X.min(axis=0) - 1.0, X.max(axis=0) + 1.0
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    clusters = len(np.unique(table.label[table.label >= 0]))
    ax.set_title(f"after {seen:,} points: {clusters} clusters", fontsize=10, loc="left")


animation = FuncAnimation(figure, draw, frames=frames, interval=200)
plt.show()
