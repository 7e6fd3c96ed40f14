"""Sentences and their labels: as they are given, as the core reads them, and as a `SentenceDataset` to learn from."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.dataset import Dataset, Margins, Order, Problem
from perceptive.data.token_values import Tokens, plain, valued
from perceptive.errors import ExampleError, ExampleTypeError, plural
from perceptive.features import schemes
from perceptive.features.templates import Templates

if TYPE_CHECKING:
    from perceptive.learners.sequence import SequenceLearner

CHUNK = 20_000  # tokens that one call into the core plays
LARGEST = float(np.finfo(np.float32).max)
WORDS_ALONE = " (for raw text: words alone, 'perceptive train --columns 0')"
Features = Callable[[Sequence[Any], int], dict[str, Any] | Iterable[str]]
Ask = Callable[[list[Any], _core.Forced], Any]
Made = TypeVar("Made")


class SentenceDataset(Dataset):
    """Sentences with their labels, ready to be learned from by a `SequenceLearner`.

    The core counts rounds and adds up the fingerprint sentence by sentence, so an epoch that is broken off counts for
    what was played of it.

    The learner's model has encoded them; ``encode_one`` encodes that of a number by itself. Those of weight 0 are
    passed over.
    """

    learner: SequenceLearner

    def __init__(
        self,
        learner: SequenceLearner,
        sentences: _core.Sentences,
        encode_one: Callable[[int], _core.Sentences],
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.learner, self.sentences, self._encode_one = learner, sentences, encode_one
        self.weights: NDArray[np.float64] | None = None
        self.rows = sentences.rows  # of weights, in the learner's model
        if weights is not None:
            self.weigh(weights)

    def weigh(self, weights: NDArray[np.float64]) -> None:
        """Give each sentence a weight, once."""
        self.sentences.weigh(weights.tolist())
        self.weights = weights

    def __len__(self) -> int:
        return len(self.sentences)

    def chunks(self, order: Order) -> Iterator[Order]:
        """The order in parts of some 20,000 tokens each, and of whole batches."""
        batch = self.learner.parameters.batch
        size = max(1, len(self) * CHUNK // max(1, self.sentences.tokens) // batch) * batch
        for begin in range(0, len(order), size):
            yield order[begin : begin + size]

    def play(self, order: Order) -> None:
        order = order if self.weights is None else order[self.weights[order] > 0]
        self.learner.play(self.sentences, self.rows, order)

    def meet(self) -> None:
        """Find the rows of weights that features have got in other datasets, or where others have learned."""
        learner = self.learner
        if learner.played_rows is not self.rows:  # else playing and mixing have kept them up to date
            self.rows = self.rows.copy()  # learners of other times may have them
            _core.find_rows(learner.core, self.sentences, self.rows)
            learner.played_rows = self.rows

    def replica(self, learner: Any) -> SentenceDataset:
        twin = copy.copy(self)
        twin.learner, twin.rows = learner, self.rows.copy()
        learner.played_rows = twin.rows
        return twin

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """64 bits of each sentence with its labels. The core tells their sum only, so each is encoded once more."""
        return np.array([self._one(i).fingerprint for i in range(len(self))], np.uint64)

    def _one(self, i: int) -> _core.Sentences:
        one = self._encode_one(i)
        if self.weights is not None:
            one.weigh([float(self.weights[i])])
        return one

    def fingerprint(self) -> int:
        return self.sentences.fingerprint

    def margins(self, problems: Sequence[Problem]) -> Iterator[Margins]:
        return self.margins_of(problems, np.arange(len(self)))

    def margins_of(self, problems: Sequence[Problem], members: Order) -> Iterator[Margins]:
        """`margins` of some sentences. Those that only one label sequence fits have no competitor and are left out."""
        members = members[self.present[members]]
        scale = 1.0 if self.weights is None else self.weights[members]
        for problem in problems:
            margins = {}
            for name, witness in ({} if self.sentences.partial else problem.witnesses).items():
                leads = self.learner.core.leads(self.sentences, witness.vector)[members] * scale / witness.length
                margins[name] = leads[leads != np.inf]
            yield Margins(margins, np.zeros(0), problem.radius2, certified=not self.sentences.partial)


# ---------------------------------------------------------------- as they are given


def as_lists(X: Sequence[Any]) -> list[Any]:
    """Sequences as lists, as the core reads them. What is a list already is not copied."""
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        raise TypeError(f"sequences must come in a list, not in a {type(X).__name__}")
    if type(X) is list and {*map(type, X)} <= {list}:
        return X
    rows = []
    for i, x in enumerate(X):
        if isinstance(x, str | bytes | Mapping) or not isinstance(x, Iterable):
            raise ExampleTypeError(f"{_type(x)}; give a list of sentences, each a list with one entry per token", i)
        rows.append(x if type(x) is list else x.tolist() if isinstance(x, np.ndarray) else list(x))
    return rows


def paired(X: Sequence[Any], y: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
    """Sentences and labels as lists; raises where they do not fit each other."""
    X, y = as_lists(X), as_lists(y)
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} sentences, but y has {len(y)}; give one list of labels per sentence")
    if not X:
        raise ValueError("there are no sentences; give at least one")
    for i, (sentence, labels) in enumerate(zip(X, y, strict=True)):
        if not sentence:
            raise ExampleError("it is empty; leave it out", i)
        check_length(sentence, labels, i)
    return X, y


def check_length(sentence: Sequence[Any], labels: Sequence[Any], i: int, about: str = "") -> None:
    """Raise where a sentence has more or fewer labels than tokens."""
    if len(sentence) != len(labels):
        raise ExampleError(
            f"it has {len(sentence)} {plural(len(sentence), 'token')}, but {len(labels)} "
            f"{plural(len(labels), 'label')}; give one per token",
            i,
            about=about,
        )


def different_labels(y: Sequence[Sequence[Any]]) -> dict[Any, None]:
    """Return the labels that occur, without None, in the order of their first tokens; raise for what is no label."""
    try:
        found: dict[Any, None] = dict.fromkeys(chain.from_iterable(y))
        found.pop(None, None)
    except TypeError:
        found = {}
    if found and not any(label != label for label in found):
        return found
    for i, labels in enumerate(y):
        for t, label in enumerate(labels):
            if label is not None and (not isinstance(label, Hashable) or label != label):
                raise ExampleError(f"{label!r} cannot be a label; give strings or whole numbers", i, t)
    return found


def numbered(said: Iterable[Any], index: dict[Any, int]) -> tuple[dict[Any, int], list[list[int]]]:
    """Return the number of each label and choice, as in `core/sequence/choices.hpp`, and the labels of each choice."""
    chosen = [one for one in said if isinstance(one, schemes.Choice)]
    if not chosen:
        return index, []
    numbers = {one: -2 - i for i, one in enumerate(chosen)}
    return {**index, **numbers}, [[index[label] for label in one.labels if label in index] for one in chosen]


def featured(X: Sequence[Any], features: Features) -> list[list[dict[str, Any]]]:
    """What a function of the user's says of each token."""
    found = []
    for i, x in enumerate(X):
        tokens = [features(x, t) for t in range(len(x))]
        for t, one in enumerate(tokens):
            if isinstance(one, str) or not isinstance(one, Iterable):
                raise ExampleTypeError(
                    f"the template's function gave a {type(one).__name__}; give a dict of features, or a list of names",
                    i,
                    t,
                )
        found.append([plain(one) if isinstance(one, dict) else dict.fromkeys(one, 1.0) for one in tokens])
    return found


