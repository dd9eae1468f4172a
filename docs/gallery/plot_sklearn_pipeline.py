"""
SPC in a scikit-learn pipeline with GridSearchCV
================================================

``SPC`` is a transformer: ``transform`` gives the typicality in each cluster. A linear classifier on
these columns can draw curved borders, and ``GridSearchCV`` can search the parameters of both.
"""

# %%
# Three classes, of which one lies on both sides of the others, so that no line divides them.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spclust import SPC, plot

centres = [[0, 0], [4, 4], [8, 0], [4, -4], [4, 0], [0, 6], [8, 6]]
X, group = make_blobs(2100, centers=centres, cluster_std=0.8, random_state=1)
y = np.array([0, 1, 0, 1, 2, 2, 2])[group]
train, test, y_train, y_test = train_test_split(X, y, random_state=0)

pipeline = make_pipeline(StandardScaler(), SPC(), LogisticRegression())
grid = {"spc__n_structures": [10, 30, 100], "spc__m": [1.2, 1.5, 3.0]}
search = GridSearchCV(pipeline, grid, cv=3).fit(train, y_train)
print("best:", search.best_params_)
print(f"accuracy on new points: {search.score(test, y_test):.2f}")
plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(train, y_train)
print(f"without SPC: {plain.score(test, y_test):.2f}")

# %%
# Left: classes that each pipeline gives the plane. Right: what the search has measured.
figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
x0, x1 = np.meshgrid(np.linspace(-3, 11, 200), np.linspace(-7, 9, 200))
places = np.column_stack([x0.ravel(), x1.ravel()])
for ax, classifier, name in (
    (axes[0], plain, "logistic regression"),
    (axes[1], search, "with SPC"),
):
    regions = plot.cluster_colours(classifier.predict(places)).reshape(200, 200, 3)
    ax.imshow(0.6 + 0.4 * regions, extent=(-3, 11, -7, 9), origin="lower", aspect="auto")
    ax.scatter(*test.T, s=5, c=plot.cluster_colours(y_test), linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"{name}: {classifier.score(test, y_test):.2f}", fontsize=10)
scores = search.cv_results_["mean_test_score"].reshape(3, 3)  # rows are m
axes[2].imshow(scores, cmap="cividis", aspect="auto")
axes[2].set_xticks(range(3), grid["spc__n_structures"])
axes[2].set_yticks(range(3), grid["spc__m"])
axes[2].set(xlabel="n_structures", ylabel="m")
for (row, column), value in np.ndenumerate(scores):
    axes[2].text(
        column, row, f"{value:.3f}", ha="center", va="center", fontsize=9,
        color="black" if value > scores.mean() else "white",
    )  # fmt: skip
axes[2].set_title("accuracy in cross-validation", fontsize=10)
plt.show()
