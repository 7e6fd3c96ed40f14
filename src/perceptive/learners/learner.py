"""`Learner`: what the notes call L, whatever the task and the representation.

A learner predicts, sees the truth, and learns from its mistakes. Everything else (training, hold-out, checkpoints,
certificates, files, the command line) is written once against this contract.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self

from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.dataset import Dataset, Problem
from perceptive.state import State


class Learner(Protocol):
    """An on-line learner.

    Learners of lists also have ``find_best`` and ``rank``: see `ListLearner`. The vectors of the hypotheses are the
    witnesses of `problems`. Several threads may use one: see `Guarded`, the base of those that we have.

    Attributes
    ----------
    lock : Lock
        Held by ``learning()`` while examples are made ready and played.
    parameters : object
        What it is: rule, hypothesis, … See `perceptive.parameters`.
    rounds, mistakes, updates : int
        Examples played so far, those that were answered wrongly, and the updates made; over all problems.
    loss : float
        The perceptron criterion of the mistakes as they happened.
    progress : (int, int, float)
        Mistakes, updates and loss, all of one moment.
    played, fingerprint : int
        Examples recorded by datasets, and the sum of their hashes: what a certificate knows its data by. An epoch that
        was broken off counts as whole.
    ids : int
        Id features that the Δ-trick has handed out.
    first_epoch : (int, int) or None
        Rounds and mistakes of the first epoch, where training made more.
    open : bool
        Whether it stands between two examples of a stream, since `learn` or `learn_many`: the averaged hypothesis then
        credits v_K with the example that it is about to predict, (Σ m_k v_k + v_K)/(m + 1). Training closes it:
        Σ m_k v_k/m.
    threads : int
        That may work at the same time while it learns; results do not depend on it.
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
        """Check examples and make them ready to be learned from. Learns nothing, and changes nothing where it raises.

        Parameters
        ----------
        X, y : examples and their answers
        weights : array or None
            Sample weights.
        epochs : int or None
            How often a training run will play them, in any order; None where they are learned from once, as they come.
        grow : bool
            Whether new names and labels get their places. False where the examples are only looked at: then unknown
            labels are refused, and unknown names are left out.
        """

    def learn(self, x: Any, y: Any) -> bool:
        """Learn from x with the answer y, as the rule says. Returns whether it was a mistake."""

    def learn_many(self, X: Any, y: Any, weights: Any = None) -> None:
        """Learn from many examples, in the order given. The same as `learn` one by one."""

    def predict(self, x: Any, hypothesis: str | None = None) -> Any:
        """The answer to x."""

    def predict_many(self, X: Any, hypothesis: str | None = None) -> Any:
        """The answer to each of many examples. Changes nothing."""

    def score(self, x: Any, hypothesis: str | None = None) -> Any:
        """What the answer to x is chosen by: a number, or one for each class or candidate; of a sentence the best."""

    def record(self, fingerprint: int, played: int, ids: int) -> None:
        """Add to what datasets have recorded; negative numbers take it back."""

    def facts(self) -> dict[str, Any]:
        """What it is, as plain values by name, for people to read."""

    def finish(self) -> None:
        """Learning is over for now: predictions may keep what they make."""

    def snapshot(self) -> Any:
        """Everything that learning changes, copied."""

    def restore(self, state: Any) -> None:
        """Go back to a snapshot. Datasets that were begun cannot be played on."""

    def problems(self, witness: Any = None) -> Sequence[Problem]:
        """The sequences v₀, v₁, … as theorems see them, with the vectors of the hypotheses as witnesses."""

    def state(self) -> State:
        """The whole state, as plain values and arrays."""

    @classmethod
    def from_state(cls, state: State, functions: Any = None) -> Self:
        """What `state` gave; raises ValueError where the parts do not fit together.

        ``functions`` are the user's own by name, which no file holds.
        """


class MixableLearner(Learner, Protocol):
    """A learner that is linear in v, so that replicas of it can learn apart and be mixed.

    `perceptive.roles.why_not_mixed` says why others cannot.
    """

    def divide(self, n: int, sums: Callable[[Any], NDArray[Any]]) -> bool:
        """Make ready for replicas that play shards of n examples; whether they put off their share of the average.

        What they put off is added up in the end: ``sums(problem)`` is to give it, the sum of those of the shards.
        """

    def departure(self) -> tuple[State, Mapping[str, Any]]:
        """What learners elsewhere start from: the state of a replica, and functions of the user's by their names."""

    def replica(self) -> Self:
        """A learner with the same v and no counts, that learns on its own and shares what learning does not change."""

    def mixture(self, replica: Self, by_updates: bool) -> dict[Any, Any]:
        """What a replica has become since, by problem: parts that can ``add`` one another, for `mix`.

        The weight of a replica is 1, or the number of its updates.
        """

    def mix(self, mixture: dict[Any, Any]) -> None:
        """Go to the weighted mean of the replicas in a mixture, with all that they have counted."""


def learn_all(dataset: Dataset) -> None:
    """Play a dataset once, as it lies: a part of a stream, which leaves the learner open."""
    learner = dataset.learner
    if not learner.open:
        with learner.lock.changing():
            learner.open = True
    for _ in dataset.epoch():
        pass
    if len(dataset) > 1:  # between two examples of a stream there is no end of learning
        learner.finish()


def is_mistake(learner: Any, learn: Callable[[], None]) -> bool:
    """Whether what a learner learns is a mistake."""
    with learner.lock.learning():
        before: int = learner.mistakes
        learn()
        return bool(learner.mistakes > before)
