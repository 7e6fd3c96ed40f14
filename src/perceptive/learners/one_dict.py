"""One plain dict of named features at a time: the short way of a linear learner, straight into the core.

The core answers None where it cannot go that way; then the long way is gone, with the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perceptive import _core
from perceptive.data.fingerprint import hash_label
from perceptive.data.labelled_rows import ALL

if TYPE_CHECKING:
    from perceptive.learners.linear import LinearLearner


def learn_dict(learner: LinearLearner, x: dict[str, Any], y: Any) -> bool | None:
    """Learn from a dict of a known class: whether it was a mistake; None if the short way cannot be gone.

    Learns all, or nothing.
    """
    vector, vocabulary = learner.vectors.get(ALL), learner.space.vocabulary
    if vector is None or vocabulary is None or learner.parameters.delta or learner.cost is not None:
        return None
    try:
        index, classes = learner.index, learner.classes
        target = index[y]
    except (KeyError, TypeError):
        return None
    if len(index) != len(classes):  # another thread has just met one
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
    """The label of a dict, while the learner learns; None if the short way cannot be gone."""
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
