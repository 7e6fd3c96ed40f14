r"""Read examples from files, in batches: memory holds a few blocks, whatever the size of the files.

>>> import gzip, pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp(), "train.svm.gz")
>>> _ = path.write_bytes(gzip.compress(b"+1 1:0.5 3:2\n-1 2:1  # a comment\n+1 3:1\n"))
>>> for X, y in open(path, batch=2):
...     print(X.toarray().tolist(), y.tolist())
[[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]] [1, -1]
[[0.0, 0.0, 1.0]] [1]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from perceptive.cached import cached
from perceptive.errors import Parameter, ParameterError
from perceptive.processors import processors
from perceptive.streams.blocks import Paths, expand, repeatable
from perceptive.streams.dicts import from_dicts
from perceptive.streams.examples import batches, join
from perceptive.streams.file_format import NAMED_FEATURES, FileFormat
from perceptive.streams.first_lines import look
from perceptive.streams.guessing import guess
from perceptive.streams.idf import learn_idf
from perceptive.streams.meaning import check_meaning, check_options
from perceptive.streams.measuring import measured, odd_sizes
from perceptive.streams.parsing import Log, parse
from perceptive.streams.tables import feature_columns, texts_and_others

if TYPE_CHECKING:
    import scipy.sparse as sp

UNSCALED = (
    "numbers are not scaled, since that needs a pass over the data first; to scale them, train on a "
    "file, and go on from that model"
)
SCALE_THEM = "scale the columns with --scale standard or scale='standard'"

__all__ = ["FileFormat", "Stream", "from_dicts", "load", "open"]


@dataclass(frozen=True)
class Stream:
    """Files as an iterable of ``(X, y)``; every iteration reads them again (standard input only once).

    Attributes
    ----------
    format : FileFormat
        How the files are read.
    log : Log
        Lines, bytes and skipped lines of the latest iteration.
    """

    files: tuple[str, ...]
    format: FileFormat
    batch: int
    dtype: np.dtype[Any]
    threads: int
    skip: bool
    remember_names: bool | str | None
    known_idf: NDArray[np.float32] | None = None
    live: bool = False  # whether examples come as soon as they are there
    typed: bool = True  # whether the type of the values was chosen; else it is that of the model that learns
    log: Log = field(default_factory=Log)

    def __iter__(self) -> Iterator[tuple[sp.csr_array, NDArray[Any]]]:
        width = self.format.width or 0
        for examples in batches(self.blocks(), self.batch, self.dtype):
            width = max(width, examples.width())
            yield examples.X(width), examples.y()

    @cached
    def measured(self) -> FileFormat:
        """Return the format with measured columns, if numbers must be scaled; this reads the files once."""
        return measured(self.files, self.format, self.threads)

    def to_learn_from(self, live: bool = False, nameless: bool = False, dtype: DTypeLike | None = None) -> Stream:
        """Return the stream for training a model: scaled and with names as required, or by the defaults of its format.

        ``live``: examples are learned from as they arrive, so columns cannot be measured first. ``nameless``: they may
        come from a cache, which has no feature names. ``dtype``: the type of the model's weights.
        """
        format, once = self.format, not all(map(repeatable, self.files))
        table, asked = format.name in NAMED_FEATURES, format.scale != "auto"
        unmeasured = live or (once and format.name == "arrow")
        begins = format.words is not None and not format.numerals  # no model knows these files
        format = look(self.files, format, self.log) if begins else format
        looks = table and ((format.apart is None and format.has_text) or (not asked and unmeasured))
        texts, others = texts_and_others(self.files, format) if looks else (False, False)
        if not asked:
            format = replace(format, scale="standard" if table and not unmeasured else None)
        if format.apart is None:
            format = replace(format, apart=texts and others)
        if format.scaling is None and format.scale is not None and unmeasured:
            raise ParameterError(
                "{} measures the columns before the first example; train on a file, and go on from that model", "scale"
            )
        if not asked and others and unmeasured:
            self.log.remark("scale", UNSCALED)
        elif not asked and format.absent_is_zero and not live and (said := odd_sizes(self.files, format)):
            self.log.remark("scale", f"{said}; {SCALE_THEM}")
        names = "few" if self.remember_names is None and table and not nameless else self.remember_names
        idf = self.known_idf
        if live and idf is None and format.has_idf:
            idf = learn_idf(self.files, format, skip=True, live=True)
        log = self.log if begins and not unmeasured else None
        format = replace(measured(self.files, format, self.threads, log), numerals=format.words is not None)
        values = self.dtype if self.typed else np.dtype(dtype)
        return replace(self, format=format, remember_names=names, known_idf=idf, dtype=values)

    @cached
    def idf(self) -> NDArray[np.float32] | None:
        """Measure how rare the features of the texts are, if required; this reads the files once.

        Input that can be read only once is measured by its first block, which is kept.
        """
        if not self.format.has_idf or self.known_idf is not None:
            return self.known_idf
        return learn_idf(self.files, self.format, threads=self.threads, skip=self.skip)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of tables that are features; for standard input, after it was read."""
        return feature_columns(self.files, self.format, self.log.columns)

    def blocks(self, **options: Any) -> Iterator[Any]:
        """Yield parsed examples, block by block; options are those of `parsing.parse`."""
        options = {"idf": self.idf, "live": self.live, **options}
        self.log.begin()
        return parse(
            self.files,
            self.measured,
            self.dtype,
            threads=self.threads,
            skip=self.skip,
            remember=self.remember_names or False,
            log=self.log,
            **options,
        )


