"""A shortcut for one plain dict of named features: a linear learner gives it straight to the core.

None means that the shortcut cannot be used; then the caller uses the general path, which has the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perceptive import _core
from perceptive.data.fingerprint import hash_label
from perceptive.data.labelled_rows import ALL

if TYPE_CHECKING:
    from perceptive.learners.linear import LinearLearner


def learn_dict(learner: LinearLearner, x: dict[str, Any], y: Any) -> bool | None:
    """Learn from a dict of a known class; return whether it was a mistake, or None if nothing was learned."""
    vector, vocabulary = learner.vectors.get(ALL), learner.space.vocabulary
    if vector is None or vocabulary is None or learner.parameters.delta or learner.cost is not None:
        return None
    try:
        index, classes = learner.index, learner.classes
        target = index[y]
    except (KeyError, TypeError):
        return None
    if len(index) != len(classes):  # another thread has just added one
        return None
    label = hash_label(classes[target])
    if vector.binary:
        target = 1 if target else -1
    names, grows = vocabulary.names_met(), not learner.space.fixed and vector.initial is None
    rest: Any = (learner.tally, len(index), *names, grows, learner.space.named([x])[0], target, label)
    vector.forget_vectors()
    played = _core.learn_named(learner.lock, vector.core, *rest)
    if type(played) is int:
        with learner.lock.learning(), learner.lock.changing():
            vector.make_room(played)  # by another core, perhaps
        played = _core.learn_named(learner.lock, vector.core, *rest)
    learner._open = learner._open or type(played) is bool  # as the core has it
    return played if type(played) is bool else None


def predict_dict(learner: LinearLearner, x: dict[str, Any], hypothesis: str) -> tuple[Any] | None:
    """Return the label of a dict, in a tuple, while the learner learns; None if the shortcut cannot be used."""
    vector, vocabulary, classes = learner.vectors.get(ALL), learner.space.vocabulary, learner.classes
    if vector is None or vocabulary is None or vector.finished or hypothesis not in ("last", "averaged"):
        return None
    if hypothesis == "averaged" and not vector.averages:
        return None
    x, (indices, _, _) = learner.space.named([x])[0], vocabulary.names_met()
    all_met = len(indices) == len(vocabulary)  # else a name may be known, but not here
    scores = _core.named_scores(learner.lock, vector.core, indices, all_met, x, hypothesis == "averaged")
    if scores is None or (not vector.binary and len(scores) != len(classes)):  # another thread has just met a class
        return None
    if vector.binary:
        return (classes[scores[0] > 0 or (scores[0] == 0 and learner.parameters.ties == "positive")],)
    return (classes[scores.index(max(scores))],)
