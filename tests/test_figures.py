"""Figures that the documents quote beside a snippet, a command or a constant are true of it."""

import os
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from benchmarks.quality import clusterers, protocol
from benchmarks.quality.streams import DIMENSIONS, KINDS, generated

import spclust
from spclust import SPC, SPCOutlierDetector
from spclust.auto.home import calibrated_nlt
from spclust.datasets import make_drifting
from spclust.parameters import EPS_OF_THE_PAPER, resolved_outlier_nlt, resolved_structures
from tests.tracking.test_tracker import f1, hits

ROOT = Path(__file__).parents[1]
WORDS = {"two": "2", "three": "3", "five": "5", "seven": "7"}


def text_of(page):
    """A page in one line: figures do not depend on where lines are wrapped, or on their sources."""
    return " ".join(re.sub(r"<!--.*?-->", "", (ROOT / page).read_text("utf-8"), flags=re.S).split())


def quoted(page, pattern):
    """The figures that a page quotes, as they are printed."""
    found = re.search(pattern, text_of(page))
    assert found, f"{page} no longer says {pattern}: change the test with the page"
    return [WORDS.get(figure, figure) for figure in found.groups()]


def snippets(page, kind):
    return re.findall(rf"```{kind}\n(.+?)```", (ROOT / page).read_text("utf-8"), re.S)


def agrees(figure, value):
    """True if a value, rounded as a figure is printed, is that figure."""
    number = figure.replace(",", "")
    decimals = len(number.partition(".")[2])
    return abs(value - float(number)) <= 0.5 * 10.0**-decimals * (1.0 + 1e-9)


def blobs(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(20 * rng.integers(2, size=(n, 1)), 1.0, (n, 2))


def test_a_figure_agrees_with_what_rounds_to_it_and_with_nothing_else():
    assert agrees("0.9", 0.949)
    assert agrees("1,000", 999.6)
    assert agrees("0.05", float(np.exp(-3.0)))
    assert not agrees("0.9", 0.951)
    assert not agrees("0.90", 0.906)
    assert not agrees("1,000", 1001.0)


def test_the_comments_of_the_readmes_snippet():
    (code,) = snippets("README.md", "python")
    names = {}
    exec(code, names)
    labels = re.search(r"^(model\.predict\(.+\))  # clusters: (array\(.+\))$", code, re.M)
    assert np.array_equal(eval(labels[1], names), eval(labels[2], {"array": np.array}))
    shape = re.search(
        r"^(model\.typicality\(.+\))  # \((\d+), n_clusters_\), from 0 to 1$", code, re.M
    )
    u = eval(shape[1], names)
    assert u.shape == (int(shape[2]), names["model"].n_clusters_)
    assert 0.0 <= u.min() <= u.max() <= 1.0


def test_the_comments_of_the_snippet_of_the_mode_of_the_paper():
    (code,) = snippets("docs/explanation/paper_mode.md", "python")
    n, eps = re.search(r"# N = (\d+), eps = ([\d.]+), nothing is forgotten", code).groups()
    names = {}
    exec(code.split("\nrate =")[0], names)
    model = names["model"]
    assert model._stream.params.n_structures == int(n) == resolved_structures("auto", 1.0)
    assert float(eps) == EPS_OF_THE_PAPER
    assert np.array_equal(model.clustering(), model.clustering(eps=float(eps)))
    assert model._stream.params.gamma == model._stream.params.beta == 0.0
    exec(code, names)
    points = re.search(r"decay_from_half_life\((\d+)\)", code)[1]
    assert np.exp(-names["rate"] * int(points)) == pytest.approx(0.5)
    assert names["model"].beta == names["model"].gamma == names["rate"]


def test_the_snippets_about_outliers():
    codes, names = snippets("docs/how-to/outliers.md", "python"), {}
    for code in codes:
        exec(code, names)
    (limit,) = re.findall(r"SPC\(outlier_nlt=([\d.]+)\)", codes[0])
    X = names["X"]
    model = names["model"]
    nlt = -model.score_samples(X)
    assert np.array_equal(model.predict(X) == -1, nlt > float(limit))
    assert (nlt > float(limit)).any()
    assert names["strange"][-1]  # the point between both clusters
    assert names["strange"].mean() < 0.1
    figure, typicality = quoted("docs/how-to/outliers.md", r"\((\d) is a typicality of ([\d.]+)\)")
    assert float(figure) == float(limit)
    assert agrees(typicality, np.exp(-float(figure)))


@pytest.mark.parametrize(
    ("page", "pattern"),
    [
        ("how-to/outliers.md", r"recent points: ([\d.]+) \(NLT ([\d.]+)\) at their median, "
         r"([\d.]+) \(NLT ([\d.]+)\) at their quantile of 95 %"),
        ("explanation/automatic_renewal.md", r"with m = 1.5 the typicality is ([\d.]+)() at the "
         r"median of recent points, and ([\d.]+)() at their quantile of 95 %"),
        ("reference/glossary.md", r"Automatic: ([\d.]+)() at the median of recent points, (1/2)()"
         r" at"),
    ],
    ids=["outliers", "automatic", "glossary"],
)  # fmt: skip
def test_typicality_at_the_median_and_at_95_percent(page, pattern):
    stream = SPC().fit(blobs())._stream
    recent = stream.structures.recent
    assert np.isfinite(recent).all()
    assert len(recent) == 1_000
    nlt = calibrated_nlt(np.quantile(recent, [0.5, 0.95]), stream.structures)
    figures = [figure.replace("1/2", "0.5") for figure in quoted(f"docs/{page}", pattern)]
    for u, logarithm, value in zip(figures[::2], figures[1::2], nlt, strict=True):
        assert agrees(u, np.exp(-value))
        assert not logarithm or agrees(logarithm, value)


def test_what_the_limit_of_outliers_is():
    (limit,) = quoted(
        "docs/how-to/outliers.md", r'`"auto"`, the default, is (\d+): rows that are farther'
    )
    assert resolved_outlier_nlt("auto", "auto") == float(limit)
    limit, typicality = quoted(
        "docs/explanation/automatic_constants.md",
        r"\| NLT of an outlier \| (\d+) \| `parameters.py` \| a typicality of ([\d.]+)",
    )
    assert resolved_outlier_nlt("auto", "auto") == float(limit)
    assert agrees(typicality, np.exp(-float(limit)))
    (share,) = quoted(
        "docs/how-to/outliers.md", r'`contamination="auto"`\*\* reports (\d+) % of a stream'
    )
    detector = SPCOutlierDetector().partial_fit(blobs())
    recent = detector.model_._stream.structures.recent
    scores = -calibrated_nlt(recent, detector.model_._stream.structures)
    assert agrees(share, 100.0 * np.mean(scores < detector.offset_))


def test_what_a_half_life_remembers():
    page = "docs/how-to/choose_half_life.md"
    times, old, percent = quoted(
        page, r"about ([\d.]+) h recent points decide everything; those that are (\w+) half-lives "
        r"old count (\d+) %"
    )  # fmt: skip
    assert agrees(percent, 100.0 * 2.0 ** -float(old))
    again, n, h, points = quoted(
        page, r"add up to ([\d.]+) h. With N = (\d+) and h = (\d+) a structure has (\w+) points"
    )
    remembered = []  # of four streams: by chance a few structures are removed early
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(9000, 2))
        model = SPC(int(n), half_life=float(h)).fit(X)
        remembered.append(model._stream.faded_counts().sum())
    assert times == again
    assert agrees(times, np.mean(remembered) / float(h))
    assert agrees(points, np.mean(remembered) / int(n))
    (lives,) = quoted(
        "docs/explanation/automatic_renewal.md",
        r"below 1/4: a lone point is kept for (\w+) half-lives",
    )
    assert 2.0 ** -float(lives) == 0.25


