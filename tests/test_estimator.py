"""SPC as scikit-learn sees it, and as its users do."""

import contextlib
import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import spclust
from spclust import SPC, decay_from_half_life
from spclust.algorithm import kernels
from spclust.estimators import fit as fit_module
from spclust.estimators import last_batch as last_rows
from spclust.parameters import DEFAULTS, TABLE
from spclust.stream import flat_rows
from spclust.stream.automatic_query import AutomaticQuery

VARIANTS = [
    SPC(),
    SPC(10, half_life=20.0, m=1.4),
    SPC(scale=1.0, gamma=0.1, beta=0.05, m=1.4),
    SPC(10, scale=1.0, min_samples=2, eps=0.8),
    SPC(5, scale=1.0, m=1.05, w_min=0.05, nlt_max=0.5, beta=0.01),
    SPC(100, scale=0.3, m=2.5),
    SPC(outlier_nlt=3.0),
]
OUTSIDE_THE_SUITE = [
    estimator_checks.check_dataframe_column_names_consistency,
    estimator_checks.check_inplace_ensure_writeable,
]


ONE_PASS = "a point of weight 2 is one merge, two points are two: no one-pass clusterer is equal"
NO_WEIGHTS = "the mode of the paper refuses weights"
CHECKS_OF_EQUIVALENCE = ["check_sample_weight_equivalence_on_dense_data"]
CHECKS_OF_WEIGHTS = [
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_shape",
    "check_all_zero_sample_weights_error",
]


def expected_failures(estimator):
    """Checks that cannot pass, and the reasons."""
    if estimator.scale == "auto":
        return dict.fromkeys(CHECKS_OF_EQUIVALENCE, ONE_PASS)
    return dict.fromkeys(CHECKS_OF_EQUIVALENCE + CHECKS_OF_WEIGHTS, NO_WEIGHTS)


@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_failures, xfail_strict=True)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", OUTSIDE_THE_SUITE, ids=lambda check: check.__name__)
@pytest.mark.parametrize("model", VARIANTS, ids=repr)
def test_scikit_learns_checks_outside_its_suite(check, model):
    # Of eight features; covariances in full would need a kernel that no other test compiles.
    check("SPC", clone(model).set_params(covariance_type="diag"))


