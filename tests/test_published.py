"""Published datasets: from a folder, the cache, a real server on this machine, or missing."""

import functools
import http.server
import threading

import numpy as np
import pytest

from spclust.datasets import (
    DatasetUnavailableError,
    load_aggregation,
    load_dim1024,
    make_aggregation_like,
    published,
)


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """An empty cache, no folder, and addresses that do not answer."""
    monkeypatch.delenv("SPCLUST_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("_AGGREGATION", "_DIM1024"):
        dataset = getattr(published, name)
        monkeypatch.setattr(published, name, dataset._replace(addresses=("http://127.0.0.1:9/x",)))


@pytest.fixture
def text(data_directory):
    """Aggregation as published: tab separated, CRLF."""
    rows = np.loadtxt(data_directory / "aggregation.csv", delimiter=",", skiprows=1)
    return "".join(f"{x:g}\t{y:g}\t{label:.0f}\r\n" for x, y, label in rows).encode()


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A folder and a real server on this machine that serves it as the public address."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/Aggregation.txt"
    dataset = published._AGGREGATION._replace(addresses=("http://127.0.0.1:9/x", address))
    monkeypatch.setattr(published, "_AGGREGATION", dataset)
    yield folder
    server.shutdown()
    server.server_close()


def test_a_folder_by_argument_or_environment(data_directory, monkeypatch):
    X, y = load_aggregation(data_directory)
    assert X.shape == (788, 2)
    assert np.bincount(y).tolist() == [0, 45, 170, 102, 273, 34, 130, 34]
    monkeypatch.setenv("SPCLUST_DATA", str(data_directory))
    assert np.array_equal(load_aggregation()[0], X)
    X, y = load_dim1024()
    assert X.shape == (1024, 1024)
    assert (X.min(), X.max()) == (30, 226)
    assert np.array_equal(y, np.arange(1024) // 64)


@pytest.mark.parametrize(
    "change", [lambda t: t, lambda t: t.replace(b"\r", b""), lambda t: t.strip()]
)
def test_line_ends_do_not_matter_but_values_do(text, tmp_path, change):
    (tmp_path / "Aggregation.txt").write_bytes(change(text))
    assert load_aggregation(tmp_path)[0][0].tolist() == [15.55, 28.65]
    (tmp_path / "Aggregation.txt").write_bytes(change(text).replace(b"15.55", b"15.56"))
    with pytest.raises(ValueError, match=r"Aggregation.txt is not Aggregation as published"):
        load_aggregation(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"not numbers", b"1 2\n3\n", b"PK\x03\x04 broken", b"\xff"]
)
def test_a_broken_file_is_named(tmp_path, content):
    (tmp_path / "dim1024.txt").write_bytes(content)
    (tmp_path / "Aggregation.txt").write_bytes(content)
    for load in (load_aggregation, load_dim1024):
        with pytest.raises(ValueError, match=r"is not .* as published.*: get another copy"):
            load(tmp_path)


def test_a_text_of_whole_numbers(data_directory, tmp_path):
    X, _ = load_dim1024(data_directory)
    np.savetxt(tmp_path / "dim1024.txt", X, fmt="%6d", delimiter="")
    assert np.array_equal(load_dim1024(tmp_path)[0], X)


def test_a_download_is_checked_and_kept(text, served):
    (served / "Aggregation.txt").write_bytes(text)
    X, _ = load_aggregation()
    (served / "Aggregation.txt").unlink()
    assert np.array_equal(load_aggregation()[0], X)  # from the cache


def test_a_wrong_download_is_refused_and_not_kept(served, tmp_path):
    (served / "Aggregation.txt").write_bytes(b"<html>moved</html>")
    with pytest.raises(ValueError, match=r"^The download from http.* is not Aggregation"):
        load_aggregation()
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_cache_that_cannot_be_written_is_no_failure(text, served, tmp_path):
    (tmp_path / "cache").write_text("a file where a folder should be")
    (served / "Aggregation.txt").write_bytes(text)
    assert load_aggregation()[0].shape == (788, 2)


def test_a_download_that_is_too_large_is_not_read_to_its_end(text, served, monkeypatch):
    (served / "Aggregation.txt").write_bytes(text)
    monkeypatch.setattr(published, "_LARGEST", len(text) - 1)
    with pytest.raises(DatasetUnavailableError, match=r"Aggregation\.txt: more than"):
        load_aggregation()
    monkeypatch.setattr(published, "_LARGEST", len(text))
    assert load_aggregation()[0].shape == (788, 2)


def test_without_files_and_network_one_sentence_says_what_to_do(tmp_path):
    with pytest.raises(DatasetUnavailableError, match="set the environment variable SPCLUST_DATA"):
        load_dim1024()
    with pytest.raises(DatasetUnavailableError, match="There is no folder"):
        load_aggregation(tmp_path / "none")


def test_the_lookalike_has_the_sizes_and_places_of_the_published_set(data_directory):
    published_X, published_y = load_aggregation(data_directory)
    X, y = make_aggregation_like()
    assert np.array_equal(y, published_y)
    for label in range(1, 8):
        mine, theirs = X[y == label], published_X[published_y == label]
        np.testing.assert_allclose(mine.mean(axis=0), theirs.mean(axis=0), atol=0.7)
        np.testing.assert_allclose(mine.std(axis=0), theirs.std(axis=0), rtol=0.2)
    assert not np.array_equal(make_aggregation_like(1)[0], X)
    assert np.array_equal(make_aggregation_like()[0], X)
