"""
SPC in a River pipeline: dictionaries, missing and new features
===============================================================

River learns one dictionary at a time. ``spclust.river.SPC`` does so, too, and does not mind if a
feature is missing, or appears in the middle of the stream.
"""

# %%
# Machines in three states report temperature and vibration. A tenth of the values gets lost. After
# 2,000 reports a pressure sensor is added: only with it the third state, a leak, can be told from
# the first.
import matplotlib.pyplot as plt
import numpy as np
from river import metrics, utils

from spclust import plot
from spclust.river import SPC

CENTRES = {  # of each state: temperature, vibration, pressure
    "idle": (20.0, 0.2, 5.0),
    "busy": (60.0, 1.5, 5.0),
    "leak": (20.0, 0.2, 3.0),
}
DEVIATION = (2.0, 0.1, 0.1)


def reports(n, seed=0):
    """Reports of machines and their true states."""
    rng = np.random.default_rng(seed)
    names = ("temperature", "vibration", "pressure")
    for i in range(n):
        state = ("idle", "busy", "leak")[rng.integers(3)]
        values = rng.normal(CENTRES[state], DEVIATION)
        sensors = 3 if i >= 2000 else 2
        kept = rng.random(3) > 0.1
        yield {names[k]: values[k] for k in range(sensors) if kept[k]}, state


# %%
# Each report gets its cluster before it is learnt. The score is the adjusted Rand index of the last
# 500 reports; 1 is perfect.
model = SPC(half_life=500)
score = utils.Rolling(metrics.AdjustedRand, window_size=500)
curve, rows = [], []
for i, (x, state) in enumerate(reports(5000)):
    label = model.predict_one(x)
    model.learn_one(x)
    score.update(state, label)
    rows.append((x.get("temperature", np.nan), x.get("pressure", np.nan), label))
    if i % 25 == 0 and i > 500:
        curve.append((i, score.get(), model.n_clusters))
print({k: {name: round(v, 1) for name, v in c.items()} for k, c in model.centers.items()})

# %%
# Before the sensor there are two clusters, since nothing tells a leak; soon after it there are
# three. A fourth may be there beside them: with a sensor after 1,500 of 3,500 reports there is one
# in which no complete report falls any more.
rows, curve = np.array(rows), np.array(curve)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].plot(curve[:, 0], curve[:, 1], color="#0072B2")
axes[0].axvline(2000, color="0.4", linestyle="--", linewidth=1)
axes[0].text(2050, 0.05, "from here on with a pressure sensor", fontsize=9)
axes[0].set(xlabel="reports", ylim=(0, 1.05))
axes[0].set_ylabel("adjusted Rand index", color="#0072B2")
number = axes[0].twinx()
number.step(curve[:, 0], curve[:, 2], color="#D55E00")
number.set(ylim=(0, 4.2), yticks=range(5))
number.set_ylabel("clusters", color="#D55E00")
late = rows[-1000:]
axes[1].scatter(
    late[:, 0], late[:, 1], s=8, c=plot.cluster_colours(late[:, 2].astype(int)), linewidths=0
)
axes[1].set(xlabel="temperature", ylabel="pressure", title="the last 1,000 reports, by label")
plt.show()
