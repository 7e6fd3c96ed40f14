"""`WeightVector`: v of one binary or joint problem, its average and journal, and the vector of each hypothesis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.errors import Parameter, ParameterError, overflowed
from perceptive.hypotheses import HYPOTHESES, check_name, choose_voter
from perceptive.learners.deferred_average import DeferredAverage
from perceptive.learners.mixture import MIXED, VectorMixture
from perceptive.learners.weights import (
    MANY,
    CompactVector,
    DenseWeights,
    SparseWeights,
    Vector,
    inner,
    is_finite,
    of_run,
)
from perceptive.parameters import LinearParameters, RankingParameters
from perceptive.rules import RULES
from perceptive.state import Arrays

if TYPE_CHECKING:
    from perceptive.data.lists import RankedRows

MOST_UPDATES = _core.FLOAT32_UPDATES  # of weights in float32: 2²⁴ equal steps later a step changes nothing
RUN = (
    "rounds", "mistakes", "updates", "touched", "criterion", "radius2", "norm2", "norm2_error", "scale", "clock",
    "open", *MIXED,
)  # fmt: skip


def stride_of(n_classes: int | None) -> int:
    """Return the weights per feature: one for each class, padded for SIMD; two classes (None) need one."""
    return 1 if n_classes is None else -(-n_classes // 4) * 4


class WeightVector(DeferredAverage):
    """A vector v (two classes: ``n_classes=1``) or K of them, learned by one rule.

    Parameters
    ----------
    n_classes : int or None
        None for two classes (+1 and −1), else the number of classes that compete.
    initial : Vector or None
        v₀, if it is not 0.
    dtype : str or None
        Of the weights. None: that of the parameters, or float64 if the rule needs it.
    """

    def __init__(
        self,
        n_features: int,
        n_classes: int | None,
        parameters: LinearParameters | RankingParameters,
        initial: CompactVector | None = None,
        dtype: str | None = None,
    ) -> None:
        self.binary = n_classes is None
        self.n_classes = n_classes or 1
        self.parameters = p = parameters
        self.bias = float(p.bias)
        self.options = _core.Options(
            p.rule, p.learning_rate, p.margin, p.C, p.r, self.bias, p.delta, p.normalize,
            p.ties == "positive", p.average == "mistakes",
        )  # fmt: skip
        self.spare: list[NDArray[Any]] = []  # memory for replicas
        names = ["z"] + ["sum"] * p.averages + ["sigma"] * (p.rule == "arow")
        kind = np.dtype(dtype or ("float64" if RULES[p.rule].needs_float64 else p.dtype))
        self.weights: DenseWeights | SparseWeights
        if self.n_classes > MANY:
            self.weights = SparseWeights(names, kind, self.stride)
        else:
            self.weights = DenseWeights(names, kind, n_features, self.stride)
        self.biases = {name: np.full(self.n_classes, value) for name, value in BIASES}
        self.journal: Any = self._journal_type(p.max_voters or 0) if p.keeps_journal else None
        self.initial = None if initial is None else self.compacted(initial)
        if self.initial is not None:
            self.weights.begin(self.initial[0])
            self.biases["z_bias"][:] = self.initial[1]
        self._bind(_core.Progress(), n_features)
        if self.initial is not None:
            self.run.norm2 = self.run.norm2_error = inner(self.initial, self.initial)  # of unrounded weights

    def compacted(self, vector: CompactVector) -> CompactVector:
        """Return a vector in the form of the weights."""
        w, bias = vector
        if isinstance(self.weights, SparseWeights) and isinstance(w, np.ndarray):
            w = SparseWeights.of_arrays({"z": w})
        return w, bias

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.weights.dtype

    @property
    def averages(self) -> bool:
        return "sum" in self.weights.names

    @property
    def stride(self) -> int:
        """The weights per feature; there may be room for more."""
        return stride_of(None if self.binary else self.n_classes)

    @property
    def n_features(self) -> int:
        """The features in use; there may be room for more."""
        return self.core.width

    @property
    def run(self) -> _core.Progress:
        """Rounds, mistakes, updates and the other numbers of the run."""
        return self.core.run

    @property
    def _journal_type(self) -> Any:
        return _core.Journal32 if self.dtype == np.float32 else _core.Journal64

    def _bind(self, run: _core.Progress, n_features: int) -> None:
        """Give the core the weights as they are now."""
        core = self.weights.model(**self.biases, options=self.options, journal=self.journal, width=n_features)
        core.run = run
        self.core = core
        self._vectors: dict[str, CompactVector] = {}
        self.finished = False

    def bind_again(self) -> None:
        """Bind again after the weights were replaced."""
        self._bind(self.run, self.n_features)

    def forget_vectors(self) -> None:
        """Forget kept vectors, because learning continues."""
        if self.finished or self._vectors:
            self.finished, self._vectors = False, {}

    # ------------------------------------------------------------ learning

    def _widen(self) -> None:
        """Change the weights to float64: in float32, after so many steps, a step would hardly change anything."""
        self.settle()
        numbers, journal = self.numbers(), None if self.journal is None else self.journal.to_arrays()
        if journal is not None:
            journal["value"] = journal["value"].astype(np.float64)
        self.weights = self.weights.astype(np.float64)
        self.go_on(self.biases, numbers, journal)
        self._begin_rows(*self._of_rows)

    def learn(
        self,
        rows: _core.Rows,
        order: NDArray[np.int64],
        targets: NDArray[np.int32],
        weights: NDArray[np.float64] | None,
        cost: NDArray[np.float64] | None = None,
    ) -> None:
        self.forget_vectors()
        self.settled = self._waiting is None
        if self.binary:
            _core.learn_binary(self.core, rows, order, targets, weights)
        else:
            _core.learn_joint(self.core, rows, order, targets, weights, cost)
        self._check_precision()

    def _check_precision(self) -> None:
        if self.run.updates >= MOST_UPDATES and self.dtype == np.float32:
            self._widen()

    def learn_lists(self, lists: RankedRows, order: NDArray[np.int64]) -> None:
        """Play lists of candidates in the given order."""
        self.forget_vectors()
        how = lists.starts, lists.grades, lists.gains, lists.weights, lists.pairs
        _core.learn_lists(self.core, lists.rows, order, *how)
        self._check_precision()

    def finish(self) -> None:
        """End learning for now: vectors may be computed and kept, and the rows are forgotten."""
        self.forget_rows()
        self.spare.clear()
        self.finished = True

    def grow_features(self, n_features: int) -> None:
        """Add features; their weights start at zero."""
        self.settle()
        self.forget_vectors()
        if self.initial is not None and isinstance(self.initial[0], np.ndarray):
            more = np.zeros((n_features - len(self.initial[0]), self.stride), self.initial[0].dtype)
            self.initial = np.concatenate([self.initial[0], more]), self.initial[1]
        self.make_room(n_features)
        self.core.width = n_features

    def make_room(self, n_features: int) -> None:
        if n_features > self.weights.room[0]:  # the core knows of the whole capacity
            self.settle()
            self.weights = self.weights.with_room(n_features, self.stride)
            self.bind_again()

    def expect(self, n_classes: int) -> None:
        """Store the weights in the form for this number of classes, which will follow."""
        if n_classes > MANY and not self.binary and isinstance(self.weights, DenseWeights):
            self.settle()
            self.weights = SparseWeights.of_arrays(self.weights.arrays, stride_of(n_classes))
            self.bind_again()

    def add_class(self) -> None:
        """Add a class, which starts at zero; the room for classes doubles, so the cost per class stays constant."""
        self.settle()
        self.expect(self.n_classes + 1)
        self.n_classes += 1
        self.weights = self.weights.with_room(self.n_features, self.stride)
        for name, value in BIASES:
            self.biases[name] = np.append(self.biases[name], value)
        self.bind_again()

    def sort_classes(self, new_label: NDArray[np.int64]) -> None:
        """Renumber class c as ``new_label[c]``; afterwards there is no spare room for classes."""
        self.settle()
        self.weights = self.weights.sorted(new_label, self.stride)
        for bias in self.biases.values():
            bias[new_label] = bias.copy()
        if self.journal is not None:
            self.journal.relabel(new_label)
        self.bind_again()

    # ------------------------------------------------------------ hypotheses

    def survivals(self) -> NDArray[np.int64]:
        """Return m_k of every v_k that votes: all of them, or the ``max_voters`` longest survivors."""
        survival: NDArray[np.int64] = self._require_journal("survivals").survival
        limit = self.parameters.max_voters
        if limit is not None and len(survival) > limit:
            silent = np.argsort(-survival, kind="stable")[limit:]
            survival[silent] = 0
        return survival

    def _require_journal(self, what: Parameter | str) -> Any:
        if self.journal is None:
            raise ParameterError("{} needs the journal of all updates; train with {}", what, Parameter("keep", "all"))
        return self.journal

    def voter(self, k: int) -> CompactVector:
        """Return v_k, from the journal."""
        journal, bias = self._require_journal("a voter"), np.zeros(self.n_classes)
        if self.initial is not None:
            bias[:] = self.initial[1]
        if isinstance(self.weights, SparseWeights):
            sparse = SparseWeights(["z"], np.float64, self.stride)
            if self.initial is not None and isinstance(self.initial[0], SparseWeights):
                sparse.begin(self.initial[0])
            journal.replay(k, sparse.core, bias)
            return sparse.astype(self.dtype), bias
        v = np.zeros((self.n_features, self.stride))
        if self.initial is not None and isinstance(self.initial[0], np.ndarray):
            v[: len(self.initial[0])] = self.initial[0]
        journal.replay(k, v, bias)
        return v.astype(self.dtype), bias

    def check_hypothesis(self, hypothesis: str) -> None:
        """Raise ValueError if this run does not have the hypothesis."""
        check_name(hypothesis)
        named = Parameter("hypothesis", hypothesis)
        if HYPOTHESES[hypothesis].needs_journal:
            self._require_journal(named)
        if hypothesis == "averaged" and not self.averages:
            raise ParameterError("{} was not kept; train with {} or {}", named, named, Parameter("keep", "all"))

    def average_clock(self) -> tuple[float, float]:
        """Return (clock, total) such that the average is (clock·z − sum)/total."""
        return self.run.average_clock(self.parameters.average == "mistakes")

    def set_open(self, open: bool) -> None:
        """Set whether the average credits v_K with the example that it is about to predict."""
        self.run.open, self._vectors = open, {}

    def vector(self, hypothesis: str) -> Vector:
        """Return all weights with which a hypothesis predicts (none for ``voted``)."""
        return self.spread(self.compact(hypothesis))

    def spread(self, vector: CompactVector) -> Vector:
        """Return all weights of a vector of this shape."""
        w, bias = vector
        return w if isinstance(w, np.ndarray) else w.to_array(self.n_features), bias

    def column(self, hypothesis: str, c: int) -> NDArray[np.float64]:
        w, _ = self.compact(hypothesis)
        return w[:, c].astype(np.float64) if isinstance(w, np.ndarray) else w.column(c, self.n_features)

    def compact(self, hypothesis: str) -> CompactVector:
        """Return the weights with which a hypothesis predicts; without zeros if there are many classes."""
        self.check_hypothesis(hypothesis)
        self.settle()
        vectors = self._vectors
        if hypothesis in vectors:
            return vectors[hypothesis]
        if hypothesis == "voted":
            raise ParameterError(
                "a voted model has no single weight vector; ask for {} or {}",
                Parameter("hypothesis", "averaged"), Parameter("hypothesis", "last"),
            )  # fmt: skip
        if hypothesis in ("last", "averaged"):
            vector = of_run(self, hypothesis)
        else:
            vector = self.voter(choose_voter(hypothesis, self.survivals(), self.parameters.random_state))
        if not (is_finite(vector[0]) and np.isfinite(vector[1]).all()):
            raise overflowed("weights")
        if self.finished:
            vectors[hypothesis] = vector
        return vector

    def own_dots(self, rows: _core.Rows, name: str) -> NDArray[np.float64]:
        """Return w·x for each row and class, with w = z or the stored sum."""
        self.weights.dots(name, rows, self.parameters.normalize, out := np.empty((rows.n, self.n_classes)))
        return out

    def linear(
        self, rows: _core.Rows, w: NDArray[Any] | SparseWeights, bias: NDArray[np.float64], threads: int = 1
    ) -> NDArray[np.float64]:
        """Return scores under any weights of this shape; those of columns that the model has never met are 0."""
        scores = np.empty((rows.n, self.n_classes))
        if isinstance(w, np.ndarray):
            w = w if rows.d <= len(w) else np.pad(w, ((0, rows.d - len(w)), (0, 0)))
            _core.linear_scores(rows, w, self.parameters.normalize, scores, threads)
        else:
            w.dots("z", rows, self.parameters.normalize, scores, threads)
        scores += self.bias * bias
        return scores

    def mix(self, mixture: VectorMixture, threads: int = 1) -> None:
        """Add what replicas have learned."""
        self.forget_vectors()
        mixture.apply(self, threads)
        self.take_deferred()
        self._check_precision()

    # ------------------------------------------------------------ state

    def snapshot(self) -> dict[str, Any]:
        """Copy everything that learning changes."""
        self.settle()
        return {
            "arrays": self.weights.snapshot(),
            "biases": {name: array.copy() for name, array in self.biases.items()},
            "run": self.numbers(),
            "journal": None if self.journal is None else self.journal.to_arrays(),
        }

    def numbers(self) -> dict[str, Any]:
        return {name: getattr(self.run, name) for name in RUN}

    def __getstate__(self) -> dict[str, Any]:
        shape = self.n_features, None if self.binary else self.n_classes
        return {"made": (*shape, self.parameters, self.initial, self.dtype.name), "state": self.snapshot()}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        self.__init__(*pickled["made"])  # type: ignore[misc]
        self.restore(pickled["state"])
        self.finish()

    def restore(self, state: dict[str, Any]) -> None:
        """Return to a snapshot; raise ValueError if it does not fit this problem."""
        weights = (SparseWeights if "at" in state["arrays"] else DenseWeights).of_snapshot(state["arrays"])
        if weights.room[0] < self.n_features or weights.room[1] < self.stride:
            raise ValueError("too few weights")
        self.weights = weights
        self.go_on(state["biases"], state["run"], state["journal"])

    def go_on(self, biases: Arrays, numbers: Mapping[str, Any], journal: Arrays | None) -> None:
        """Continue with the current weights, and the given biases, numbers of a run and journal."""
        self.biases = {name: np.array(biases[name]) for name in self.biases}
        run, width = _core.Progress(), self.n_features
        for name in RUN:
            setattr(run, name, numbers[name])
        if self.journal is not None:
            self.journal = self._journal_type.from_arrays(
                self.parameters.max_voters or 0, **journal or {}, n_features=width, n_classes=self.n_classes
            )
        self._bind(run, width)


BIASES = (("z_bias", 0.0), ("sum_bias", 0.0), ("sigma_bias", 1.0))
