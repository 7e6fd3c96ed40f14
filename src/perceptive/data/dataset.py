"""`Dataset`: examples prepared for learning, of any kind: rows, lists, sentences, objects.

A learner makes it (`Learner.dataset`) and checks everything, so a run that plays it cannot fail on bad input.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.cached import cached

if TYPE_CHECKING:
    from perceptive.learners.learner import Learner

Order = NDArray[np.int64]
ODD = np.uint64(0x9E3779B97F4A7C15)


def mix(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the bits of hashes, so that different sets of them have different sums."""
    mixed: NDArray[np.uint64] = hashes >> np.uint64(29)
    mixed ^= hashes
    mixed *= ODD
    return mixed


@dataclass(frozen=True)
class Witness:
    """A vector u that a theorem may use.

    Attributes
    ----------
    vector : object
        In the form of the learner's vectors.
    length : float
        ‖u‖, to scale it to unit length.
    along : float
        v₀·u/‖u‖, if learning did not start from zero.
    """

    vector: Any
    length: float
    along: float = 0.0


@dataclass(frozen=True)
class Problem:
    """One sequence v₀, v₁, … that a theorem is about: the learner's only one, or one of those of ovr and ovo.

    Attributes
    ----------
    rule : str
    learning_rate, margin, C, delta : float
        Parameters of the rule and of the Δ-trick.
    rounds, mistakes, updates : int
    radius2 : float
        R², the largest ‖δ‖² over the updates.
    witnesses : dict
        Vectors to try, by name.
    key : object
        Distinguishes the problems of a learner.
    start_length : float or None
        ‖v₀‖; None if learning started from zero.
    certified : bool
        Whether a theorem can apply: not with costs, budgets or beams.
    mean_of_pairs : bool
        Whether δ is a mean of differences, which may be arbitrarily short.
    weighted_updates, weighted_mistakes : float or None
        For a run mixed from shards: Σ_n Σ_i μ_{i,n} k_{i,n}, of updates and of mistakes.
    heaviest : float
        The largest μ_{i,n}; 1 if nothing was mixed.
    batch : int
        Number of examples that the same v answers before their updates are made.
    """

    rule: str
    rounds: int
    mistakes: int
    updates: int
    radius2: float
    witnesses: Mapping[str, Witness]
    learning_rate: float = 1.0
    margin: float = 0.0
    C: float = 1.0
    delta: float = 0.0
    key: Any = None
    start_length: float | None = None
    certified: bool = True
    mean_of_pairs: bool = False
    weighted_updates: float | None = None
    weighted_mistakes: float | None = None
    heaviest: float = 1.0
    batch: int = 1


@dataclass(frozen=True)
class Margins:
    """What a theorem needs to know about the examples of a dataset, one entry per example.

    Attributes
    ----------
    margins : dict
        u·δ against the closest competitor, for each witness u, scaled to unit length.
    lengths2 : array
        The smallest ‖δ‖² of the example.
    radius2 : float
        The largest ‖δ‖² that the examples allow.
    weights : array or None
        Sample weights; margins and lengths are those of weight·δ.
    twins : array of bool or None
        Examples that can also be mistakes with δ = 0, which teaches nothing.
    certified : bool
        Whether theorems cover such examples: not if labels are partly unknown.
    """

    margins: Mapping[str, NDArray[np.float64]]
    lengths2: NDArray[np.float64]
    radius2: float
    weights: NDArray[np.float64] | None = None
    twins: NDArray[np.bool_] | None = None
    certified: bool = True


