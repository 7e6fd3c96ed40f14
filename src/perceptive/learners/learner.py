"""`Learner`: the learner L of the notes, for every task and representation.

A learner predicts, sees the truth, and learns from its mistakes. Everything else (training, hold-out, checkpoints,
certificates, files, the command line) is written once, for this interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self

from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.dataset import Dataset, Problem
from perceptive.state import State


class Learner(Protocol):
    """An online learner.

    Learners of lists also have ``find_best`` and ``rank``: see `ListLearner`. The vectors of the hypotheses are the
    witnesses of `problems`. Several threads may use a learner: see `Guarded`, the base class of all our learners.

    Attributes
    ----------
    lock : Lock
        Held by ``learning()`` while examples are prepared and played.
    parameters : object
        Rule, hypothesis, …: see `perceptive.parameters`.
    rounds, mistakes, updates : int
        Examples played so far, wrong answers among them, and updates made; over all problems.
    loss : float
        The perceptron criterion summed over the mistakes when they happened.
    progress : (int, int, float)
        Mistakes, updates and loss, at one moment.
    played, fingerprint : int
        Examples recorded by datasets, and the sum of their hashes, by which a certificate recognises its data. An
        interrupted epoch counts as complete.
    ids : int
        Id features that the Δ-trick has assigned.
    first_epoch : (int, int) or None
        Rounds and mistakes of the first epoch, if training played more.
    open : bool
        Whether it is between two examples of a stream, since `learn` or `learn_many`. The averaged hypothesis then
        credits v_K with the example that it is about to predict, (Σ m_k v_k + v_K)/(m + 1). Training closes it: Σ m_k
        v_k/m.
    threads : int
        Threads that may work at the same time while it learns; results do not depend on it.
    """

    threads: int
    first_epoch: tuple[int, int] | None
    open: bool

    @property
    def lock(self) -> _core.Lock: ...

    def __init__(self, **parameters: Any) -> None: ...

    @property
    def parameters(self) -> Any: ...
    @property
    def played(self) -> int: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def ids(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def mistakes(self) -> int: ...
    @property
    def updates(self) -> int: ...
    @property
    def loss(self) -> float: ...
    @property
    def progress(self) -> tuple[int, int, float]: ...

    def dataset(self, X: Any, y: Any, weights: Any = None, *, epochs: int | None = None, grow: bool = True) -> Dataset:
        """Check examples and prepare them for learning. Learns nothing; if it raises, nothing changes.

        Parameters
        ----------
        X, y : examples and their answers
        weights : array or None
            Sample weights.
        epochs : int or None
            How often a training run will play them, in any order; None if they are learned from once, in the given
            order.
        grow : bool
            Whether new names and labels are added. False if the examples are only for prediction: then unknown labels
            are refused, and unknown names are left out.
        """

    def learn(self, x: Any, y: Any) -> bool:
        """Learn from x with the answer y, by the rule. Return whether it was a mistake."""

    def learn_many(self, X: Any, y: Any, weights: Any = None) -> None:
        """Learn from many examples, in the given order; the same as `learn` one by one."""

    def predict(self, x: Any, hypothesis: str | None = None) -> Any:
        """Return the answer to x."""

    def predict_many(self, X: Any, hypothesis: str | None = None) -> Any:
        """Return the answer to each of many examples. Changes nothing."""

    def score(self, x: Any, hypothesis: str | None = None) -> Any:
        """Return the score of x: one number, or one per class or candidate; for a sentence the best score."""

    def record(self, fingerprint: int, played: int, ids: int) -> None:
        """Add to what datasets have recorded; negative numbers undo it."""

    def facts(self) -> dict[str, Any]:
        """Describe it for people to read, as plain values by name."""

    def finish(self) -> None:
        """End learning for now: predictions may keep what they compute."""

    def snapshot(self) -> Any:
        """Copy everything that learning changes."""

    def restore(self, state: Any) -> None:
        """Return to a snapshot. Datasets that are half played cannot continue."""

    def problems(self, witness: Any = None) -> Sequence[Problem]:
        """Return the sequences v₀, v₁, … of the theorems, with the vectors of the hypotheses as witnesses."""

    def state(self) -> State:
        """Return the whole state, as plain values and arrays."""

    @classmethod
    def from_state(cls, state: State, functions: Any = None) -> Self:
        """Make a learner from what `state` returned; raise ValueError if the parts do not fit together.

        ``functions`` are the user's own functions by name; files do not contain them.
        """


class MixableLearner(Learner, Protocol):
    """A learner that is linear in v, so its replicas can learn separately and be mixed.

    `perceptive.roles.why_not_mixed` says why other learners cannot.
    """

    def divide(self, n: int, sums: Callable[[Any], NDArray[Any]]) -> bool:
        """Prepare for replicas that play shards of n examples; return whether they defer their share of the average.

        Deferred shares are added at the end: ``sums(problem)`` must return their sum over the shards.
        """

    def departure(self) -> tuple[State, Mapping[str, Any]]:
        """Return what learners elsewhere start from: the state of a replica, and the user's functions by name."""

    def replica(self) -> Self:
        """Return a learner with the same v and no counts, which learns separately and shares the constant parts."""

    def mixture(self, replica: Self, by_updates: bool) -> dict[Any, Any]:
        """Return what a replica has learned, by problem: parts that can ``add`` each other, for `mix`.

        The weight of a replica is 1, or the number of its updates.
        """

    def mix(self, mixture: dict[Any, Any]) -> None:
        """Move to the weighted mean of the replicas in a mixture, and add their counts."""


def learn_all(dataset: Dataset) -> None:
    """Play a dataset once, in its order, as a part of a stream; this leaves the learner open."""
    learner = dataset.learner
    if not learner.open:
        with learner.lock.changing():
            learner.open = True
    for _ in dataset.epoch():
        pass
    if len(dataset) > 1:  # between two examples of a stream there is no end of learning
        learner.finish()


def is_mistake(learner: Any, learn: Callable[[], None]) -> bool:
    """Return whether the learner makes a mistake on what it learns here."""
    with learner.lock.learning():
        before: int = learner.mistakes
        learn()
        return bool(learner.mistakes > before)
