"""Examples of which a feature space meets the names, and forgets them again where they are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from perceptive import _core
from perceptive.data.rows import as_rows, is_dicts
from perceptive.features.vocabulary import Vocabulary

if TYPE_CHECKING:
    from perceptive.data.feature_space import FeatureSpace


@contextmanager
def meeting(space: FeatureSpace, X: Any, first: bool) -> Iterator[tuple[_core.Rows, Callable[[], None]]]:
    """Rows to learn from. New names get their columns, and lose them again unless ``keep()``, which is given, too.

    It is to be called when there is nothing left that may raise. ``first``: nothing was learned before, so that dicts
    may begin a vocabulary.
    """
    nameless = space.vocabulary is None and space.hasher is None and space.format is None
    vocabulary = Vocabulary() if first and nameless and is_dicts(X) else space.vocabulary
    known, places, kept = 0 if vocabulary is None else len(vocabulary), space.placed, False
    names = None if space.names is None else _core.InvertedIndex()

    def keep() -> None:
        nonlocal kept
        space.vocabulary, kept = vocabulary, True
        space.widen(rows.d)
        space.remember(names, columns)

    try:
        rows = as_rows(space.named(space.raw_rows(X, names)), space.hasher or vocabulary, grow=True, fingerprint=True)
        grows = vocabulary is not None or space.grows
        if rows.n == 0 or (rows.d == 0 and not grows):
            raise ValueError(f"X has {rows.n} rows and {rows.d} feature(s); a minimum of 1 is required")
        space.check(rows.d, grows)
        columns = space.columns_of(X)
        yield rows if space.places is None else space.places.meet(rows), keep
    finally:
        if not kept and vocabulary is not None:
            vocabulary.forget(known)
        if not kept and space.places is not None:
            space.places.forget(places)
