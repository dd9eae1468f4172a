"""
Colours of an image: a palette from one pass over the pixels
============================================================

The structures of a model are a summary of the data that can be used by itself. Here the pixels of a
photograph are the stream, and N structures are its palette: each pixel is painted in the colour of
the nearest mean.
"""

# %%
# Every second pixel of every second row, 68,480 in all. SPC sees each once, in random order.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_sample_image
from sklearn.metrics import pairwise_distances_argmin_min

from spclust import SPC

image = load_sample_image("china.jpg")[::2, ::2] / 255.0
pixels = image.reshape(-1, 3)
stream = np.random.default_rng(0).permutation(pixels)


def painted(palette):
    """The image in the colours of a palette, and the root mean square error."""
    nearest, distance = pairwise_distances_argmin_min(pixels, palette)
    return palette[nearest].reshape(image.shape), np.sqrt(np.mean(distance**2))


# %%
# Below each image is its palette; the width of a colour is its share of the pixels.
figure, axes = plt.subplots(2, 3, figsize=(11, 3.2), height_ratios=[9, 1], layout="constrained")
axes[0, 0].imshow(image)
axes[0, 0].set_title("photograph", fontsize=10)
for column, n in ((1, 8), (2, 24)):
    table = SPC(n).fit(stream).structures_
    colours, error = painted(table.mean)
    axes[0, column].imshow(colours)
    axes[0, column].set_title(f"{n} structures, error {error:.3f}", fontsize=10)
    order = np.argsort(table.mean.sum(axis=1))
    ends = np.cumsum(table.count[order]) / table.count.sum()
    starts = np.append(0.0, ends[:-1])
    axes[1, column].barh(0, ends - starts, left=starts, color=table.mean[order], height=1.0)
    axes[1, column].set(xlim=(0, 1))
for ax in axes.flat:
    ax.set_axis_off()
plt.show()

# %%
# MiniBatchKMeans minimises just this error, and needs the same memory: a mean for each colour. For
# comparison:
for n in (8, 24):
    _, error = painted(MiniBatchKMeans(n, n_init=1, random_state=0).fit(stream).cluster_centers_)
    print(f"MiniBatchKMeans({n}): error {error:.3f}")
