"""Lists of candidates as people have them: one list, many lists, or rows with a query each; and as datasets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.cached import cached
from perceptive.data.dataset import ODD, Dataset, Margins, Order, Problem, mix
from perceptive.data.rows import is_dicts, single_row
from perceptive.frames import is_frame, joined
from perceptive.sparse import inspected

if TYPE_CHECKING:
    from perceptive.learners.ranking import RankingLearner

CHUNK = 2_000_000  # entries and pairs that one call into the core plays
Floats = NDArray[np.float64]


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
    return np.ndim(truth) == 1  # sets, like texts, have no dimensions


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
        return Lists(_stack(_of_one_width(lists)), grades, sizes)
    try:
        rows = [np.atleast_2d(np.asarray(one)) for one in lists]
    except ValueError as error:
        raise ValueError(f"candidates must be numbers, all of one length: {error}") from None
    return Lists(np.concatenate(_of_one_width(rows)), grades, sizes)


def _of_one_width(lists: list[Any]) -> list[Any]:
    """Return lists of rows; raise if these differ in length."""
    width = lists[0].shape[-1]
    for t, one in enumerate(lists):
        if one.shape[-1] != width:
            raise ValueError(
                f"list {t}: its candidates have {one.shape[-1]} features, those of list 0 have {width}; "
                "give all candidates the same features"
            )
    return lists


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


# ---------------------------------------------------------------- as datasets


class ListDataset(Dataset):
    """Lists of candidates of any kind: list t is the candidates from ``starts[t]`` up to ``starts[t + 1]``."""

    def __init__(self, learner: Any, starts: NDArray[np.int64], grades: Floats, weights: Floats | None) -> None:
        self.learner, self.starts, self.grades, self.weights = learner, starts, grades, weights
        self.gains = gains(grades, starts, learner.parameters.cost)
        # that auto is not settled means that no candidate is better than another: nothing is learned
        self.pairs = "best" if learner.parameters.pairs == "auto" else learner.parameters.pairs

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def candidate_hashes(self) -> NDArray[np.uint64]:
        """64 bits of each candidate."""
        raise NotImplementedError

    @cached
    def present(self) -> NDArray[np.bool_]:
        """Lists with a weight in which some candidate is better than another."""
        differ = has_preference(self.grades, self.starts)
        return differ if self.weights is None else differ & (self.weights > 0)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        hashes = mix(self.candidate_hashes * ODD + (self.grades + 0.0).view(np.uint64))
        lists: NDArray[np.uint64] = np.add.reduceat(hashes, self.starts[:-1])
        if self.weights is not None:
            lists = mix(lists) * (self.weights.view(np.uint64) | np.uint64(1))
        return mix(lists)

    def list_margins(
        self, scores: dict[str, Floats], shortest: Floats, longest: Floats, equal: NDArray[np.int64]
    ) -> Margins:
        """Margins from the scores of all candidates under unit witnesses, and the lengths of the pairs of each list.

        Parameters
        ----------
        scores : dict
            For each witness u·x of every candidate.
        shortest, longest : arrays
            Of each list the smallest ‖x_i − x_j‖² above 0, and the largest.
        equal : array
            How many pairs of each list are equal.
        """
        p, present = self.learner.parameters, self.present
        weights = None if self.weights is None else self.weights[present]
        scale = 1.0 if weights is None else weights**2
        lengths2 = (shortest + p.delta**2)[present] * scale
        radius2 = float(((longest + p.delta**2)[present] * scale).max(initial=0.0))
        margins = {}
        for name, of_candidates in scores.items():
            out = np.empty(len(self))
            _core.list_margins(of_candidates, self.starts, self.grades, self.pairs, out)
            margins[name] = out[present] if weights is None else out[present] * weights
        # Two candidates that are the same are a mistake that teaches nothing: a round of its own for PA's theorem.
        counted = p.rule in ("pa", "mira") and not p.delta
        return Margins(margins, lengths2, radius2, weights, (equal[present] > 0) & (lengths2 > 0) if counted else None)


class RankedRows(ListDataset):
    """Lists whose candidates are rows, ready to be played by a `RankingLearner`."""

    learner: RankingLearner
    resumable = False  # a run over files is resumed between two blocks

    def __init__(
        self,
        learner: RankingLearner,
        rows: _core.Rows,
        starts: NDArray[np.int64],
        grades: Floats,
        weights: Floats | None,
    ) -> None:
        super().__init__(learner, starts, grades, weights)
        self.rows = rows

    @property
    def candidate_hashes(self) -> NDArray[np.uint64]:
        return np.asarray(self.rows.hashes)

    def chunks(self, order: Order) -> Iterator[Order]:
        sizes = np.diff(self.starts)[order]
        work = sizes * max(1.0, self.rows.stored / self.rows.n)
        if self.pairs == "all" and self.gains is not None:  # every pair is looked at
            work += sizes * sizes
        block = (np.cumsum(work) - work) // CHUNK
        yield from np.split(order, np.flatnonzero(np.diff(block)) + 1) if len(order) else []

    def play(self, order: Order) -> None:
        learner = self.learner
        with learner.lock.learning(), learner.lock.changing():
            learner.vector.learn_lists(self, order)

    def check(self) -> None:
        self.learner.check_growth()

    def margins(self, problems: Sequence[Problem]) -> Iterator[Margins]:
        [problem] = problems
        p, n = self.learner.parameters, len(self)
        shortest, longest, equal = np.empty(n), np.empty(n), np.empty(n, np.int64)
        _core.list_lengths(self.rows, self.starts, self.grades, self.pairs, p.normalize, shortest, longest, equal)
        scores = {}
        for name, witness in problem.witnesses.items():
            scores[name] = self.learner.vector.linear(self.rows, *witness.vector)[:, 0] / witness.length
        yield self.list_margins(scores, shortest, longest, equal)


def has_preference(grades: Floats, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Lists in which some candidate is better than another."""
    differ: NDArray[np.bool_] = np.maximum.reduceat(grades, starts[:-1]) > np.minimum.reduceat(grades, starts[:-1])
    return differ


