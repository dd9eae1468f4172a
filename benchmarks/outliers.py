"""Outliers: `python -m benchmarks.outliers`, a table of ROC-AUC and average precision, and JSON.

Two protocols, both in order of arrival, rows standardised by mean and deviation of the first 100
(or of the first half, if that is less):

- stream: batches of 100 rows, each scored and then learnt. Methods that cannot learn streams are
  refitted to the last 500 rows before each batch.
- halves: every method learns the first half and scores the second, which is not learnt.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from benchmarks import machine, stored
from benchmarks.outlier_streams import CASES, Case, Rows
from spclust import SPCOutlierDetector

BATCH, WINDOW = 100, 500
OUT = Path("output/bench/outliers.json")


class Method(Protocol):
    """Interface of a method; it is constructed from the first batch, before learning it."""

    def learn(self, X: Rows) -> None:
        """Learn more rows (n, d)."""

    def score(self, X: Rows) -> Rows:
        """Outlier score (n,) of each row: higher is more outlying."""


class Spc:
    """SPC with default parameters; the scale is a statistic of the first batch."""

    def __init__(self, first: Rows, seed: int) -> None:
        self.model = SPCOutlierDetector(scale=median_gap(first))

    def learn(self, X: Rows) -> None:
        """Continue the stream."""
        self.model.partial_fit(X)

    def score(self, X: Rows) -> Rows:
        """NLT."""
        return -self.model.score_samples(X)


class Refitted:
    """A method of scikit-learn that is refitted to a window of the last rows."""

    def __init__(self, model: Any, window: int) -> None:
        self.model, self.window = model, window
        self.rows: Rows | None = None

    def learn(self, X: Rows) -> None:
        """Fit to the window that ends with these rows, or to all of them if they are more."""
        known = X if self.rows is None else np.concatenate([self.rows, X])
        self.rows = known[-max(self.window, len(X)) :]
        self.model.fit(self.rows)

    def score(self, X: Rows) -> Rows:
        """The negative of scikit-learn's score."""
        return -np.asarray(self.model.score_samples(X))


class HalfSpaceTrees:
    """River's HalfSpaceTrees, with 25 trees as in its paper.

    It gives no scores before its first window is full: the window is the first rows learnt, at most
    250, which is the default.
    """

    def __init__(self, first: Rows, seed: int) -> None:
        import river.anomaly

        low, high = first.min(axis=0), first.max(axis=0) + 1e-9
        self.limits: Any = dict(enumerate(zip(low.tolist(), high.tolist(), strict=True)))
        self.trees, self.seed = river.anomaly.HalfSpaceTrees, seed
        self.model: Any = None

    def learn(self, X: Rows) -> None:
        """Learn the rows one by one."""
        if self.model is None:
            self.model = self.trees(
                n_trees=25, window_size=min(250, len(X)), limits=self.limits, seed=self.seed
            )
        for row in X.tolist():
            self.model.learn_one(dict(enumerate(row)))

    def score(self, X: Rows) -> Rows:
        """Score the rows one by one."""
        return np.array([self.model.score_one(dict(enumerate(row))) for row in X.tolist()])


def median_gap(X: Rows) -> float:
    """Median distance of a row to its nearest neighbour, without copies."""
    gaps = NearestNeighbors(n_neighbors=2).fit(np.unique(X, axis=0)).kneighbors()[0][:, 0]
    return float(np.median(gaps))


METHODS: dict[str, Callable[[Rows, int], Method]] = {
    "SPC": Spc,
    "IsolationForest": lambda _, seed: Refitted(IsolationForest(random_state=seed), WINDOW),
    "LOF": lambda *_: Refitted(LocalOutlierFactor(novelty=True), WINDOW),
    "OneClassSVM": lambda *_: Refitted(OneClassSVM(), WINDOW),
    "HalfSpaceTrees": HalfSpaceTrees,
}


class Scored(NamedTuple):
    """Scores of one method on one stream, and microseconds a row, learning included."""

    auc: float
    precision: float
    us: float


def stream(make: Callable[[Rows, int], Method], case: Case, seed: int) -> Scored:
    """Score each batch, then learn it; the first is only learnt."""
    X = standardised(case.X, BATCH)
    method, scores, start = make(X[:BATCH], seed), [], time.perf_counter()
    method.learn(X[:BATCH])
    for first in range(BATCH, len(X), BATCH):
        rows = X[first : first + BATCH]
        scores.append(method.score(rows))
        method.learn(rows)
    return judged(case.outlier[BATCH:], np.concatenate(scores), time.perf_counter() - start)


