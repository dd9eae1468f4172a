"""Columns of times: read exactly and once, in order, in all commands and formats."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from spclust import SPC
from spclust.datasets import make_drifting
from spclust.tables import ReadOptions, read_batches
from spclust.tables.columns.time_column import is_date
from spclust.time_units import date_text, duration_of, seconds_of_dates
from tests.command.common import run

START = np.datetime64("2024-03-01T12:00:00", "us")


def stream(rows=3000, seed=0):
    X, _, _ = make_drifting(rows, seed=seed)
    gaps = np.random.default_rng(seed).exponential(2e6, rows).astype("timedelta64[us]")
    return X, START + np.cumsum(gaps)


def text_file(path, X, stamps):
    pacsv.write_csv(pa.table({"when": [str(s) for s in stamps], "x": X[:, 0], "y": X[:, 1]}), path)
    return path


def files(folder, X, dates):
    """The same table in many forms."""
    x, y = X[:, 0], X[:, 1]
    texts = [f"{date}Z" for date in dates]
    made = {
        "iso.csv": texts,
        "space.csv": [str(date).replace("T", " ") for date in dates],
        "zone.csv": [f"{date + np.timedelta64(2, 'h')}+02:00" for date in dates],
        "seconds.csv": seconds_of_dates(dates),
        "dates.parquet": pa.array(dates),
        "nanoseconds.parquet": pa.array(dates.astype("datetime64[ns]")),
        "zone.parquet": pa.array(dates).cast(pa.timestamp("us", "Europe/Berlin")),
        "seconds.parquet": seconds_of_dates(dates),
        "texts.arrow": texts,
    }
    for name, when in made.items():
        table = pa.table({"x": x, "when": when, "y": y})
        if name.endswith(".csv"):
            pacsv.write_csv(table, folder / name)
        elif name.endswith(".parquet"):
            pq.write_table(table, folder / name)
        else:
            with pa.ipc.new_file(folder / name, table.schema) as file:
                file.write_table(table)
    for name, when in (("iso.ndjson", texts), ("seconds.ndjson", seconds_of_dates(dates).tolist())):
        rows = zip(when, x.tolist(), y.tolist(), strict=True)
        lines = (json.dumps({"when": t, "x": a, "y": b}) for t, a, b in rows)
        (folder / name).write_text("\n".join(lines) + "\n")
    return [*made, "iso.ndjson", "seconds.ndjson"]


def test_every_format_gives_the_model_that_partial_fit_gives(tmp_path):
    X, dates = stream()
    wanted = SPC(half_life=1200.0).partial_fit(X, t=dates)
    for name in files(tmp_path, X, dates):
        out = tmp_path / f"{name}.labels.csv"
        given = ("--time", "when", "--half-life", "20m", "--save", tmp_path / "m.spc", "-q")
        run("cluster", tmp_path / name, *given, "--out", out, "--read-bytes", 5000)
        found = SPC.load(tmp_path / "m.spc")
        assert found._stream.clock == wanted._stream.clock, name
        assert np.array_equal(found.structures_.mean, wanted.structures_.mean), name
        assert np.array_equal(found.structures_.weight, wanted.structures_.weight), name
        assert pacsv.read_csv(out).num_rows == len(X), name


def test_a_plain_half_life_is_in_the_unit_of_the_column(tmp_path):
    X, dates = stream()
    minutes = seconds_of_dates(dates) / 60.0
    pacsv.write_csv(pa.table({"t": minutes, "x": X[:, 0], "y": X[:, 1]}), tmp_path / "a.csv")
    run("cluster", tmp_path / "a.csv", "--time", "t", "--half-life", 20, "--save", tmp_path / "m")
    wanted = SPC(half_life=20).partial_fit(X, t=minutes)
    assert np.array_equal(SPC.load(tmp_path / "m").structures_.weight, wanted.structures_.weight)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--half-life", "10m"), "is a time: name the column of times by --time"),
        (("--half-life", "10x"), "a number of rows"),
        (("--time", "when", "--half-life", "10x"), "a time such as 30s, 10m, 6h or 7d"),
        (("--time", "when", "--columns", "when,x"), "--columns and --time both name"),
    ],
)
def test_wrong_options_are_refused(tmp_path, words, sentence):
    path = text_file(tmp_path / "a.csv", *stream(50))
    assert sentence in " ".join(
        run("cluster", path, *words, code=2).output.replace("│", "").split()
    )


@pytest.mark.parametrize("kind", ["csv", "ndjson"])
@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("", "column 'when', of times, is empty"),
        ("yesterday", "holds 'yesterday', which is no date such as 2024-05-01T12:30:00Z"),
        ("1709294400", "which is no date"),
        ("2024-02-30", "which is no date"),
        ("2024-03-01T11:59:59", "goes back from 2024-03-01T12:05:"),
    ],
)
def test_a_bad_time_is_a_bad_row(tmp_path, kind, cell, why):
    X, dates = stream(200)
    texts = [str(date) for date in dates]
    texts[150] = cell
    if kind == "csv":
        path = text_file(tmp_path / "a.csv", X, texts)
    else:
        path, rows = tmp_path / "a.ndjson", zip(texts, X.tolist(), strict=True)
        lines = (json.dumps({"when": t, "x": x, "y": y}) for t, (x, y) in rows)
        path.write_text("\n".join(lines))
    given = ("cluster", path, "--time", "when", "--batch", 40)
    said = run(*given, code=1).output
    assert f"{path.name}', row 151: " in said
    assert why in said
    collected = tmp_path / "bad.ndjson"
    run(*given, "--on-bad-row", "collect", collected, "--out", tmp_path / "l.csv", "-q")
    (bad,) = map(json.loads, collected.read_text().splitlines())
    assert (bad["row"], bad["column"]) == (151, "when")
    rows = pacsv.read_csv(tmp_path / "l.csv")["row"].to_pylist()
    assert rows == [number for number in range(1, 201) if number != 151]


def test_integers_that_would_be_rounded_are_bad_rows(tmp_path):
    for name, text in (
        ("a.csv", "t,x\n1709294400000000001,1\n1709294400000000002,2\n"),
        ("a.ndjson", '{"t": 1709294400000000001, "x": 1}\n{"t": 1709294400000000002, "x": 1}\n'),
    ):
        (tmp_path / name).write_text(text)
        said = run("cluster", tmp_path / name, "--time", "t", code=1).output
        assert "row 1: column 't', of times, holds" in said
        assert "above 2**53" in said


def test_time_goes_on_from_file_to_file_and_names_the_one_that_goes_back(tmp_path):
    X, dates = stream(300)
    for number, part in enumerate((slice(0, 100), slice(100, 200), slice(50, 300))):
        text_file(tmp_path / f"{number}.csv", X[part], dates[part])
    said = run("cluster", str(tmp_path / "*.csv"), "--time", "when", "--batch", 1000, code=1).output
    assert "2.csv', row 1: column 'when', of times, goes back" in said
    given = ("--time", "when", "--on-bad-row", "skip", "--save", tmp_path / "m.spc", "-q")
    run("cluster", str(tmp_path / "*.csv"), *given)
    wanted = SPC().partial_fit(X, t=dates)  # the overlap is left out, all but its last row
    assert SPC.load(tmp_path / "m.spc").n_samples_seen_ == wanted.n_samples_seen_ + 1


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_resumed_run_is_that_of_an_uninterrupted_one(tmp_path, kind):
    X, dates = stream(6000)
    dates = dates.copy()
    dates[[500, 2999, 3000, 3001, 4500]] -= np.timedelta64(1, "D")  # around the checkpoint, too
    write = {
        "csv": lambda path, n: text_file(path, X[:n], dates[:n]),
        "parquet": lambda path, n: pq.write_table(
            pa.table({"when": dates[:n], "x": X[:n, 0], "y": X[:n, 1]}), path
        ),
    }[kind]
    found = []
    for name, steps in (("whole", [6000]), ("resumed", [3000, 6000])):
        folder = tmp_path / name
        folder.mkdir()
        for rows in steps:
            write(folder / f"a.{kind}", rows)
            run(
                *("cluster", folder / f"a.{kind}", "--time", "when", "--half-life", "20m"),
                *("--batch", 500, "--every", 1000, "--checkpoint", folder / "run.ck", "-q"),
                *("--out", folder / "l.csv", "--events", folder / "e.ndjson", "--standardise"),
                *("--on-bad-row", "collect", folder / "bad.ndjson", "--save", folder / "m.spc"),
                *("--warmup", 500, "--read-bytes", 20_000),
            )
        names = ("l.csv", "e.ndjson", "bad.ndjson", "m.spc")
        here = str(folder).encode()
        found.append([(folder / each).read_bytes().replace(here, b"") for each in names])
    assert found[0] == found[1]
    assert found[0][2].count(b"\n") == 5


def test_another_column_of_times_is_another_run(tmp_path):
    path = text_file(tmp_path / "a.csv", *stream(100))
    run("cluster", path, "-c", "x,y", "--checkpoint", tmp_path / "ck", "-q")
    given = ("-c", "x,y", "--time", "when", "--checkpoint", tmp_path / "ck", "-q")
    assert "made with --time not given" in run("cluster", path, *given, code=1).output


def test_events_carry_the_row_and_the_time_of_that_row(tmp_path):
    X, dates = stream(4000)
    texts = [str(date) for date in dates]
    texts[100] = texts[2000] = "?"  # bad rows count as rows, but not as rows learnt
    path = text_file(tmp_path / "a.csv", X, texts)
    given = ("--time", "when", "--half-life", "20m", "--on-bad-row", "skip", "-q")
    run("cluster", path, *given, "--events", tmp_path / "e.ndjson", "--batch", 700)
    events = [json.loads(line) for line in (tmp_path / "e.ndjson").read_text().splitlines()]
    assert events
    for event in events:
        bad = (event["row"] > 100) + (event["row"] > 2000)
        assert event["row"] == event["after_rows"] + bad
        assert event["time"].rstrip("Z") in texts[event["row"] - 1] + "000000"
    shown = run("watch", path, *given[:-1]).output
    assert events[0]["time"] in shown


@pytest.mark.parametrize("mode", ["automatic", "paper"])
def test_rows_and_events_join_by_the_lasting_ids(tmp_path, mode):
    X, dates = stream(20_000, seed=1)
    path = text_file(tmp_path / "a.csv", X, dates)
    words = ["--half-life", 500]
    if mode == "paper":
        words = ["--scale", 1.5, "--n-structures", 60]
        words += ["--beta", 0.02, "--gamma", 0.1, "--nlt-max", 0.001, "--track-every", 25]
    out, events = tmp_path / "l.csv", tmp_path / "e.ndjson"
    given = ("--out", out, "--events", events, "--batch", 50, "-q", "--save", tmp_path / "m.spc")
    run("cluster", path, "-c", "x,y", *words, *given)
    table, told = (
        pacsv.read_csv(out),
        [json.loads(line) for line in events.read_text().splitlines()],
    )
    column = "id" if mode == "paper" else "label"
    assert ("id" in table.column_names) == (mode == "paper")
    ids, row = table[column].to_numpy(), table["row"].to_numpy()
    births = [event for event in told if event["event"] == "birth"]
    deaths = {event["before"][0]: event["row"] for event in told if event["event"] == "death"}
    assert len(births) > 3
    assert deaths
    for event in births:
        (born,) = event["after"]
        # The cluster has rows from its birth on, near the place that the event tells.
        after = (ids == born) & (row > event["row"]) & (row < event["row"] + 500)
        assert after.sum() > 10
        place = [event["centre"]["x"], event["centre"]["y"]]
        assert np.linalg.norm(X[after].mean(axis=0) - place) < 5.0
    for cluster, died in deaths.items():
        assert ((ids == cluster) & (row > died + 500)).sum() < 20
    # `predict` gives the numbers of the model at its end.
    run("predict", tmp_path / "m.spc", path, "--out", tmp_path / "p.csv", "-c", "x,y")
    predicted = pacsv.read_csv(tmp_path / "p.csv")
    assert (predicted[column].to_numpy()[-50:] == ids[-50:]).mean() > 0.9
    (summary,) = run("info", tmp_path / "m.spc", "--json").stdout.splitlines()
    clusters = {cluster[column] for cluster in json.loads(summary)["clusters"]}
    assert set(ids[-50:]) - {-1} <= clusters


def test_predict_and_python_leave_the_column_of_times_out(tmp_path):
    X, dates = stream(300)
    pacsv.write_csv(
        pa.table({"t": seconds_of_dates(dates), "x": X[:, 0], "y": X[:, 1]}), tmp_path / "a.csv"
    )
    SPC().partial_fit(X).save(tmp_path / "m.spc")  # without names of columns
    run("predict", tmp_path / "m.spc", tmp_path / "a.csv", "--time", "t", "-o", tmp_path / "l.csv")
    assert pacsv.read_csv(tmp_path / "l.csv").num_rows == 300
    (batch,) = read_batches([str(tmp_path / "a.csv")], options=ReadOptions(time="t"))
    assert np.array_equal(batch.values, X)
    assert np.array_equal(batch.time, seconds_of_dates(dates))


def test_durations_and_dates():
    assert duration_of("30s").total_seconds() == 30
    assert duration_of(" 1.5 H").total_seconds() == 5400
    assert duration_of("7d").total_seconds() == 7 * 86400
    assert [duration_of(text) for text in ("7", "d", "-1s", "1e3s", "1w", "9" * 30 + "d")] == [
        None
    ] * 6
    assert date_text(-0.25) == "1969-12-31T23:59:59.750000Z"
    assert date_text(1e300) == "1e+300"
    assert is_date("2024-01-01")
    assert not is_date("1.5")
    exact = np.array(["2024-03-01T12:00:00.000001", "NaT"], "datetime64[ns]")
    seconds = seconds_of_dates(exact)
    assert seconds[0] == 1709294400.000001
    assert np.isnan(seconds[1])
