"""Own algorithms and own data: texts that name them, the protocol, failures, the page."""

import json
import re
import shlex
import textwrap
from pathlib import Path

import numpy as np
import pytest

from spclust.experiments.contestants import Axis, Choice, ContestantError, load_contestant
from spclust.experiments.contestants.contestant_model import ContestantModel
from spclust.experiments.reproduction import ENTRIES, own_data, reproduce, search
from spclust.experiments.reproduction.attempts import attempted_run, attempts
from spclust.experiments.reproduction.runs import AUTOMATIC, Run, registered
from spclust.experiments.reproduction.search_space import ALGORITHMS
from tests.command.common import run

PAGE = Path(__file__).parents[2] / "docs/how-to/own_algorithm.md"
FILE = textwrap.dedent(
    """
    import os
    import numpy as np
    from spclust.experiments.contestants import Axis

    class Signs:
        def __init__(self, shift=0.0, names=("a",)):
            self.shift = shift
        def partial_fit(self, X):
            X += 1e9  # must not change the rows of others
        def predict(self, X):
            return (X[:, 0] > self.shift).astype(float)

    class Short(Signs):
        def predict(self, X):
            return [0] * 5

    class Raising(Signs):
        def partial_fit(self, X):
            raise KeyError("no such thing")

    class Ending(Signs):
        def partial_fit(self, X):
            os._exit(3)

    class Refusing(Signs):
        search_space = {"shift": Axis(1.0, 2.0)}
        def partial_fit(self, X):
            raise ValueError("never this one")

    class Odd(Signs):
        search_space = {"shift": Axis(0.0, 2.0)}

    class Lazy:
        def fit_predict(self, X):
            return np.zeros(len(X))

    class Deaf:
        def predict(self, X):
            return np.zeros(len(X))

    def made(shift):
        return Deaf() if shift else Signs()

    number = 3
    """
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "nothing")  # restores sys.path afterwards
    return tmp_path


def refusal(text, taken=()):
    with pytest.raises(ContestantError) as error:
        load_contestant(text, taken)
    return str(error.value)


def test_a_text_names_a_class_and_its_parameters():
    one = load_contestant("mine.py:Signs(shift=-2.5, names=['a(:b', None])")
    assert (one.name, one.given) == ("Signs", {"shift": -2.5, "names": ["a(:b", None]})
    assert one.make(**one.parameters({}, 7)).model.shift == -2.5
    told = load_contestant("sklearn.cluster:MiniBatchKMeans(n_clusters=k, random_state=0)")
    assert told.parameters({}, 7) == {"n_clusters": 7, "random_state": 0}


def test_a_module_in_the_current_directory_is_found(here):
    (here / "only_in_this_folder.py").write_text(FILE)
    assert load_contestant("only_in_this_folder:Signs").target.__name__ == "Signs"


def test_a_name_that_is_taken_becomes_longer():
    text = "river.cluster:DBSTREAM(fading_factor=0.1)"
    assert load_contestant(text, ("SPC",)).name == "DBSTREAM"
    assert load_contestant(text, ("DBSTREAM",)).name == "DBSTREAM(fading_factor=0.1)"
    taken = ("DBSTREAM", "DBSTREAM(fading_factor=0.1)")
    assert load_contestant(text, taken).name == text
    assert "given twice" in refusal(text, (*taken, text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Signs", "names no contestant: write module:Class"),
        ("no_such_module:Signs", "There is no module no_such_module, neither installed nor in"),
        ("no_such_file.py:Signs", "There is no file no_such_file.py"),
        ("broken.py:Signs", "cannot be imported: ModuleNotFoundError: No module named 'nowhere"),
        ("mine.py:Sings", "mine.py has no Sings: name a class or a function"),
        ("mine.py:number", "is neither a class nor a function"),
        ("mine.py:Lazy", "Lazy learns all rows at once, by fit_predict or fit"),
        ("sklearn.cluster:HDBSCAN", "HDBSCAN learns all rows at once"),
        ("mine.py:Deaf", "Deaf has no partial_fit: a contestant learns rows"),
        ("mine.py:Signs(sihft=1)", "Signs cannot be made: got an unexpected keyword argument"),
        ("mine.py:Signs(shift=print(1))", "cannot be read: write keywords with numbers"),
        ("mine.py:Signs(shift=1).x(y=2)", "names no contestant|cannot be read"),
        ("mine.py:Signs(3)", "cannot be read"),
        ("mine.py:Signs(shift={1, 2})", "cannot be read"),
        ("mine.py:Odd", "must go from a number above 0"),
    ],
)
def test_a_bad_text_is_one_sentence(text, said):
    sentence = refusal(text)
    assert re.search(said, sentence)
    assert len(sentence.splitlines()) == 1
    assert sentence.endswith(".")


