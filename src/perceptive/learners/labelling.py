"""`Labelling`: the scheme of a tagger's labels, and internal labels that differ from the user's."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from perceptive import _core
from perceptive.data.labels import in_order_of_labels
from perceptive.data.sentences import as_lists, check_length, different_labels, numbered
from perceptive.errors import ExampleError, ExampleWarning, Parameter, literal
from perceptive.evaluation.conlleval import Evaluation, evaluate
from perceptive.evaluation.tags import evaluate_tags
from perceptive.features import bioes, label_repair, schemes
from perceptive.learners.label_faults import (
    ANEW,
    LOOSE,
    NO_CONSTRAINTS,
    cure_of,
    misfit,
    recognised,
    undecided,
    warn_of_misfit,
    warn_of_repair,
    warn_of_style,
)
from perceptive.parameters import SequenceParameters
from perceptive.state import Meta

Labels = list[Any]
FORCED = "forced, "


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
    segments: bool = False  # whether whole segments have features; then constraints cannot be turned off
    encoding: str | None = None  # the scheme of internal labels, if it is not to be the user's
    max_segment: int | None = None
    scheme: str | None = None  # of the internal labels
    given: str | None = None  # of the user's labels, if the internal ones follow another
    recognised: bool = False
    settled: bool = False  # recognised in a whole training set: labels that break the scheme are refused
    longest: int | None = None  # tokens of the longest segment, if segments have features
    repair: str = "warn"  # what to do with labels that break their scheme in a few places

    @classmethod
    def of(cls, p: SequenceParameters) -> Self:
        """Return a labelling with these parameters."""
        wanted, encoding = "bio" if p.segments else p.constraints, None if p.encoding == "none" else p.encoding
        wanted = schemes.ALIASES.get(str(wanted), wanted)
        return cls(wanted, p.segments, encoding, p.max_segment, longest=p.max_segment, repair=p.repair)

    def check(self, y: Sequence[Sequence[Any]]) -> None:
        """Raise if labels break the wanted scheme."""
        if self.wanted is None or self.wanted not in schemes.SCHEMES or self.encoding is not None:
            return
        if self.repair != "warn" or label_repair.repaired(y, self.wanted) is None:
            self._refuse(y, self.wanted)

    def _refuse(self, y: Sequence[Sequence[Any]], scheme: str, otherwise: str = LOOSE) -> None:
        for i, labels in enumerate(y):
            t = schemes.violation(scheme, labels)
            if t is not None:
                broken = f"{misfit(labels[t], scheme)}; {cure_of(y, scheme)}"
                if self.segments:
                    raise ExampleError(broken, i, t)
                raise ExampleError(literal(broken) + otherwise, i, t, parameters=NO_CONSTRAINTS)

    def meet(
        self, y: list[Any], known: Labels, whole: bool, classes: Iterable[Any] = ()
    ) -> tuple[list[Any], dict[Any, None]]:
        """Return the internal labels to learn from, and all internal labels that must be known for them.

        Set the scheme and the longest segment. ``known`` are the labels so far, ``classes`` are more of them.
        ``whole``: y is a whole training set.
        """
        given = different_labels(y)  # raises for what cannot be a label
        partial = [i for i, mine in enumerate(y) if None in mine]
        y, more = self.encode(self.mended(y, known), known, whole)
        said = [one for one in different_labels(y) if not isinstance(one, schemes.Choice)]
        announced = list(different_labels([list(classes)]))
        if self.given is not None:
            announced = bioes.spelled_out(announced, self.given, announced)
        labels = {**dict.fromkeys(announced), **dict.fromkeys(said), **dict.fromkeys(more)}
        if whole and len(every := {*known, *labels}) == 1:
            only = next(iter(given or every))
            only = f"every label is {only!r}, so there is nothing to learn; check the column of the labels"
            warnings.warn(ExampleWarning(literal(only), 0), stacklevel=2)
        self.keep_to(y, whole)
        if self.scheme is not None and not any(schemes.violation(self.scheme, [label]) is None for label in labels):
            labels["O"] = None  # else a sentence of one token could not be labelled
        if self.segments:
            longest = longest_segment(y, self.max_segment)
            self.longest = self.max_segment or max(self.longest or 1, longest)
            labels.setdefault("O", None)
        if self.scheme is not None and partial:
            there = list(dict.fromkeys([*known, *labels]))
            new = schemes.completed(self.scheme, there)
            labels |= dict.fromkeys(new)
            paths = schemes.Paths(self.scheme, [*there, *new], self.longest)
            for i in partial:
                if not paths.fit(y[i]):
                    raise ExampleError(
                        f"no labels fit between those given in the scheme {self.scheme!r}; repair them", i
                    )
        return y, labels

    def mended(self, y: list[Any], known: Collection[Any] = ()) -> list[Any]:
        """Return the labels, repaired if a few break their scheme; warn of these, or raise.

        ``known`` are the internal labels so far.
        """
        names, few = self.names(list(known)), label_repair.LATER if self.recognised else label_repair.WHOLE
        stream = self.recognised and not self.settled  # a scheme that few labels tell of
        if self.repair == "off" or (stream and not any(schemes.split(label)[1] for label in names)):
            return y
        self._reconsider(y, known)
        scheme = self.given or self.scheme
        if scheme is None and self.wanted in schemes.SCHEMES:
            scheme = self.wanted
        if scheme is None and self.wanted == "auto" and not self.recognised and not schemes.recognise(y):
            reading = label_repair.meant(y)
            scheme = None if reading is None else reading.scheme
        found = None if scheme is None else label_repair.repaired(y, scheme, few, names, stream)
        if scheme is None or found is None or not found.sentences:
            return y
        if self.repair == "error":
            self._refuse(y, scheme)
        warn_of_repair(y, scheme, found)
        return [found.sentences.get(i, labels) for i, labels in enumerate(y)]

    def _reconsider(self, y: list[Any], known: Iterable[Any]) -> None:
        """Change a scheme that was recognised by too few labels: if all were I, it may be IOB1 or another."""
        if self.settled or self.wanted != "auto" or "iob1" not in (self.given, self.scheme):
            return
        better = recognised(y)
        if self.given is not None and better is not None:
            self.given = None if better == "bioes" else better  # what is known is in BIOES already
        elif better is not None and all(schemes.split(label)[0] in "OI" for label in known):
            self.scheme = better

    def look_up(self, y: list[Any], known: dict[Any, int]) -> list[Any]:
        """Return the internal labels of known ones, without learning; raise if one is unknown, or breaks the scheme."""
        scheme = self.given or self.scheme
        if self.repair == "warn" and scheme is not None:
            mended = label_repair.repaired(y, scheme, known=self.names(list(known)))
            y = y if mended is None else [mended.sentences.get(i, labels) for i, labels in enumerate(y)]
        if self.given is not None:
            y, _ = self.encode(y, known)
        for i, labels in enumerate(y):
            for t, label in enumerate(labels):
                if label is not None and label not in known and not isinstance(label, schemes.Choice):
                    raise ExampleError(self._never_seen(label, known), i, t)
            if self.given is not None or self.scheme is None:
                continue
            if (wrong := schemes.violation(self.scheme, labels)) is not None:
                raise ExampleError(misfit(labels[wrong], self.scheme), i, wrong)
        if self.segments:
            longest_segment(y, self.longest)
        return y

    def _never_seen(self, label: Any, known: Iterable[Any]) -> str:
        """Return the message for an unknown internal label; the user may know its name from other segments."""
        [name] = self.names([label])
        met = name in self.names(list(known))
        seen = schemes.segment_of(label) if met else f"the label {name!r}"
        return f"the learner has never seen {seen}; leave out this sentence, or learn from it, too"

    def keep_to(self, y: Sequence[Sequence[Any]], whole: bool = False) -> None:
        """Recognise the scheme of labels; afterwards every sequence of y is allowed.

        ``whole``: y is a whole training set, and later labels must follow its scheme.
        """
        if self.given is not None or self.wanted is None or self.wanted == "none":
            return  # `encode` has seen to it, or there is nothing to see to
        if self.wanted != "auto":
            if self.encoding is not None:  # else `check` has seen to it
                self._refuse(y, self.wanted)
            self.recognised, self.scheme = True, self.wanted
        elif not self.recognised:
            self.scheme = recognised(y)
            self.recognised = self.scheme is not None or not undecided(y)
            if self.recognised and self.scheme is None:
                warn_of_misfit(y, label_repair.meant(y), self.repair)
                warn_of_style(y)
            self.settled = whole and self.scheme is not None
        elif self.settled:
            self._refuse(y, str(self.scheme), ANEW)
        elif self.scheme is not None and any(schemes.violation(self.scheme, labels) is not None for labels in y):
            warn_of_misfit(y, label_repair.Reading(self.scheme, {}))
            self.scheme = None  # labels of no scheme have come

    def encode(self, y: list[Any], known: Iterable[Any] = (), whole: bool = False) -> tuple[list[Any], Labels]:
        """Return the internal labels: in BIOES, if the encoding is wanted and labels follow another scheme.

        In a sentence with labels that are None, the others become choices among internal labels: those ``known``,
        those of the other sentences, and more if they are needed. These are returned, too.
        """
        if self.encoding is None or (self.recognised and self.given is None):
            return y, []
        new = self.given is None
        if self.given is None:
            found = self.wanted if self.wanted in schemes.SCHEMES else recognised(y)
            if found is None or found == "bioes":
                return y, []
            self.given, self.scheme, self.recognised, self.settled = found, "bioes", True, whole
        for i, labels in enumerate(y):
            t = schemes.violation(self.given, labels)
            if t is not None:
                broken = literal(f"{misfit(labels[t], self.given)}; {cure_of(y, self.given)}")
                otherwise = ", or choose {}" if new else ", or train a new tagger with {}"
                raise ExampleError(broken + otherwise, i, t, parameters=[Parameter("encoding", None)])
        within = [labels if None in labels else schemes.convert(labels, self.given, "bioes") for labels in y]
        partial = [i for i, labels in enumerate(y) if None in labels]
        if not partial:
            return within, []
        there = dict.fromkeys([*known, *(label for labels in within if None not in labels for label in labels)])
        said = dict.fromkeys(label for i in partial for label in y[i] if label is not None)
        more = bioes.spelled_out(said, self.given, {*said, *self.names(list(there))})
        for i in partial:
            within[i] = self.choices(y[i], [*there, *more])
        return within, more

    def choices(self, labels: Sequence[Any], within: Iterable[Any]) -> list[Any]:
        """Return the internal labels that are possible for labels of which some may be None."""
        assert self.given is not None
        return list(bioes.choices(labels, self.given, within))

    def knows(self, label: Any, within: Collection[Any]) -> bool:
        """Return whether one of the user's labels is known."""
        if self.given is None:
            return isinstance(label, Hashable) and label in within
        return isinstance(label, str) and not bioes.meanings(label, self.given).isdisjoint(within)

    def names(self, labels: Labels) -> Labels:
        """Return the user's name of each internal label; IOB1 is BIO, and IOE1 is IOE2, until `decode`."""
        return labels if self.given is None else [bioes.name(label, self.given) for label in labels]

    def decode(self, labels: Labels) -> Labels:
        """Return a sequence of `names` as the user writes it."""
        strict = schemes.STRICT.get(self.given or "")
        return labels if strict is None else schemes.convert(labels, strict, str(self.given))

    def named(self, labels: Labels) -> Labels:
        """Return the `names` of a sequence of the user's labels; None stays None."""
        strict = schemes.STRICT.get(self.given or "")
        if strict is None:
            return labels
        names = schemes.convert(labels, str(self.given), strict)
        return [None if label is None else name for label, name in zip(labels, names, strict=True)]

    def forced(self, X: Sequence[Any], forced: Sequence[Sequence[Any]] | None, within: list[Any]) -> _core.Forced:
        """Return labels that predictions must have, in the form of the core; None leaves a token free.

        ``within`` are the internal labels, in the order of the core.
        """
        if forced is None:
            return _core.Forced()
        index = {label: i for i, label in enumerate(within)}
        given = as_lists(forced)
        if len(given) != len(X):
            raise ValueError(
                f"X has {len(X)} sentences, but forced has {len(given)}; give one list of labels per sentence"
            )
        for i, labels in enumerate(given):
            check_length(X[i], labels, i, FORCED)
            for t, label in enumerate(labels):
                if label is not None and not self.knows(label, index):
                    known = in_order_of_labels(dict.fromkeys(self.names(within)))
                    raise ExampleError(f"{label!r} is not one of the labels {known!r}", i, t, about=FORCED)
        if self.given is not None:
            given = [self.choices(labels, within) for labels in given]
        return _core.Forced(given, *numbered(different_labels(given), index))

    def state(self) -> Meta:
        """Return what is known about the labels."""
        return {name: getattr(self, name) for name in ("longest", "scheme", "given", "recognised", "settled")}

    def restore(self, meta: Meta) -> None:
        self.scheme, self.given, self.recognised = meta["scheme"], meta["given"], meta["recognised"]
        self.settled = meta.get("settled", False) and self.scheme is not None  # older files do not say
        self.longest = meta.get("longest")

    def compare(
        self,
        truth: Sequence[Sequence[Any]],
        predicted: Sequence[Sequence[Any]],
        unknown: Sequence[Sequence[bool]] | None = None,
    ) -> Evaluation:
        """Count segments as `conlleval` does, in every scheme; or tags, if labels follow no scheme.

        Labels of the truth that are None are skipped; ``unknown`` marks the unknown words, for tags.
        """
        return evaluate(truth, predicted) if self.in_segments(truth) else evaluate_tags(truth, predicted, unknown)

    def in_segments(self, y: Sequence[Sequence[Any]]) -> bool:
        """Whether labels mark segments, so that F is used, even if predictions keep to no scheme."""
        return self.scheme is not None or any(
            one(y) is not None for one in (label_repair.meant, label_repair.strangers)
        )


def least_segments(labels: Sequence[Any]) -> Labels:
    """Fill in labels that are None so that segments are as short as possible."""
    found = list(labels)
    for t, label in enumerate(labels):
        if label is None:
            prefix, kind = schemes.split(labels[t + 1]) if t + 1 < len(labels) and labels[t + 1] else ("O", "")
            found[t] = ("B-" + kind if kind else "B") if prefix == "I" else "O"
    return found


def longest_segment(y: Sequence[Sequence[Any]], bound: int | None = None) -> int:
    """Return the length of the longest segment in tokens; raise if it is longer than a bound.

    Examples
    --------
    >>> longest_segment([["B-X", "I-X", "O"], ["B-X", None, "I-X"]])
    2
    """
    spans = [(i, span) for i, labels in enumerate(y) for span in schemes.spans(least_segments(labels))]
    longest = max((end - begin for _, (begin, end, _) in spans), default=1)
    if bound is not None and longest > bound:
        i, (begin, end, kind) = max(spans, key=lambda one: one[1][1] - one[1][0])
        raise ExampleError(
            literal(f"the segment {kind!r} of tokens {begin} to {end - 1} is longer than {bound}; set ") + "{}",
            i,
            parameters=[Parameter("max_segment", longest)],
        )
    return longest
