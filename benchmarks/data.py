"""The data sets: from a folder or a server of yours, bundled with scikit-learn, or generated and cached."""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
import subprocess
import sys
import tarfile
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_svmlight_file

from perceptive.datasets import fetch, zipf_text

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "perceptive"
MEAN_LENGTH = 67.0
Labelled = tuple[Any, NDArray[np.int64]]


@dataclass(frozen=True)
class Dataset:
    """A training and a test part; the matrices are arrays or CSR."""

    name: str
    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]

    @property
    def entries(self) -> int:
        """Numbers stored: the non-zeros of a sparse matrix, all of a dense one."""
        return self.X.nnz if sp.issparse(self.X) else self.X.size

    @property
    def non_zeros(self) -> int:
        """Entries that are not 0."""
        return self.X.count_nonzero() if sp.issparse(self.X) else np.count_nonzero(self.X)

    @property
    def shape(self) -> str:
        """Rows × columns, and how full the rows are or of what type."""
        n, d = self.X.shape
        return f"{n:,} × {d:,}" + (f", {self.entries / n:.0f} a row" if sp.issparse(self.X) else f", {self.X.dtype}")

    def head(self, n: int) -> Dataset:
        """Only the first n examples to train on."""
        return replace(self, X=self.X[:n], y=self.y[:n])

    def map(self, name: str, rows: Callable[[Any], Any], labels: Callable[[Any], Any] = lambda y: y) -> Dataset:
        """The same data with other rows or labels."""
        return Dataset(name, rows(self.X), labels(self.y), rows(self.X_test), labels(self.y_test))


def scaled(X: NDArray[Any]) -> NDArray[np.float32]:
    """Pixels between 0 and 1."""
    return (X / X.max()).astype(np.float32)


def sparse(X: NDArray[Any]) -> sp.csr_array:
    """Pixels between 0 and 1, only those that are not 0."""
    return sp.csr_array(scaled(X))


def sentiment() -> dict[str, list[str]]:
    """Lines "positive TAB text" or "negative TAB text" of four sources (Hutto & Gilbert 2014), from PyPI."""
    folder = CACHE / "sentiment"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as there:
            download = ["pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", there]
            subprocess.run([sys.executable, "-m", *download, "vaderSentiment==3.3.2"], check=True)
            with tarfile.open(Path(there, "vaderSentiment-3.3.2.tar.gz")) as package:
                inner = package.extractfile("vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz")
                with tarfile.open(fileobj=inner) as texts:
                    texts.extractall(Path(there, "texts"), filter="data")
            os.rename(Path(there, "texts", "hutto_ICWSM_2014"), folder)
    found = {}
    parts = {"movies": "movieReviewSnippets", "products": "amazonReviewSnippets", "news": "nytEditorialSnippets"}
    for name, file in {"tweets": "tweets", **parts}.items():
        rows = (folder / f"{file}_GroundTruth.txt").read_text("utf-8", "replace").splitlines()
        rated = [row.split("\t", 2) for row in rows if row.count("\t") >= 2]
        found[name] = [f"{'positive' if float(mean) > 0 else 'negative'}\t{text}\n" for _, mean, text in rated]
    return found


