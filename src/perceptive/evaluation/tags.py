"""What is right of labels that mark no segments, such as parts of speech: token by token, tag by tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from perceptive.errors import plural
from perceptive.evaluation.conlleval import Evaluation

MOST_CONFUSED = 10  # pairs of tags that are listed


@dataclass
class TagEvaluation(Evaluation):
    """Counts of tokens by tag: ``there``, ``found`` and ``right``; what was taken for what; and unknown words.

    Examples
    --------
    >>> truth, predicted = [["DT", "NN", "VB"], ["NN", "-LRB-"]], [["DT", "VB", "VB"], ["NN", "NN"]]
    >>> print(evaluate_tags(truth, predicted, unknown=[[False, True, False], [True, False]]))
    processed 5 tokens; correct: 3.
    accuracy:  60.00%; of 2 unknown words:  50.00%
                -LRB-: precision:   0.00%; recall:   0.00%; F1:   0.00  0
                   DT: precision: 100.00%; recall: 100.00%; F1: 100.00  1
                   NN: precision:  50.00%; recall:  50.00%; F1:  50.00  2
                   VB: precision:  50.00%; recall: 100.00%; F1:  66.67  2
    most confused: -LRB- taken for NN (1), NN taken for VB (1)
    """

    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)  # the tag, and what it was taken for
    unknown: int | None = None  # tokens whose words were not learned from; None where that is not known
    right_unknown: int = 0

    @property
    def unknown_accuracy(self) -> float | None:
        """Unknown words with the right tag, in percent; None where there are none, or it is not known."""
        return 100.0 * self.right_unknown / self.unknown if self.unknown else None

    @property
    def measure(self) -> float:
        """The accuracy."""
        return self.accuracy

    def most_confused(self, n: int | None = None) -> list[tuple[str, str, int]]:
        """Tag, what it was taken for, and how often, the most often first."""
        pairs = sorted(self.confusion.items(), key=lambda one: (-one[1], one[0]))
        return [(*pair, count) for pair, count in pairs[:n]]

    def __str__(self) -> str:
        accuracy = f"accuracy: {self.accuracy:6.2f}%"
        if self.unknown:
            accuracy += f"; of {self.unknown} unknown {plural(self.unknown, 'word')}: {self.unknown_accuracy:6.2f}%"
        lines = [f"processed {self.tokens} {plural(self.tokens, 'token')}; correct: {self.right_tokens}.", accuracy]
        lines += [self._row(tag, "F1") for tag in sorted({*self.there, *self.found})]
        if self.confusion:
            told = (f"{tag} taken for {other} ({n})" for tag, other, n in self.most_confused(MOST_CONFUSED))
            lines.append(f"most confused: {', '.join(told)}")
        return "\n".join(lines)


def evaluate_tags(
    truth: Iterable[Sequence[Any]],
    predicted: Iterable[Sequence[Any]],
    unknown: Iterable[Sequence[bool]] | None = None,
) -> TagEvaluation:
    """Compare label sequences token by token.

    Parameters
    ----------
    truth, predicted : iterables of label sequences
        Of the same lengths. Tokens whose label is None in the truth are not counted.
    unknown : iterable of sequences of bool, optional
        Whether the word of each token is unknown.
    """
    result = TagEvaluation(unknown=None if unknown is None else 0)
    strange = iter([]) if unknown is None else iter(unknown)
    for i, (right, guess) in enumerate(zip(truth, predicted, strict=True)):
        if len(right) != len(guess):
            raise ValueError(f"sentence {i} has {len(right)} labels, but {len(guess)} were predicted")
        for tag, found, new in zip(right, guess, next(strange, [False] * len(right)), strict=True):
            if tag is None:
                continue
            a, b = str(tag), str(found)
            result.tokens += 1
            result.there[a] += 1
            result.found[b] += 1
            if new:
                result.unknown = (result.unknown or 0) + 1
            if a == b:
                result.right[a] += 1
                result.right_tokens += 1
                result.right_unknown += new
            else:
                result.confusion[a, b] += 1
    return result
