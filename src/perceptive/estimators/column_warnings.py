"""Warnings about columns, and values of tokens: numbers much larger than the others, and texts treated as words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from perceptive.data.column_sizes import odd_sizes, odd_sizes_of_dicts
from perceptive.data.rows import is_dicts
from perceptive.errors import ScaleWarning, warn_caller
from perceptive.streams.file_format import INDEX
from perceptive.streams.first_lines import ROWS, by_column, index_column, text_among, told_of_index, told_of_text

SCALER = "scale X first, by sklearn.preprocessing.StandardScaler (files: scale='standard')"
SENTENCES = 200  # that are looked at, from all over
DIVIDE = "divide it by such a number"
FRAME = f"{DIVIDE}, or give a data frame to fit, which scales the numbers beside words"
VECTORIZER = f"{DIVIDE}, or scale X first, by sklearn's DictVectorizer(sparse=False) and StandardScaler"


def warn_of_columns(X: Any, names: Sequence[str] | None, scaled: bool) -> bool:
    """Warn about unscaled columns that differ much in size, and about columns of text; return whether sizes differ.

    Parameters
    ----------
    X : array, CSR matrix, or list of dicts
    names : sequence of str or None
        Names of the columns of a matrix.
    scaled : bool
        Whether the numbers of dicts are scaled.
    """
    warned = not (scaled and is_dicts(X)) and warn_of_sizes(X, names)
    if not is_dicts(X):
        if _is_matrix(X) and names is not None and (index := _index_among(X, names)) is not None:
            warn_caller(f"{told_of_index(index)}; drop it, or rename it if it is a feature")
        return warned
    text = text_among(by_column(X))
    if text is not None:
        opened = f"fit_stream(streams.open(path, text_column={text!r}))"
        warn_caller(f"{told_of_text(text)}; read it as text, by {opened} or HashedText in a ColumnTransformer")
    return warned


def warn_of_sizes(X: Any, names: Sequence[str] | None) -> bool:
    """Warn about columns that differ much in size; return whether they do."""
    if is_dicts(X):
        odd = odd_sizes_of_dicts(X)
        said = None if odd is None else f"{odd[0]}; {FRAME if odd[1] else VECTORIZER}"
    else:
        sizes = odd_sizes(X, names) if _is_matrix(X) else None
        said = None if sizes is None else f"{sizes}; {SCALER}"
    if said is not None:
        warn_caller(ScaleWarning(said))
    return said is not None


def warn_of_values(X: Sequence[Sequence[Any]]) -> None:
    """Warn about named values of tokens that differ much in size; a word beside them is of size 1."""
    found: list[dict[Any, Any]] = []
    for x in X[:: len(X) // SENTENCES + 1]:
        for token in x:
            if isinstance(token, Mapping):
                found.append(dict(token))
            elif isinstance(token, list | tuple) and token and isinstance(token[-1], Mapping):
                found.append({"word": token[0], **token[-1]})
    odd = odd_sizes_of_dicts(found) if found else None
    if odd is not None:
        warn_caller(ScaleWarning(f"{odd[0]}; {DIVIDE}"))


def _is_matrix(X: Any) -> bool:
    return getattr(X, "ndim", 0) == 2 and getattr(X, "dtype", None) in (np.float32, np.float64)


def _index_among(X: Any, names: Sequence[str]) -> str | None:
    """The column of a matrix that only numbers the rows; None where there is none."""
    found = {name: X[:ROWS, i] for i, name in enumerate(map(str, names)) if name in INDEX and not hasattr(X, "tocsr")}
    return index_column({name: [f"{x:g}" if x % 1 else str(int(x)) for x in some] for name, some in found.items()})
