"""Lists of candidates as people have them: one list, many lists, or rows with a query each; and as datasets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.data.rows import is_dicts, single_row
from perceptive.frames import is_frame, joined
from perceptive.sparse import inspected


class Lists(NamedTuple):
    """Candidates one after the other, the grade of each, and how many belong to each list."""

    X: Any
    grades: NDArray[np.float64] | None
    sizes: NDArray[np.int64]


def candidates(xs: Any) -> Any:
    """One list of candidates as rows: an array, a sparse matrix, or a list of dicts, arrays or sparse rows."""
    if hasattr(xs, "shape"):
        if len(xs.shape) != 2:
            raise ValueError(f"a list of candidates has a row for each; give two dimensions, not {len(xs.shape)}")
        n = xs.shape[0]
    else:
        xs = list(xs)
        n = len(xs)
    if n == 0:
        raise ValueError("the list has no candidates; give at least one")
    if isinstance(xs, list) and hasattr(xs[0], "tocsr"):
        return _stack([single_row(one) for one in xs])
    return inspected(xs)


def objects(xs: Any) -> list[Any]:
    """One list of candidates of any kind: strings, trees, pairs, …"""
    if isinstance(xs, str | bytes | dict) or not hasattr(xs, "__iter__"):
        raise ValueError(f"give a list of candidates, not a single {type(xs).__name__}: {str(xs)[:60]!r}")
    found = list(inspected(xs))
    if not found:
        raise ValueError("the list has no candidates; give at least one")
    return found


def grades_of(best: Any, n: int) -> NDArray[np.float64]:
    """Grades of n candidates: 1 for the best, or for each of those that are equally good, else 0.

    Parameters
    ----------
    best : int, or a set of int
        Counted from 0.

    Examples
    --------
    >>> grades_of(1, 3).tolist(), grades_of({0, 2}, 3).tolist()
    ([0.0, 1.0, 0.0], [1.0, 0.0, 1.0])
    """
    good = best if isinstance(best, Collection) else [best]
    if not len(good):
        raise ValueError("no candidate is named as best; give its index, or a set of indices")
    grades = np.zeros(n)
    for j in good:
        if not isinstance(j, Integral) or isinstance(j, bool):
            raise ValueError(f"best is {best!r}; give the index of the best candidate, or a set of indices")
        if not 0 <= int(j) < n:
            raise ValueError(f"best is {best!r}, but the list has {n} candidates: 0 … {n - 1}")
        grades[int(j)] = 1.0
    return grades


def is_graded(truth: Any) -> bool:
    """Whether the answer to a list is a grade for each candidate, and not an index or a set of such."""
    return isinstance(truth, Sequence | np.ndarray) and not isinstance(truth, str) and np.ndim(truth) == 1


def lists_of(X: Sequence[Any], y: Sequence[Any] | None, any_kind: bool = False) -> Lists:
    """Many lists as one: y has for each the index of the best, a set of indices, or a sequence of grades.

    With ``any_kind`` candidates are objects of any kind, and stay in a list.
    """
    lists = []
    for t, xs in enumerate(inspected(X)):
        try:
            lists.append(objects(xs) if any_kind else candidates(xs))
        except ValueError as error:
            raise ValueError(f"list {t}: {error}") from None
    if not lists:
        raise ValueError("there are no lists; give at least one")
    sizes = np.array([one.shape[0] if hasattr(one, "shape") else len(one) for one in lists], np.int64)
    grades = None
    if y is not None:
        if len(y) != len(lists):
            raise ValueError(f"X has {len(lists)} lists, but y has {len(y)} answers; give one per list")
        parts = []
        for t, (truth, n) in enumerate(zip(y, sizes.tolist(), strict=True)):
            try:
                parts.append(check_grades(truth, n) if is_graded(truth) else grades_of(truth, n))
            except ValueError as error:
                raise ValueError(f"list {t}: {error}") from None
        grades = np.concatenate(parts)
    if not any_kind and is_frames(X):
        return Lists(joined(X), grades, sizes)
    if any_kind or is_dicts(lists[0]):
        return Lists([x for one in lists for x in one], grades, sizes)
    if any(hasattr(one, "tocsr") for one in lists):
        return Lists(_stack(lists), grades, sizes)
    try:
        return Lists(np.concatenate([np.atleast_2d(np.asarray(one)) for one in lists]), grades, sizes)
    except ValueError as error:
        raise ValueError(f"candidates must be numbers, all of one length: {error}") from None


def is_frames(X: Any) -> bool:
    """Return whether X is a list of data frames: one for each list of candidates."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(map(is_frame, X))


