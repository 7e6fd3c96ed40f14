"""`Learner`: the learner L of the notes, for every task and representation.

A learner predicts, sees the truth, and learns from its mistakes. Everything else (training, hold-out, checkpoints,
certificates, files, the command line) is written once, for this interface. Several threads may use a learner: one
learns at a time; others predict, save and copy between two of its steps. A step that changes the model is atomic: no
other thread sees it half done, and no signal handler interrupts it.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self, TypeVar

from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.dataset import Dataset, Problem
from perceptive.state import Meta, State, pair_or_none

if TYPE_CHECKING:
    from perceptive.data.feature_space import FeatureSpace

Answer = TypeVar("Answer")
Method = TypeVar("Method", bound=Callable[..., Any])
NOTHING_LEARNED = "this learner has learned nothing yet; let it learn first"


def forwarded(path: str, doc: str) -> Any:
    """A property that reads and writes ``path``, the attribute of a part, such as "ranker.rounds".

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> class Car:
    ...     engine = SimpleNamespace(power=60)
    ...     power = forwarded("engine.power", "In kW.")
    >>> Car().power
    60
    """
    part, _, name = path.rpartition(".")
    return property(attrgetter(path), lambda self, value: setattr(attrgetter(part)(self), name, value), doc=doc)


def counter(name: str, doc: str) -> Any:
    """Make a property that returns one of the whole numbers of `Learner._count`."""

    def read(self: Learner) -> int:
        with self.lock.shared():
            return int(self._count(name))

    return property(read, doc=doc)


def at_one_moment(method: Method) -> Method:
    """Let a method of a learner run while no other thread changes it."""

    @wraps(method)
    def ask(self: Learner, *arguments: Any, **options: Any) -> Any:
        with self.lock.shared():
            if self.settled:
                return method(self, *arguments, **options)
        with self.lock.exclusive():
            return method(self, *arguments, **options)

    return ask  # type: ignore[return-value]


class Learner(ABC):
    """An online learner.

    Learners of lists also have ``find_best`` and ``rank``: see `ListLearner`. The vectors of the hypotheses are the
    witnesses of `problems`.

    Attributes
    ----------
    lock : Lock
        A thread holds ``learning()`` while it trains, from the first example to the last; ``shared()`` while it
        predicts; ``exclusive()`` while it copies the model, or changes it for long; ``changing()`` during a short step
        that changes it, which signals wait for. A copy, a pickle and a fork have their own lock.
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
    explained_by : str
        What adds up to a score: "features", "supports", the "tokens" of a sentence; or a "choice" of a ranker.
    threads : int
        Threads that may work at the same time while it learns; results do not depend on it.
    """

    lock: _core.Lock
    parameters: Any
    played: int
    fingerprint: int
    ids: int
    first_epoch: tuple[int, int] | None
    open: bool
    explained_by: str
    threads: int = 1

    def __new__(cls, *_: Any, **__: Any) -> Self:
        learner = super().__new__(cls)
        learner.lock = _core.Lock()
        return learner

    # ------------------------------------------------------------ learning and predicting

    @abstractmethod
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
        return self._is_mistake([x], [y])

    def _is_mistake(self, *example: Any, **how: Any) -> bool:
        """Learn from one example, the arguments of `learn_many`; return whether it was a mistake."""
        with self.lock.learning():
            before = self.mistakes
            self.learn_many(*example, **how)
            return self.mistakes > before

    def learn_many(self, X: Any, y: Any, weights: Any = None, **how: Any) -> None:
        """Learn from many examples, in the given order; the same as `learn` one by one.

        ``how`` are other arguments of `dataset`, such as the sizes of lists.
        """
        with self.lock.learning():
            learn_all(self.dataset(X, y, weights, **how))

    def predict(self, x: Any, hypothesis: str | None = None) -> Any:
        """Return the answer to x."""
        return self.predict_many([x], hypothesis)[0]

    @abstractmethod
    def predict_many(self, X: Any, hypothesis: str | None = None) -> Any:
        """Return the answer to each of many examples. Changes nothing."""

    @abstractmethod
    def score(self, x: Any, hypothesis: str | None = None) -> Any:
        """Return the score of x: one number, or one per class or candidate; for a sentence the best score."""

    def finish(self) -> None:  # noqa: B027 (many keep nothing)
        """End learning for now: predictions may keep what they compute."""

    @property
    def settled(self) -> bool:
        """Whether prediction changes nothing: no average must be brought up to date."""
        return True

    @at_one_moment
    def asked(self, answer: Callable[[], Answer]) -> Answer:
        """Ask the learner while no other thread changes it."""
        return answer()

    # ------------------------------------------------------------ the run so far

    @abstractmethod
    def _count(self, name: str) -> Any:
        """Rounds, mistakes, updates, touched weights or the criterion so far; 0 before the first example."""

    rounds: int = counter("rounds", "Examples played so far: rows, lists or sentences.")
    mistakes: int = counter("mistakes", "Examples that were answered wrongly when they were played.")
    updates: int = counter("updates", "Updates so far.")
    touched: int = counter("touched", "Weights written so far: grows with the updates, not with the dimension.")

    @property
    def loss(self) -> float:
        """The perceptron criterion summed over the mistakes when they happened: Σ best rival − answer."""
        return self.progress[2]

    @property
    def progress(self) -> tuple[int, int, float]:
        """Mistakes, updates and loss, at one moment."""
        with self.lock.shared():
            return int(self._count("mistakes")), int(self._count("updates")), float(self._count("criterion"))

    @abstractmethod
    def record(self, fingerprint: int, played: int, ids: int) -> None:
        """Add to what datasets have recorded; negative numbers undo it."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Describe it for people to read, as plain values by name."""

    @abstractmethod
    def problems(self, witness: Any = None) -> Sequence[Problem]:
        """Return the sequences v₀, v₁, … of the theorems, with the vectors of the hypotheses as witnesses."""

    # ------------------------------------------------------------ state

    @abstractmethod
    def snapshot(self) -> Any:
        """Copy everything that learning changes."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Return to a snapshot. Datasets that are half played cannot continue."""

    @abstractmethod
    def state(self) -> State:
        """Return the whole state, as plain values and arrays."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: State, functions: Any = None) -> Self:
        """Make a learner from what `state` returned; raise ValueError if the parts do not fit together.

        ``functions`` are the user's own functions by name; files do not contain them.
        """

    def _parts(self) -> dict[str, Any]:
        """What a copy is made of, as `__setstate__` takes it."""
        return {name: value for name, value in self.__dict__.items() if name != "lock"}

    def __getstate__(self) -> dict[str, Any]:
        with self.lock.exclusive():
            return copy.deepcopy(self._parts())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # parts that two learners share would have two locks

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        with self.lock.exclusive():
            parts = copy.deepcopy(self._parts(), memo)
        twin.__setstate__(parts)
        return twin


class Recorded(Learner):
    """A learner that keeps what its datasets note."""

    space: FeatureSpace  # how examples become rows
    tally: _core.Tally  # fingerprint of the examples, how many were played, their id features: one step changes all

    def __new__(cls, *_: Any, **__: Any) -> Self:
        learner = super().__new__(cls)
        learner.tally, learner.first_epoch = _core.Tally(), None
        return learner

    def record(self, fingerprint: int, played: int, ids: int) -> None:
        self.tally.add(fingerprint, played, ids)

    def recorded(self) -> Meta:
        """Return what was recorded, as plain values."""
        counts = {"fingerprint": str(self.fingerprint), "played": self.played, "ids": self.ids}
        return {**counts, "first_pass": self.first_epoch}

    def restore_recorded(self, meta: Meta) -> None:
        self.fingerprint, self.played = int(meta["fingerprint"]), meta["played"]
        self.ids = meta["ids"] if "ids" in meta else meta["seen"]  # older files of kernel classifiers lack ids
        self.first_epoch = pair_or_none(meta.get("first_pass"))

    fingerprint: int = forwarded("tally.fingerprint", "The sum of the hashes of the examples that datasets recorded.")
    played: int = forwarded("tally.played", "Examples recorded by datasets.")
    ids: int = forwarded("tally.ids", "Id features that the Δ-trick has handed out.")
    n_features: int | None = forwarded("space.n_features", "Columns so far, if examples become rows.")

    def facts(self, **own: Any) -> dict[str, Any]:
        """Describe it for people to read, as plain values by name; ``own`` are facts of its kind alone."""
        format, names = self.space.format, self.space.names
        return {
            **self.parameters.facts(),
            **own,
            "format": None if format is None else format.name,
            "bits": getattr(self.parameters, "bits", None) if format is None else format.bits,
            "names": None if names is None else sum(len(names.names(bucket)) for bucket in names.buckets(1)),
            "collisions": None if names is None else len(names.buckets(2)),
        }


class MixableLearner(Learner):
    """A learner that is linear in v, so its replicas can learn separately and be mixed.

    `perceptive.roles.why_not_mixed` says why other learners cannot.
    """

    @abstractmethod
    def divide(self, n: int, sums: Callable[[Any], NDArray[Any]]) -> bool:
        """Prepare for replicas that play shards of n examples; return whether they defer their share of the average.

        Deferred shares are added at the end: ``sums(problem)`` must return their sum over the shards.
        """

    def departure(self) -> tuple[State, Mapping[str, Any]]:
        """Return what learners elsewhere start from: the state of a replica, and the user's functions by name."""
        return self.replica().state(), {}

    def replica(self) -> Self:
        """Return a learner with the same v and no counts, which learns separately and shares the constant parts."""
        twin = type(self).__new__(type(self))
        with self.lock.shared():
            twin.__dict__.update({name: value for name, value in self.__dict__.items() if name not in twin.__dict__})
            self._replicate(twin)
        return twin

    @abstractmethod
    def _replicate(self, twin: Self) -> None:
        """Give a learner that shares all other parts its own v, the same as here."""

    @abstractmethod
    def mixture(self, replica: Self, by_updates: bool) -> dict[Any, Any]:
        """Return what a replica has learned, by problem: parts that can ``add`` each other, for `mix`.

        The weight of a replica is 1, or the number of its updates.
        """

    @abstractmethod
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