def test_a_search_space_is_checked():
    class Wrong:
        def partial_fit(self, X): ...
        def predict(self, X): ...

    def space(**axes):
        Wrong.search_space = axes
        return load_contestant("mine.py:Wrong(a=1)")

    import sys

    load_contestant("mine.py:Signs")
    (module,) = (
        m
        for name, m in sys.modules.items()
        if name.startswith("contestant_mine_") and m.__file__ == str(Path("mine.py").resolve())
    )
    Wrong.__init__ = lambda self, a=0, b=0: None
    module.Wrong = Wrong
    assert space(a=Axis(1, 2), b=Choice(("x",))).axes == {"b": Choice(("x",))}
    for axes, said in (
        ({"b": (1, 2)}, "must be an Axis or a Choice"),
        ({"b": Axis(1, 2, "metres")}, "has the unit 'metres'"),
        ({"c": Axis(1, 2)}, "unexpected keyword argument 'c'"),
    ):
        with pytest.raises(ContestantError, match=said):
            space(**axes)


class Labels:
    def __init__(self, labels):
        self.labels = labels

    def partial_fit(self, X): ...

    def predict(self, X):
        return self.labels


@pytest.mark.parametrize("labels", [[0, -1, 2], np.array([0.0, -1.0, 2.0]), (np.int8(0), -1, 2)])
def test_labels_are_integers(labels):
    found = ContestantModel(Labels(labels)).predict(np.zeros((3, 2)))
    assert found.tolist() == [0, -1, 2]
    assert found.dtype == np.int64


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([0, 1], "predict returned 2 labels for 3 rows"),
        ([0, 1.5, 2], "labels such as 1.5"),
        ([0, np.nan, 2], "labels such as nan"),
        (["a", "b", "c"], "labels such as 'a'"),
        ([0, -2, 1], "labels such as -2"),
        (None, "NoneType of shape"),
        ([[0], [1], [2]], r"list of shape \(3, 1\)"),
        ([[0], [1, 2]], "not a list of 3 labels"),
    ],
)
def test_other_labels_are_refused(labels, said):
    with pytest.raises(ContestantError, match=said):
        ContestantModel(Labels(labels)).predict(np.zeros((3, 2)))


def test_a_clusterer_of_river_learns_row_by_row():
    class River:
        rows = ()

        def learn_one(self, x):
            self.rows += (x,)

        def predict_one(self, x):
            return None if x[0] > 1 else 4

    model = ContestantModel(River())
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    model.partial_fit(X)
    assert model.model.rows == ({0: 1.0, 1: 2.0}, {0: 3.0, 1: 4.0})
    assert model.predict(X).tolist() == [4, -1]


@pytest.fixture
def short_search(monkeypatch):
    for name, seeds in (("_FIRST", range(1)), ("_MORE", range(1, 2)), ("_LAST", range(2, 3))):
        monkeypatch.setattr(search, name, seeds)


def blocks(language):
    return re.findall(rf"```{language}\n(.+?)```", PAGE.read_text(encoding="utf-8"), re.S)


def test_the_page_does_what_it_says(here, short_search):
    leader, data = blocks("python")
    (here / "leader.py").write_text(leader)
    exec(data, {})
    small = ("--seeds", 1, "--trials", 2, "--jobs", 1)
    on_paper, on_data, _ = (shlex.split(line)[1:] for line in blocks("console"))

    run(*on_paper, "--only", "overlapping", *small)
    text = (here / "report" / "report.md").read_text()
    assert "- Leader is `leader.py:Leader`; parameters by the same search." in text
    scores = json.loads((here / "report" / "results.json").read_text())
    assert {one["run"]["entry"] for one in scores} == {*ENTRIES, "Leader"}
    found = json.loads((here / "report" / "found.json").read_text())["overlapping"]
    assert found["Leader"]["trials"] == 2
    assert len(re.findall(r"^Leader \| \d\.\d{3}", text, re.M)) == 2  # (i) and (ii)
    assert "best other Leader" not in text

    run(*on_data, *small)
    text = (here / "report" / "report.md").read_text()
    assert text.startswith("# Evaluation of stream clusterers\n\ndata | SPC(): NMI")
    assert "600 rows of 2 features and 3 classes, in the order of the file" in text
    scores = json.loads((here / "report" / "results.json").read_text())
    assert [one["run"]["entry"] for one in scores] == [AUTOMATIC, *ALGORITHMS, "Leader"]
    assert all(one["arrival"] is not None for one in scores)
    assert scores[0]["scores"]["nmi"] > 0.8
    assert (here / "report" / "figures" / "data_my_csv.png").stat().st_size > 10_000
    assert not (here / "report" / "failures.txt").exists()


