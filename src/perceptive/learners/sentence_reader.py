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

Force = Callable[[Sequence[Any], Sequence[Any] | None], _core.Forced]
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

    @property
    def n_columns(self) -> int:
        """How many columns the templates read."""
        return self.templates.n_base

    def tokens(self, X: Sequence[Any]) -> list[Any]:
        """Sentences as the core reads them."""
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
            check_tokens(tokens, self.n_columns, alike=True)
            raise

    def ask(self, ask: Ask, X: Sequence[Any], forced: Sequence[Any] | None, force: Force) -> Any:
        """What the core says of sentences; ``force`` makes of labels to obey what the core takes."""
        tokens = self.tokens(X)
        wanted = force(tokens, forced)
        try:
            return ask(tokens, wanted)
        except _core.SentenceError as error:
            raise ExampleError(**vars(error)) from None
        except (TypeError, ValueError):
            check_tokens(tokens, self.n_columns, alike=False)
            raise
