"""Published datasets: read from a folder or the cache, else downloaded; not distributed.

Copies differ in line endings, in the last newline and in format: the checksum is that of the parsed
values. That is why the download is the standard library's: a downloader like pooch compares
checksums of files.
"""

import hashlib
import io
import os
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spclust.array_types import Floats, Integers

FOLDER = "SPCLUST_DATA"  # environment variable that names a folder with the files
_TIMEOUT = 10.0  # seconds
_LARGEST = 50_000_000  # bytes


class DatasetUnavailableError(OSError):
    """A published dataset is in no folder and not in the cache, and cannot be downloaded."""


class _Dataset(NamedTuple):
    name: str
    files: tuple[str, ...]  # possible file names, that of the published text first
    addresses: tuple[str, ...]
    parse: Callable[[bytes], tuple[Floats, Integers]]
    sha256: str  # of the values: X as little-endian float64 row by row, then y as int64


def load_aggregation(directory: str | Path | None = None) -> tuple[Floats, Integers]:
    """Aggregation: seven clusters in the plane, 788 points (Gionis, Mannila, Tsaparas 2007).

    The file is Aggregation.txt (x, y, label; tab separated) or aggregation.csv, see `Notes`.

    Parameters
    ----------
    directory : path, optional
        Folder with the file.

    Returns
    -------
    X : ndarray of shape (788, 2)
        Points in the order of the file: cluster by cluster.
    y : ndarray of shape (788,)
        Clusters, 1 to 7, as published.

    Raises
    ------
    DatasetUnavailableError
        If there is no file, and it cannot be downloaded.
    ValueError
        If the values in the file are not the published ones.

    Notes
    -----
    The folders are, in this order: `directory`, the environment variable SPCLUST_DATA, and the
    cache (spclust in XDG_CACHE_HOME, ~/.cache by default). A download is kept in the cache.
    """
    return _load(_AGGREGATION, directory)


def load_dim1024(directory: str | Path | None = None) -> tuple[Floats, Integers]:
    """dim1024: 16 compact clusters in 1,024 dimensions, 1,024 points (Fränti et al. 2006).

    The file is dim1024.txt (integers) or dim1024.npz (with an array X), in one of the folders of
    `load_aggregation`.

    Parameters
    ----------
    directory : path, optional
        Folder with the file.

    Returns
    -------
    X : ndarray of shape (1024, 1024)
        Points in the order of the file: cluster by cluster.
    y : ndarray of shape (1024,)
        Clusters, 0 to 15.

    Raises
    ------
    DatasetUnavailableError
        If there is no file, and it cannot be downloaded.
    ValueError
        If the values in the file are not the published ones.
    """
    return _load(_DIM1024, directory)


def _load(dataset: _Dataset, directory: str | Path | None) -> tuple[Floats, Integers]:
    if directory is not None and not Path(directory).is_dir():
        raise DatasetUnavailableError(
            f"There is no folder {directory}: name one with {dataset.files[0]}."
        )
    for folder in _folders(directory):
        for file in dataset.files:
            if (folder / file).is_file():
                content = (folder / file).read_bytes()
                return _checked(dataset, content, f"the file {folder / file}")
    tried = []
    for address in dataset.addresses:
        try:
            content = _download(address)
        except OSError as error:
            tried.append(f"{address}: {getattr(error, 'reason', error)}")
            continue
        values = _checked(dataset, content, f"the download from {address}")
        _keep(_cache() / dataset.files[0], content)
        return values
    raise DatasetUnavailableError(
        f"The dataset {dataset.name} is neither in a folder nor in the cache, and could not be "
        f"downloaded ({'; '.join(tried)}): put {' or '.join(dataset.files)} into a folder and set "
        f"the environment variable {FOLDER} to it."
    )


def _folders(directory: str | Path | None) -> Iterator[Path]:
    if directory is not None:
        yield Path(directory)
    if os.environ.get(FOLDER):
        yield Path(os.environ[FOLDER])
    yield _cache()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spclust"


def _download(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=_TIMEOUT) as answer:
        content: bytes = answer.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise OSError(f"more than {_LARGEST:,} bytes")
    return content


def _keep(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; ignore that the cache cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
            part.write(content)
        os.replace(part.name, path)
    except OSError:
        return


def _checked(dataset: _Dataset, content: bytes, source: str) -> tuple[Floats, Integers]:
    try:
        X, y = dataset.parse(content)
    except (ValueError, KeyError, IndexError, OSError, zipfile.BadZipFile):
        X, y = np.empty((0, 0)), np.empty(0, dtype=np.int64)
    values = np.ascontiguousarray(X, "<f8").tobytes() + np.ascontiguousarray(y, "<i8").tobytes()
    if hashlib.sha256(values).hexdigest() != dataset.sha256:
        raise ValueError(
            f"{source[0].upper()}{source[1:]} is not {dataset.name} as published (checksum "
            "mismatch): get another copy."
        )
    return X, y


def _aggregation(content: bytes) -> tuple[Floats, Integers]:
    lines = content.decode("ascii").replace(",", " ").splitlines()
    table = np.array([line.split() for line in lines if line[:1].isdigit()], dtype=float)
    return np.ascontiguousarray(table[:, :2]), table[:, 2].astype(np.int64)


def _dim1024(content: bytes) -> tuple[Floats, Integers]:
    if content[:2] == b"PK":  # an .npz is a zip
        X = np.load(io.BytesIO(content))["X"].astype(float)
    else:
        X = np.array([line.split() for line in content.decode("ascii").splitlines()], dtype=float)
    return X, np.arange(len(X)) // 64


_HOSTS = ("https://cs.joensuu.fi", "https://cs.uef.fi", "http://cs.joensuu.fi")
_AGGREGATION = _Dataset(
    "Aggregation",
    ("Aggregation.txt", "aggregation.csv"),
    tuple(f"{host}/sipu/datasets/Aggregation.txt" for host in _HOSTS),
    _aggregation,
    "518b2c3a03d82791d6a05f40cd13409600bc41129c19e2ee99562186b8d4ce33",
)
_DIM1024 = _Dataset(
    "dim1024",
    ("dim1024.txt", "dim1024.npz"),
    tuple(f"{host}/sipu/datasets/dim1024.txt" for host in _HOSTS),
    _dim1024,
    "0746b0bc638f69faa8b1dd5127172909333a789b87bbc8fdac9d127a090daafa",
)