CONSTANTS = {  # row of the table of constants: names in the file that the row gives
    "N": ("100", "_STRUCTURES"),
    "faded count that is removed": ("1/4", "_FADED"),
    "structures removed by a gap by chance": ("2 %", "_BY_CHANCE"),
    "share of L for two neighbours": ("0.4", "_BOTH"),
    "ridge of the metric": ("0.25 widths", "RIDGE"),
    "mass left out of W": ("10 %, the widest", "_WIDEST"),
    "farthest distance in the width": ("8 mean distances", "_FAR"),
    "mass of a structure that counts in the mean distance": ("0.5 means", "_HEAVY"),
    "structures of a branch that is apart": ("6", "_FEWEST_STRUCTURES"),
    "share of a valley on a line": ("0.55", "SHALLOW"),
    "the same with up to three features, or between branches": ("0.5", "DEEP"),
    "mass within reach": ("3.5 means", "_ENOUGH"),
    "mass of groups while the origin moves": ("0.5 of all", "_IN_GROUPS"),
    "recent points": ("1,000", "RECENT"),
    "recent points at least": ("200", "_FEWEST_CALIBRATING"),
    "largest power p": ("16", "_LARGEST_POWER"),
    "beyond a quantile": ("by 1 %", "_APART"),
    "good enough": ("0.8 of the best score", "_NEARLY"),
    "cost of log(clusters)": ("0.07", "_FOR_EACH"),
    "bridge": ("1 mean count", "_BRIDGE"),
    "trials": ("4 for each structure", "_TRIALS"),
    "share of a valley along a border": ("0.85", "_OPEN"),
    "features in which borders show valleys": ("up to 3", "RESOLVED"),
    "standard deviations of a chosen valley": ("1", "_CHOSEN"),
    "wide gaps": ("0.3 wider, in logarithms", "_WIDE"),
    "evidence of wide gaps": ("5 standard deviations", "_APART"),
    "edges of a border with a gap": ("5", "_EDGES"),
    "structures of a part behind a gap": ("3", "_FEWEST_STRUCTURES"),
    "points of a structure, for gaps": ("3 on average", "_POINTS"),
    "edges with the usual gap, added to those inside of a part": ("2", "_USUAL"),
    "ripple": ("0.04", "RIPPLE"),
    "empty valley": ("0.1", "EMPTY"),
    "distance of the densest passage from the line": ("0.25 of its length", "_BESIDE"),
    "density of a centre, as a share of the peak, in general": ("0.2", "_INSIDE"),
    "share of a gap along a border": ("0.4", "_GAP"),
    "structures of a group that show no gaps": ("4", "FEWEST_WITHOUT_GAPS"),
    "neighbours of that distance": ("4", "_NEIGHBOURS"),
    "nearest structures, to which edges lead": ("12", "_NEAREST"),
    "exponent of a volume": ("at most 4", "_DIMENSIONS"),
    "places on the line": ("41", "_PLACES"),
    "slopes by chance": ("probability 0.0001", "_BY_CHANCE"),
    "precise slopes": (
        "standard error of 0.3 deviations of a cluster, in the time that is remembered",
        "_PRECISE",
    ),
    "windows that agree": ("2", "FEWEST_WINDOWS"),
    "clusters that move alike": ("10 times", "_ALIKE"),
    "slow features": ("0.3 deviations with a point", "_SLOW"),
    "mass of a structure that counts in the scatter within clusters": ("0.5 means", "_HEAVY"),
}


