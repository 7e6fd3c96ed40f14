"""`Labelling`: the scheme that a tagger's labels keep to, and labels that are others within than outside."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from perceptive.conlleval import Evaluation, evaluate, filled
from perceptive.features import schemes

Labels = list[Any]
CURE = "repair the labels"
LOOSE = ", or turn the constraints off (constraints=None)"


@dataclass
class Labelling:
    """How labels are written.

    Examples
    --------
    >>> labelling = Labelling(wanted="auto", encoding="bioes")
    >>> labelling.encode([["B-NP", "I-NP", "O"]])
    ([['B-NP', 'E-NP', 'O']], [])
    >>> labelling.given, labelling.scheme
    ('bio', 'bioes')
    """

    wanted: str | None  # a scheme, "auto", or none
    fixed: bool = False  # whether constraints cannot be turned off
    encoding: str | None = None  # the scheme within, where BIO and IOB1 are to be written otherwise
    scheme: str | None = None  # that labels within keep to
    given: str | None = None  # that of the user's labels, where those within are another's
    recognised: bool = False
    settled: bool = False  # recognised in a whole training set: what breaks the scheme is refused

    def check(self, y: Sequence[Sequence[Any]]) -> None:
        """Raise where labels break the scheme that is wanted."""
        if self.wanted is None or self.wanted not in schemes.SCHEMES or self.encoding is not None:
            return
        self._refuse(y, self.wanted)

    def _refuse(self, y: Sequence[Sequence[Any]], scheme: str) -> None:
        for i, labels in enumerate(y):
            t = schemes.violation(scheme, labels)
            if t is not None:
                raise ValueError(
                    f"sentence {i}, token {t}: {misfit(labels[t], scheme)}; {CURE}{'' if self.fixed else LOOSE}"
                )

    def keep_to(self, y: Sequence[Sequence[Any]], whole: bool = False) -> None:
        """Recognise the scheme of labels; in the end every sequence of y is allowed.

        ``whole``: y is a whole training set, and what comes later has to keep to its scheme.
        """
        if self.given is not None or self.wanted is None or self.wanted == "none":
            return  # `encode` has seen to it, or there is nothing to see to
        if self.wanted != "auto":
            self.recognised, self.scheme = True, self.wanted
        elif not self.recognised:
            self.scheme = recognised(y)
            self.recognised = self.scheme is not None or not _undecided(y)
            if self.recognised and self.scheme is None:
                _warn(y, schemes.nearest(y))
            self.settled = whole and self.scheme is not None
        elif self.settled:
            self._refuse(y, str(self.scheme))
        elif self.scheme is not None and any(schemes.violation(self.scheme, labels) is not None for labels in y):
            _warn(y, self.scheme)
            self.scheme = None  # labels of no scheme have come

    def encode(self, y: list[Any], known: Iterable[Any] = ()) -> tuple[list[Any], Labels]:
        """Labels as they are within: in BIOES, where the encoding is wanted and they keep to BIO or IOB1.

        In sentences with labels that are None the others become choices among the labels ``known`` within, those of
        the other sentences, and more that are needed for all that may be meant; these are given back.
        """
        if self.encoding is None or (self.recognised and self.given is None):
            return y, []
        if self.given is None:
            found = self.wanted if self.wanted in ("bio", "iob1") else recognised(y)
            if found not in ("bio", "iob1"):
                return y, []
            self.given, self.scheme, self.recognised = found, "bioes", True
        for i, labels in enumerate(y):
            t = schemes.violation(self.given, labels)
            if t is not None:
                raise ValueError(
                    f"sentence {i}, token {t}: {misfit(labels[t], self.given)}; repair them, or leave out encoding"
                )
        within = [labels if None in labels else schemes.convert(labels, self.given, "bioes") for labels in y]
        partial = [i for i, labels in enumerate(y) if None in labels]
        if not partial:
            return within, []
        there = dict.fromkeys([*known, *(label for labels in within if None not in labels for label in labels)])
        said = dict.fromkeys(label for i in partial for label in y[i] if label is not None)
        more = schemes.spelled_out(said, self.given, {*said, *self.names(list(there))})
        for i in partial:
            within[i] = self.choices(y[i], [*there, *more])
        return within, more

    def choices(self, labels: Sequence[Any], within: Iterable[Any]) -> list[Any]:
        """What labels of which some may be None say of those within."""
        assert self.given is not None
        return list(schemes.choices(labels, self.given, within))

    def knows(self, label: Any, within: Collection[Any]) -> bool:
        """Whether a label of the user's is any of those within."""
        if self.given is None:
            return isinstance(label, Hashable) and label in within
        return isinstance(label, str) and not schemes.meanings(label, self.given).isdisjoint(within)

    def names(self, labels: Labels) -> Labels:
        """The user's name of each label within; IOB1 is BIO until `decode`."""
        if self.given is None:
            return labels
        return [{"S": "B", "E": "I"}.get(label[0], label[0]) + label[1:] for label in labels]

    def decode(self, labels: Labels) -> Labels:
        """A sequence of `names` as the user writes it."""
        return schemes.convert(labels, "bio", "iob1") if self.given == "iob1" else labels

    def named(self, labels: Labels) -> Labels:
        """A sequence of the user's by `names`; labels that are None stay so."""
        if self.given != "iob1":
            return labels
        names = schemes.convert(labels, "iob1", "bio")
        return [None if label is None else name for label, name in zip(labels, names, strict=True)]

    def compare(self, truth: Sequence[Sequence[Any]], predicted: Sequence[Sequence[Any]]) -> Evaluation:
        """Count as `conlleval` does, the segments of BIOES too; labels of the truth that are None are free."""
        tokens = evaluate(truth, predicted)
        if self.given is not None or self.scheme != "bioes":
            return tokens
        truth = [filled(labels, found) for labels, found in zip(truth, predicted, strict=True)]
        truth, predicted = ([schemes.convert(labels, "bioes", "bio") for labels in y] for y in (truth, predicted))
        return replace(evaluate(truth, predicted), tokens=tokens.tokens, right_tokens=tokens.right_tokens)


