"""`KernelDataset`: labelled examples of any kind that a kernel compares, ready to be learned from in the dual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive.data.dataset import Dataset, Margins, Order, Problem
from perceptive.data.fingerprint import example_hashes
from perceptive.data.labelled_rows import margins_of
from perceptive.data.labels import Labels
from perceptive.kernels.examples import in_double
from perceptive.learners.dual import Dual
from perceptive.learners.dual_epochs import DualEpochs
from perceptive.learners.kernel_values import Floats
from perceptive.state import State, below

if TYPE_CHECKING:
    from perceptive.learners.kernel import KernelLearner
    from perceptive.learners.kernel_ranking import KernelRankingLearner

LOOKED_AT = "this dataset was made with grow=False, to be looked at; make it again to learn from it"
STALE = "the learner has changed since this dataset was made; make it again"


class DualDataset(Dataset):
    """What datasets of the dual share: who plays them, and the numbers of their prepared examples X."""

    learner: KernelLearner | KernelRankingLearner
    X: Any
    _dual: Dual | None  # what plays them; None where they are only looked at
    _first_id: int | None = None

    @property
    def first_id(self) -> int:
        """Number of the first example; numbers are given when they are first needed."""
        if self._first_id is None:
            self._first_id = self.learner.seen
            self.learner.seen += len(self.X)
        return self._first_id

    def _playing(self) -> Dual:
        if self._dual is None:
            raise ValueError(LOOKED_AT)
        if self._dual is not self.learner.dual:
            raise ValueError(STALE)
        return self._dual


class KernelDataset(DualDataset):
    """Prepared examples with their labels and 64 bits of each; ``epochs`` are as in `Learner.dataset`."""

    def __init__(
        self,
        learner: KernelLearner,
        X: Any,
        labels: Labels,
        weights: Floats | None,
        hashes: NDArray[np.uint64],
        dual: Dual | None = None,
        epochs: int | None = None,
    ) -> None:
        self.learner: KernelLearner = learner
        self.X, self.labels, self.weights = X, labels, weights
        self._hashes, self._once, self._dual = hashes, epochs is None, dual
        several = epochs is not None and epochs > 1
        self._epochs = None if dual is None else DualEpochs(dual, learner.lock, X, weights, several)
        self._order: Order | None = None  # of an epoch of which nothing has been played

    def __len__(self) -> int:
        return len(self.labels.which)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        return example_hashes(self._hashes, self.labels.which, self.labels.values, self.weights)

    # ------------------------------------------------------------ playing

    def chunks(self, order: Order) -> Iterator[Order]:
        """The order in blocks; where the examples are played only once, a new class begins a block."""
        epochs, self._order = self._playable(), order
        for begin, end in self._arrivals(order) if self._once else [(0, len(order))]:
            yield from epochs.blocks(order[begin:end])

    def play(self, order: Order) -> None:
        """Learn from these examples; a class that was not announced joins when its first example is played."""
        with self.learner.lock.learning():
            epochs = self._playable()
            with self.learner.lock.changing():
                epochs.first_id = self.first_id
            try:
                self._play(epochs, order)
            except BaseException:
                epochs.reset()
                raise

    def _play(self, epochs: DualEpochs, order: Order) -> None:
        learner = self.learner
        if self._order is not None:
            epochs.begin(self._order)
            self._order = None
        for begin, end in self._arrivals(order):
            label = self.labels.values[self.labels.which[order[begin]]]
            if label not in learner.index:
                learner.meet_class(label)
                epochs.reset()  # the scores that are kept have no column for it
            for block in epochs.blocks(order[begin:end]):
                epochs.play(block, self._targets(block))

    def _playable(self) -> DualEpochs:
        self._playing()
        assert self._epochs is not None
        return self._epochs

    def _arrivals(self, order: Order) -> list[tuple[int, int]]:
        """Parts of the order, cut where a class that the learner does not know comes for the first time."""
        new = [i for i, label in enumerate(self.labels.values) if label not in self.learner.index]
        which = self.labels.which[order] if new else order
        cuts = sorted({0, len(order), *(int(np.argmax(which == i)) for i in new if (which == i).any())})
        return list(pairwise(cuts))

    def _targets(self, block: Order) -> NDArray[np.int32]:
        """±1 for two classes, else the class."""
        y = self._classes(block)
        return np.where(y == 1, 1, -1).astype(np.int32) if self.learner.binary else y

    def _classes(self, rows: Order) -> NDArray[np.int32]:
        index = np.array([self.learner.index.get(label, -1) for label in self.labels.values], dtype=np.int32)
        return index[self.labels.which[rows]]

    def snapshot(self) -> State:
        """Where playing stands between two chunks: the scores that are kept, and what was learned since."""
        blocks = self._playable().snapshot()
        return State({"first_id": self._first_id, "blocks": blocks.meta}, blocks.within("blocks.").arrays)

    def restore(self, state: State) -> None:
        epochs = self._playable()
        epochs.restore(State(state.meta["blocks"], below(state.arrays, "blocks.")))
        self._first_id, self._order = state.meta["first_id"], None

    # ------------------------------------------------------------ theorems

    def margins(self, problems: Sequence[Problem]) -> Iterator[Margins]:
        """u·δ of each example against its closest competitor, and K(x, x) as ‖δ‖²."""
        learner, dual = self.learner, self.learner.learned().in_double()
        if learner.kernel.one_way and not self._was_learned_from():
            raise ValueError(
                "a Gram matrix of other examples has no K(x, x) of these; give that of the training examples"
            )
        X, present, joint = in_double(self.X), self.present, dual.task == "joint"
        y = self._classes(np.arange(len(self)))
        weights = None if self.weights is None else self.weights[present]
        lengths2 = ((dual.K.norms(X) + dual.parameters.delta**2) * (2.0 if joint else 1.0))[present]
        if weights is not None:
            lengths2 = lengths2 * weights**2
        for problem in problems:
            targets = (
                y if joint else np.where(y == (1 if dual.task == "binary" else problem.key), 1, -1).astype(np.int32)
            )
            margins = {}
            for name, witness in problem.witnesses.items():
                scores = dual.K.weighted(X, dual.supports, witness.vector) / witness.length
                of_all = margins_of(scores, targets, not joint)[present]
                margins[name] = of_all if weights is None else of_all * weights
            yield Margins(margins, lengths2, float(lengths2.max(initial=0.0)), weights)

    def _was_learned_from(self) -> bool:
        """Whether the learner has played these examples, each as often, and no others."""
        learner, n = self.learner, max(1, self.n_played)
        return learner.played % n == 0 and learner.fingerprint == learner.played // n * self.fingerprint() % 2**64