def check_tokens(X: Sequence[Sequence[Any]], n_columns: int, alike: bool) -> None:
    """Say which token the core cannot read, where templates read so many columns; for use where it has refused to.

    ``alike``: whether all sentences have the columns of the first, not only all tokens those of their sentence.
    """
    width = None
    for i, sentence in enumerate(X):
        width = width if alike else None
        for t, token in enumerate(sentence):
            named = isinstance(token, dict)
            if not named and not isinstance(token, str | list | tuple):
                raise ExampleTypeError(f"{_type(token)}; give a string, a tuple of columns or a dict of features", i, t)
            beside = not named and not isinstance(token, str) and bool(token) and isinstance(token[-1], dict)
            columns = [] if named else [token] if isinstance(token, str) else list(token[: len(token) - beside])
            width = len(columns) if width is None else width
            if len(columns) != width:
                _refuse_width(len(columns), width, i, t)
            if not named and len(columns) < n_columns:
                raise ExampleError(
                    f"it has {_columns(len(columns))}, but the templates read {n_columns}; give them, or train with "
                    f"fewer columns or other templates{WORDS_ALONE if len(columns) == 1 else ''}",
                    i,
                    t,
                )
            _check_strings(columns[:n_columns], i, t)
            if named or beside:
                _check_features(token if named else token[-1], i, t)


