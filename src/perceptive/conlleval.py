"""Precision, recall and F of whole segments, as the CoNLL shared tasks' script conlleval counts them.

A segment is right if its type and both its ends are. What breaks a scheme is read as conlleval reads it: a change of
type begins a new segment, and so does I after O.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

OUTSIDE = ("O", "")


@dataclass
class Evaluation:
    """Counts, and what is made of them.

    Examples
    --------
    >>> from perceptive.conlleval import evaluate
    >>> print(evaluate([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "O", "O", "B-VP"]]))
    processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.
    accuracy:  75.00%; precision:  50.00%; recall:  50.00%; FB1:  50.00
                   NP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
                   VP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
    """

    tokens: int = 0
    right_tokens: int = 0
    there: Counter[str] = field(default_factory=Counter)  # segments of each type in the truth
    found: Counter[str] = field(default_factory=Counter)  # in the prediction
    right: Counter[str] = field(default_factory=Counter)  # in both

    @property
    def accuracy(self) -> float:
        """Tokens with the right label, in percent."""
        return 100.0 * self.right_tokens / self.tokens if self.tokens else 0.0

    def measures(self, kind: str | None = None) -> tuple[float, float, float]:
        """Precision, recall and F in percent, of one type or of all."""
        right, found, there = (
            count.total() if kind is None else count[kind] for count in (self.right, self.found, self.there)
        )
        precision = 100.0 * right / found if found else 0.0
        recall = 100.0 * right / there if there else 0.0
        f = 2.0 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
        return precision, recall, f

    @property
    def f1(self) -> float:
        """F over all types, in percent."""
        return self.measures()[2]

    def __str__(self) -> str:
        lines = [
            f"processed {self.tokens} tokens with {self.there.total()} phrases; "
            f"found: {self.found.total()} phrases; correct: {self.right.total()}."
        ]
        if self.tokens:
            precision, recall, f = self.measures()
            lines.append(
                f"accuracy: {self.accuracy:6.2f}%; precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f:6.2f}"
            )
        for kind in sorted(set(self.there) | set(self.found)):
            precision, recall, f = self.measures(kind)
            lines.append(
                f"{kind:>17}: precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f:6.2f}  {self.found[kind]}"
            )
        return "\n".join(lines)


def evaluate(truth: Iterable[Sequence[Any]], predicted: Iterable[Sequence[Any]]) -> Evaluation:
    """Compare label sequences.

    Parameters
    ----------
    truth, predicted : iterables of label sequences
        Of the same lengths.
    """
    result = Evaluation()
    split: dict[Any, tuple[str, str]] = {}
    for i, (right, guess) in enumerate(zip(truth, predicted, strict=True)):
        if len(right) != len(guess):
            raise ValueError(f"sentence {i} has {len(right)} labels, but {len(guess)} were predicted")
        for label in {*right, *guess}:
            if label not in split:
                prefix, dash, kind = str(label).partition("-")
                split[label] = (prefix, kind) if dash else (prefix, "")
        result.tokens += len(right)
        result.right_tokens += sum(a == b for a, b in zip(right, guess, strict=True))
        true_segments = _segments([split[label] for label in right])
        found_segments = _segments([split[label] for label in guess])
        result.there.update(kind for _, _, kind in true_segments)
        result.found.update(kind for _, _, kind in found_segments)
        result.right.update(kind for _, _, kind in set(true_segments) & set(found_segments))
    return result


def segments(labels: Sequence[Any]) -> list[tuple[int, int, str]]:
    """The segments of a label sequence: first token, behind the last, type.

    Examples
    --------
    >>> segments(["B-NP", "I-NP", "O", "B-VP"])
    [(0, 2, 'NP'), (3, 4, 'VP')]
    """
    parts = [str(label).partition("-") for label in labels]
    return _segments([(prefix, kind) for prefix, _, kind in parts])


def _segments(labels: list[tuple[str, str]]) -> list[tuple[int, int, str]]:
    segments = []
    begin = -1
    before = OUTSIDE
    for t, label in enumerate([*labels, OUTSIDE]):
        if begin >= 0 and _ends(before, label):
            segments.append((begin, t, before[1]))
            begin = -1
        if _starts(before, label):
            begin = t
        before = label
    return segments


def _ends(before: tuple[str, str], label: tuple[str, str]) -> bool:
    (p, kind_before), (q, kind) = before, label
    return (
        (p in ("B", "I") and q in ("B", "O"))
        or (p == "E" and q in ("E", "I", "O"))
        or (p not in ("O", ".") and kind_before != kind)
        or p in ("]", "[")
    )


def _starts(before: tuple[str, str], label: tuple[str, str]) -> bool:
    (p, kind_before), (q, kind) = before, label
    return (
        (p in ("B", "I", "O") and q == "B")
        or (p == "O" and q in ("I", "E"))
        or (p == "E" and q in ("E", "I"))
        or (q not in ("O", ".") and kind_before != kind)
        or q in ("[", "]")
    )
