"""Labels that look like a scheme's but break it: which scheme is meant, and what they are read as.

A label that does not belong to the scheme of nearly all others is a slip: ``0`` for O, ``B_MISC``, ``b-per``. It is
read as the label that it resembles, else as O. Labels that may not stand where they stand are read as conlleval reads
them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple

from perceptive.errors import plural
from perceptive.features import schemes

MOST_REPAIRED = 0.1  # of the labels that are not O: where more break a scheme, it is another one, or none
MOST_SLIPS = 0.001  # of all labels, and at most so many; one in a file that is not tiny
MOST, TINY = 50, 100
FIRST = 5  # places of repaired labels that are listed
# How many labels may break a scheme, and be slips, however few there are: of a training set, and of what comes later,
# which may be a single sentence
WHOLE, LATER = (0, 0), (20, 2)
ROLES = {"B": 0, "I": 1, "M": 1, "E": 2, "L": 2, "S": 3, "U": 3, "W": 3}  # begins, goes on, ends, both begins and ends


OUTSIDE = ("O", "o", "0")
STYLES = (  # other ways to write labels of segments: B_PER, PER-B, b-per
    re.compile(r"(?P<prefix>[BIESLUMW])[_:./](?P<kind>.+)"),
    re.compile(r"(?P<kind>.+)[-_:./](?P<prefix>[BIESLUMW])"),
    re.compile(r"(?P<prefix>[bieslumw])[-_:./](?P<kind>.+)"),
)


class Reading(NamedTuple):
    """The scheme that is meant, and what the labels are read as that do not belong to it."""

    scheme: str
    slips: Mapping[Any, str]


class Repair(NamedTuple):
    """The sentences whose labels change, by their numbers, and what slips are read as."""

    sentences: dict[int, list[Any]]
    slips: Mapping[Any, str]


def meant(sequences: Iterable[Sequence[Any]]) -> Reading | None:
    """Of labels that look like a scheme's but break it: the scheme that fewest break; None for others.

    Examples
    --------
    >>> meant([["B-NP", "I-NP"], ["B-VP"], ["O", "I-NP"]])
    Reading(scheme='bio', slips={})
    >>> meant([["B-NP", "I-NP", "O"]] * 50 + [["0"]])
    Reading(scheme='bio', slips={'0': 'O'})
    >>> meant([["DT", "NN"]])
    """
    sequences = list(sequences)
    counts = Counter(chain.from_iterable(sequences))
    counts.pop(None, None)
    if not counts.keys() - {"O"} or not all(isinstance(label, str) for label in counts):
        return None
    found: dict[int, Reading] = {}
    for scheme in schemes.SCHEMES:
        slips = slips_in(counts, scheme)
        if slips is None or scheme not in schemes.possible(counts.keys() - slips.keys()):
            continue
        broken = sum(schemes.violation(scheme, replaced(labels, slips)) is not None for labels in sequences)
        found.setdefault(broken + sum(counts[label] for label in slips), Reading(scheme, slips))
    return found[min(found)] if found else None


def styled(sequences: Sequence[Sequence[Any]]) -> dict[Any, str] | None:
    """What labels would be in a scheme, if all of them mark segments in another style; else None.

    Examples
    --------
    >>> styled([["B_PER", "I_PER", "O"]])
    {'B_PER': 'B-PER', 'I_PER': 'I-PER', 'O': 'O'}
    >>> styled([["PER-B", "PER-I", "O"]])["PER-I"], styled([["DT", "NN"]])
    ('I-PER', None)
    """
    labels = sorted(set[Any]().union(*sequences) - {None}, key=str)
    if not all(isinstance(label, str) for label in labels):
        return None
    for style in STYLES:
        found = {label: "O" if label in OUTSIDE else style.fullmatch(label) for label in labels}
        if None in found.values():
            continue
        read = {
            label: one if isinstance(one, str) else schemes.join(one["prefix"].upper(), one["kind"])
            for label, one in found.items()
            if one is not None
        }
        prefixes = {schemes.split(label)[0] for label in read.values()} - {"O"}
        if len(prefixes) > 1 and schemes.recognise([[read.get(one) for one in some] for some in sequences]):
            return read
    return None


def strangers(sequences: Iterable[Sequence[Any]]) -> tuple[str, Any, str] | None:
    """The scheme of most labels that are not O, the most frequent label that does not belong to it, and a better one.

    None where all belong to one, or most mark no segments with a type.

    Examples
    --------
    >>> strangers([["B-NP", "I-NP", "X", "O"]]), strangers([["DT", "NN"]]), strangers([["B-NP", "O"]])
    (('bio', 'X', 'O'), None, None)
    """
    counts = Counter(chain.from_iterable(sequences))
    counts.pop(None, None)
    found: dict[int, tuple[str, list[Any]]] = {}
    for scheme in schemes.SCHEMES:
        strange = [label for label, _ in counts.most_common() if not schemes.belongs(label, scheme)]
        typed = sum(n for label, n in counts.items() if label not in strange and schemes.split(label)[1])
        if (n := sum(counts[label] for label in strange)) < typed:
            found.setdefault(n, (scheme, strange))
    if not found or 0 in found:
        return None
    scheme, [label, *_] = found[min(found)]
    known = [one for one in counts if schemes.belongs(one, scheme)]
    return scheme, label, resembled(str(label), scheme, known) or "O"


def slips_in(
    counts: Mapping[Any, int], scheme: str, few: int = 0, known: Collection[Any] = (), alike: bool = False
) -> dict[Any, str] | None:
    """The labels that do not belong to a scheme, and what each is read as; None where these are more than slips.

    A few may be in any case; ``known`` are labels of the scheme beside these. ``alike``: slips resemble some label.
    """
    strange = [label for label in counts if not schemes.belongs(label, scheme)]
    if not strange:
        return {}
    n, there = sum(counts.values()), sum(counts[label] for label in counts if label != "O")
    wrong = sum(counts[label] for label in strange)
    one = int(n >= TINY and wrong <= MOST_REPAIRED * there)
    if wrong > max(few, one, min(MOST, int(MOST_SLIPS * n))) or not all(isinstance(label, str) for label in strange):
        return None
    proper = [*known, *(label for label in counts if label not in strange)]
    found = {label: resembled(label, scheme, proper) for label in strange}
    return None if alike and None in found.values() else {label: read or "O" for label, read in found.items()}


def resembled(label: str, scheme: str, known: Iterable[str]) -> str | None:
    """The label of a scheme that another resembles: in other letters one of those known, or one of another scheme.

    Examples
    --------
    >>> [resembled(label, "bio", ["B-PER", "I-PER", "O"]) for label in ("b-per", "B_PER", "E-PER", "S-PER", "0", "X")]
    ['B-PER', 'B-PER', 'I-PER', 'B-PER', 'O', None]
    """
    known = dict.fromkeys(known)
    others = {"o": "O", **{_plain(one): one for one in known}}
    if (found := others.get(_plain(label))) is not None:
        return found
    prefix, kind = schemes.split(label)
    types = {schemes.split(one)[1] for one in known if one != "O"}
    if prefix in ROLES and kind in types:
        return schemes.join(schemes.LETTERS[scheme][ROLES[prefix]], kind)
    return None


def _plain(label: str) -> str:
    return "o" if label == "0" else label.casefold().replace("_", "-")


def replaced(labels: Sequence[Any], slips: Mapping[Any, str]) -> Sequence[Any]:
    """Labels with each slip as what it is read as."""
    return [slips.get(label, label) for label in labels] if slips and not slips.keys().isdisjoint(labels) else labels


def repaired(
    sequences: Sequence[Sequence[Any]],
    scheme: str,
    few: tuple[int, int] = WHOLE,
    known: Collection[Any] = (),
    alike: bool = False,
) -> Repair | None:
    """The sentences whose labels break a scheme, as they are read; None where that changes too many labels.

    ``few`` is `WHOLE` or `LATER`; ``known`` are labels of the scheme beside these. ``alike``: slips resemble some
    label.
    """
    counts = Counter(chain.from_iterable(sequences))
    counts.pop(None, None)
    slips = slips_in(counts, scheme, few[1], known, alike)
    if slips is None:
        return None
    found: dict[int, list[Any]] = {}
    changed = 0
    for i, labels in enumerate(sequences):
        read = replaced(labels, slips)
        if schemes.violation(scheme, read) is not None:
            right = mended(read, scheme)
            changed += sum(one != other for one, other in zip(read, right, strict=True))
            read = right
        if read is not labels:
            found[i] = list(read)
    there = sum(n for label, n in counts.items() if label != "O")
    return Repair(found, slips) if changed <= max(few[0], MOST_REPAIRED * there) else None


def mended(labels: Sequence[Any], scheme: str) -> list[Any]:
    """Labels as conlleval reads them; beside a label that is None, all are that could be.

    Examples
    --------
    >>> mended(["O", "I-PER", None, "I-PER", "O"], "bio")
    ['O', 'B-PER', None, 'I-PER', 'O']
    >>> mended([None, "E-PER", "I-PER", "O", "B-PER", None], "bioes")
    [None, 'E-PER', 'S-PER', 'O', 'B-PER', None]
    """
    found: list[Any] = []
    for known, run in groupby(labels, lambda label: label is not None):
        part = list(run)
        if known:
            before = _possible_beside(scheme, None, part[0]) if found else []
            after = _possible_beside(scheme, part[-1], None) if len(found) + len(part) < len(labels) else []
            right = schemes.convert([*before, *part, *after], scheme, scheme)
            part = right[len(before) : len(right) - len(after)]
        found += part
    return found


def _possible_beside(scheme: str, left: str | None, right: str | None) -> list[str]:
    """A label between two, of which one is the edge of the sentence (None), if it needs one there."""
    if schemes.follows(scheme, left, right):
        return []
    kind = schemes.split(left or right)[1]
    between = (schemes.join(prefix, kind) for prefix in schemes.PREFIXES[scheme])
    return [one for one in between if schemes.follows(scheme, left, one) and schemes.follows(scheme, one, right)][:1]


Change = tuple[int, int, Any, Any]  # number of the sentence and of the token, the old label, and the new one


def changes(i: int, labels: Sequence[Any], right: Sequence[Any]) -> list[Change]:
    """The labels of sentence i that change.

    Examples
    --------
    >>> changes(3, ["O", "I-PER"], ["O", "B-PER"])
    [(3, 1, 'I-PER', 'B-PER')]
    """
    return [(i, t, old, new) for t, (old, new) in enumerate(zip(labels, right, strict=True)) if old != new]


def counted(changed: Sequence[Change]) -> str:
    """How many labels change, and in how many sentences.

    Examples
    --------
    >>> counted([(3, 1, "I-PER", "B-PER"), (3, 7, "I-LOC", "B-LOC")])
    '2, in 1 sentence'
    """
    n = len({i for i, *_ in changed})
    return f"{len(changed):,}, in {n:,} {plural(n, 'sentence')}"


def first(
    changed: Sequence[Change], place: Callable[[int, int], str], quoted: Callable[[str], str] = lambda text: text
) -> str:
    """The first labels that change, each with its place.

    Examples
    --------
    >>> first([(3, 1, "I-PER", "B-PER")], lambda i, t: f"a.conll:{10 * i + t}")
    'a.conll:31 I-PER → B-PER'
    """
    return ", ".join(f"{place(i, t)} {quoted(f'{old} → {new}')}" for i, t, old, new in changed[:FIRST])
