"""A run of the command that writes everything, with bad rows among its input."""

from tests.command.common import csv_file

OUTPUTS = ("labels.csv", "events.ndjson", "bad.ndjson", "model.spc")


def arguments(folder, data, *more):
    """A run that writes everything a run can write."""
    paths = {name: folder / name for name in OUTPUTS}
    return [
        *("cluster", data, "-c", "x,y", "--label", "class", "--keep", "name", "--standardise"),
        *("--out", paths["labels.csv"], "--typicality", "--events", paths["events.ndjson"]),
        *("--on-bad-row", "collect", paths["bad.ndjson"], "--save", paths["model.spc"]),
        *("--checkpoint", folder / "run.ck", "--every", 4000, "--batch", 2000, "--warmup", 3000),
        *("--scale", 0.3, "--beta", 0.01, "--track-every", 500, "--read-bytes", 50_000, "-q"),
        *more,
    ]


def contents(folder):
    return {name: (folder / name).read_bytes() for name in OUTPUTS}


def with_bad_rows(path, rows):
    lines = csv_file(path, rows).read_text().splitlines()
    for i in range(50, len(lines), 997):
        lines[i] = "1.0,not a number,here,c0"
    path.write_text("\n".join(lines) + "\n")
    return path
