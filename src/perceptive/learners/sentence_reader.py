"""`SentenceReader`: gives sentences to the core, and says which of them is wrong where the core refuses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from perceptive import _core
from perceptive.data.sentences import Features, as_lists, check_tokens, featured
from perceptive.data.token_values import Tokens, valued
from perceptive.errors import ExampleError
from perceptive.features.templates import Templates

Ask = Callable[[list[Any], _core.Forced], Any]
Made = TypeVar("Made")


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