def misfit(label: Any, scheme: str) -> str:
    """What is wrong with a label."""
    return f"label {label!r} may not stand here in the scheme {scheme!r}"


def recognised(y: Sequence[Sequence[Any]]) -> str | None:
    """The scheme of labels; segments that never touch each other, in IOB1, have no B at all."""
    found = schemes.recognise(y)
    if found is not None or _undecided(y):
        return found
    labels = {label for mine in y for label in mine if label != "O"}
    typed = all(isinstance(label, str) and label.startswith("I-") for label in labels)
    return "iob1" if typed else None


def least_segments(labels: Sequence[Any]) -> Labels:
    """Labels that are None filled in so that segments are as short as can be."""
    found = list(labels)
    for t, label in enumerate(labels):
        if label is None:
            prefix, kind = schemes.split(labels[t + 1]) if t + 1 < len(labels) and labels[t + 1] else ("O", "")
            found[t] = ("B-" + kind if kind else "B") if prefix == "I" else "O"
    return found


def longest_segment(y: Sequence[Sequence[Any]], bound: int | None = None) -> int:
    """Tokens of the longest segment; raises where it is longer than a bound.

    Examples
    --------
    >>> longest_segment([["B-X", "I-X", "O"], ["B-X", None, "I-X"]])
    2
    """
    spans = [(i, span) for i, labels in enumerate(y) for span in schemes.spans(least_segments(labels))]
    longest = max((end - begin for _, (begin, end, _) in spans), default=1)
    if bound is not None and longest > bound:
        i, (begin, end, kind) = max(spans, key=lambda one: one[1][1] - one[1][0])
        raise ValueError(
            f"sentence {i}: the segment {kind!r} of tokens {begin} to {end - 1} is longer than {bound}; "
            f"set max_segment={longest}"
        )
    return longest


def _undecided(y: Sequence[Sequence[Any]]) -> bool:
    """Whether labels say nothing of their scheme: all are O, or I where what stands before it is not said."""
    prefixes = {schemes.split(label)[0] for labels in y for label in labels if label is not None}
    return prefixes <= {"O"} or (prefixes <= {"O", "I"} and any(None in labels for labels in y))


def _warn(y: Sequence[Sequence[Any]], scheme: str | None) -> None:
    """Say where labels that look like a scheme's break it."""
    broken = ((i, schemes.violation(scheme, labels)) for i, labels in enumerate(y)) if scheme else iter(())
    i, t = next(((i, t) for i, t in broken if t is not None), (0, None))
    if t is not None and scheme is not None:
        warnings.warn(
            f"sentence {i}, token {t}: {misfit(y[i][t], scheme)}, so that predictions keep to no scheme; {CURE}{LOOSE}",
            stacklevel=2,
        )
