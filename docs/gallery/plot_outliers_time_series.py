"""
Find outliers in a time series, online
======================================

A value that is normal at noon can be strange at night. ``SPCOutlierDetector`` learns which
combinations of features are typical, so a value and the time of day together tell such outliers.
Each hour is scored before it is learnt, as in production.
"""

# %%
# Half a year of hourly load: a daily rhythm, weekends with less of it, a slow rise, and noise.
# Three things go wrong: a spike, a morning in which the load stays as low as at night, and two days
# that are six hours late.
import matplotlib.pyplot as plt
import numpy as np

from spclust import SPCOutlierDetector

rng = np.random.default_rng(0)
hours = np.arange(24 * 182)
rhythm = 30.0 + 20.0 * np.sin(2 * np.pi * (hours - 9) / 24)
weekend = (hours // 24) % 7 >= 5
load = (
    np.where(weekend, 0.6 * rhythm + 6.0, rhythm) + 0.003 * hours + rng.normal(0, 1.5, hours.size)
)

strange = np.zeros(hours.size, dtype=bool)
spike, flat, late = 24 * 100 + 14, 24 * 121 + 9, 24 * 150
strange[[spike, spike + 1]] = True
load[strange] += 25.0
load[flat : flat + 8] = load[flat - 5]
strange[flat : flat + 8] = True
load[late : late + 48] = load[late - 6 : late + 42].copy()
strange[late : late + 48] = True

# %%
# Features are the load, and the hour as a place on a circle. The circle is small beside the load in
# numbers, which does not matter: the detector finds the unit of each feature.
angle = 2 * np.pi * hours / 24
X = np.column_stack([load, np.cos(angle), np.sin(angle)])

detector = SPCOutlierDetector(half_life=24 * 28)  # about the last month
score = np.zeros(hours.size)
flagged = np.zeros(hours.size, dtype=bool)
for day in np.array_split(hours, 182):
    if day[0] >= 24 * 7:  # the first week is learnt only
        score[day] = -detector.score_samples(X[day])
        flagged[day] = detector.predict(X[day]) == -1
    detector.partial_fit(X[day])

print(f"strange hours found: {np.sum(flagged & strange)} of {strange.sum()}")
print(f"other hours reported: {np.sum(flagged & ~strange)} of {np.sum(~strange)}")

# %%
# An hour of the late days that happens to have its usual load cannot be told. The threshold is the
# score that 1 % of the last 1,000 hours exceeded; ``contamination`` sets another share. The score,
# below, tells more than the flag: what is truly strange stands out.
figure, axes = plt.subplots(2, 1, figsize=(9, 5), layout="constrained", sharex=True)
days = hours / 24
shown = (days >= 90) & (days < 160)
axes[0].plot(days[shown], load[shown], color="0.65", linewidth=0.7)
for chosen, colour, name in (
    (flagged & strange, "#D55E00", "reported, strange"),
    (flagged & ~strange, "#0072B2", "reported, usual"),
):
    axes[0].scatter(days[chosen & shown], load[chosen & shown], s=16, color=colour, label=name)
axes[0].set(ylabel="load")
axes[0].legend(frameon=False, ncols=2, loc="upper left", fontsize=8)
axes[0].set_ylim(top=load[shown].max() + 14)
axes[1].plot(days[shown], score[shown], color="0.4", linewidth=0.7)
axes[1].scatter(days[strange & shown], score[strange & shown], s=10, color="#D55E00")
axes[1].set(xlabel="day", ylabel="negative log typicality")
plt.show()