def lists_by_query(X: Any, y: Any, qid: Any) -> tuple[Lists, NDArray[np.int64] | None]:
    """Rows with a query each as lists, in the order in which the queries first appear.

    Returns
    -------
    Lists, and the rows that they are made of where they had to be put together (else None).
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    qid = _queries(qid, n)
    if qid.dtype.kind == "f" and not np.isfinite(qid).all():
        raise ValueError("qid contains NaN or inf; give whole numbers or names")
    grades = None if y is None else check_grades(y, n)
    breaks = np.flatnonzero(qid[1:] != qid[:-1]) + 1
    starts = np.concatenate([[0], breaks])
    if len(np.unique(qid[starts[:n]])) == len(starts):
        return Lists(X, grades, np.diff([*starts, n])), None
    _, first, inverse, counts = np.unique(qid, return_index=True, return_inverse=True, return_counts=True)
    place = np.empty(len(first), np.int64)
    by_appearance = np.argsort(first)
    place[by_appearance] = np.arange(len(first))
    order = np.argsort(place[inverse], kind="stable")
    X = [X[i] for i in order] if isinstance(X, list) else inspected(X)[order]
    return Lists(X, None if grades is None else grades[order], counts[by_appearance]), order


def _queries(given: Any, n: int) -> NDArray[Any]:
    """Queries of n rows: all numbers, or all names."""
    try:
        qid = np.asarray(given)
    except ValueError as error:
        raise ValueError(f"qid must have one query for each of the {n} rows: {error}") from None
    if qid.shape != (n,):
        raise ValueError(f"qid has shape {qid.shape}; give one query for each of the {n} rows")
    if qid.dtype.kind == "O" or (qid.dtype.kind in "US" and not isinstance(given, np.ndarray)):
        kinds = {
            "names" if isinstance(q, str) else "numbers" if isinstance(q, Real) else type(q).__name__ for q in given
        }
        if len(kinds) > 1 or not kinds <= {"names", "numbers"}:
            raise ValueError(f"qid holds {' and '.join(sorted(kinds))}; give whole numbers, or names, for all rows")
        if any(q != q for q in qid.tolist()):
            raise ValueError("qid contains NaN or inf; give whole numbers or names")
    return qid


def check_grades(grades: Any, n: int) -> NDArray[np.float64]:
    """One finite number per candidate."""
    try:
        array = np.array(grades, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"grades must be numbers: {error}") from None
    if array.shape != (n,):
        raise ValueError(f"grades have shape {array.shape}; give one for each of the {n} candidates")
    if n and np.isfinite(array).all() and array.max() / 2.0 - array.min() / 2.0 > np.finfo(np.float64).max / 2.0:
        raise ValueError("the grades differ by more than a float can hold; rescale them")
    if not np.isfinite(array).all():
        raise ValueError(f"grade {int(np.argmin(np.isfinite(array)))} is not finite; leave such candidates out")
    return array


def starts_of(sizes: Any, n: int) -> NDArray[np.int64]:
    """Where each list begins, and where the last one ends; sizes must sum to n."""
    array = np.asarray(sizes)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError("sizes must be whole numbers, one for each list")
    if (array < 1).any():
        raise ValueError(f"list {int(np.argmax(array < 1))} has no candidates; give at least one")
    if int(array.sum()) != n:
        raise ValueError(f"the lists have {int(array.sum())} candidates in all, but X has {n} rows")
    return np.concatenate([[0], np.cumsum(array)]).astype(np.int64)


def _stack(parts: list[Any]) -> Any:
    import scipy.sparse as sp

    return sp.vstack([inspected(part) for part in parts], format="csr")
