"""Data frames and tables of any library: what has named columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any


def is_frame(X: Any) -> bool:
    """Whether X is a data frame or a table: something with named columns."""
    return is_table(X) or (hasattr(X, "columns") and hasattr(X, "__getitem__") and hasattr(X, "shape"))


def is_table(X: Any) -> bool:
    """Whether X is a table of pyarrow, or a dataset of Hugging Face, which `as_arrow` makes one of."""
    return hasattr(X, "column_names")


def as_arrow(X: Any) -> Any:
    """A table of pyarrow, also of a dataset of Hugging Face; raises where that has no length."""
    if hasattr(X, "schema"):
        return X
    if not hasattr(X, "with_format") or not hasattr(X, "__len__"):
        raise ValueError(f"X is a {type(X).__name__}, whose rows come one by one; give a table, as pyarrow has it")
    return X.with_format("arrow")[:]


def listed(column: Any) -> Any:
    """A column of pyarrow, or of a dataset of Hugging Face, as a list; anything else as it is."""
    if hasattr(column, "to_pylist"):
        return column.to_pylist()
    return list(column) if type(column).__name__ == "Column" and hasattr(column, "column_name") else column


def column_of_texts(X: Any) -> Any:
    """The texts of a column, or of a data frame that has one column, of strings, as a list; anything else as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> column_of_texts(pd.DataFrame({"body": ["spam", "ham"]}))
    ['spam', 'ham']
    """
    if not is_frame(X):
        return listed(X)
    names = X.column_names if is_table(X) else X.columns
    if len(names) != 1:
        return X
    column = as_arrow(X)[names[0]] if is_table(X) else X[names[0]]
    values = column.to_pylist() if is_table(X) else column.to_list()
    return values if any(isinstance(value, str) for value in values) else X


def joined(frames: Sequence[Any]) -> Any:
    """Return frames of one library as one, their columns matched by name; raise ValueError if that is impossible.

    Examples
    --------
    >>> import pandas as pd
    >>> joined([pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [4], "a": [3]})]).to_dict("list")
    {'a': [1, 3], 'b': [2, 4]}
    """
    try:
        if is_table(frames[0]):
            return sys.modules["pyarrow"].concat_tables(map(as_arrow, frames), promote_options="permissive")
        library = sys.modules[type(frames[0]).__module__.partition(".")[0]]
        how = {"ignore_index": True} if hasattr(frames[0], "iloc") else {"how": "diagonal_relaxed"}
        return library.concat(frames, **how)
    except Exception as error:  # each library has its own
        raise ValueError(f"the lists are frames that do not fit together ({error}); give the same columns") from None
