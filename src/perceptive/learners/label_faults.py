"""Labels that break a scheme: what is said of them, and of what they are read as."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from perceptive.errors import ExampleError, ExampleWarning, Parameter, literal
from perceptive.features import label_repair, schemes

LOOSE = ", or turn the constraints off ({})"
ANEW = ", or train a new tagger without constraints ({})"
NO_CONSTRAINTS = [Parameter("constraints", None)]


def misfit(label: Any, scheme: str) -> str:
    """Return a message about a label that is not allowed in its place."""
    return f"label {label!r} is not allowed here in the scheme {scheme!r}"


def cure_of(y: Sequence[Sequence[Any]], scheme: str) -> str:
    """Return the cure for labels that break a scheme: they follow another one, or none.

    Examples
    --------
    >>> cure_of([["B-X", "E-X"]], "bio")
    "the labels follow the scheme 'bioes': convert them by 'perceptive convert --scheme bio'"
    """
    convert, other = f"'perceptive convert --scheme {scheme}'", recognised(y)
    if other is None or other == scheme:
        return f"repair the labels, as {convert} does"
    return f"the labels follow the scheme {other!r}: convert them by {convert}"


def recognised(y: Sequence[Sequence[Any]]) -> str | None:
    """Return the scheme of labels; None if it cannot be recognised."""
    return None if undecided(y) else schemes.recognise(y)


def undecided(y: Sequence[Sequence[Any]]) -> bool:
    """Return whether any scheme is possible: all labels are O, or some are I, and some others are unknown."""
    prefixes = {schemes.split(label)[0] for label in set[Any]().union(*y) - {None}}
    return prefixes <= {"O"} or (prefixes <= {"O", "I"} and any(None in labels for labels in y))


def warn_of_repair(y: Sequence[Sequence[Any]], scheme: str, found: label_repair.Repair) -> None:
    """Warn of the labels that are repaired: of each slip, and of those that may not stand where they stand."""
    read = {i: label_repair.replaced(y[i], found.slips) for i in found.sentences}
    for slip, read_as in found.slips.items():
        n, of = sum(labels.count(slip) for labels in y), sum(map(len, y))
        i, t = next((i, y[i].index(slip)) for i in found.sentences if slip in y[i])
        said = f"label {slip!r} ({n:,} of {of:,}) does not belong to the scheme {scheme!r}: it is read as {read_as!r}"
        _warn_of_repair(literal(f"{said}. Repair it, as "), i, t)
    broken = [(i, schemes.violation(scheme, labels)) for i, labels in read.items()]
    places = [(i, t) for i, t in broken if t is not None]
    if not places:
        return
    i, t = places[0]
    said = misfit(read[i][t], scheme)
    changed = [one for i, labels in read.items() for one in label_repair.changes(i, labels, found.sentences[i])]
    if len(changed) == 1:
        _warn_of_repair(literal(f"{said}; they are read as conlleval reads them. Repair them, as "), i, t)
        return
    also = [(i, t) for i, t, *_ in changed[: label_repair.FIRST]]
    first = label_repair.first(changed, lambda i, t: f"{{also[{also.index((i, t))}]}}", literal)
    said = literal(f"{said}; labels that break it: {label_repair.counted(changed)}; they are read as conlleval reads")
    _warn_of_repair(f"{said} them; first: {first}. Repair them, as ", i, t, also)


def _warn_of_repair(said: str, i: int, t: int, also: Sequence[tuple[int, int]] = ()) -> None:
    words = said + "'perceptive convert' does, or choose {}"
    off = [Parameter("repair", "off")]
    warnings.warn(ExampleWarning(words, i, t, parameters=off, also=also), stacklevel=2)


def warn_of_misfit(y: Sequence[Sequence[Any]], reading: label_repair.Reading | None, repair: str = "warn") -> None:
    """Warn of the first place where labels break the scheme that they seem to follow; raise for repair="error"."""
    found = _strange(y) if reading is None else _misplaced(y, reading.scheme)
    if found is None:
        return
    wrong, cure, i, t = found
    if repair == "error":
        raise ExampleError(literal(f"{wrong}; {cure}") + LOOSE, i, t, parameters=NO_CONSTRAINTS)
    said = literal(f"{wrong}, so predictions follow no scheme; {cure}") + LOOSE
    warnings.warn(ExampleWarning(said, i, t, parameters=NO_CONSTRAINTS), stacklevel=2)


def _misplaced(y: Sequence[Sequence[Any]], scheme: str) -> tuple[str, str, int, int] | None:
    """What is wrong with the first label that breaks a scheme, the cure, its sentence and token."""
    for i, labels in enumerate(y):
        t = schemes.violation(scheme, labels)
        if t is not None:
            return misfit(labels[t], scheme), cure_of(y, scheme), i, t
    return None


def _strange(y: Sequence[Sequence[Any]]) -> tuple[str, str, int, int] | None:
    """The same of labels that are too many for slips, where most follow a scheme."""
    found = label_repair.strangers(y)
    if found is None:
        return None
    scheme, label, read = found
    n, of = sum(labels.count(label) for labels in y), sum(map(len, y))
    i, t = next((i, labels.index(label)) for i, labels in enumerate(y) if label in labels)
    wrong = f"label {label!r} ({n:,} of {of:,}) does not belong to the scheme {scheme!r}, as most others do"
    return wrong, f"rename it, such as to {read!r}", i, t


def warn_of_style(y: Sequence[Sequence[Any]]) -> None:
    """Warn of labels that are read as tags, but look like those of a scheme, written in another way."""
    read = label_repair.styled(y)
    if read is not None:
        places = ((i, t, label) for i, labels in enumerate(y) for t, label in enumerate(labels))
        i, t, label = next((i, t, label) for i, t, label in places if read.get(label, "O") != "O")
        said = f"label {label!r} is read as a tag without segments, as are the others; if they mark segments, write "
        cure = f"{read[label]!r}, as 'perceptive convert --scheme bio' does"
        warnings.warn(ExampleWarning(literal(said + cure), i, t), stacklevel=2)
