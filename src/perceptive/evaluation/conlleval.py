"""Precision, recall and F of whole segments, counted like the script conlleval of the CoNLL shared tasks.

A segment is right if its type and both its ends are right. Labels that break a scheme are read as conlleval reads them:
a change of type begins a new segment, and so does I after O. BIOES, BILOU, BMES and BMEWO, which the script does
not know, are counted too. Where no label has a prefix of segments there are none: to the script, -LRB- is a segment of
the type LRB-.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Tag = tuple[str, str]  # prefix and type
Span = tuple[int, int, str]  # start, end and label
OUTSIDE = ("O", "")
MARKS = {*"BIESLUMW[]"}  # prefixes of labels that mark segments


@dataclass
class Evaluation:
    """Counts, and the measures computed from them.

    Examples
    --------
    >>> from perceptive.evaluation.conlleval import evaluate
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
        """Return precision, recall and F in percent, of one type or of all."""
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

    @property
    def measure(self) -> float:
        """What a tagger is graded by, in percent: F here, and the accuracy of labels that mark no segments."""
        return self.f1

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
        kinds = sorted([*self.there, *self.found])  # the script drops second ones, except of the type without a name
        for kind in (kind for i, kind in enumerate(kinds) if not kind or i == 0 or kinds[i - 1] != kind):
            lines.append(self._row(kind, "FB1"))
        return "\n".join(lines)

    def _row(self, kind: str, f_name: str) -> str:
        precision, recall, f = self.measures(kind)
        said = f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; {f_name}: {f:6.2f}"
        return f"{kind:>17}: {said}  {self.found[kind]}"


def evaluate(truth: Iterable[Sequence[Any]], predicted: Iterable[Sequence[Any]]) -> Evaluation:
    """Compare label sequences.

    Parameters
    ----------
    truth, predicted : iterables of label sequences
        Of the same lengths. If a label of the truth is None, it is unknown: its token is not counted, and the segments
        around it see the predicted label.

    Examples
    --------
    >>> result = evaluate([["B-NP", None, "O"]], [["B-NP", "I-NP", "B-VP"]])
    >>> result.tokens, result.right_tokens, result.right, result.found.total()
    (2, 1, Counter({'NP': 1}), 2)
    """
    result = Evaluation()
    truth, predicted = list(truth), list(predicted)
    marks = any(_tag(label)[0] in MARKS for label in set[Any]().union(*truth, *predicted))
    between = object()  # what stands between two sentences, so that no segment goes on
    parts: dict[Any, Tag] = {between: OUTSIDE}
    steps: dict[tuple[Tag, Tag], tuple[bool, bool]] = {}

    def step(before: Tag, tag: Tag) -> tuple[bool, bool]:
        if (before, tag) not in steps:
            steps[before, tag] = _ends(before, tag), _starts(before, tag)
        return steps[before, tag]

    agreed = False  # whether both are in a segment that began at one token and has been the same since
    a, b = OUTSIDE, OUTSIDE
    for i, (right, guess) in enumerate(zip(truth, predicted, strict=True)):
        if len(right) != len(guess):
            raise ValueError(f"sentence {i} has {len(right)} labels, but {len(guess)} were predicted")
        free = 0
        if None in right:
            free = sum(label is None for label in right)
            right = filled(right, guess)
        for label in {*right, *guess}:
            if label not in parts:
                parts[label] = _tag(label) if marks else (str(label), "")
        result.tokens += len(right) - free
        result.right_tokens -= free  # they agree below
        for true_label, found_label in zip([*right, between], [*guess, between], strict=True):
            (before_a, a), (before_b, b) = (a, parts[true_label]), (b, parts[found_label])
            ends_a, starts_a = step(before_a, a)
            ends_b, starts_b = step(before_b, b)
            if agreed and ends_a and ends_b and before_a[1] == before_b[1]:
                agreed = False
                result.right[before_a[1]] += 1
            elif agreed and (ends_a != ends_b or a[1] != b[1]):
                agreed = False
            agreed = agreed or (starts_a and starts_b and a[1] == b[1])
            if starts_a:
                result.there[a[1]] += 1
            if starts_b:
                result.found[b[1]] += 1
            result.right_tokens += true_label is not between and a == b
    if agreed:
        result.right[a[1]] += 1
    return result


def count_spans(result: Evaluation, truth: Iterable[Span], predicted: Iterable[Span]) -> None:
    """Add the spans of a text to counts: a span is right if both ends and the label are.

    Examples
    --------
    >>> result = Evaluation()
    >>> count_spans(result, [(0, 3, "PER"), (9, 13, "LOC")], [(0, 5, "PER"), (9, 13, "LOC")])
    >>> result.there.total(), result.found.total(), result.right
    (2, 2, Counter({'LOC': 1}))
    """
    there: Counter[Span] = Counter((*span,) for span in truth)
    found: Counter[Span] = Counter((*span,) for span in predicted)
    for counts, spans in ((result.there, there), (result.found, found), (result.right, there & found)):
        for (_, _, label), n in spans.items():
            counts[label] += n


def filled(truth: Sequence[Any], predicted: Sequence[Any]) -> list[Any]:
    """Return the labels of the truth, with the predicted label for None."""
    return [guess if label is None else label for label, guess in zip(truth, predicted, strict=True)]


def _tag(label: Any) -> Tag:
    """Prefix and type; the type may hold hyphens, and to the script 0 is none."""
    prefix, _, kind = str(label).partition("-")
    return prefix, "" if kind == "0" else kind


def segments(labels: Sequence[Any]) -> list[tuple[int, int, str]]:
    """Return the segments of a label sequence: first token, one past the last, type.

    Examples
    --------
    >>> segments(["B-NP", "I-NP", "O", "B-VP"])
    [(0, 2, 'NP'), (3, 4, 'VP')]
    """
    found = []
    begin = -1
    before = OUTSIDE
    for t, tag in enumerate([*map(_tag, labels), OUTSIDE]):
        if begin >= 0 and _ends(before, tag):
            found.append((begin, t, before[1]))
            begin = -1
        if _starts(before, tag):
            begin = t
        before = tag
    return found


def _ends(before: Tag, label: Tag) -> bool:
    (p, kind_before), (q, kind) = before, label
    return (
        (p in ("B", "I", "M") and q in ("B", "O", "S", "U", "W"))
        or p in ("E", "L", "S", "U", "W")
        or (p not in ("O", ".") and kind_before != kind)
        or p in ("]", "[")
    )


def _starts(before: Tag, label: Tag) -> bool:
    (p, kind_before), (q, kind) = before, label
    return (
        q in ("B", "S", "U", "W")
        or (p in ("O", "E", "L", "S", "U", "W") and q in ("I", "E", "L", "M"))
        or (q not in ("O", ".") and kind_before != kind)
        or q in ("[", "]")
    )