def test_public_names_are_there():
    assert set(spclust.__all__) <= set(dir(spclust)) | {"plot", "datasets"}
    for name in spclust.__all__:
        assert getattr(spclust, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = spclust.nothing


def test_parameters_but_the_first_go_by_name():
    assert list(SPC().get_params()) == sorted(TABLE)
    assert SPC().get_params() == DEFAULTS
    with pytest.raises(TypeError):
        SPC(30, 1.5)


def test_labels_are_those_of_the_last_batch(X):
    model = SPC(30, scale=2.0).fit(X)
    assert np.array_equal(model.labels_, model.predict(X))
    model.partial_fit(X[:3])
    assert np.array_equal(model.labels_, model.predict(X[:3]))
    assert model.n_samples_seen_ == 303
    assert model.n_clusters_ == 2


def test_fit_forgets_partial_fit_continues(X):
    once = SPC(10).fit(X)
    again = SPC(10).fit(X[::-1]).fit(X)
    assert once._stream.structures.memory.tobytes() == again._stream.structures.memory.tobytes()
    assert once.partial_fit(X).n_samples_seen_ == 600


def test_labels_have_no_gap_where_a_cluster_is_nearest_to_no_row():
    """Found by search: a structure whose own points have all become nearer to others."""
    for seed in range(300):
        X = np.random.default_rng(seed).normal(size=(60, 2)) * 3
        model = SPC(8, gamma=1.0, scale=1.0, eps=0.95).fit(X)
        labels = np.unique(model.labels_)
        assert labels.tolist() == list(range(len(labels)))
        assert np.array_equal(model.predict(X), model.labels_)
        assert sorted(set(model.structures_.label)) == list(range(model.n_clusters_))
        if len(labels) < model.n_clusters_:
            return
    pytest.fail("no such stream was found: the case is not tested")


def test_clusters_can_be_read_for_another_eps_and_eps_can_be_set_at_any_time(X):
    model = SPC(30, scale=2.0).fit(X)
    assert set(model.clustering(eps=1.0)) == {0}
    assert len(set(model.clustering(eps=0.0))) == 30
    assert model.n_clusters_ == 2
    model.set_params(eps=1.0)
    assert model.n_clusters_ == 1
    assert set(model.predict(X)) == {0}


@pytest.mark.parametrize(
    "change", [{"gamma": 0.5}, {"beta": 0.5}, {"w_min": 0.5}, {"nlt_max": 0.0}], ids=str
)
def test_decay_and_pruning_may_change_in_the_middle_of_a_stream(X, change):
    start = {"beta": 0.1, "w_min": 0.1, "scale": 1.0}
    unchanged = SPC(10, **start).fit(X).partial_fit(X)
    changed = SPC(10, **start).fit(X).set_params(**change).partial_fit(X)
    assert not np.array_equal(changed.structures_.mean, unchanged.structures_.mean)


def test_reading_between_batches_is_never_out_of_date(X):
    """Clusterings are kept for the next reading, and must not outlive the next point."""
    read, unread = SPC(10), SPC(10)
    for rows in np.array_split(X, 30):
        read.partial_fit(rows)
        unread.partial_fit(rows)
        fresh = pickle.loads(pickle.dumps(unread))
        assert read.n_clusters_ == fresh.n_clusters_
        assert np.array_equal(read.labels_, fresh.labels_)
        assert np.array_equal(read.predict(X), fresh.predict(X))


def test_what_the_state_is_built_from_may_not_change_in_the_middle_of_a_stream(X):
    model = SPC(10).fit(X).partial_fit(X)
    for name, value in {"n_structures": 20, "m": 2.0, "scale": 3.0}.items():
        before = model._stream.structures.memory.tobytes()
        old = model.get_params()[name]
        with pytest.raises(ValueError, match=f"{name} was changed from {old!r} to {value}"):
            model.set_params(**{name: value}).partial_fit(X)
        assert model._stream.structures.memory.tobytes() == before
        model.set_params(**{name: old})
    assert model.partial_fit(X).n_samples_seen_ == 900


def test_clone_knows_nothing_and_pickle_knows_everything(X):
    model = SPC(10, half_life=50.0).fit(X)
    assert not hasattr(clone(model), "n_samples_seen_")
    copy = pickle.loads(pickle.dumps(model))
    assert copy._stream.structures.memory.tobytes() == model._stream.structures.memory.tobytes()
    assert np.array_equal(copy.partial_fit(X).labels_, model.partial_fit(X).labels_)
    assert copy._stream.structures.memory.tobytes() == model._stream.structures.memory.tobytes()


def test_copies_learn_apart(X):
    model = SPC(10).fit(X)
    before = model._stream.structures.memory.tobytes()
    for duplicate in (copy.copy(model), copy.deepcopy(model)):
        duplicate.partial_fit(50.0 * X)
        assert model._stream.structures.memory.tobytes() == before
        assert duplicate.n_samples_seen_ == 2 * model.n_samples_seen_
    assert np.array_equal(model.predict(X), model.labels_)


class Interrupted(np.ndarray):
    """Rows that can be read once; the second chunk is where Ctrl-C strikes."""

    def __getitem__(self, rows):
        if isinstance(rows, slice) and rows.start:
            raise KeyboardInterrupt
        return super().__getitem__(rows)


def test_an_interrupted_batch_leaves_a_sound_model_that_knows_what_it_learnt(X, monkeypatch):
    monkeypatch.setattr(flat_rows, "_MOST_ROWS", 100)
    model = SPC(10, gamma=1.0, scale=1.0).fit(X)
    monkeypatch.setattr(fit_module, "checked_rows", lambda *_, **__: X.view(Interrupted))
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X)
    monkeypatch.undo()
    assert model.n_samples_seen_ == 400
    assert len(model.labels_) == 0
    whole = SPC(10, gamma=1.0, scale=1.0).fit(np.concatenate([X, X[:100]]))
    assert model._stream.structures.memory.tobytes() == whole._stream.structures.memory.tobytes()
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("done", [False, True])
def test_an_interrupt_of_a_general_union_is_made_up_for(monkeypatch, done):
    """Before the union is done, or after it."""
    X = np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 5.0, 9.0]
    params = {"n_structures": 15, "w_min": 0.0, "scale": 3.0}  # 15: no slot to spare
    whole, broken = SPC(**params).fit(X), SPC(**params).fit(X[:10])
    find_kernel, interrupts = kernels.union_kernel, []

    def interrupted_once_in_a_while(kind):
        def unite(*arguments):
            interrupts.append(broken.n_samples_seen_)
            if done or len(interrupts) % 2 == 0:
                find_kernel(kind)(*arguments)
            if len(interrupts) % 2 == 1:
                raise KeyboardInterrupt

        return unite

    monkeypatch.setattr(kernels, "union_kernel", interrupted_once_in_a_while)
    while broken.n_samples_seen_ < len(X):
        with contextlib.suppress(KeyboardInterrupt):
            broken.partial_fit(X[broken.n_samples_seen_ :])
    monkeypatch.undo()
    assert len(interrupts) > 10
    assert broken.partial_fit(X[:1])._stream.structures.memory.tobytes() == (
        whole.partial_fit(X[:1])._stream.structures.memory.tobytes()
    )