def _refuse_width(n: int, width: int, i: int, t: int) -> None:
    if n and width:
        raise ExampleError(
            f"it has {_columns(n)}, but those before it have {width}; give every token the same columns (lists of "
            'attributes need template="attributes")',
            i,
            t,
        )
    what = "not a dict, but those before it are" if n else "a dict, but those before it are not"
    raise ExampleError(f"it is {what}; give all tokens in one form", i, t)


def _check_strings(strings: Iterable[Any], i: int, t: int) -> None:
    for one in strings:
        if not isinstance(one, str):
            raise ExampleTypeError(f"a column is of type {type(one).__name__!r}; give strings", i, t)
        try:
            one.encode()
        except UnicodeEncodeError:
            raise ExampleError("a string has no UTF-8 form; repair the text", i, t) from None


def _check_features(features: dict[Any, Any], i: int, t: int) -> None:
    for name, value in features.items():
        number: Any = value if isinstance(value, Real | np.bool_) else np.inf
        if not isinstance(value, str) and not abs(number) <= LARGEST:
            raise ExampleError(
                f"the feature {str(name)[:40]!r} is neither a finite number nor a string (its type is "
                f"{type(value).__name__!r}); give one of these, a list of strings, or a dict",
                i,
                t,
            )
    _check_strings([*features, *(value for value in features.values() if isinstance(value, str))], i, t)


def _columns(n: int) -> str:
    return f"{n} {plural(n, 'column')}"


def _type(value: Any) -> str:
    return f"got a value of type {type(value).__name__!r}"


# ---------------------------------------------------------------- as the core reads them


@dataclass(frozen=True)
class SentenceReader:
    """How sentences reach the core.

    The core names tokens in messages; an `ExampleError` is made by looking for what is wrong, and only then.
    """

    features: Features | None  # a function of the user's
    templates: Templates
    learned: Tokens | None = None  # what the tokens have that were learned from

    def tokens(self, X: Sequence[Any]) -> list[Any]:
        """Sentences as the core reads them."""
        first = X[0] if isinstance(X, Sequence) and X else None
        if self.templates.n_base > 1 and isinstance(first, tuple) and all(isinstance(one, str) for one in first):
            raise ExampleError("it is a token, a tuple of strings; give a list of sentences, each a list of tokens", 0)
        X = as_lists(X)
        if self.features is not None:
            return featured(X, self.features)
        return valued(X, self.templates.values, self.learned)

    def encode(self, encode: Callable[[list[Any]], Made], X: Sequence[Any]) -> Made:
        """What the core makes of sentences to learn from."""
        tokens = self.tokens(X)
        try:
            return encode(tokens)
        except (TypeError, ValueError):
            check_tokens(tokens, self.templates.n_base, alike=True)
            raise

    def ask(self, ask: Ask, X: Sequence[Any], force: Callable[[list[Any]], _core.Forced]) -> Any:
        """What the core says of sentences; ``force`` gives the labels that they have to obey."""
        tokens = self.tokens(X)
        wanted = force(tokens)
        try:
            return ask(tokens, wanted)
        except _core.SentenceError as error:
            raise ExampleError(**vars(error)) from None
        except (TypeError, ValueError):
            check_tokens(tokens, self.templates.n_base, alike=False)
            raise
