"""One binary or joint problem: its weights, its run, and the hypotheses that can be had from it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.features.vocabulary import Vocabulary
from perceptive.hypotheses import HYPOTHESES
from perceptive.parameters import LinearParameters, RankingParameters

Vector = tuple[NDArray[Any], NDArray[np.float64]]  # (features × padded classes, bias weights)
MOST_PENDING = 2**24  # numbers that may wait for `settle`: 128 MB
COUNTS = ("rounds", "mistakes", "updates", "touched")
BEYOND = "the weights have grown beyond all numbers; rescale X, or take dtype='float64'"
RUN = (*COUNTS, "criterion", "radius2", "norm2", "scale", "clock")


def stride_of(n_classes: int | None) -> int:
    """Weights per feature: side by side for all classes, padded for SIMD; two classes (None) need one."""
    return 1 if n_classes is None else -(-n_classes // 4) * 4


class Problem:
    """A vector v (two classes: ``n_classes=1``) or K of them, learned by one rule.

    Parameters
    ----------
    n_features : int
    n_classes : int or None
        None for two classes (+1 and −1), else the number of classes that compete.
    parameters : LinearParameters or RankingParameters
    initial : Vector or None
        v₀, where it is not 0.
    """

    def __init__(
        self,
        n_features: int,
        n_classes: int | None,
        parameters: LinearParameters | RankingParameters,
        initial: Vector | None = None,
    ) -> None:
        self.binary = n_classes is None
        self.n_classes = n_classes or 1
        self.parameters = parameters
        self.n_features = n_features
        self.initial = initial
        p = parameters
        self.dtype = np.dtype(p.dtype)
        self.options = _core.Options(
            p.rule, p.learning_rate, p.margin, p.C, p.r, p.bias, p.delta, p.normalize,
            p.ties == "positive", p.average == "mistakes",
        )  # fmt: skip
        self._lock = threading.RLock()  # the journal may be read by one thread while another learns
        self._waiting: _core.Rows | None = None  # rows whose share of the average may wait
        self._unsettled = False  # whether it does
        self._allocate(n_features)
        self.biases = {name: np.full(self.n_classes, value) for name, value in BIASES}
        self.journal: Any = self._journal_type(p.max_voters or 0) if p.keeps_journal else None
        if initial is not None:
            self.arrays["z"][:] = initial[0]
            self.biases["z_bias"][:] = initial[1]
        self._bind(_core.Progress())
        self.run.norm2 = sum(float(np.vdot(v, v)) for v in initial) if initial is not None else 0.0

    def _allocate(self, capacity: int) -> None:
        """Weights at their start, for so many features."""
        shape = (capacity, self.stride)
        self.arrays: dict[str, NDArray[Any]] = {"z": np.zeros(shape, self.dtype)}
        if self.parameters.averages:
            self.arrays["sum"] = np.zeros(shape, self.dtype)
        if self.parameters.rule == "arow":
            self.arrays["sigma"] = np.ones(shape, self.dtype)

    @property
    def stride(self) -> int:
        """Weights per feature."""
        return stride_of(None if self.binary else self.n_classes)

    @property
    def run(self) -> _core.Progress:
        """Rounds, mistakes, updates and the other numbers of the run."""
        return self._core.run

    @property
    def _journal_type(self) -> Any:
        return _core.Journal32 if self.dtype == np.float32 else _core.Journal64

    def _bind(self, run: _core.Progress) -> None:
        """Give the core the arrays as they are now."""
        self._core = _core.Problem(
            self.arrays["z"],
            self.arrays.get("sum"),
            self.arrays.get("sigma"),
            **self.biases,
            options=self.options,
            journal=self.journal,
        )
        self._core.run = run
        self._vectors: dict[str, Vector] = {}
        self.finished = False

    # ------------------------------------------------------------ learning

    def begin(self, rows: _core.Rows, defer: bool = False) -> None:
        """Make ready for rows that are numbered anew.

        With ``defer`` the average waits until it is asked for: that pays where rows are played several times, or in
        another order than they lie in.
        """
        with self._lock:
            self.settle()
            shape = (rows.n, self.n_classes)
            defer = defer and "sum" in self.arrays and rows.n * self.n_classes <= MOST_PENDING
            self._waiting = rows if defer else None
            ids = np.zeros(shape) if self.parameters.delta else None
            self._core.begin_rows(ids, np.zeros(shape) if defer else None)
            if self.journal is not None:
                self.journal.begin_rows(rows.n)

    def settle(self) -> None:
        """Bring the average up to date where it was deferred."""
        with self._lock:
            if self._unsettled and self._waiting is not None:
                self._core.settle(self._waiting)
            self._unsettled = False

    def learn(
        self,
        rows: _core.Rows,
        order: NDArray[np.int64],
        targets: NDArray[np.int32],
        weights: NDArray[np.float64] | None,
        cost: NDArray[np.float64] | None = None,
    ) -> None:
        """Play the rows in the given order."""
        with self._lock:
            if self.finished or self._vectors:
                self.finished, self._vectors = False, {}
            self._unsettled = True
            if self.binary:
                _core.learn_binary(self._core, rows, order, targets, weights)
            else:
                _core.learn_joint(self._core, rows, order, targets, weights, cost)

    def learn_lists(
        self,
        rows: _core.Rows,
        order: NDArray[np.int64],
        starts: NDArray[np.int64],
        grades: NDArray[np.float64],
        gains: NDArray[np.float64] | None,
        weights: NDArray[np.float64] | None,
        pairs: str,
    ) -> None:
        """Play lists of candidates in the given order; list t is the rows from ``starts[t]`` to ``starts[t + 1]``."""
        with self._lock:
            if self.finished or self._vectors:
                self.finished, self._vectors = False, {}
            _core.learn_lists(self._core, rows, order, starts, grades, gains, weights, pairs)

    def learn_named(
        self, vocabulary: Vocabulary, may_add: bool, x: dict[str, Any], target: int, label_hash: int
    ) -> tuple[int, bool] | None:
        """Play one dict: (share of the fingerprint, mistake), or None if it is not plain enough for the short way."""
        with self._lock:
            if self.finished or self._vectors:
                self.finished, self._vectors = False, {}
            if self.journal is not None:
                self.journal.begin_rows(1)
            names = vocabulary.names_met()
            played = _core.learn_named(self._core, *names, may_add, x, target, label_hash)
            if isinstance(played, int):
                self.grow_features(played)
                played = _core.learn_named(self._core, *names, may_add, x, target, label_hash)
        return played if isinstance(played, tuple) else None

    def scores_named(self, vocabulary: Vocabulary, x: dict[str, Any], hypothesis: str) -> list[float] | None:
        """`scores` of one plain dict, as it learns; None if it is not plain, or the hypothesis wants a vector."""
        if self.finished or self._unsettled or hypothesis not in ("last", "averaged"):
            return None
        clock, total = (0.0, 0.0) if hypothesis == "last" or "sum" not in self.arrays else self.average_clock()
        if hypothesis == "averaged" and total == 0.0:
            return None
        indices, _, _ = vocabulary.names_met()
        all_met = len(indices) == len(vocabulary)  # else a name may be known, but not here
        return _core.named_scores(self._core, indices, all_met, x, clock, total)

    def finish(self) -> None:
        """Learning is over for now: vectors may be written out and kept, and the rows are forgotten."""
        self.settle()
        self._core.begin_rows(None, None)
        self._waiting = None
        self.finished = True

    def grow_features(self, n_features: int) -> None:
        """Make room for more features, doubling so that growing one by one stays cheap."""
        self.settle()
        self.n_features = n_features
        self.finished, self._vectors = False, {}
        if self.initial is not None:
            more = np.zeros((n_features - len(self.initial[0]), self.stride), self.initial[0].dtype)
            self.initial = np.concatenate([self.initial[0], more]), self.initial[1]
        old = self.arrays
        if n_features > len(old["z"]):  # the core knows of the whole capacity
            self._allocate(max(n_features, 2 * len(old["z"]), 64))
            for name, array in old.items():
                self.arrays[name][: len(array)] = array
            self._bind(self.run)

    def grow_classes(self, n_classes: int, new_label: NDArray[np.int64]) -> None:
        """Add classes that start at zero; class c becomes ``new_label[c]``."""
        self.settle()
        old, old_classes = self.arrays, self.n_classes
        self.n_classes = n_classes
        self._allocate(len(old["z"]))
        for name, array in old.items():
            self.arrays[name][:, new_label] = array[:, :old_classes]
        for name, value in BIASES:
            grown_bias = np.full(n_classes, value)
            grown_bias[new_label] = self.biases[name]
            self.biases[name] = grown_bias
        if self.journal is not None:
            self.journal.relabel(new_label)
        self._bind(self.run)

    # ------------------------------------------------------------ hypotheses

    def survivals(self) -> NDArray[np.int64]:
        """m_k of every v_k that has a say: all of them, or the ``max_voters`` longest survivors."""
        with self._lock:
            survival: NDArray[np.int64] = self._require_journal("survivals").survival
        limit = self.parameters.max_voters
        if limit is not None and len(survival) > limit:
            silent = np.argsort(-survival, kind="stable")[limit:]
            survival[silent] = 0
        return survival

    def _require_journal(self, what: str) -> Any:
        if self.journal is None:
            raise ValueError(f"{what} needs the journal of all updates; train with keep='all'")
        return self.journal

    def voter(self, k: int) -> Vector:
        """v_k, from the journal."""
        v = np.zeros((self.n_features, self.stride))
        bias = np.zeros(self.n_classes)
        if self.initial is not None:
            v[: len(self.initial[0])] = self.initial[0]
            bias[:] = self.initial[1]
        with self._lock:
            self._require_journal("a voter").replay(k, v, bias)
        return v.astype(self.dtype), bias

    def check_hypothesis(self, hypothesis: str) -> None:
        """Raise ValueError if it cannot be had from this run."""
        if not isinstance(hypothesis, str) or hypothesis not in HYPOTHESES:
            raise ValueError(f"hypothesis={hypothesis!r}: hypothesis must be one of {', '.join(map(repr, HYPOTHESES))}")
        if HYPOTHESES[hypothesis].needs_journal:
            self._require_journal(f"hypothesis={hypothesis!r}")
        if hypothesis == "averaged" and "sum" not in self.arrays:
            raise ValueError("hypothesis='averaged' was not kept; train with hypothesis='averaged' or keep='all'")

    def average_clock(self) -> tuple[float, float]:
        """(clock, total) such that the average is (clock·z − sum)/total."""
        run = self.run
        if self.parameters.average == "mistakes":
            return run.clock + run.scale, run.updates + 1.0
        return (run.clock, float(run.rounds)) if run.rounds else (run.scale, 1.0)

    def vector(self, hypothesis: str) -> Vector:
        """The weights that this hypothesis predicts with (none for ``voted``)."""
        self.check_hypothesis(hypothesis)
        self.settle()
        vectors = self._vectors
        if hypothesis in vectors:
            return vectors[hypothesis]
        z, z_bias = self.arrays["z"][: self.n_features], self.biases["z_bias"]
        if hypothesis == "last":
            with np.errstate(over="ignore", invalid="ignore"):
                vector = (z * self.dtype.type(self.run.scale), z_bias * self.run.scale)
        elif hypothesis == "averaged":
            clock, total = self.average_clock()
            sums = self.arrays["sum"][: self.n_features]
            with np.errstate(over="ignore", invalid="ignore"):  # what is no number is refused below
                average = ((clock * z.astype(np.float64) - sums) / total).astype(self.dtype)
            vector = (average, (clock * z_bias - self.biases["sum_bias"]) / total)
        elif hypothesis == "voted":
            raise ValueError("a voted model has no single weight vector; ask for hypothesis='averaged' or 'last'")
        else:
            survival = self.survivals()
            k = int(np.argmax(survival)) if hypothesis == "best" else self._draw(survival)
            vector = self.voter(k)
        if not (np.isfinite(vector[0]).all() and np.isfinite(vector[1]).all()):
            raise ValueError(BEYOND)
        if self.finished:
            vectors[hypothesis] = vector
        return vector

    def _draw(self, survival: NDArray[np.int64]) -> int:
        total = survival.sum()
        if total == 0:
            return len(survival) - 1
        rng = np.random.default_rng(self.parameters.random_state)
        return int(np.searchsorted(np.cumsum(survival), rng.integers(total), side="right"))

    def scores(self, rows: _core.Rows, hypothesis: str) -> NDArray[np.float64]:
        """Scores under a hypothesis, rows × classes; votes are given as shares (two classes: of −1 … 1)."""
        self.check_hypothesis(hypothesis)
        if hypothesis == "voted":
            return self._vote(rows)
        if not self.finished and hypothesis in ("last", "averaged"):
            return self._scores_as_it_learns(rows, hypothesis)
        return self.linear(rows, *self.vector(hypothesis))

    def linear(self, rows: _core.Rows, w: NDArray[Any], bias: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores under any weights of this problem's shape."""
        return self._dots(rows, w) + self.parameters.bias * bias

    def _dots(self, rows: _core.Rows, w: NDArray[Any]) -> NDArray[np.float64]:
        out = np.empty((rows.n, self.n_classes))
        _core.linear_scores(rows, w, self.parameters.normalize, out)
        return out

    def _scores_as_it_learns(self, rows: _core.Rows, hypothesis: str) -> NDArray[np.float64]:
        """Without writing out a vector: between two examples of a stream that would cost O(dimension)."""
        self.settle()
        run, bias = self.run, self.parameters.bias
        z = self._dots(rows, self.arrays["z"]) + bias * self.biases["z_bias"]
        if hypothesis == "last":
            return run.scale * z
        clock, total = self.average_clock()
        sums = self._dots(rows, self.arrays["sum"]) + bias * self.biases["sum_bias"]
        with np.errstate(invalid="ignore"):  # of weights beyond all numbers
            average: NDArray[np.float64] = (clock * z - sums) / total
        return average

    def _vote(self, rows: _core.Rows) -> NDArray[np.float64]:
        if self.initial is None:
            start = np.zeros((rows.n, self.n_classes))
        else:
            w, bias = self.initial
            start = self.linear(rows, np.ascontiguousarray(w, dtype=self.dtype), bias)
        votes = np.empty((rows.n, self.n_classes), np.int64)
        with self._lock:
            survival = self.survivals()
            _core.votes(rows, self.journal, survival, start, self.parameters.bias, self.parameters.normalize, votes)
        return votes / max(1, int(survival.sum()))

    def votes_in_lists(self, rows: _core.Rows, which: NDArray[np.int64]) -> NDArray[np.float64]:
        """Shares of the votes for the best of each list; ``which`` says of which list each row is."""
        votes = np.empty(rows.n, np.int64)
        with self._lock:
            survival = self.survivals()
            _core.rank_votes(rows, self.journal, survival, np.zeros(rows.n), which, self.parameters.normalize, votes)
        return votes / max(1, int(survival.sum()))

    # ------------------------------------------------------------ state

    def snapshot(self) -> dict[str, Any]:
        """Everything that learning changes, copied."""
        self.settle()
        journal = None if self.journal is None else self.journal.to_arrays()
        return {
            "arrays": {name: array.copy() for name, array in self.arrays.items()},
            "biases": {name: array.copy() for name, array in self.biases.items()},
            "run": {name: getattr(self.run, name) for name in RUN},
            "journal": journal,
        }

    def __getstate__(self) -> dict[str, Any]:
        n_classes = None if self.binary else self.n_classes
        return {"made": (self.n_features, n_classes, self.parameters, self.initial), "state": self.snapshot()}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        self.__init__(*pickled["made"])  # type: ignore[misc]
        self.restore(pickled["state"])
        self.finish()

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to a snapshot; raises ValueError where it does not fit this problem."""
        for kind, mine in (("arrays", self.arrays), ("biases", self.biases)):
            for name, array in mine.items():
                given = state[kind].get(name)
                if given is None or given.dtype != array.dtype or given.shape[1:] != array.shape[1:]:
                    raise ValueError(f"{name} does not fit")
        if any(len(a) < self.n_features for a in state["arrays"].values()):
            raise ValueError("too few weights")
        if any(len(a) != self.n_classes for a in state["biases"].values()):
            raise ValueError("wrong number of bias weights")
        run = _core.Progress()
        for name in RUN:
            setattr(run, name, state["run"][name])
            if not -np.inf < state["run"][name] < np.inf or (name in COUNTS and state["run"][name] < 0):
                raise ValueError(f"{name} is impossible")
        if self.journal is not None:
            self.journal = self._journal_type.from_arrays(
                self.parameters.max_voters or 0,
                **state["journal"],
                n_features=self.n_features,
                n_classes=self.n_classes,
            )
        # Own, writable, contiguous: learning may go on from arrays that lie in a file.
        self._allocate(len(state["arrays"]["z"]))
        for name, array in self.arrays.items():
            array[:] = state["arrays"][name]
        self.biases = {name: np.array(state["biases"][name], order="C") for name in self.biases}
        self._bind(run)


BIASES = (("z_bias", 0.0), ("sum_bias", 0.0), ("sigma_bias", 1.0))