@pytest.mark.parametrize("known", [False, True])
def test_an_interrupted_fit_leaves_the_model_as_it_was(X, monkeypatch, known):
    model = SPC(10)
    if known:
        model.fit(X)
    before = {**vars(model)}

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(AutomaticQuery, "nearest", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:3])
    monkeypatch.undo()
    assert vars(model) == before
    if known:
        assert len(model.predict(X)) == len(X)


def test_threads_may_read_one_model_at_once(X):
    model = SPC(10).fit(X)
    expected = model.predict(X)
    with ThreadPoolExecutor(8) as pool:
        for labels in pool.map(lambda _: model.predict(X), range(64)):
            assert np.array_equal(labels, expected)


def test_it_works_in_a_pipeline(X):
    labels = make_pipeline(StandardScaler(), SPC(20, scale=0.3)).fit_predict(X)
    assert len(set(labels[:150])) == len(set(labels[150:])) == 1
    assert labels[0] != labels[-1]


@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "Polars", "Arrow"]
)
def test_frames_keep_their_names(frame, X):
    table = frame({"speed": X[:, 0], "load": X[:, 1]})
    swapped = frame({"load": X[:, 1], "speed": X[:, 0]})
    model = SPC(10).fit(table)
    assert model.feature_names_in_.tolist() == ["speed", "load"]
    assert np.array_equal(model.predict(table), SPC(10).fit(X).labels_)
    with pytest.raises(ValueError, match="must be in the same order"):
        model.partial_fit(swapped)


def test_every_kind_of_array_gives_the_same_and_compiles_nothing_new(X):
    X = X.astype(np.float32).astype(float)
    expected = SPC(10).fit(X)._stream.structures.memory.tobytes()
    read_only = X.copy()
    read_only.flags.writeable = False
    kinds = [X.astype(np.float32), np.asfortranarray(X), read_only, X.tolist(), X[:, ::-1][:, ::-1]]
    for rows in kinds:
        assert SPC(10).fit(rows)._stream.structures.memory.tobytes() == expected


def test_half_life_is_the_number_of_points_after_which_half_is_left():
    rate = decay_from_half_life(250)
    assert np.exp(-rate * 250) == pytest.approx(0.5)
    for wrong in (0, -1, float("nan"), "10", True):
        with pytest.raises(ValueError, match="points must be a number above 0"):
            decay_from_half_life(wrong)


def test_a_short_half_life_follows_the_stream_and_an_infinite_one_does_not():
    X = np.linspace(0, 10, 2000)[:, np.newaxis]  # one structure is led along a line
    for short, endless in (
        ({"half_life": 50.0}, {"half_life": None}),
        ({"gamma": decay_from_half_life(50), "scale": 1.0}, {"gamma": 0.0, "scale": 1.0}),
    ):
        assert SPC(1, **short).fit(X).structures_.mean[0, 0] > 9.5
        assert SPC(1, **endless).fit(X).structures_.mean[0, 0] == pytest.approx(5.0)
    assert decay_from_half_life(np.inf) == 0.0


def test_rows_are_kept_for_their_labels_only_while_they_are_few(X, monkeypatch):
    model = SPC(10).fit(X).partial_fit(X)
    expected = model.predict(X)
    buffer = X.copy()
    kept = SPC(10).fit(X).partial_fit(buffer)
    buffer[:] = 1e6  # a buffer that is used again does not change the labels
    assert kept._fitted.last_batch.rows is not None
    restored = pickle.loads(pickle.dumps(kept))
    assert restored._fitted.last_batch.rows is None
    assert np.array_equal(kept.labels_, expected)
    assert np.array_equal(restored.labels_, expected)
    monkeypatch.setattr(last_rows, "_LARGEST_KEPT", 100)
    at_once = SPC(10).fit(X).partial_fit(X)
    assert at_once._fitted.last_batch.rows is None
    assert np.array_equal(at_once.labels_, expected)
