"""
Topics of a stream of texts
===========================

Texts become vectors by TF-IDF and a truncated SVD, and vectors become topics by SPC, batch by
batch. ``SPC`` has ``partial_fit`` and ``labels_``, which is what online topic models such as
BERTopic expect of a clusterer: there it can stand in for DBSTREAM.
"""

# %%
# The texts are the docstrings of Python's standard library, in random order.
import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from spclust import SPC, plot

MODULES = """
argparse asyncio calendar concurrent.futures configparser csv datetime decimal difflib email.message
fractions ftplib http.client http.cookies imaplib ipaddress json logging mailbox math pathlib pickle
queue random shutil smtplib socket socketserver sqlite3 ssl statistics subprocess tarfile tempfile
threading unittest unittest.mock urllib.parse urllib.request uuid xml.dom.minidom
xml.etree.ElementTree xml.sax zipfile
""".split()


def docstrings(module):
    """Docstrings of the functions, classes and methods of a module."""
    for _, thing in inspect.getmembers(importlib.import_module(module)):
        if inspect.isclass(thing):
            yield from (inspect.getdoc(method) for _, method in inspect.getmembers(thing))
        if inspect.isroutine(thing) or inspect.isclass(thing):
            yield inspect.getdoc(thing)


homes = {text: m for m in MODULES for text in docstrings(m) if text and len(text) > 80}
texts = np.random.default_rng(0).permutation(sorted(homes))
print(f"{len(texts):,} texts")

# %%
# TF-IDF and SVD are fitted to the first texts, and stay as they are; then all texts arrive in
# batches of 100.
words = TfidfVectorizer(
    stop_words="english", token_pattern=r"[A-Za-z]{3,}", min_df=4, max_df=0.2, sublinear_tf=True
)
vectors = make_pipeline(words, TruncatedSVD(20, random_state=0), Normalizer()).fit(texts[:1500])
model = SPC(200)
for batch in np.array_split(texts, len(texts) // 100):
    model.partial_fit(vectors.transform(batch))
V = vectors.transform(texts)
topics = model.predict(V)

# %%
# The words of a topic are those that are more frequent in it than in all texts.
counts, vocabulary = words.transform(texts), words.get_feature_names_out()
overall = np.asarray(counts.mean(axis=0)).ravel()
sizes = {topic: np.sum(topics == topic) for topic in model.cluster_labels_}
largest = sorted(sizes, key=sizes.get, reverse=True)[:9]
figure, axes = plt.subplots(3, 3, figsize=(10, 7), layout="constrained")
for ax, topic in zip(axes.flat, largest):
    weight = np.asarray(counts[topics == topic].mean(axis=0)).ravel()
    top = np.argsort(weight - overall)[-7:]
    ax.barh(vocabulary[top], weight[top], color=plot.cluster_colours(np.array([topic])))
    ax.barh(vocabulary[top], overall[top], color="0.75", height=0.4)
    ax.set_title(f"topic {topic}: {sizes[topic]} texts", fontsize=9, loc="left")
    ax.tick_params(labelsize=8)
    ax.set_xticks([])
    ax.spines[["top", "right", "bottom"]].set_visible(False)
for ax in axes.flat[len(largest) :]:
    ax.set_axis_off()
figure.suptitle("Words of the largest topics; grey: in all texts", fontsize=10)
plt.show()

# %%
# DBSTREAM needs a radius, and the number of topics follows from it. With a suitable one its topics
# are as good, or slightly better, judged by the module that a text is from. Normalised mutual
# information rewards many small topics: compare it where the numbers of topics are alike.
from spclust import metrics
from spclust.experiments.baselines import DBSTREAM

modules = np.unique([homes[text] for text in texts], return_inverse=True)[1]
results = {"SPC(200)": topics}
for radius in (0.7, 1.0):
    other = DBSTREAM(radius, fading_factor=0.0, minimum_weight=5.0, cleanup_interval=1000)
    results[f"DBSTREAM({radius})"] = other.fit(V).labels_
for name, labels in results.items():
    number, score = len(np.unique(labels)), metrics.nmi(modules, labels)
    print(f"{name:13} {number:3} topics, NMI {score:.2f}")