class Dataset(ABC):
    """Examples prepared for one learner.

    Playing them all once, in any order, is an epoch::

        dataset.record()
        for chunk in dataset.chunks(order):
            dataset.play(chunk)       # between two chunks, Ctrl-C works and other threads predict
    """

    learner: Learner
    weights: NDArray[np.float64] | None = None
    revisited: bool = False  # whether an epoch before has recorded the examples
    _recorded: tuple[int, int, int] = (0, 0, 0)  # fingerprint, examples and id features that an epoch has recorded
    resumable: bool = True  # whether a run can be resumed between two of its chunks

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def chunks(self, order: Order) -> Iterator[Order]:
        """Return the order of an epoch in parts of about 20 ms. Called once per epoch."""

    @abstractmethod
    def play(self, order: Order) -> None:
        """Learn from these examples, in this order, in one step."""

    @property
    def present(self) -> NDArray[np.bool_]:
        """The examples that an epoch plays: those with a weight, and lists in which one candidate is better."""
        return np.ones(len(self), bool) if self.weights is None else self.weights > 0

    @property
    @abstractmethod
    def hashes(self) -> NDArray[np.uint64]:
        """Return 64 bits of each example with its label and weight."""

    @abstractmethod
    def margins(self, problems: Sequence[Problem]) -> Iterator[Margins]:
        """Yield what a theorem needs of the `present` examples, problem by problem."""

    def margins_of(self, problems: Sequence[Problem], members: Order) -> Iterator[Margins]:
        """Yield `margins` of some examples."""
        mine = np.isin(np.flatnonzero(self.present), members)
        for found in self.margins(problems):
            parts = {name: getattr(found, name) for name in ("lengths2", "weights", "twins")}
            some = {name: array[mine] for name, array in parts.items() if array is not None and len(array)}
            yield replace(found, margins={name: margins[mine] for name, margins in found.margins.items()}, **some)

    @cached
    def n_played(self) -> int:
        """Number of examples that an epoch plays."""
        return int(np.count_nonzero(self.present))

    def fingerprint(self) -> int:
        """Return a hash of the examples that an epoch plays, independent of their order: the sum of their hashes."""
        if not hasattr(self, "_fingerprint"):
            hashes = self.hashes if self.n_played == len(self) else self.hashes[self.present]
            self._fingerprint = int(hashes.sum(dtype=np.uint64))
        return self._fingerprint

    def record(self) -> None:
        """Note in the learner that every example is played (or was about to be) once more."""
        n = self.n_played
        self._recorded = self.fingerprint(), n, 0 if self.revisited else n  # later epochs meet the same id features
        self.learner.record(*self._recorded)
        self.revisited = True

    def take_back(self) -> None:
        """Undo the record: an error prevented the examples from being played."""
        fingerprint, n, ids = self._recorded
        self.learner.record(-fingerprint % 2**64, -n, -ids)
        self.revisited = ids == 0

    def check(self) -> None:  # noqa: B027 (most datasets find all before)
        """Raise ValueError if the learned weights are not valid."""

    def epoch(self, order: Order | None = None, *, skip: int = 0, state: Any = None) -> Iterator[int]:
        """Play all examples once, in their order or a given one; yield the number played after each chunk.

        If Ctrl-C or a timeout interrupts it, what was played stays learned, and the epoch counts as played; so it is
        recorded first.

        Parameters
        ----------
        order : array of int or None
        skip : int
            Number of chunks that a resumed run has already played.
        state : object
            The dataset's `snapshot` at that time.
        """
        if skip == 0:
            self.record()
        try:
            for number, chunk in enumerate(self.chunks(np.arange(len(self)) if order is None else order), 1):
                if number == skip and state is not None:
                    self.restore(state)
                if number > skip:
                    self.play(chunk)
                    yield len(chunk)
        except TimeoutError:
            raise
        except Exception:
            self.take_back()
            raise
        self.check()

    def meet(self) -> None:  # noqa: B027 (most learners know all before)
        """Tell the learner all names and labels of the examples, before its replicas play them."""

    def replica(self, learner: Learner) -> Dataset:
        """Return the same examples, to be played by a replica of the learner."""
        twin = copy.copy(self)
        twin.learner = learner
        return twin

    def shard(self, i: int, n: int) -> Dataset:
        """Return part i of n: the examples i, i + n, i + 2n, …"""
        if not 0 <= i < n:
            raise ValueError(f"there is no shard {i} of {n}; give 0 ≤ i < n")
        return Shard(self, np.arange(i, len(self), n))

    def snapshot(self) -> Any:
        """Return what playing changes in the dataset itself, for a checkpoint between two chunks."""
        return None

    def restore(self, state: Any) -> None:  # noqa: B027 (most datasets keep nothing)
        """Return to a snapshot."""


class Shard(Dataset):
    """Some examples of a dataset."""

    def __init__(self, whole: Dataset, members: Order) -> None:
        self.whole, self.members, self.learner = whole, members, whole.learner

    def __len__(self) -> int:
        return len(self.members)

    def chunks(self, order: Order) -> Iterator[Order]:
        """Parts of the order; those of the whole dataset are found again by their place."""
        place = np.full(len(self.whole), -1, np.int64)
        place[self.members] = np.arange(len(self))
        yield from (place[chunk] for chunk in self.whole.chunks(self.members[order]))

    def play(self, order: Order) -> None:
        self.whole.play(self.members[order])

    @property
    def present(self) -> NDArray[np.bool_]:
        return self.whole.present[self.members]

    @property
    def hashes(self) -> NDArray[np.uint64]:
        return self.whole.hashes[self.members]

    def margins(self, problems: Sequence[Problem]) -> Iterator[Margins]:
        return self.whole.margins_of(problems, self.members)