def graded_as(grades: Floats, starts: NDArray[np.int64]) -> tuple[bool, set[float]]:
    """Of lists with a preference: whether each has one best candidate and equal others; and their grades."""
    differ = has_preference(grades, starts)
    sizes, first = np.diff(starts), starts[:-1]
    top, low = np.maximum.reduceat(grades, first), np.minimum.reduceat(grades, first)
    at_top = np.add.reduceat(grades == np.repeat(top, sizes), first, dtype=np.int64)
    at_low = np.add.reduceat(grades == np.repeat(low, sizes), first, dtype=np.int64)
    one_best = bool(((at_top == 1) & (at_low == sizes - 1))[differ].all())
    return one_best, {*np.unique(grades[np.repeat(differ, sizes)]).tolist()}


def settled_pairs(parts: Iterable[tuple[bool, set[float]]]) -> tuple[str, str | None] | None:
    """What ``pairs="auto"`` is for lists, and the cost; None where no candidate is better than another.

    Parts of them are told by `graded_as`.

    Examples
    --------
    >>> settled_pairs([graded_as(np.array([0.0, 1.0, 0.0, 2.0, 0.0]), np.array([0, 3, 5]))])
    ('best', None)
    >>> [settled_pairs([graded_as(np.array(one), np.array([0, 3]))]) for one in ([0.0, 1.0, 1.0], [0.0, 1.0, 2.0])]
    [('all', None), ('all', 'grade')]
    """
    parts = list(parts)
    grades = set[float]().union(*(some for _, some in parts))
    if not grades:
        return None
    if all(one_best for one_best, _ in parts):
        return "best", None
    return "all", "grade" if len(grades) > 2 else None


def gains(grades: Floats, starts: NDArray[np.int64], cost: str | None) -> Floats | None:
    """The c of the costs c_i − c_j: the grades, or the discounts 1/log₂(place + 1), which equal grades share."""
    if cost is None or cost == "grade":
        return None if cost is None else grades.copy()
    sizes = np.diff(starts)
    which = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((-grades, which))
    discounts = 1.0 / np.log2(np.arange(len(grades)) - np.repeat(starts[:-1], sizes) + 2.0)
    first = np.ones(len(grades), bool)
    first[1:] = (np.diff(which[order]) != 0) | (np.diff(grades[order]) != 0)
    begin = np.flatnonzero(first)
    mean = np.add.reduceat(discounts, begin) / np.diff([*begin, len(grades)])
    shared: Floats = np.empty_like(discounts)
    shared[order] = np.repeat(mean, np.diff([*begin, len(grades)]))
    return shared