def docstrings(package: str) -> list[str]:
    """Lines "subpackage TAB docstring" of what an installed package defines, without the package's own name.

    Subpackages of fewer than 20 docstrings of 60 words or more are left out.
    """
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if {"tests", "conftest", "externals"} & {*module.name.split(".")}:
            continue
        with suppress(ImportError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            members = list(vars(import_module(module.name)).values())
        for one in members:
            where = str(getattr(one, "__module__", "")).split(".")
            text = inspect.getdoc(one) if inspect.isclass(one) or inspect.isroutine(one) else None
            if text and where[0] == package and len(where) > 1 and len(text.split()) >= 60:
                found.setdefault(" ".join(re.sub(package + r"[\w.]*", "", text).split()), where[1])
    often = Counter(found.values())
    return [f"{label}\t{text}\n" for text, label in sorted(found.items()) if often[label] >= 20]


def part(name: str) -> Path | None:
    """A file of the data sets, or None and a word about it."""
    try:
        return fetch(name)
    except FileNotFoundError as error:
        print(f"{error}; this set is left out")
        return None


def zipf_files(n_rows: int, n_features: int) -> tuple[Path, Path]:
    """Zipfian text as svmlight and as VW text, written once."""
    version = zlib.crc32(f"{inspect.getsource(zipf_text)} {inspect.getsource(zipf_files)}".encode())
    paths = [CACHE / f"zipf-{n_rows}-{n_features}-{version:08x}.{ending}" for ending in ("svm", "vw")]
    if not all(path.exists() for path in paths):
        print("writing files …")
        X, y = zipf_text(n_rows, n_features, mean_length=MEAN_LENGTH)
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = [path.with_suffix(f"{path.suffix}.partial") for path in paths]
        with partial[0].open("w") as svm, partial[1].open("w") as vw:
            for begin in range(0, n_rows, 5000):
                rows = X[begin : begin + 5000]
                entries = [f"{j}:{x:.6g}" for j, x in zip((rows.indices + 1).tolist(), rows.data.tolist(), strict=True)]
                for i, label in enumerate(y[begin : begin + 5000].tolist()):
                    text = " ".join(entries[rows.indptr[i] : rows.indptr[i + 1]])
                    svm.write(f"{'+1' if label else '-1'} {text}\n")
                    vw.write(f"{1 if label else -1} | {text}\n")
        for one, path in zip(partial, paths, strict=True):
            one.rename(path)
    return paths[0], paths[1]


def a9a() -> list[Dataset]:
    """Adult, binarised: 123 features, 14 of them in a row."""
    parts = [part(f"a9a/{half}.svm") for half in ("train", "test")]
    if None in parts:
        return []
    arrays: list[Any] = []
    for path in parts:
        X, y = load_svmlight_file(str(path), n_features=123)
        arrays += [sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape), y]
    return [Dataset("a9a", *arrays)]


def digits() -> Dataset:
    """Handwritten digits as given: MNIST, or those that come with scikit-learn."""
    path = part("mnist/mnist.npz")
    if path is not None:
        with np.load(path) as file:
            arrays = [file[f"{kind}_{part}"] for part in ("train", "test") for kind in ("x", "y")]
        return Dataset("MNIST", *(a if a.ndim == 1 else a.reshape(len(a), -1) for a in arrays))
    print("scikit-learn's digits stand in for MNIST")
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.uint8)
    return Dataset("digits", X[:1400], y[:1400], X[1400:], y[1400:])


def zipf(title: str, n_rows: int, n_features: int, n_test: int) -> Dataset:
    """Zipfian text with two classes."""

    def make() -> Labelled:
        return zipf_text(n_rows + n_test, n_features, mean_length=MEAN_LENGTH)

    return _cached(title, f"zipf-{n_rows}-{n_features}", n_test, make)


def zipf_classes(n_rows: int, n_features: int, n_test: int, n_classes: int) -> Dataset:
    """Zipfian text, labelled by the loudest of sparse linear teachers of frequent words, 5 % of the labels redrawn."""

    def make() -> Labelled:
        X, _ = zipf_text(n_rows + n_test, n_features, mean_length=MEAN_LENGTH)
        rng = np.random.default_rng(1)
        teachers = rng.normal(size=(n_features, n_classes)) * (rng.random((n_features, n_classes)) < 0.1)
        frequency = np.bincount(X.indices, minlength=n_features)
        teachers[np.argsort(-frequency)[4096:]] = 0
        noise = rng.random(n_rows + n_test) < 0.05
        return X, np.where(noise, rng.integers(n_classes, size=len(noise)), (X @ teachers).argmax(axis=1))

    return _cached(f"Zipf {n_classes} classes", f"zipf-{n_rows}-{n_features}-{n_classes}", n_test, make)


def _cached(title: str, name: str, n_test: int, make: Callable[[], Labelled]) -> Dataset:
    """Generate, or load what the same generator made before; the last rows are the test part."""
    generator = f"{inspect.getsource(zipf_text)} {inspect.getsource(make)} {MEAN_LENGTH}"
    version = zlib.crc32(generator.encode())
    path = CACHE / f"{name}-{n_test}-{version:08x}.npz"
    if not path.exists():
        print(f"generating {name} …")
        X, y = make()
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial.npz")
        np.savez(partial, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
        partial.rename(path)
    with np.load(path) as file:
        X = sp.csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        y = file["y"]
    return Dataset(title, X[:-n_test], y[:-n_test], X[-n_test:], y[-n_test:])
