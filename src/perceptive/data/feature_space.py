"""`FeatureSpace`: how the examples of a linear learner become columns.

Columns are numbered (arrays, svmlight files), named (dicts: a vocabulary gives each name a column), or hashed. The
weights of hashed columns can be stored in the order in which the columns first appeared (`_core.Places`). The space is
saved with the model and reads new data in the same way.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.raw import LINES, Table, frame_dicts, is_texts, names_of, read_raw, with_statistics
from perceptive.data.rows import as_rows, is_dicts
from perceptive.features.hashing import HashKernel
from perceptive.features.vocabulary import Vocabulary
from perceptive.frames import is_frame
from perceptive.state import State, array_of, below
from perceptive.streams import idf
from perceptive.streams.examples import Examples
from perceptive.streams.file_format import FileFormat
from perceptive.streams.values import missing_names, some_names

NAMES = ("names.bucket", "names.offsets", "names.blob")


@dataclass
class FeatureSpace:
    """How examples become rows.

    Attributes
    ----------
    columns : int or None
        Columns that were declared, or that rows without names had; None before the first example. `n_features` also
        counts named columns.
    fixed : bool
        Whether that number was declared, so that more columns are refused.
    hasher : HashKernel or None
        Hashes the names of dicts.
    vocabulary : Vocabulary or None
        Gives the names of dicts their columns.
    format : FileFormat or None
        How files become rows, if the learner learned from files.
    header : tuple of str
        The columns of tables that are features, as far as they are known.
    idf : array or None
        How rare the features of texts are, if the format uses this.
    names : InvertedIndex or None
        The names of hashed columns, if they are remembered.
    places : Places or None
        Where the weights of hashed columns are stored; None if column j has place j.
    table : Table or None
        For names of a data frame, so that values of dicts mean the same as in tables.
    framed : tuple of str
        In a model that was loaded, the columns of the data frame that it learned from.
    """

    columns: int | None = None
    fixed: bool = False
    hasher: HashKernel | None = None
    vocabulary: Vocabulary | None = None
    format: FileFormat | None = None
    header: tuple[str, ...] = ()
    idf: NDArray[np.float32] | None = None
    names: _core.InvertedIndex | None = None
    places: _core.Places | None = None
    table: Table | None = None
    framed: tuple[str, ...] = ()

    @classmethod
    def declared(cls, bits: int | None, n_features: int | None) -> FeatureSpace:
        """Return the space of an untrained learner."""
        hasher = None if bits is None else HashKernel(bits)
        return cls(n_features if hasher is None else hasher.width, n_features is not None, hasher)

    @property
    def n_features(self) -> int | None:
        """Number of columns so far; None before the first example. A name has a column once it is in the vocabulary."""
        names = self.vocabulary
        return self.columns if names is None else max(self.columns or 0, len(names))

    @n_features.setter
    def n_features(self, n_features: int | None) -> None:
        self.columns = n_features

    @property
    def hashed(self) -> bool:
        """Whether names are hashed to columns, of which only few may appear."""
        return self.hasher is not None or (self.format is not None and self.format.bits is not None)

    @property
    def placed(self) -> int:
        """Number of places for weights."""
        return (self.n_features or 0) if self.places is None else len(self.places)

    def place_as_met(self) -> None:
        """From now on, store the weights of columns in the order in which the columns first appear."""
        if self.n_features is not None:
            self.places = _core.Places(self.n_features)

    def by_column(self, w: NDArray[Any]) -> NDArray[Any]:
        """Return weights by column, from weights by place."""
        if self.places is None:
            return w
        spread = np.zeros((self.n_features or 0, *w.shape[1:]), w.dtype)
        spread[self.places.features[1:]] = w[1:]
        return spread

    def by_place(self, w: NDArray[Any]) -> NDArray[Any]:
        """Return weights by place, from weights by column."""
        if self.places is None:
            return w
        placed = np.zeros((self.placed, *w.shape[1:]), w.dtype)
        placed[1:] = w[self.places.features[1:]]
        return placed

    def keep_places(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Remove the other places of hashed columns, if there are some; return which are left, always including 0."""
        if self.places is None:
            return np.ones(len(kept), bool)
        kept[0] = True
        left = np.ascontiguousarray(self.places.features[kept][1:])
        self.places = _core.Places.from_features(self.places.n_features, left)
        return kept

    def meet_columns(self, columns: NDArray[np.int64]) -> None:
        """Make places for these columns."""
        if self.places is not None:
            ends = np.array([0, len(columns)])
            rows = _core.csr_rows(ends, columns, np.ones(len(columns)), self.places.n_features, False)
            assert rows is not None  # columns rise
            self.places.meet(rows)

    @property
    def grows(self) -> bool:
        """Whether features may appear at any time: named ones, and numbered ones of files."""
        return self.vocabulary is not None or (self.format is not None and self.format.width is None)

    def check(self, n_features: int, grows: bool) -> None:
        """Raise if examples have different columns than the earlier ones."""
        known = self.columns if self.fixed else self.n_features
        if known is None or n_features == known:
            return
        if not grows or (n_features > known and self.fixed):
            said = f"X has {n_features} features, but this model expects {known} features as input"
            raise ValueError(said + self.instead())

    def instead(self) -> str:
        """Return what to give to a model that has learned from files of texts or tables."""
        if self.format is None or not self.hashed or self.format.name in LINES:
            return ""
        if not self.header:
            return "; it has learned from texts: give a list of them" if self.format.has_text else ""
        columns = some_names(self.header)
        if self.format.name == "json":
            return f"; it has learned from JSON lines, whose keys {columns} have no order: give dicts, or a data frame"
        return f"; it has learned from the columns {columns}: give a data frame, dicts, or a value for each"

    def takes_raw(self, X: Any) -> bool:
        """Return whether X are raw examples, read like the files: texts, dicts, a frame, or rows of a table."""
        if self.format is None:
            return False
        if is_texts(X):
            return True
        if self.format.name in LINES:
            return is_dicts(X)
        return is_dicts(X) or is_frame(X) or self._is_table(X)

    def missing(self, columns: Iterable[str]) -> list[str]:
        """Return which training columns are absent; raise ValueError if all are."""
        ignored = () if self.table is None else self.table.ignore
        return missing_names([name for name in self.header or self.framed if name not in ignored], columns)

    def _is_table(self, X: Any) -> bool:
        """Whether X has a value for each column of the tables that were learned from."""
        if self.format is None or self.format.name == "json":
            return False
        if isinstance(X, list) and X and isinstance(X[0], list | tuple):
            return len(X[0]) == len(self.header) > 0
        shape: tuple[int, ...] = getattr(X, "shape", ())
        return len(shape) == 2 and not hasattr(X, "tocsr") and shape[1] == len(self.header) > 0

    def examples(
        self, X: Any, dtype: Any = np.float32, index: _core.InvertedIndex | None = None, grow: bool = False
    ) -> Examples:
        """Return raw examples, with the known columns, unless they ``grow``; an index collects hashed names."""
        return self._read(X, dtype, index, None if grow else self.learned).narrow(self.n_features or 0)

    @property
    def learned(self) -> tuple[str, ...] | None:
        """Return the columns of tables that are features, without texts; None if not all are known."""
        if self.format is None:
            return self.framed or None
        if self.format.name == "text":
            return ()
        return None if self.format.name == "json" else self.header or None

    def reads_as(self, before: FeatureSpace, X: Any) -> None:
        """Read raw examples as another space did; measure and count on X."""
        assert before.format is not None
        self.reads(*with_statistics(X, before.format, before.header))
        self.remember(None if before.names is None else _core.InvertedIndex(), before.header)

    def scales(self, X: Any) -> bool:
        """Return whether X is a matrix of numbered columns that files have scaled."""
        format = self.format
        if format is None or format.name != "svmlight" or format.bits is not None or format.scaling is None:
            return False
        return len(getattr(X, "shape", ())) == 2

    def scaled(self, X: Any) -> Any:
        """Scale such a matrix as the files were; return anything else unchanged."""
        if not self.scales(X):
            return X
        assert self.format is not None
        assert self.format.scaling is not None
        shift, factor = np.zeros(X.shape[1]), np.ones(X.shape[1])
        for name, *how in self.format.scaling.factors:
            if (column := int(name) - (not self.format.zero_based)) < len(shift):
                shift[column], factor[column] = how
        if not hasattr(X, "tocsr"):
            return (X - shift) * factor
        X = X.tocsr().copy()
        X.data = (X.data - shift[X.indices]) * factor[X.indices]
        return X

    def knows(self, X: Any) -> bool:
        """Return whether raw examples have a training column, if they name columns; numbered ones have numbers."""
        if self.format is not None and self.format.name == "svmlight" and is_dicts(X):
            return all(name.isdecimal() for name in names_of(X))
        names = names_of(X) if self.header else []
        return not names or not {*names}.isdisjoint(self.header)

    def columns_of(self, X: Any) -> list[str]:
        """Return the columns of raw examples that are features, if those of the earlier tables are known."""
        if not self.header or self.format is None or not self.takes_raw(X):
            return []
        names = names_of(X)
        kinds = zip(names, self.format.kinds(names), strict=True)
        return [name for name, kind in kinds if kind not in ("label", "weight", "ignored")]

    def _read(
        self,
        X: Any,
        dtype: Any = np.float32,
        index: _core.InvertedIndex | None = None,
        known: tuple[str, ...] | None = None,
    ) -> Examples:
        """Raw examples, with all columns, or those that are known."""
        assert self.format is not None
        names, text = names_of(X), self.format.text_column or "text"
        if self.format.name == "text" and names and text not in names:
            raise ValueError(
                f"the model learned from texts, but X has no {text!r}, only {some_names(names)}; rename the text"
            )
        if is_frame(X) or (names and self.format.name != "json"):  # keys of JSON may be within others
            lost = self.missing(names)
            if lost and is_frame(X):  # a dict may leave out what is 0
                warnings.warn(f"X lacks columns that the model has learned from: {some_names(lost)}", stacklevel=2)
        return read_raw(X, replace(self.format, known=known), self.idf, self.header, dtype, index)

    def rows(self, X: Any, first: bool = False) -> _core.Rows:
        """Return rows for prediction, by place; unknown names and columns are ignored.

        ``first``: nothing was learned before, so examples may be dicts if no columns are known.
        """
        if first and self.vocabulary is None and self.hasher is None and self.format is None and is_dicts(X):
            return as_rows(X, Vocabulary())
        if self.takes_raw(X := self.named(X)):
            found = self.examples(X)
            X = _core.csr_rows(found.indptr, found.indices, found.data, self.n_features or 0, False)
        rows = as_rows(self.known_part(X), self.hasher or self.vocabulary)
        self.check(rows.d, self.grows)
        return self.find(rows)

    def known_part(self, X: Any) -> Any:
        """Return a matrix without the columns that are new, where files may bring some; anything else unchanged."""
        known, shape = self.n_features, tuple(getattr(X, "shape", ()))
        cut = self.grows and self.vocabulary is None and known is not None and len(shape) == 2 and shape[1] > known
        return X[:, :known] if cut else X

    def whole_rows(self, X: Any) -> _core.Rows:
        """Return rows to inspect, by place, with hashes: unknown names and columns come last."""
        X = self.named(self.raw_rows(X))
        known = 0 if self.vocabulary is None else len(self.vocabulary)
        try:
            rows = as_rows(X, self.hasher or self.vocabulary, grow=True, fingerprint=True)
        finally:
            if self.vocabulary is not None:
                self.vocabulary.forget(known)
        self.check(rows.d, self.grows)
        return self.find(rows)

    def raw_rows(self, X: Any, index: _core.InvertedIndex | None = None) -> Any:
        """Return raw examples as rows, with hashes and all columns; anything else unchanged. An index gets names."""
        if not self.takes_raw(X):
            return X
        found = self._read(X, index=index)
        width = max(self.n_features or 0, found.width())
        return _core.csr_rows(found.indptr, found.indices, found.data, width, True)

    def named(self, X: Any) -> Any:
        """Return dicts as rows of the training table, if there was one; anything else unchanged."""
        if self.table is None or not is_dicts(X):
            return X
        rows, known = [self.table.row(row) for row in X], {*self.header}
        return [{name: x for name, x in row.items() if name in known} for row in rows] if known else rows

    def unframed(self, x: Any) -> Any:
        """Return a row of a frame as a dict, and a frame as dicts, if features have names; anything else unchanged."""
        named = self.vocabulary or self.hasher or (self.format is not None and self.format.name != "svmlight")
        if isinstance(x, dict | list) or not named:
            return x
        if is_frame(x):
            return frame_dicts(x) if self.format is None else x
        return x.to_dict() if hasattr(x, "to_dict") and hasattr(x, "index") else x

    def find(self, rows: _core.Rows) -> _core.Rows:
        """Return rows by place, from checked rows."""
        return rows if self.places is None else self.places.find(rows)

    def widen(self, n_features: int) -> None:
        """Make at least this many columns."""
        self.n_features = max(self.n_features or 0, n_features)

    def reads(self, format: FileFormat, factors: NDArray[np.float32] | None) -> None:
        """Learn from files of a format from now on."""
        self.format, self.idf = format, factors
        if format.width is not None:
            self.n_features = format.width

    def remember(self, names: _core.InvertedIndex | None, columns: Iterable[str] = ()) -> None:
        """Add names of hashed columns, and columns of tables, to the known ones."""
        self.header = tuple(dict.fromkeys((*self.header, *columns)))
        if names is not None and self.names is not None:
            self.names.merge(names)
        elif names is not None:
            self.names = names

    # ------------------------------------------------------------ state

    def __getstate__(self) -> dict[str, Any]:
        names = None if self.names is None else self.names.to_arrays()
        places = None if self.places is None else (self.places.n_features, self.places.features[1:])
        return {**self.__dict__, "names": names, "places": places}

    def __setstate__(self, state: dict[str, Any]) -> None:
        names, places = state["names"], state["places"]
        self.__dict__.update(
            state,
            names=None if names is None else _core.InvertedIndex.from_arrays(*names),
            places=None if places is None else _core.Places.from_features(*places),
        )

    def state(self) -> State:
        """Return it as plain values and arrays."""
        arrays: dict[str, NDArray[Any]] = {}
        if self.idf is not None:
            arrays |= idf.pack(self.idf)
        if self.names is not None:
            arrays |= zip(NAMES, self.names.to_arrays(), strict=True)
        if self.vocabulary is not None:
            arrays |= {f"vocabulary.{name}": array for name, array in self.vocabulary.to_arrays().items()}
        if self.places is not None:
            arrays["places"] = self.places.features[1:]
        reading = None if self.format is None else self.format.to_meta()
        meta: dict[str, Any] = {"n_features": self.n_features, "reading": reading}
        meta |= {"header": list(self.header)} if self.header else {}
        meta |= {} if self.table is None else self.table.to_meta()
        return State(meta, arrays)

    def restore(self, state: State) -> Self:
        """Restore what `state` returned, in a space declared in the same way; raise ValueError if it does not fit."""
        meta, arrays = state
        if "vocabulary.blob" in arrays:
            parts = below(arrays, "vocabulary.")
            self.vocabulary = Vocabulary.from_arrays(parts["blob"], parts["offsets"], parts["table"])
        if meta.get("reading") is not None:  # models from before files could be read have none
            self.format = FileFormat.from_meta(meta["reading"])
            if self.format.has_idf:
                self.idf = idf.unpack(arrays, self.format.width or 0)
        self.header = tuple(meta.get("header", ()))
        self.table = Table.from_meta(meta)
        self.framed = tuple(meta.get("feature_names_in_", ()))
        if NAMES[0] in arrays:
            self.names = _core.InvertedIndex.from_arrays(*(np.ascontiguousarray(arrays[name]) for name in NAMES))
        self.n_features = meta.get("n_features")
        bits = self.hasher.bits if self.hasher is not None else None if self.format is None else self.format.bits
        if bits is not None and self.n_features not in (None, 1 << bits):
            raise ValueError(f"there are {self.n_features} features, but names are hashed to {1 << bits} columns")
        if "places" in arrays:
            met = array_of(arrays, "places", np.int32, (len(arrays["places"]),))
            self.places = _core.Places.from_features(self.n_features or 0, np.ascontiguousarray(met))
        return self