def test_what_fails_is_a_sentence_and_the_others_stay(here, short_search, monkeypatch):
    monkeypatch.setattr("spclust.experiments.reproduction.contest.ALGORITHMS", {})  # they are slow
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    said = []
    names = ("Signs", "Short", "Raising", "Refusing", "Lazy", "made(shift=0)", "made(shift=1)")
    outcome = reproduce(
        here / "out",
        contestants=[f"mine.py:{name}" for name in names],
        data=[own_data("one", X, X[:, 0] > 0)],
        trials=2,
        jobs=1,
        warn=said.append,
    )
    assert list(outcome.results["data_one"]) == [AUTOMATIC, "Signs", "made"]
    assert outcome.results["data_one"]["Signs"][0].scores["nmi"] == 1.0
    line = 1 + FILE[: FILE.index('raise KeyError("no')].count("\n")
    assert said == [
        refusal("mine.py:Lazy"),
        "one: Short failed: predict returned 5 labels for 200 rows.",
        f"one: Raising failed: KeyError: 'no such thing' ({here / 'mine.py'}, line {line}).",
        "one: Refusing failed: RuntimeError: Refusing refused all 2 settings, the last one "
        "because: never this one.",
        "one: made(shift=1) failed: Deaf has no partial_fit: " + refusal("mine.py:Deaf")[25:],
    ]
    text = (here / "out" / "report.md").read_text()
    for sentence in said:
        assert sentence.removeprefix("one: ") in " ".join(text.split())
    assert "in partial_fit\n" in (here / "out" / "failures.txt").read_text()


def test_a_contestant_may_end_its_process(here):
    X = np.random.default_rng(0).normal(size=(300, 1))
    data = own_data("one", X, X[:, 0] > 0)
    jobs = [Run(data.key, "Ending", 0, {})]
    with registered([load_contestant("mine.py:Ending")], [data]):
        ((_, failure),) = attempts(attempted_run, jobs, 2, lambda job: None)
    assert failure.reason == "Ending failed: it ended the process that it ran in."


def test_the_exit_code_tells_of_a_bad_contestant(monkeypatch, here):
    from spclust.experiments import reproduction

    def only_contestants(out, *, contestants, warn, **_):
        return reproduction.Outcome(
            [], {}, {}, 0.0, False, reproduction.admitted(contestants, (), warn)
        )

    monkeypatch.setattr(reproduction, "reproduce", only_contestants)
    done = run("reproduce", "--contestant", "nowhere:X", "--contestant", "mine.py:Signs", code=1)
    assert done.stderr.startswith("spclust: There is no module nowhere, neither installed nor in")
    run("reproduce", "--contestant", "mine.py:Signs")


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("x,kind\n1,a\n", (), "has no column label, class, target or y: name the one with"),
        ("x,kind\n1,a\n", ("--label", "knid"), "has no column 'knid'"),
        ("x,Class\n1,a\n2,b\n", (), "my.csv has 2 rows of 1 features: an evaluation needs"),
        ("x,y\n1,0\n2,\n", (), "has no class in the column 'y'"),
        ("", (), "is empty"),
    ],
)
def test_bad_data_is_one_sentence(here, content, options, said):
    (here / "my.csv").write_text(content)
    done = run("reproduce", "--data", "my.csv", *options, code=1)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_data_may_be_arrays(here):
    from spclust.cli.sources.labelled_table import labelled_rows

    X = np.random.default_rng(0).normal(size=(250, 3))
    np.savez(here / "my.npz", X=X, y=np.repeat([5, 9], 125))
    data = labelled_rows(here / "my.npz", None)
    assert np.array_equal(data.X, X)
    assert set(data.y) == {0, 1}
    np.savez(here / "other.npz", rows=X)
    assert "must have arrays X" in run("reproduce", "--data", "other.npz", code=1).stderr


def test_a_label_without_data_is_refused():
    assert "--label names a column of --data" in run("reproduce", "--label", "y", code=1).stderr