def halves(make: Callable[[Rows, int], Method], case: Case, seed: int) -> Scored:
    """Learn the first half, score the second."""
    middle = len(case.X) // 2
    first = min(BATCH, middle)
    X = standardised(case.X, first)
    method, start = make(X[:first], seed), time.perf_counter()
    method.learn(X[:middle])
    scores = method.score(X[middle:])
    return judged(case.outlier[middle:], scores, time.perf_counter() - start)


def standardised(X: Rows, first: int) -> Rows:
    """Rows standardised by mean and deviation of the first of them."""
    rows: Rows = StandardScaler().fit(X[:first]).transform(X)
    return rows


def judged(outlier: Any, scores: Rows, seconds: float) -> Scored:
    """Both scores of one run."""
    auc, precision = roc_auc_score(outlier, scores), average_precision_score(outlier, scores)
    return Scored(float(auc), float(precision), 1e6 * seconds / len(scores))


PROTOCOLS = {"stream": stream, "halves": halves}


def run(cases: Sequence[str], methods: Sequence[str], seeds: int) -> list[dict[str, Any]]:
    """A record for each protocol, stream and method; `missing` is the reason if there is none."""
    records: list[dict[str, Any]] = []
    for name in cases:
        load, make_case = CASES[name]
        try:
            data = load()
        except ImportError as error:
            records.append({"case": name, "missing": str(error)})
            continue
        for method in methods:
            for protocol, measure in PROTOCOLS.items():
                key = {"case": name, "method": method, "protocol": protocol}
                try:
                    made = METHODS[method]
                    found = [measure(made, make_case(data, seed), seed) for seed in range(seeds)]
                except ImportError as error:
                    records.append({**key, "missing": str(error)})
                    continue
                records.append({**key, **Scored(*map(list, zip(*found, strict=True)))._asdict()})  # type: ignore[arg-type]
    return records


def table(records: list[dict[str, Any]], protocol: str, measure: str) -> Table:
    """Streams by methods: mean and standard deviation over seeds."""
    shown = [one for one in records if one.get("protocol") == protocol]
    methods = list(dict.fromkeys(one["method"] for one in shown))
    result = Table("", *methods, title=f"{measure}, {protocol}")
    for case in dict.fromkeys(one["case"] for one in shown):
        cells = {one["method"]: one.get(measure) for one in shown if one["case"] == case}
        result.add_row(case, *(_cell(cells.get(method)) for method in methods))
    return result


def _cell(values: list[float] | None) -> str:
    return "missing" if values is None else f"{np.mean(values):.3f} ± {np.std(values):.3f}"


def figures(records: list[dict[str, Any]]) -> dict[str, float]:
    """Means and deviations; the least and most cost of each method, also relative to SPC's."""
    found: dict[str, float] = {}
    for one in records:
        for measure in ("auc", "precision") if "us" in one else ():
            key = f"{one['protocol']}/{one['case']}/{one['method']}/{measure}"
            found[key] = float(np.mean(one[measure]))
            found[f"{key}, deviation"] = float(np.std(one[measure]))
    cost = {
        (one["method"], one["case"]): float(np.median(one["us"]))  # the first one may compile
        for one in records
        if one.get("protocol") == "stream" and "us" in one
    }
    for method in dict.fromkeys(method for method, _ in cost):
        own = {case: us for (name, case), us in cost.items() if name == method}
        ratios = [us / cost["SPC", case] for case, us in own.items() if ("SPC", case) in cost]
        for what, values in (("us", list(own.values())), ("cost to that of SPC", ratios)):
            if values:
                found[f"stream/{method}/{what}, least"] = min(values)
                found[f"stream/{method}/{what}, most"] = max(values)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--cases", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--out", type=Path, default=OUT)
    stored.add_option(parser)
    chosen = parser.parse_args(arguments)
    Spc(np.eye(10), 0).learn(np.eye(10))  # compiles before anything is timed
    records = run(chosen.cases, chosen.methods, chosen.seeds)
    console = Console(width=150)
    for protocol in PROTOCOLS:
        for measure in ("auc", "precision", "us"):
            console.print(table(records, protocol, measure))
    for one in records:
        if "missing" in one:
            console.print("missing:", one)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": machine.describe(), "seeds": chosen.seeds, "records": records}
    chosen.out.write_text(json.dumps(content, indent=1))
    if chosen.store:
        stored.store("outliers", figures(records), chosen)


if __name__ == "__main__":
    main()
