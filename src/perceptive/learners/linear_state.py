"""A `LinearLearner` as plain values and arrays, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from perceptive.learners.vector_state import state_of_vector, vector_from_state
from perceptive.state import State, check_labels, numbered, plain_values

if TYPE_CHECKING:
    from perceptive.learners.linear import LinearLearner


def state_of(learner: LinearLearner) -> State:
    """All that a learner is."""
    space = learner.space.state()
    meta: dict[str, Any] = {
        **space.meta,
        "parameters": plain_values(asdict(learner.parameters)),
        "classes": check_labels(learner.classes),
        "announced": learner.announced,
        "fixed": learner.fixed,
        **learner.recorded(),
        "temperature": learner.temperature,
        "problems": [],
    }
    meta |= {"provisional": True} if learner.provisional else {}  # of a checkpoint
    arrays = dict(space.arrays)
    for i, (pair, state) in enumerate((pair, state_of_vector(vector)) for pair, vector in learner.vectors.items()):
        meta["problems"].append({"pair": pair, **state.meta})
        arrays |= state.within(f"{i}.").arrays
    return State(meta, arrays)


def restore_state(learner: LinearLearner, state: State) -> None:
    """Give a new learner what `state_of` took from another; raises ValueError where it does not fit together."""
    meta, arrays = state
    classes = meta["classes"]
    if not learner.announced:
        learner.set_classes(classes)
    learner.space.restore(state)
    if meta["problems"] and [tuple(p["pair"]) for p in meta["problems"]] != learner.pairs():
        raise ValueError("problems and classes do not match")
    parts = numbered(arrays)
    for i, facts in enumerate(meta["problems"]):
        vector = State(facts, parts[i])
        n_classes = len(classes) if learner.joint else None
        learner.vectors[tuple(facts["pair"])] = vector_from_state(
            vector, learner.space.placed, n_classes, learner.parameters
        )
        learner._open = facts["run"].get("open", False)
    learner.restore_recorded(meta)
    learner.temperature = meta.get("temperature")