def open(
    path_or_paths: Paths,
    *,
    format: str | FileFormat | None = None,
    batch: int = 4096,
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    on_error: str = "stop",
    remember_names: bool | str | None = None,
    idf: NDArray[np.float32] | None = None,
    **how: Any,
) -> Stream:
    r"""Read files as a stream of batches.

    Parameters
    ----------
    path_or_paths : path, glob, "-" or a sequence of these
        Files to read one after the other; "-" is standard input. gzip and zstd are recognised by their first bytes;
        zstd needs Python 3.14 or the package backports.zstd.
    format : one of "svmlight", "vw", "text", "csv", "tsv", "json", "arrow" or FileFormat, optional
        The name of the format, or a complete description of it. By default it is recognised from the file name (.svm,
        .libsvm, .vw, .csv, .tsv, .jsonl, .parquet, …, also followed by .gz or .zst), or from the first lines.
    batch : int
        Examples per batch; the last batch may have fewer.
    dtype : float64, float32 or None
        Type of the values. None: float64; `fit_stream` reads them in the type of its weights.
    threads : int, optional
        Number of parsing threads; by default one per processor. The result does not depend on it.
    on_error : one of "stop", "skip"
        On a broken line, raise an error, or continue and count it in ``stream.log.skipped``.
    remember_names : bool, "few" or None
        Keep the names of hashed features in ``stream.log.names``, or only the first few thousand. None: a model that
        learns from a table keeps a few, others none.
    idf : array of float32, optional
        2^bits factors from an earlier stream's ``idf``, if texts use idf; otherwise the files are read once for them.
    **how
        Parameters of `FileFormat`: ``bits``, ``label``, ``text``, ``interactions``, … Numbers of tables are scaled when
        a model learns from them. ``scale="standard"`` and ``"max"`` scale them here too, by the columns of these files;
        ``scale=None`` never scales them.

    Returns
    -------
    Stream
        An iterable of ``(X, y)``: a csr_array with int32 indices, and the labels: int64 if all of a batch are whole
        numbers, float64 if all are numbers, str if all are words, else object, with None for no label. ``qid:`` is
        checked and left out; `load` returns it. Importance is left out too; `fit_stream` and the command line use it.
        If the number of columns is not given, X is as wide as the largest index so far, so later batches may be wider.

    Raises
    ------
    ValueError
        During iteration, for a broken line, with the file, the line, the column and the cure.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.svm")
    >>> _ = path.write_text("+1 1:0.5 3:2\n-1 2:1\n")
    >>> [(X.shape, y.tolist()) for X, y in open(path, n_features=5)]
    [((2, 5), [1, -1])]
    """
    if batch < 1:
        raise ParameterError("{}: it must be at least 1", Parameter("batch", batch))
    if on_error not in ("stop", "skip"):
        raise ParameterError("{}: it must be 'stop' or 'skip'", Parameter("on_error", on_error))
    values = np.dtype(dtype)
    if values not in (np.float32, np.float64):
        raise ParameterError("{}: it must be float32 or float64", Parameter("dtype", str(values)))
    files = tuple(expand(path_or_paths))
    if not isinstance(format, FileFormat):
        name = guess(files) if format is None else format
        check_options(name, how)
        format = FileFormat(name=name, **how)
        check_meaning(format, how)
    threads = processors() if threads is None else threads
    skip = on_error == "skip"
    return Stream(files, format, batch, values, threads, skip, remember_names, idf, typed=dtype is not None)


@overload
def load(
    path_or_paths: Paths, *, query_id: Literal[False] = False, **options: Any
) -> tuple[sp.csr_array, NDArray[Any]]: ...


@overload
def load(
    path_or_paths: Paths, *, query_id: Literal[True], **options: Any
) -> tuple[sp.csr_array, NDArray[Any], NDArray[np.int64]]: ...


def load(path_or_paths: Paths, *, query_id: bool = False, **options: Any) -> tuple[Any, ...]:
    r"""Read files into one ``(X, y)``, or ``(X, y, qid)``.

    Parameters
    ----------
    path_or_paths : path, glob, "-" or a sequence of these
        As for `open`.
    query_id : bool
        Whether to return the query of each example too; -1 if a line has none.
    **options
        Those of `open`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "rank.svm")
    >>> _ = path.write_text("0.5 qid:1 1:0.5 3:2\n2 qid:1 2:1\n")
    >>> X, y, qid = load(path, query_id=True)
    >>> X.shape, y.tolist(), qid.tolist()
    ((2, 3), [0.5, 2.0], [1, 1])
    """
    stream = open(path_or_paths, **options)
    examples = join(list(stream.blocks()), stream.dtype)
    X, y = examples.X(max(stream.format.width or 0, examples.width())), examples.y()
    qid = np.full(len(examples), -1) if examples.qid is None else examples.qid
    return (X, y, qid) if query_id else (X, y)
