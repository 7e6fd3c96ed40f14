"""Data frames and tables of any library: what has named columns."""

from __future__ import annotations

from typing import Any


def is_frame(X: Any) -> bool:
    """Whether X is a data frame or a table: something with named columns."""
    return hasattr(X, "column_names") or (hasattr(X, "columns") and hasattr(X, "__getitem__") and hasattr(X, "shape"))


def column_of_texts(X: Any) -> Any:
    """The texts of a data frame that has one column, of strings, as a list; anything else as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> column_of_texts(pd.DataFrame({"body": ["spam", "ham"]}))
    ['spam', 'ham']
    """
    if not is_frame(X) or len(X.columns) != 1:
        return X
    column = X[X.column_names[0]] if hasattr(X, "column_names") else X[X.columns[0]]
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return values if any(isinstance(value, str) for value in values) else X
