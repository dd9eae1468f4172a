"""Whether `diagnose` knows wrong clusters: `python -m benchmarks.stability FOLDER`.

FOLDER/static has sets as .npz files with X and y. For each, the stability of the clusters that
SPC() finds and their NMI; then the mean NMI below and above the limit of `diagnose`.
"""

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import normalized_mutual_info_score

from benchmarks import stored
from spclust import SPC
from spclust.auto.clusters.bootstrap import stability
from spclust.stream.automatic_stream import AutomaticStream


def main() -> None:
    """Measure all sets, and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.stability",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=0, help="of the order of rows")
    stored.add_option(parser)
    options = parser.parse_args()
    table = Table("set", "stability", "NMI", "told")
    told: dict[bool, list[float]] = {True: [], False: []}
    for file in sorted((options.folder / "static").rglob("*.npz")):
        data = np.load(file)
        order = np.random.default_rng(options.seed).permutation(len(data["X"]))
        model = SPC().fit(data["X"][order].astype(float))
        score = float(normalized_mutual_info_score(data["y"][order], model.labels_))
        unstable = any(finding.code == "unstable" for finding in model.diagnose())
        told[unstable].append(score)
        stream = model._stream
        assert isinstance(stream, AutomaticStream)
        share = stability(stream.structures)
        table.add_row(file.stem, f"{share:.2f}", f"{score:.2f}", "unstable" if unstable else "")
    Console().print(table)
    figures = dict[str, float]()
    for unstable, scores in told.items():
        what = "told to be unstable" if unstable else "others"
        print(f"{len(scores)} {what}: mean NMI {np.mean(scores):.2f}")
        figures |= {f"{what}/sets": len(scores), f"{what}/NMI": float(np.mean(scores))}
    if options.store:
        stored.store("stability", figures, options)


if __name__ == "__main__":
    main()
