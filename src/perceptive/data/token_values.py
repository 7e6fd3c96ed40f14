"""Values beside the columns of tokens: dicts of features, or vectors, and which of them a template reads where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from perceptive.errors import ExampleError, ExampleTypeError

if TYPE_CHECKING:
    from perceptive.features.template import Values

COLUMNS, FEATURES, BOTH = "columns", "features", "columns and values"  # what a token may have

PLAIN = {str, float, int, bool}
BESIDE = (Mapping, np.ndarray, list, tuple)  # what may stand behind the columns of a token


class Tokens(NamedTuple):
    """The kind of tokens that a tagger learns from."""

    kind: str
    numbers: int | None = None  # in each vector
    named: bool = False  # whether features by name lie beside columns

    @classmethod
    def of(cls, X: Sequence[Any]) -> Tokens:
        """Return the kind of the first token, and how many numbers the first vector has."""
        kind = kind_of(X[0][0])
        beside = [token[-1] for x in X for token in x if kind_of(token) == BOTH] if kind == BOTH else []
        vector = next((one for one in beside if not isinstance(one, Mapping)), None)
        numbers = vector.size if isinstance(vector, np.ndarray) else None if vector is None else len(vector)
        return cls(kind, numbers, any(isinstance(one, Mapping) and one for one in beside))

    @classmethod
    def from_state(cls, meta: Mapping[str, Any]) -> Self:
        """What `state` told; files of older builds do not tell what lies beside columns."""
        kind, numbers = meta["tokens"], meta.get("numbers")
        names_alone = kind == BOTH and "numbers" in meta and numbers is None
        return cls(kind, numbers, meta.get("named", names_alone))

    def state(self) -> dict[str, Any]:
        """All of it, for a file."""
        both = {"named": True} if self.named and self.numbers is not None else {}
        return {"tokens": self.kind, "numbers": self.numbers, **both}

    def check_beside(self, given: Any, i: int, t: int) -> None:
        """Raise if a token has a vector where names were learned from, or names where vectors were."""
        named = isinstance(given, Mapping)
        both_or_unknown = self.named == (self.numbers is not None)
        if both_or_unknown or named == self.named or (named and not given):
            return
        found, known = ("features by name", "vectors") if named else ("a vector", "features by name")
        cure = "a dict of features" if self.named else "a vector"
        raise ExampleError(f"beside its columns it has {found}, but the tagger learned from {known}; give {cure}", i, t)


def kind_of(token: Any) -> str:
    """What a token has: columns, features by name, or both; a vector is features, too."""
    if isinstance(token, Mapping):
        return FEATURES
    beside = isinstance(token, list | tuple) and bool(token) and isinstance(token[-1], BESIDE)
    return BOTH if beside else COLUMNS


def valued(X: list[Any], reads: Sequence[Values], learned: Tokens | None = None) -> list[Any]:
    """Sentences as the core reads them: beside its columns each token has one dict, of what is read of the values.

    Where templates do not say what is read, it is all values of the token itself. Sentences without values are not
    copied. Raises where a sentence has tokens of another kind, or vectors of another length, than a tagger has
    ``learned`` from.
    """
    kind, numbers = (None, None) if learned is None else (learned.kind, learned.numbers)
    first = [x[0] for x in X if x]
    plain = {type(token[-1]) if type(token) is tuple and token else type(token) for token in first} <= {str}
    if plain and kind in (None, COLUMNS):  # as nearly all are
        return X
    kinds = [kind_of(x[0]) if x else kind or COLUMNS for x in X]
    for i, found in enumerate(kinds if kind is not None else ()):
        if found != kind:
            raise ExampleError(f"its tokens have {found}, but the tagger learned from {kind}; give {kind}", i)
    lengths = [] if numbers is None else [numbers]
    pairs = enumerate(zip(X, kinds, strict=True))
    if learned is not None and kind == BOTH:
        beside = ((token, i, t) for i, x in enumerate(X) for t, token in enumerate(x) if kind_of(token) == BOTH)
        for token, i, t in beside:
            learned.check_beside(token[-1], i, t)
    return [x if kind == COLUMNS else _valued(x, reads, i, lengths) for i, (x, kind) in pairs]


def unmet(X: Sequence[Any], reads: Sequence[Values]) -> list[Values]:
    """What templates read of values, but no token of these sentences has."""
    left = list(reads)
    for i, x in enumerate(X):
        for t, token in enumerate(x):
            if not left:
                return []
            names = [str(name) for name in _values(token, i, t, [])]
            left = [one for one in left if not any(name.startswith(one.prefix) for name in names)]
    return left


def _valued(x: Sequence[Any], reads: Sequence[Values], i: int, lengths: list[int]) -> list[Any]:
    values = [_values(token, i, t, lengths) for t, token in enumerate(x)]
    if reads:
        values = [_read(values, reads, t) for t in range(len(x))]
    return [
        mine if isinstance(token, Mapping) else (*_columns(token), mine) for token, mine in zip(x, values, strict=True)
    ]


def _columns(token: Any) -> Sequence[Any]:
    if isinstance(token, str):
        return (token,)
    return token[:-1] if kind_of(token) == BOTH else token  # type: ignore[no-any-return]


def plain(features: Mapping[Any, Any]) -> dict[Any, Any]:
    """Features as numbers and strings: what a value lists or names is a feature of its own, as CRFsuite has it.

    Examples
    --------
    >>> plain({"word": "Ada", "shapes": ["Xx", "X"], "next": {"len": 2.0, "pos": "VB"}})
    {'word': 'Ada', 'shapes:Xx': 1.0, 'shapes:X': 1.0, 'next:len': 2.0, 'next:pos': 'VB'}
    """
    if {*map(type, features.values())} <= PLAIN:  # as nearly all are
        return dict(features)
    found: dict[Any, Any] = {}
    for name, value in features.items():
        if isinstance(value, Mapping):
            found |= {f"{name}:{one}": of for one, of in plain(value).items()}
        elif isinstance(value, list | tuple | Set) and all(isinstance(one, str) for one in value):
            found |= {f"{name}:{one}": 1.0 for one in (sorted(value) if isinstance(value, Set) else value)}
        else:
            found[name] = str(value) if isinstance(value, str) else value
    return found


def _values(token: Any, i: int, t: int, lengths: list[int]) -> dict[Any, Any]:
    """The values of a token by name; those of a vector are called by their places, from 0.

    ``lengths`` has that of the first vector, of all that were learned from or of these.
    """
    if isinstance(token, Mapping):
        return plain(token)
    if kind_of(token) != BOTH:
        return {}
    given = token[-1]
    if isinstance(given, Mapping):
        return plain(given)
    numbers = given.tolist() if isinstance(given, np.ndarray) and given.ndim == 1 else given
    if isinstance(numbers, list | tuple) and all(isinstance(value, Real | np.bool_) for value in numbers):
        n = (lengths or [len(numbers)])[0]
        if len(numbers) != n:
            met = "but the first one that the tagger saw has"
            raise ExampleError(f"its vector has {len(numbers)} numbers, {met} {n}; give all as many", i, t)
        lengths[:] = [n]
        return {str(j): value for j, value in enumerate(numbers)}
    raise ExampleTypeError(
        "what comes after its columns is not a vector of numbers; give one, or a dict of features", i, t
    )


def _read(values: Sequence[Mapping[Any, Any]], reads: Sequence[Values], t: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in reads:
        for offset in range(max(one.first, -t), min(one.last, len(values) - 1 - t) + 1):
            for name, value in values[t + offset].items():
                if not str(name).startswith(one.prefix):
                    continue
                if isinstance(value, str):
                    name, value = f"{name}={value}", 1.0
                found[f"{name}[{offset}]" if offset else name] = value if one.value == 1.0 else value * one.value
    return found
