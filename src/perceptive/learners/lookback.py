"""`Lookback`: how the words of a sentence were labelled in the sentences before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Lookback:
    """Remembers the last label of each word in so many sentences.

    Names and other rare words of a text come again, mostly with the same label.

    Examples
    --------
    >>> lookback = Lookback(2)
    >>> lookback.add(["ann", "left"], ["PER", "O"])
    >>> lookback.recall(["so", "did", "ann"])
    {'ann': 'PER'}
    >>> for words in (["bob", "stayed"], ["ann", "phoned"]):
    ...     lookback.add(words, ["PER", "O"])
    >>> lookback.recall(["left", "bob", "ann"])
    {'bob': 'PER', 'ann': 'PER'}
    """

    def __init__(self, sentences: int) -> None:
        self.sentences = sentences
        self._seen = 0  # sentences
        self._labels: dict[str, tuple[int, Any]] = {}  # of each word, with the number of its last sentence

    def recall(self, words: Sequence[str]) -> dict[str, Any]:
        """Return the labels of those words that are remembered."""
        oldest, found = self._seen - self.sentences, {}
        for word in words:
            number, label = self._labels.get(word, (-1, None))
            if number >= max(oldest, 0):
                found[word] = label
        return found

    def add(self, words: Sequence[str], labels: Sequence[Any]) -> None:
        """Remember a labelled sentence."""
        if not self.sentences:
            return
        self._labels.update((word, (self._seen, label)) for word, label in zip(words, labels, strict=True))
        self._seen += 1
        if self._seen % self.sentences == 0:  # what is forgotten takes no memory
            oldest = self._seen - self.sentences
            self._labels = {word: one for word, one in self._labels.items() if one[0] >= oldest}
