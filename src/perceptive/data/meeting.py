"""`Meeting`: examples of which a feature space meets the names, and forgets them again where they are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perceptive import _core
from perceptive.data.rows import as_rows, is_dicts
from perceptive.features.vocabulary import Vocabulary

if TYPE_CHECKING:
    from perceptive.data.feature_space import FeatureSpace


class Meeting:
    """Examples of which a space meets the names: see `FeatureSpace.meeting`."""

    def __init__(self, space: FeatureSpace, X: Any, first: bool) -> None:
        nameless = space.vocabulary is None and space.hasher is None and space.format is None
        begins = first and nameless and is_dicts(X)
        self._space, self._X, self._kept = space, X, False
        self._vocabulary = Vocabulary() if begins else space.vocabulary
        self._known = 0 if self._vocabulary is None else len(self._vocabulary)
        self._places = space.placed

    def __enter__(self) -> _core.Rows:
        try:
            self._rows = self._read()
        except BaseException:
            self._forget()
            raise
        return self._rows

    def _read(self) -> _core.Rows:
        space = self._space
        self._names = None if space.names is None else _core.InvertedIndex()
        X = space.named(space.raw_rows(self._X, self._names))
        rows = as_rows(X, space.hasher or self._vocabulary, grow=True, fingerprint=True)
        grows = self._vocabulary is not None or space.grows
        if rows.n == 0 or (rows.d == 0 and not grows):
            raise ValueError(f"X has {rows.n} rows and {rows.d} feature(s); a minimum of 1 is required")
        space.check(rows.d, grows)
        self._d = rows.d
        self._columns = space.columns_of(self._X)
        return rows if space.places is None else space.places.meet(rows)

    def keep(self) -> None:
        """The names are there to stay: to be called when there is nothing left that may raise."""
        self._space.vocabulary, self._kept = self._vocabulary, True
        self._space.widen(self._d)
        self._space.remember(self._names, self._columns)

    def __exit__(self, *_: object) -> None:
        if not self._kept:
            self._forget()

    def _forget(self) -> None:
        if self._vocabulary is not None:
            self._vocabulary.forget(self._known)
        if self._space.places is not None:
            self._space.places.forget(self._places)
