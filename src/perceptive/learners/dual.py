"""The dual: supports with their coefficients α, the run that made them, and what of it predicts."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.hypotheses import HYPOTHESES
from perceptive.kernels import Kernel
from perceptive.kernels.examples import contents, in_double, own, size_of
from perceptive.learners.budget import Forgetting, forgetting
from perceptive.learners.dual_run import DualRun
from perceptive.parameters import KernelParameters, KernelRankingParameters

ROWS, COLUMNS = 512, 1024  # a tile of kernel values that stays in the cache while it is worked on
SMALL = 2**18  # numbers in the supports of a small model
BEYOND = "the scores have grown beyond all numbers; rescale X, or take dtype='float64'"
Weights = NDArray[np.float64]


class Updates(NamedTuple):
    """What was learned: rows, rounds, steps per output, margins and τ per problem."""

    row: NDArray[np.int64]
    at: NDArray[np.int64]
    step: Weights
    margin: Weights
    tau: Weights

    @classmethod
    def none(cls, n_outputs: int, n_problems: int) -> Updates:
        """No updates."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, np.zeros((0, n_outputs)), np.zeros((0, n_problems)), np.zeros((0, n_problems)))


class Dual:
    """v = Σ_i α_i φ(x_i) for one output (two classes) or one per class.

    Attributes
    ----------
    supports : prepared examples or None
        What was learned from, each content once (with ``delta`` each example, since its id feature is its own).
    ids : list of int
        Number of each support in the order of arrival.
    slot_of : dict
        From numbers of examples to supports; several numbers may share one.
    alpha : array of shape (n_supports, n_outputs)
        Signed coefficients.
    runs : list of DualRun
        One per problem: one in all, or one per class for ``multiclass="ovr"``.
    """

    def __init__(
        self, kernel: Kernel, task: str, n_outputs: int, parameters: KernelParameters | KernelRankingParameters
    ) -> None:
        self.kernel, self.task, self.parameters = kernel, task, parameters
        self.n_outputs = n_outputs
        self.dtype = np.dtype(parameters.dtype)
        self.bias2 = parameters.bias**2
        self.supports: Any = None
        self.ids: list[int] = []
        self.slot_of: dict[int, int] = {}
        self._contents: list[bytes | None] = []  # per support; shorter where they have not been asked for
        self._slot_of_content: dict[bytes, int] = {}
        self._alpha, self._sums = np.zeros((0, n_outputs)), np.zeros((0, n_outputs))
        self.initial: Weights | None = None
        self.runs = [DualRun() for _ in range(n_outputs if task == "ovr" else 1)]
        self.rounds = 0
        self.mistakes = np.zeros(len(self.runs), np.int64)
        self.criterion = np.zeros(len(self.runs))
        self.forgetting: Forgetting | None = None
        if parameters.budget is not None:
            self.forgetting = forgetting(parameters.forget, int(parameters.budget), parameters.random_state)
        self._coefficients: dict[tuple[str, bool], Weights] = {}
        self._predictor: Dual | None = None
        self._prepare_play()

    def _forget_predictions(self) -> None:
        self._coefficients = {}
        self._predictor = None

    def count(self, rounds: int) -> None:
        """Rounds that were played: an average over them, say, is another one then, also where nothing was learned."""
        self.rounds += rounds
        if rounds:
            self._coefficients.clear()  # that of the predictor, too
            if self._predictor is not None:
                self._predictor.rounds = self.rounds

    def _prepare_play(self) -> None:
        p = self.parameters
        self._player = _core.DualPlayer(self.task, p.rule, p.learning_rate, p.margin, p.C, p.ties == "positive")
        self._step = np.zeros(self.n_outputs)
        self._margin, self._tau = np.zeros(len(self.runs)), np.zeros(len(self.runs))

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_player"}
        # Objects of a copy are others; contents are made again when they are asked for.
        return {**state, "_predictor": None, "_contents": [], "_slot_of_content": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare_play()

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def alpha(self) -> Weights:
        """Signed coefficients of the supports."""
        return self._alpha[: len(self.ids)]

    @property
    def sums(self) -> Weights:
        """Σ round·step per support: what the average is made of."""
        return self._sums[: len(self.ids)]

    @property
    def updates(self) -> int:
        """Updates so far, over all problems."""
        return sum(run.updates for run in self.runs)

    # ------------------------------------------------------------ kernel values

    def values(self, A: Any, B: Any) -> NDArray[Any]:
        """K + b² of all pairs."""
        with np.errstate(over="ignore", invalid="ignore"):  # scores that are no numbers are refused later
            K = self.kernel.compare(A, B).astype(self.dtype, copy=False)
        if self.bias2:
            K += self.dtype.type(self.bias2)
        return K

    def row(self, x: Any, others: Any) -> Weights:
        """K + b² of one example with others."""
        values = self.values(others, x)[:, 0] if self.kernel.one_way else self.values(x, others)[0]
        return values.astype(np.float64)

    def norms(self, A: Any) -> Weights:
        """K(x, x) + b²."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.kernel.norms(A), dtype=np.float64) + self.bias2

    def table(self, A: Any) -> NDArray[Any]:
        """K + b² of all supports with all of A."""
        K = self.values(A, self.supports).T if self.kernel.one_way else self.values(self.supports, A)
        return np.ascontiguousarray(K)

    def weighted(self, A: Any, supports: Any, coefficients: Weights) -> Weights:
        """Σ_i coefficients[i]·(K(x_i, a) + b²) for each a and output, tile by tile."""
        out = np.zeros((len(A), coefficients.shape[1]))
        coefficients = np.ascontiguousarray(coefficients)
        for i in range(0, len(A), ROWS):
            rows = A.take(slice(i, i + ROWS))
            for j in range(0, len(coefficients), COLUMNS):
                columns = supports.take(slice(j, j + COLUMNS))
                if self.kernel.one_way:
                    K = np.ascontiguousarray(self.values(rows, columns).T)
                else:
                    K = self.values(columns, rows)
                _core.dual_scores(K, coefficients[j : j + COLUMNS], out[i : i + ROWS])
        if not np.isfinite(out).all():
            raise ValueError(BEYOND)
        return out

    # ------------------------------------------------------------ learning

    def start(self, X: Any, alpha: Weights, first_id: int) -> None:
        """Begin with coefficients for some of the examples."""
        chosen = np.flatnonzero(alpha.any(axis=1))
        if len(chosen) == 0:
            return
        slots = self.slots(X, first_id + np.arange(len(X)), chosen)
        np.add.at(self.alpha, slots, alpha[chosen])
        self.initial = self.alpha.copy()
        scores = self.weighted(self.supports, self.supports, self.initial)
        scores += self.parameters.delta**2 * self.initial
        parts = (scores * self.initial).sum(axis=0)
        for c, run in enumerate(self.runs):
            run.length2 = [float(parts[c] if self.task == "ovr" else parts.sum())]

    def scan(self, scores: Weights, targets: NDArray[np.int32], q: Weights, weights: Weights | None, begin: int) -> int:
        """Play on to the next example that is learned from; its steps are then in ``step``."""
        found, rounds = self._player.scan(
            scores, targets, q, weights, begin, self._step, self._margin, self._tau, self.mistakes, self.criterion
        )
        self.count(rounds)
        return int(found)

    def found(self, row: int) -> Updates:
        """What `scan` found, as a batch of one."""
        one = (self._step, self._margin, self._tau)
        return Updates(np.array([row]), np.array([self.rounds]), *(part[None, :].copy() for part in one))

    def play(
        self,
        scores: Weights,
        table: NDArray[Any],
        targets: NDArray[np.int32],
        q: Weights,
        weights: Weights | None,
        whole: bool,
    ) -> Updates:
        """Play a block whose own kernel values are in ``table``."""
        row, at, step, margin, tau, rounds = self._player.play(
            scores, table, targets, q, weights, whole,
            self._step, self._margin, self._tau, self.mistakes, self.criterion,
        )  # fmt: skip
        at += self.rounds
        self.count(rounds)
        shape = (len(row), len(self.runs))
        return Updates(row, at, step.reshape(len(row), self.n_outputs), margin.reshape(shape), tau.reshape(shape))

    @property
    def step(self) -> Weights:
        """What the example that `scan` found adds to the coefficients, per output."""
        return self._step

    def learn(self, X: Any, numbers: NDArray[np.int64], updates: Updates, q: Weights, weights: Weights | None) -> Any:
        """Write updates down; returns the slots of their supports, new or not."""
        self._forget_predictions()
        slots = self.slots(X, numbers, updates.row)
        np.add.at(self.alpha, slots, updates.step)
        np.add.at(self.sums, slots, updates.at[:, None] * updates.step)
        self._note(slots, updates, q[updates.row], None if weights is None else weights[updates.row])
        return slots

    def slots(self, X: Any, numbers: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The supports that these rows of X are; what is no support yet becomes one."""
        strange = [i for i in rows.tolist() if int(numbers[i]) not in self.slot_of]
        if strange:
            examples = X.take(np.array(strange))
            new: list[int] = []
            for k, (i, content) in enumerate(zip(strange, self._contents_of(examples), strict=True)):
                slot = self._find(content)
                if slot is None:
                    slot = len(self.ids) + len(new)
                    new.append(k)
                    if content is not None:
                        self._slot_of_content[content] = slot
                    self._contents.append(content)
                self.slot_of[int(numbers[i])] = slot
            if new:
                added = examples if len(new) == len(strange) else examples.take(np.array(new))
                self._add(added, [int(numbers[strange[k]]) for k in new])
        return np.array([self.slot_of[int(numbers[i])] for i in rows.tolist()], dtype=np.int64)

    def _contents_of(self, examples: Any) -> list[bytes | None]:
        """What tells examples apart: their contents, or nothing but their numbers where each has its id feature."""
        if self.parameters.delta:
            return [None] * len(examples)
        if len(self._contents) < len(self.ids):  # of a model that was loaded or copied
            self._contents = contents(self.supports)
            self._slot_of_content = {content: i for i, content in enumerate(self._contents) if content is not None}
        return contents(examples)

    def _find(self, content: bytes | None) -> int | None:
        return None if content is None else self._slot_of_content.get(content)

    def _note(self, slots: Any, updates: Updates, q: Weights, weights: Weights | None) -> None:
        joint = self.task == "joint"
        size = 2.0 * q if joint else q
        lengths = size if weights is None else size * weights**2
        for c, run in enumerate(self.runs):
            mine = np.flatnonzero(updates.tau[:, c])
            if len(mine) == 0:
                continue
            run.updates += len(mine)
            run.radius2 = max(run.radius2, float(lengths[mine].max()))
            if self.forgetting is not None:
                continue
            tau, m, step = updates.tau[mine, c], updates.margin[mine, c], updates.step[mine]
            gain = np.argmax(step, axis=1) if joint else np.full(len(mine), c)
            run.slot += slots[mine].tolist()
            run.gain += gain.tolist()
            run.loss += (np.argmin(step, axis=1) if joint else np.full(len(mine), -1)).tolist()
            run.step += step[np.arange(len(mine)), gain].tolist()
            run.at += updates.at[mine].tolist()
            grown = np.cumsum(np.concatenate([run.length2[-1:], 2.0 * tau * m + tau * tau * size[mine]]))
            run.length2 += grown[1:].tolist()

    def _add(self, examples: Any, numbers: list[int]) -> None:
        examples = own(examples)
        if self.supports is None:
            self.supports = examples.take(np.arange(len(numbers)))
        else:
            self.supports.extend(examples)
        first, n = len(self.ids), len(self.ids) + len(numbers)
        self.ids += numbers
        if n > len(self._alpha):
            for name in ("_alpha", "_sums"):
                grown = np.zeros((max(16, n, 2 * first), self.n_outputs))
                grown[:first] = getattr(self, name)[:first]
                setattr(self, name, grown)
        self._alpha[first:n] = self._sums[first:n] = 0.0

    def learn_within_budget(self, block: Any, i: int, number: int, q: float, weight: float) -> Weights:
        """Write down what `scan` found within a budget; returns what that changes in the scores of those after it."""
        assert self.forgetting is not None
        self._forget_predictions()
        step = self._step.copy()
        self._note(None, self.found(0), np.array([q]), np.array([weight]))
        slot, x = self.slot_of.get(number), block.take(slice(i, i + 1))
        if slot is None:
            slot = self._find(self._contents_of(x)[0])
        if slot is None and len(self) >= self.forgetting.budget:
            return self.forgetting.make_room(self, block, i, number, step)
        if slot is None:
            slot = int(self.slots(x, np.array([number]), np.array([0]))[0])
            self.forgetting.added()
        self.alpha[slot] += step
        self.sums[slot] += self.rounds * step
        return self.row(x, block.take(slice(i + 1, None)))[:, None] * step

    def replace(self, slot: int, x: Any, number: int, step: Weights) -> None:
        """Let a new support take the place of one that is forgotten."""
        content = self._contents_of(x)[0]
        del self.slot_of[self.ids[slot]]
        forgotten = self._contents[slot]
        if forgotten is not None and self._find(forgotten) == slot:
            del self._slot_of_content[forgotten]
        if content is not None:
            self._slot_of_content[content] = slot
        self.supports.put(slot, own(x.take(np.zeros(1, np.int64))))
        self.ids[slot], self._contents[slot] = number, content
        self.slot_of[number] = slot
        self.alpha[slot] = step
        self.sums[slot] = self.rounds * step

    def meet_output(self, place: int) -> None:
        """A class that nobody announced gets its own output, all zeros, in this place."""
        self.n_outputs += 1
        self._alpha, self._sums = (np.insert(a, place, 0.0, axis=1) for a in (self._alpha, self._sums))
        if self.initial is not None:
            self.initial = np.insert(self.initial, place, 0.0, axis=1)
        for run in self.runs:
            run.gain = [c + (c >= place) for c in run.gain]
            run.loss = [c + (c >= place) for c in run.loss]
        self._forget_predictions()
        self._prepare_play()

    # ------------------------------------------------------------ predicting

    def in_double(self) -> Dual:
        """The same dual, with kernel values in float64."""
        twin = copy.copy(self)
        twin.dtype = np.dtype(np.float64)
        twin.supports = None if self.supports is None else in_double(self.supports)
        return twin

    def predictor(self) -> Dual:
        """What predicts: small models do it in float64, so that scores do not depend on how many are asked for."""
        if self._predictor is None:
            small = self.supports is None or size_of(self.supports) <= SMALL
            self._predictor = self.in_double() if small and self.dtype != np.float64 else self
        return self._predictor

    def check_hypothesis(self, hypothesis: str) -> None:
        """Raise ValueError if it cannot be had from this run."""
        if not isinstance(hypothesis, str) or hypothesis not in HYPOTHESES:
            raise ValueError(f"hypothesis={hypothesis!r}: hypothesis must be one of {', '.join(map(repr, HYPOTHESES))}")
        if self.forgetting is None:
            return
        if HYPOTHESES[hypothesis].needs_journal:
            raise ValueError(
                f"hypothesis={hypothesis!r} needs every v_k, which a budget forgets; train with budget=None"
            )
        if hypothesis == "averaged" and self.parameters.forget != "projectron":
            raise ValueError(
                "hypothesis='averaged' needs the supports that were forgotten; ask for 'last', or train with "
                "forget='projectron'"
            )

    def coefficients(self, hypothesis: str, normalized: bool = False) -> Weights:
        """Coefficients of the supports that this hypothesis predicts with (none for ``voted``)."""
        self.check_hypothesis(hypothesis)
        if hypothesis == "voted":
            raise ValueError("a voted model has no single α; ask for hypothesis='averaged' or 'last'")
        known = self._coefficients.get((hypothesis, normalized))
        if known is not None:
            return known
        if hypothesis == "last" and not normalized:
            found = self.alpha.copy()
        elif hypothesis == "averaged" and not normalized:
            found = (self.rounds * self.alpha - self.sums) / self.rounds if self.rounds else self.alpha.copy()
        else:
            found = np.zeros_like(self.alpha)
            for c, run in enumerate(self.runs):
                weights = run.voter_weights(hypothesis, self.rounds, normalized, self.parameters.random_state)
                if self.task == "ovr":
                    initial = None if self.initial is None else self.initial * np.eye(self.n_outputs)[c]
                else:
                    initial = self.initial
                run.add_coefficients(found, initial, weights)
        self._coefficients[hypothesis, normalized] = found
        return found

    def scores(self, A: Any, hypothesis: str, normalized: bool = False) -> Weights:
        """Scores under a hypothesis, rows × outputs; votes are given as shares."""
        self.check_hypothesis(hypothesis)
        if self.supports is None:
            return np.zeros((len(A), self.n_outputs))
        if hypothesis == "voted":
            return self._votes(A) / max(1, self.rounds)
        coefficients = self.coefficients(hypothesis, normalized)
        return self.weighted(A, self.supports, coefficients)

    def _votes(self, A: Any) -> NDArray[np.int64]:
        votes = np.empty((len(A), self.n_outputs), np.int64)
        for i in range(0, len(A), ROWS):
            rows = A.take(slice(i, i + ROWS))
            columns = range(0, len(self), COLUMNS)
            K = np.hstack([self.values(rows, self.supports.take(slice(j, j + COLUMNS))) for j in columns])
            K = np.ascontiguousarray(K)
            start = np.zeros((len(rows), self.n_outputs))
            if self.initial is not None:
                start += K[:, : len(self.initial)].astype(np.float64) @ self.initial
            for c, run in enumerate(self.runs):
                mine = slice(c, c + 1) if self.task == "ovr" else slice(None)
                begin = np.ascontiguousarray(start[:, mine])
                votes[i : i + ROWS, mine] = run.votes(K, begin, self.rounds, self.task == "joint")
        return votes
