"""The benchmark harness itself: seeded streams, right ratios, honest verdicts. No peers needed."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest
from benchmarks import ablation, dimension, growth, report, schedule
from benchmarks.__main__ import chosen
from benchmarks.competitor import Competitor, stored_radius
from benchmarks.competitors import PEERS
from benchmarks.pool import ROOT, environment
from benchmarks.radius_search import SIZES
from benchmarks.results import Key, Record, Results
from benchmarks.streams import BLOCK, STREAMS
from benchmarks.targets import all_targets, judge_all
from benchmarks.worker import Limit, timed
from rich.console import Console


class Absent(Competitor):
    name = "absent"
    package = "no_such_package_anywhere.cluster"


@pytest.fixture
def results():
    """SPC takes 1 us in batches and 2 alone; one peer is fast, one slow, the others missing."""
    times = {
        Key("SPC", "2-D", 50, "batch 10,000"): [1.5, 1.0, 3.0],
        Key("SPC", "2-D", 50, "one"): [2.0],
        Key("River DBSTREAM", "2-D", 50, "one"): [50.0, 40.0],
        Key("clusopt CluStream", "2-D", 50, "batch 10,000"): [0.5],
        Key("SPC", "2-D", 30, "predict"): [0.1],
        Key("SPC", "2-D", 50, "first 10k"): [1.0],
        Key("SPC", "2-D", 50, "after many"): [1.25],
    }
    records = {key: Record(us=us, points=1000, micro_clusters=50) for key, us in times.items()}
    missing = {"River CluStream": "river is not installed"}
    return Results(records=records, startup={"import": [0.4, 0.2]}, missing=missing)


@pytest.fixture
def verdicts(results):
    return {one.text: one for one in judge_all(results)}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_streams_are_the_same_each_time(stream):
    first = stream.block(0)

    np.testing.assert_array_equal(stream.block(0), first)
    assert first.shape == (BLOCK, stream.dimensions)
    assert first.dtype == np.float64
    assert not np.array_equal(stream.block(1), first)


def test_blocks_of_a_stream_come_from_the_same_gaussians():
    first, second = (STREAMS["10-D"].block(index) for index in (0, 1))

    np.testing.assert_allclose(first.mean(axis=0), second.mean(axis=0), atol=0.5)


def test_the_best_round_counts_and_the_spread_is_shown(results):
    record = results.record(Key("SPC", "2-D", 50, "batch 10,000"))

    assert record.best == 1.0
    assert record.spread == 3.0


@pytest.mark.parametrize(
    ("text", "value", "verdict"),
    [
        ("2-D N=50: SPC (batch 10,000) faster than River DBSTREAM (one)", 40.0, "met"),
        ("2-D N=50: SPC (one) faster than River DBSTREAM (one)", 20.0, "met"),
        (
            "2-D N=50: SPC (batch 10,000) faster than clusopt CluStream (batch 10,000)",
            0.5,
            "NOT met",
        ),
        ("2-D N=50: SPC after 1M points against the first 10k", 1.25, "NOT met"),
        ("SPC: import", 0.2, "met"),
        ("2-D N=30: SPC predict", 10.0, "met"),
        (
            "2-D N=50: SPC (batch 10,000) faster than River CluStream (one)",
            None,
            "river is not installed",
        ),
        ("SPC: cold compile", None, "not measured"),
    ],
)
def test_verdicts(verdicts, text, value, verdict):
    assert verdicts[text].value == (None if value is None else pytest.approx(value))
    assert verdicts[text].verdict == verdict


def test_every_target_is_judged_once(verdicts):
    assert len(verdicts) == len(list(all_targets()))


def test_the_report_hides_nothing(results):
    out = io.StringIO()

    report.show(Console(file=out, width=160), results, judge_all(results))

    text = out.getvalue()
    assert "NOT met" in text
    assert "missing: River CluStream: river is not installed" in text
    for target in all_targets():
        assert target.text in text


def test_results_survive_json(results):
    stored = json.loads(json.dumps(results.as_json()))

    assert stored["records"][0]["us"] == [1.5, 1.0, 3.0]
    assert stored["missing"] == results.missing


def test_who_is_not_installed_says_so():
    assert Absent().available() == "no_such_package_anywhere is not installed"


def test_every_target_is_measured_by_the_full_schedule():
    measured = {job.key for group in schedule.full() for job in group.jobs}
    everything = Results(
        records={key: Record(us=[1.0]) for key in measured},
        startup={key: [1.0] for key in ("import", "import and first fit", "cold compile")},
    )
    for key in [key for key in measured if key.measure == "ageing"]:
        for measure in ("first 10k", "after many"):
            everything.records[key._replace(measure=measure)] = Record(us=[1.0])

    assert all(one.value is not None for one in judge_all(everything))


def test_all_radii_are_stored():
    for peer in (peer for peer in PEERS if peer.tuned):
        for stream, sizes in SIZES.items():
            assert all(stored_radius(peer.name, stream, n) > 0 for n in sizes)


def test_only_chooses_by_part_of_the_name():
    assert {peer.name.split()[0] for peer in chosen(["river", "moa"])} == {"River", "MOA"}
    assert chosen([]) == list(PEERS)


def test_a_plan_is_repeated_and_a_budget_is_kept():
    feed = iter([(10, [None] * 10)] * 100)

    assert timed(feed, lambda _: None, 30, Limit(0, 1e9))[0] == 30
    assert timed(feed, lambda _: None, None, Limit(20, 0.0))[0] == 20


@pytest.mark.parametrize(
    ("job", "text"),
    [
        ({"measure": "batch 10,000", "plan": (10_000, 10_000)}, "batch 10,000"),
        ({"measure": "predict", "plan": None}, "predict"),
    ],
)
def test_a_worker_answers_in_a_process_of_its_own(job, text):
    """Takes as long as compiling, where no compiled kernels are on disk yet."""
    job = {"stream": "2-D", "n": 20, "budget": 0.0, "points": 0, **job}

    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.worker", "SPC"],
        input=json.dumps(job) + "\n" + '{"stream": "no such stream"}\n',
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    hello, answer, failure = map(json.loads, done.stdout.splitlines())

    assert hello == {"missing": None}
    assert answer["us"][text] > 0
    assert answer["micro_clusters"] == 20
    assert answer["state_bytes"] > 0
    assert failure == {"error": "KeyError: 'no such stream'"}


def test_the_exponent_of_growth_is_the_slope_on_logarithmic_axes():
    found = [growth.Cost("diag", d, max(32.0, 0.5 * d**1.5), 8) for d in (2, 8, 64, 256, 1024)]
    assert growth.exponent(found, "diag", 64) == pytest.approx(1.5, abs=0.1)
    assert growth.exponent(found, "diag") < growth.exponent(found, "diag", 64)
    assert growth.exponent(found[:2], "diag") == pytest.approx(0.0)


def test_what_a_feature_costs_is_measured_for_every_type(tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "_SECONDS", 0.005)  # of each run: accuracy is not the point here
    found = [growth.cost(kind, d) for kind in growth.TYPES for d in (64, 70)]
    assert all(one.us > 0 for one in found)
    sizes = {one.kind: one.bytes for one in found if one.d == 70}
    assert sizes["full"] > sizes["lowrank"] > sizes["diag"] > sizes["spherical"]
    dimension.draw(found, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").stat().st_size > 10_000


def test_findings_say_whether_they_keep_their_bound():
    assert dimension.Finding("speed", 11.0, "x", 10).verdict == "met (>= 10)"
    assert dimension.Finding("size", 11.0, " MB", 10, at_least=False).verdict == "NOT met (<= 10)"
    assert dimension.Finding("time", 11.0, " s").verdict == ""


def test_clusters_of_the_long_stream_drift():
    (first, y), (last, z) = (
        dimension.drift_rows(start, 200, 1000, d=20, k=2) for start in (0, 800)
    )
    for k in range(2):
        assert np.linalg.norm(first[y == k].mean(axis=0) - last[z == k].mean(axis=0)) > 0.5


@pytest.mark.parametrize("name", ablation.CHANGES)
def test_what_the_ablation_replaces_is_in_the_sources(name, tmp_path):
    ablation.changed(ablation.CHANGES[name], tmp_path)
    for change in ablation.CHANGES[name]:
        compile((tmp_path / "spclust" / change.file).read_text(), change.file, "exec")
