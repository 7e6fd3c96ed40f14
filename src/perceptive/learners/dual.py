"""The dual: supports with their coefficients α, the journal of their updates, and the hypotheses."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.errors import Parameter, ParameterError
from perceptive.hypotheses import HYPOTHESES, check_name
from perceptive.kernels import Kernel
from perceptive.kernels.examples import size_of
from perceptive.learners.kernel_values import ROWS, Counts, Floats, KernelValues, Updates, voter_weights
from perceptive.learners.learner import forwarded
from perceptive.learners.supports import Forgetting, Learn, Supports, forgetting
from perceptive.parameters import KernelParameters, KernelRankingParameters
from perceptive.state import Arrays, State, array_of, numbered

Targets = NDArray[np.int32]
SMALL = 2**18  # numbers in the supports of a small model
JOURNAL = {"slot": np.int64, "gain": np.int64, "loss": np.int64, "step": float, "at": np.int64, "length2": float}


class Dual:
    """v = Σ_i α_i φ(x_i) for one output (two classes) or one per class.

    There is one problem in all, or one per class for ``multiclass="ovr"``: journals, the numbers of updates (``made``),
    their largest ‖δ‖² (``radius2``), mistakes and ``criterion`` are per problem.
    """

    def __init__(
        self, kernel: Kernel, task: str, n_outputs: int, parameters: KernelParameters | KernelRankingParameters
    ) -> None:
        self.kernel, self.task, self.parameters = kernel, task, parameters
        self.n_outputs = n_outputs
        self.K = KernelValues(kernel, parameters.dtype, parameters.bias)  # K + b², in the precision of the model
        self.held = Supports(by_content=not parameters.delta)  # what was learned from
        self._alpha, self._sums = np.zeros((0, n_outputs)), np.zeros((0, n_outputs))
        self.initial: Floats | None = None
        problems = n_outputs if task == "ovr" else 1
        self.journals = [_core.DualJournal() for _ in range(problems)]
        self.rounds, self.open = 0, False
        self.mistakes, self.criterion = np.zeros(problems, np.int64), np.zeros(problems)
        self.made, self.radius2 = np.zeros(problems, np.int64), np.zeros(problems)
        self.forgetting: Forgetting | None = None
        if parameters.budget is not None:
            self.forgetting = forgetting(parameters.forget, int(parameters.budget), parameters.random_state)
        self._coefficients: dict[tuple[str, bool], Floats] = {}
        self._predictor: Dual | None = None
        self._prepare_play()

    def _forget_predictions(self) -> None:
        self._coefficients = {}
        self._predictor = None

    def change_outputs(self, change: Callable[[Floats], Floats]) -> None:
        """Change the columns of all coefficients: of v, of its average and of v₀. Set task and journals before."""
        self._alpha, self._sums = change(self._alpha), change(self._sums)
        self.initial = None if self.initial is None else change(self.initial)
        self.n_outputs = self._alpha.shape[1]
        self._forget_predictions()
        self._prepare_play()

    def set_open(self, open: bool) -> None:
        """Set whether the average credits v_K with the example that it is about to predict."""
        if open != self.open:
            self.open = open
            self._forget_predictions()

    def counts(self) -> Counts:
        """Return a copy of the counts so far, to be continued outside of the dual until `count` takes them over."""
        return Counts(self.rounds, self.mistakes.copy(), self.criterion.copy())

    def count(self, counts: Counts) -> None:
        """Take over counts; averages over the rounds change with them, even if nothing was learned."""
        rounds = counts.rounds - self.rounds
        self.rounds, self.mistakes, self.criterion = counts
        if rounds:
            self._coefficients.clear()  # that of the predictor, too
            if self._predictor is not None:
                self._predictor.rounds = self.rounds

    def _prepare_play(self) -> None:
        p = self.parameters
        self._player = _core.DualPlayer(self.task, p.rule, p.learning_rate, p.margin, p.C, p.ties == "positive")
        self.step = np.zeros(self.n_outputs)  # what the example that `scan` found adds to the coefficients
        self._margin, self._tau = np.zeros(len(self.journals)), np.zeros(len(self.journals))

    def __getstate__(self) -> dict[str, Any]:
        # What `scan` writes to is no part of it, and is written while others copy it.
        scratch = ("_player", "step", "_margin", "_tau")
        state = {name: value for name, value in self.__dict__.items() if name not in scratch}
        return {**state, "_predictor": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare_play()

    def __len__(self) -> int:
        return len(self.held)

    def copy(self) -> Dual:
        """Return a copy; the kernel, which never changes, is shared."""
        return copy.deepcopy(self, {id(self.kernel): self.kernel})

    supports: Any = forwarded("held.examples", "The prepared examples that were learned from, or None.")
    ids: list[int] = forwarded("held.ids", "Number of each support in the order of arrival.")
    slot_of: dict[int, int] = forwarded("held.slot_of", "From numbers of examples to supports.")

    @property
    def alpha(self) -> Floats:
        """Return the signed coefficients of the supports."""
        return self._alpha[: len(self)]

    @property
    def sums(self) -> Floats:
        """Return Σ round·step per support, from which the average is computed."""
        return self._sums[: len(self)]

    @property
    def updates(self) -> int:
        """The number of updates so far, over all problems."""
        return int(self.made.sum())

    # ------------------------------------------------------------ learning

    def start(self, X: Any, alpha: Floats, first_id: int) -> None:
        """Begin with coefficients for some of the examples."""
        chosen = np.flatnonzero(alpha.any(axis=1))
        if len(chosen) == 0:
            return
        self.add(X, first_id + np.arange(len(X)), chosen, alpha[chosen], 0)
        self.initial = self.alpha.copy()
        scores = self.K.weighted(self.supports, self.supports, self.initial)
        scores += self.parameters.delta**2 * self.initial
        parts = (scores * self.initial).sum(axis=0)
        self.journals = [_core.DualJournal(length2) for length2 in (parts if self.task == "ovr" else [parts.sum()])]

    def scan(
        self, scores: Floats, targets: Targets, q: Floats, weights: Floats | None, begin: int, counts: Counts
    ) -> tuple[int, Counts]:
        """Play on to the next example that is learned from; its steps are then in ``step``. Continue the counts."""
        found, rounds = self._player.scan(
            scores, targets, q, weights, begin, self.step, self._margin, self._tau, counts.mistakes, counts.criterion
        )
        return int(found), counts._replace(rounds=counts.rounds + rounds)

    def found(self, row: int, counts: Counts) -> Updates:
        """Return what `scan` found, as a batch of one."""
        one = (self.step, self._margin, self._tau)
        return Updates(np.array([row]), np.array([counts.rounds]), *(part[None, :].copy() for part in one))

    def play(
        self,
        scores: Floats,
        table: NDArray[Any],
        targets: Targets,
        q: Floats,
        weights: Floats | None,
        whole: bool,
        counts: Counts,
    ) -> tuple[Updates, Counts]:
        """Play a block whose own kernel values are in ``table``. Continue the given counts."""
        row, at, step, margin, tau, rounds = self._player.play(
            scores, table, targets, q, weights, whole,
            self.step, self._margin, self._tau, counts.mistakes, counts.criterion,
        )  # fmt: skip
        at += counts.rounds
        shape = (len(row), len(self.journals))
        steps = step.reshape(len(row), self.n_outputs)
        updates = Updates(row, at, steps, margin.reshape(shape), tau.reshape(shape))
        return updates, counts._replace(rounds=counts.rounds + rounds)

    def learn(
        self,
        X: Any,
        numbers: NDArray[np.int64],
        updates: Updates,
        q: Floats,
        weights: Floats | None,
        counts: Counts,
    ) -> Any:
        """Store updates and counts; return the slots of their supports, new or not."""
        self.count(counts)
        slots = self.add(X, numbers, updates.row, updates.step, updates.at[:, None])
        self._note(slots, updates, q[updates.row], None if weights is None else weights[updates.row])
        return slots

    def add(self, X: Any, numbers: NDArray[np.int64], rows: NDArray[np.int64], step: Floats, at: Any) -> Any:
        """Add steps, made in the rounds ``at``, to the coefficients of some rows; return the slots of these."""
        self._forget_predictions()
        before = len(self)
        slots = self.held.slots(X, numbers, rows)
        if len(self) > len(self._alpha):
            for name in ("_alpha", "_sums"):
                grown = np.zeros((max(16, len(self), 2 * before), self.n_outputs))
                grown[:before] = getattr(self, name)[:before]
                setattr(self, name, grown)
        np.add.at(self.alpha, slots, step)
        np.add.at(self.sums, slots, at * step)
        return slots

    def _note(self, slots: Any, updates: Updates, q: Floats, weights: Floats | None) -> None:
        size = 2.0 * q if self.task == "joint" else q
        lengths = size if weights is None else size * weights**2
        for c, journal in enumerate(self.journals):
            mine = np.flatnonzero(updates.tau[:, c])
            if len(mine):
                self.count_updates(c, len(mine), lengths[mine].max())
                if self.forgetting is None:
                    _, at, step, margin, tau = updates.of(mine)
                    output = -1 if self.task == "joint" else c
                    journal.write(slots[mine], at, step, margin[:, c], tau[:, c], size[mine], output)

    def count_updates(self, problem: int, updates: int, radius2: float) -> None:
        """Count updates of a problem; ``radius2`` is the largest ‖δ‖² among them."""
        self.made[problem] += updates
        self.radius2[problem] = max(self.radius2[problem], radius2)

    def within_budget(self, block: Any, i: int, number: int) -> tuple[Floats, Learn]:
        """Return, for what `scan` found, the change in later scores within a budget, and a function that learns it."""
        assert self.forgetting is not None
        step, x = self.step.copy(), block.take(slice(i, i + 1))
        slot = self.held.find(x, number)
        if slot is None and len(self) >= self.forgetting.budget:
            return self.forgetting.make_room(self, block, i, number, step)

        def learn() -> None:
            assert self.forgetting is not None
            place = slot
            if place is None:
                place = int(self.add(x, np.array([number]), np.array([0]), np.zeros((1, self.n_outputs)), 0)[0])
                self.forgetting.added()
            self.alpha[place] += step
            self.sums[place] += self.rounds * step

        return self.K.row(x, block.take(slice(i + 1, None)))[:, None] * step, learn

    def note_one(self, q: float, weight: float, counts: Counts) -> None:
        """Store what `scan` found within a budget, except for the coefficients."""
        self._forget_predictions()
        self.count(counts)
        self._note(None, self.found(0, counts), np.array([q]), np.array([weight]))

    def replace(self, slot: int, x: Any, number: int, step: Floats) -> None:
        """Replace a support that is forgotten by a new one."""
        self.held.replace(slot, x, number)
        self.alpha[slot] = step
        self.sums[slot] = self.rounds * step

    # ------------------------------------------------------------ predicting

    def in_double(self) -> Dual:
        """Return the same dual, with kernel values in float64."""
        twin = copy.copy(self)
        twin.K = KernelValues(self.kernel, np.float64, self.parameters.bias)
        twin.held = self.held.in_double()
        return twin

    def predictor(self) -> Dual:
        """Return the dual that predicts: for small models in float64, so scores do not depend on the batch size."""
        if self._predictor is None:
            small = self.supports is None or size_of(self.supports) <= SMALL
            self._predictor = self.in_double() if small and self.K.dtype != np.float64 else self
        return self._predictor

    def check_hypothesis(self, hypothesis: str) -> None:
        """Raise ValueError if it is not available."""
        check_name(hypothesis)
        if self.forgetting is None:
            return
        if HYPOTHESES[hypothesis].needs_journal:
            raise ParameterError(
                "{} needs every v_k, which a budget forgets; train with {}",
                Parameter("hypothesis", hypothesis), Parameter("budget", None),
            )  # fmt: skip
        if hypothesis == "averaged" and self.parameters.forget != "projectron":
            raise ParameterError(
                "{} needs the supports that were forgotten; ask for {}, or train with {}",
                Parameter("hypothesis", hypothesis), Parameter("hypothesis", "last"), Parameter("forget", "projectron"),
            )  # fmt: skip

    def coefficients(self, hypothesis: str, normalized: bool = False) -> Floats:
        """Return the coefficients with which a hypothesis predicts (none for ``voted``)."""
        self.check_hypothesis(hypothesis)
        if hypothesis == "voted":
            raise ParameterError("a voted model has no single α; ask for {}", Parameter("hypothesis", "averaged"))
        known = self._coefficients.get((hypothesis, normalized))
        if known is not None:
            return known
        if hypothesis == "last" and not normalized:
            found = self.alpha.copy()
        elif hypothesis == "averaged" and not normalized:
            total = self.rounds + self.open
            found = (total * self.alpha - self.sums) / total if total else self.alpha.copy()
        else:
            found = np.zeros_like(self.alpha)
            for c, journal in enumerate(self.journals):
                survival, lengths2 = journal.survivals(self.rounds), journal.length2 if normalized else None
                weights = voter_weights(survival, hypothesis, self.open, lengths2, self.parameters.random_state)
                if self.initial is not None:
                    mine = slice(c, c + 1) if self.task == "ovr" else slice(None)
                    found[: len(self.initial), mine] += weights.sum() * self.initial[:, mine]
                journal.add_coefficients(weights, found)
        self._coefficients[hypothesis, normalized] = found
        return found

    def scores(self, A: Any, hypothesis: str, normalized: bool = False) -> Floats:
        """Return scores under a hypothesis, rows × outputs; votes as shares."""
        self.check_hypothesis(hypothesis)
        if self.supports is None:
            return np.zeros((len(A), self.n_outputs))
        if hypothesis == "voted":
            return self._votes(A) / max(1, self.rounds)
        coefficients = self.coefficients(hypothesis, normalized)
        return self.K.weighted(A, self.supports, coefficients)

    def _votes(self, A: Any) -> NDArray[np.int64]:
        votes = np.empty((len(A), self.n_outputs), np.int64)
        for i in range(0, len(A), ROWS):
            rows = A.take(slice(i, i + ROWS))
            K = self.K.with_supports(rows, self.supports)
            start = np.zeros((len(rows), self.n_outputs))
            if self.initial is not None:
                start += K[:, : len(self.initial)].astype(np.float64) @ self.initial
            for c, journal in enumerate(self.journals):
                mine = slice(c, c + 1) if self.task == "ovr" else slice(None)
                begin = np.ascontiguousarray(start[:, mine])
                found = np.empty(begin.shape, np.int64)
                journal.votes(K, self.rounds, self.task == "joint", begin, found)
                votes[i : i + ROWS, mine] = found
        return votes

    # ------------------------------------------------------------ files

    def state(self) -> State:
        """Return the whole state, as plain values and arrays."""
        held = self.held.state()
        arrays: Arrays = {"alpha": self.alpha, "sums": self.sums, **held.arrays}
        arrays |= {"mistakes": self.mistakes, "criterion": self.criterion}
        if self.initial is not None:
            arrays["initial"] = self.initial
        for i, journal in enumerate(self.journals):
            arrays |= State({}, journal.to_arrays()).within(f"run{i}.").arrays
        meta = {
            "n_outputs": self.n_outputs,
            "rounds": self.rounds,
            "open": self.open,
            "runs": [{"updates": int(n), "radius2": float(q)} for n, q in zip(self.made, self.radius2, strict=True)],
            **held.meta,
            "forgetting": None if self.forgetting is None else self.forgetting.state(),
        }
        return State(meta, arrays)

    @classmethod
    def from_state(
        cls,
        state: State,
        kernel: Kernel,
        task: str,
        n_outputs: int,
        parameters: KernelParameters | KernelRankingParameters,
    ) -> Self:
        """Return the dual of a `state`; raise ValueError if its parts do not fit together."""
        meta, arrays = state
        dual = cls(kernel, task, n_outputs, parameters)
        if meta["n_outputs"] != n_outputs or len(meta["runs"]) != len(dual.journals):
            raise ValueError("classes and outputs differ in number")
        dual.held = Supports.from_state(state, kernel, by_content=not parameters.delta)
        n, problems = len(dual), len(dual.journals)
        dual._alpha = np.array(array_of(arrays, "alpha", float, (n, n_outputs)))
        dual._sums = np.array(array_of(arrays, "sums", float, (n, n_outputs)))
        if "initial" in arrays:
            dual.initial = np.array(array_of(arrays, "initial", float, (None, n_outputs)))
            if len(dual.initial) > n:
                raise ValueError("initial has more rows than there are supports")
        dual.rounds, dual.open = meta["rounds"], meta.get("open", False)
        dual.mistakes[:] = array_of(arrays, "mistakes", np.int64, (problems,))
        dual.criterion[:] = array_of(arrays, "criterion", float, (problems,))
        if (dual.mistakes < 0).any() or (dual.mistakes > dual.rounds).any():
            raise ValueError("mistakes must be from 0 up to the number of rounds")
        runs = numbered(arrays, "run")
        for i, counts in enumerate(meta["runs"]):
            dual.made[i], dual.radius2[i] = counts["updates"], counts["radius2"]
            parts = {name: array_of(runs[i], name, dtype, (None,)) for name, dtype in JOURNAL.items()}
            dual.journals[i] = _core.DualJournal.from_arrays(**parts, supports=n, outputs=n_outputs, rounds=dual.rounds)
        if meta["forgetting"] is not None and dual.forgetting is not None:
            dual.forgetting.restore(meta["forgetting"])
        return dual