def number_in(text):
    """The first number of a cell: a fraction, a percentage, or a plain one."""
    whole, part, percent = re.search(r"([\d.,]+)(?:/(\d+))?( %)?", text).groups()
    return float(whole.replace(",", "")) / float(part or 1) / (100.0 if percent else 1.0)


@pytest.mark.parametrize("row", CONSTANTS)
def test_constants_of_the_automatic_mode_are_those_of_the_page(row):
    value, name = CONSTANTS[row]
    (file,) = quoted(
        "docs/explanation/automatic_constants.md",
        rf"\| {re.escape(row)} \| {value} \| `([\w.]+)` \|",
    )
    (path,) = (Path(spclust.__file__).parent).rglob(file)
    module = import_module(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
    assert getattr(module, name) == pytest.approx(number_in(value), rel=1e-12)


def test_the_table_of_events():
    """The model of the page on its ten streams; the counts give the F1 that it quotes."""
    page = (ROOT / "docs/explanation/tracking.md").read_text("utf-8")
    (call,) = re.findall(r"`(SPC\(60,[^`]+)`", page)
    first, last = quoted(
        "docs/explanation/tracking.md", r"these parameters were chosen \(seeds (\d) to (\d)\)"
    )
    kinds = ("birth", "death", "merge", "split")
    counts = dict.fromkeys(kinds, 0)
    for seed in range(int(first), int(last) + 1):
        X, _, truth = make_drifting(seed=seed)
        found = eval(call, {"SPC": SPC}).partial_fit(X).events_
        counts = {kind: counts[kind] + hits(truth, found, kind) for kind in kinds}
    for kind in kinds:
        row = re.search(
            rf"^\| {kind}s \| ([\d.]+) \((\d+), (\d+), (\d+)\) \| [\d.]+ \(.+\) \|$", page, re.M
        )
        assert counts[kind].tolist() == [int(count) for count in row.groups()[1:]], kind
        assert agrees(row[1], f1(counts[kind])), kind


# All rows take half a minute: `SPCLUST_FIGURES=all` runs them.
SOME = ("rotation", "regimes", "bursts")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS if os.environ.get("SPCLUST_FIGURES") == "all" else SOME)
def test_rows_of_the_table_of_drifts(kind):
    """Of SPC in the table by `python -m benchmarks.quality --only generated`."""
    (seed,) = quoted(
        "docs/explanation/automatic_quality.md",
        r"benchmarks.quality --only generated --seed (\d+)`",
    )
    (points,) = quoted(
        "docs/explanation/automatic_quality.md", r"2, 5, 10 and 20 dimensions, ([\d,]+) points each"
    )
    figures = quoted(
        "docs/explanation/automatic_quality.md",
        rf"\| {kind.replace('_', ' ')} \| ([\d.]+) \| ([\d.]+) \|",
    )
    options = protocol.Options(1, int(seed), 600.0)
    for one, figure in zip(
        (clusterers.SPC_HALF_LIFE, clusterers.SPC_DEFAULT), figures, strict=True
    ):
        scores = []
        for d in DIMENSIONS:
            made = generated(kind, d, int(points.replace(",", "")), int(seed))
            scores += protocol.stream(one, made, options).values["batch"]
        assert agrees(figure, np.mean(scores)), (one.name, np.mean(scores))
