"""Kernels of strings, and of sequences of hashable symbols: words, tags, events."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.content import shown
from perceptive.errors import ExampleTypeError
from perceptive.kernels.examples import Objects, as_list, in_double, sparse_dots
from perceptive.kernels.kernel import Kernel, Values, number
from perceptive.kernels.substrings import Counted, code_points
from perceptive.processors import processors

PIECE = 2**31  # cells of the tables of a call: seconds
STEP = 2**26  # of one pair, which fills one lane of many: a tenth of a second
MOST_CELLS = 2**34  # of one pair: half a minute


class Texts(Objects):
    """Strings and tuples of symbols; ``single`` asks for float32.

    Some that are taken of many find the counts of their substrings where those of all are, as long as these are held:
    so the supports of a model do not keep what it has learned from alive.
    """

    def __init__(self, items: Iterable[Any], single: bool = False) -> None:
        super().__init__(items)
        self.single = single
        self._own: Counted | None = None
        self._all: weakref.ref[Counted] | None = None
        self._rows = np.zeros(0, np.int64)  # among all

    def __reduce__(self) -> Any:
        return Texts, (self.items, self.single)

    def counted(self) -> tuple[Counted, NDArray[np.int64] | slice]:
        """Where their substrings are counted, and which of the sequences there they are."""
        found = None if self._all is None else self._all()
        if found is not None:
            return found, self._rows
        if self._own is None:
            self._own = Counted(self.items)
        return self._own, slice(None)

    def take(self, index: Any) -> Texts:
        taken = Texts(super().take(index).items, self.single)
        home, rows = self.counted()
        rows = np.arange(len(self)) if isinstance(rows, slice) else rows
        taken._all, taken._rows = weakref.ref(home), rows[index]
        return taken

    def extend(self, other: Any) -> None:
        """Add others, which may be of the same many."""
        (mine, rows), (theirs, more) = self.counted(), other.counted()
        if mine is theirs and not isinstance(rows, slice) and not isinstance(more, slice):
            self._rows = np.concatenate([rows, more])
        else:
            self._all = None
        self._own = None
        super().extend(other)

    def put(self, i: int, other: Any) -> None:
        self._own = self._all = None
        super().put(i, other)


class StringKernel(Kernel):
    """A kernel of sequences."""

    view = "sequences"

    def prepare(self, X: Any, dtype: Any = np.float64) -> Texts:
        items = [item if isinstance(item, str) else _symbols(item, i, self) for i, item in enumerate(as_list(X))]
        return Texts(items, single=np.dtype(dtype) == np.float32)

    def norms(self, A: Texts) -> NDArray[np.float64]:
        A = in_double(A)  # norms are float64 whatever the values are
        ones = (A.take([i]) for i in range(len(A)))
        return np.array([self.compare(one, one)[0, 0] for one in ones], dtype=np.float64)


def _symbols(item: Any, i: int, kernel: Kernel) -> tuple[Hashable, ...]:
    if isinstance(item, list | tuple | bytes) or (isinstance(item, np.ndarray) and item.ndim == 1):
        symbols = tuple(item.tolist() if isinstance(item, np.ndarray) else item)
        if isinstance(item, np.ndarray) and item.dtype.kind == "f":
            said = f"it is a row of numbers; {kernel!r} takes strings, or lists of symbols: choose a kernel of vectors"
            raise ExampleTypeError(said, i, kind="example")
        try:
            hash(symbols)
        except TypeError:
            wrong = next(symbol for symbol in symbols if not _is_hashable(symbol))
            raise ExampleTypeError(
                f"{kernel!r} takes sequences of hashable symbols, not of {shown(wrong)}", i, kind="example"
            ) from None
        return symbols
    said = f"it is a {type(item).__name__}; {kernel!r} takes strings, or lists of symbols"
    if isinstance(item, dict):
        said += "; name the key to compare behind the kernel, as in spectrum(3)@text"
    raise ExampleTypeError(said, i, kind="example")


def _is_hashable(symbol: Any) -> bool:
    try:
        hash(symbol)
    except TypeError:
        return False
    return True


def encode(*many: Texts) -> list[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """The symbols of sequences as numbers, the same for all: one array of them, and where each sequence begins."""
    if all(isinstance(item, str) for texts in many for item in texts.items):
        return [(code_points(texts.items).astype(np.int32, copy=False), _offsets(texts.items)) for texts in many]
    alphabet: dict[Hashable, int] = {}
    coded = []
    for texts in many:
        codes = [alphabet.setdefault(symbol, len(alphabet)) for item in texts.items for symbol in item]
        coded.append((np.array(codes, dtype=np.int32), _offsets(texts.items)))
    return coded


def _offsets(items: list[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum([len(item) for item in items], dtype=np.int64)]).astype(np.int64)


class Spectrum(StringKernel):
    """Common substrings of length n: Σ_u |x|_u |x'|_u (Leslie, Eskin & Noble 2002).

    Parameters
    ----------
    n : int
    distinct : bool
        Count each common substring once, even if it occurs several times.

    Examples
    --------
    >>> from perceptive.kernels import Spectrum
    >>> Spectrum(2)("aab", "aaab"), Spectrum(2, distinct=True)("aab", "aaab")
    (3.0, 2.0)
    >>> Spectrum(1).value(["the", "dog"], ["the", "cat", "the"])
    2.0
    """

    def __init__(self, n: int = 3, distinct: bool = False) -> None:
        self.n, self.distinct = n, distinct
        _check_length(n)
        if not isinstance(distinct, bool | np.bool_):
            raise ValueError(f"distinct={distinct!r}: distinct must be True or False")

    def compare(self, A: Texts, B: Texts) -> Values:
        one, two = self._counts(A, B)
        return sparse_dots(one, two).astype(np.float32 if A.single else np.float64, copy=False)

    def norms(self, A: Texts) -> NDArray[np.float64]:
        counts = self._counts(A, A)[0]
        return np.asarray(counts.multiply(counts).sum(axis=1), dtype=np.float64).ravel()

    def _counts(self, A: Texts, B: Texts) -> tuple[Any, Any]:
        """How often the substrings that both have occur in each."""
        (one, rows), (two, columns), n = A.counted(), B.counted(), int(self.n)
        if one is two:
            counts = one.substrings(n).counts
            counts = counts[rows], counts[columns]
        elif one.knows(n) or (not two.knows(n) and len(one.items) >= len(two.items)):
            counts = one.substrings(n).counts[rows], one.substrings(n).count(B.items)
        else:
            counts = two.substrings(n).count(A.items), two.substrings(n).counts[columns]
        if self.distinct:
            return (counts[0] > 0).astype(np.float64), (counts[1] > 0).astype(np.float64)
        return counts


class Subsequence(StringKernel):
    """Common subsequences of length n, gaps allowed; each occurrence counts decay^(length of its span).

    Lodhi, Saunders, Shawe-Taylor, Cristianini & Watkins 2002, in O(n|x||x'|). ``normalized()`` makes it independent of
    the lengths.

    Parameters
    ----------
    n : int
        1 to 8.
    decay : float
        λ in (0, 1].

    Examples
    --------
    >>> from perceptive.kernels import Subsequence
    >>> Subsequence(2, decay=1.0)("aab", "aaab"), Subsequence(2, decay=0.5)("cat", "car")
    (9.0, 0.0625)
    """

    def __init__(self, n: int = 4, decay: float = 0.5) -> None:
        self.n, self.decay = n, decay
        _check_length(n)
        if n > _core.LONGEST_SUBSEQUENCE:
            raise ValueError(f"n={shown(n)}: subsequences may have up to {_core.LONGEST_SUBSEQUENCE} symbols")
        check_decay(decay)

    def compare(self, A: Texts, B: Texts) -> Values:
        return _compare(A, B, int(self.n), float(self.decay), A.single)


class AllSubsequences(StringKernel):
    """All common subsequences, the empty one included: Σ_u (places of u in x)·(places of u in x').

    The values grow like 2^length; beyond about 500 symbols they overflow, which is an error. `normalized` rescales
    smaller ones.

    Examples
    --------
    >>> from perceptive.kernels import AllSubsequences
    >>> AllSubsequences()("ab", "ab")
    4.0
    """

    def __init__(self) -> None:
        pass

    def compare(self, A: Texts, B: Texts) -> Values:
        K = _compare(A, B, 0, 1.0, False)
        if not np.isfinite(K).all():
            i, j = np.argwhere(~np.isfinite(K))[0]
            raise ValueError(
                f"{len(A.items[i])} and {len(B.items[j])} symbols have too many common subsequences for a number; take "
                "Subsequence, or shorter texts"
            )
        return K


def _compare(A: Texts, B: Texts, n: int, decay: float, single: bool) -> Values:
    """In pieces and steps that do not take long, since a call of the core cannot be interrupted."""
    longest = [max(map(len, texts.items), default=0) for texts in (A, B)]
    if max(n, 1) * longest[0] * longest[1] > MOST_CELLS:
        raise ValueError(
            f"sequences of {longest[0]:,} and {longest[1]:,} symbols are too long to compare; use Spectrum, or "
            "cut them into parts"
        )
    K = np.empty((len(A), len(B)), np.float32 if single else np.float64)
    _fill(K, A, B, n, decay, single)
    return K


def _fill(K: Values, A: Texts, B: Texts, n: int, decay: float, single: bool) -> None:
    cells = max(n, 1) * sum(map(len, A.items)) * sum(map(len, B.items))
    if len(A) == len(B) == 1 and cells > STEP:
        (source, _), (target, _) = encode(A, B)
        pair = _core.StringPair(source, target, n, decay, single)
        while pair.play(max(1, STEP // (max(n, 1) * len(target)))):
            pass  # here Python answers Ctrl-C
        K[:] = pair.value()
    elif cells <= PIECE or len(A) <= 1 >= len(B):
        values = np.empty(K.shape)
        coded = encode(A) * 2 if A is B else encode(A, B)
        _core.string_kernels(*coded[0], *coded[1], n, decay, single, A is B, processors(), values)
        K[:] = values
    elif A is B:
        half = len(A) // 2
        one, two = A.take(slice(half)), A.take(slice(half, None))
        _fill(K[:half, :half], one, one, n, decay, single)
        _fill(K[half:, half:], two, two, n, decay, single)
        _fill(K[half:, :half], two, one, n, decay, single)
        K[:half, half:] = K[half:, :half].T
    elif len(A) >= len(B):
        half = len(A) // 2
        _fill(K[:half], A.take(slice(half)), B, n, decay, single)
        _fill(K[half:], A.take(slice(half, None)), B, n, decay, single)
    else:
        half = len(B) // 2
        _fill(K[:, :half], A, B.take(slice(half)), n, decay, single)
        _fill(K[:, half:], A, B.take(slice(half, None)), n, decay, single)


def check_decay(decay: Any) -> None:
    """Raise ValueError if it is not in (0, 1]."""
    if not 0 < number(decay) <= 1:
        raise ValueError(f"decay={shown(decay)}: decay must be a number in (0, 1]")


def _check_length(n: Any) -> None:
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n={shown(n)}: the length n must be 1, 2, 3, …")
