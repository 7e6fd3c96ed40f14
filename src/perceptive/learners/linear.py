"""The learner L of the notes for two or more classes: plain vectors, one loop, every hypothesis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive import _core
from perceptive.data.constant_feature import frozen
from perceptive.data.dataset import Problem
from perceptive.data.feature_space import FeatureSpace
from perceptive.data.labelled_rows import ALL, LabelledRows, Pair
from perceptive.data.labels import NO_CLASSES, Labels, check_known, check_lengths, in_order_of_labels
from perceptive.data.meeting import meeting
from perceptive.data.rows import in_parts, single_row
from perceptive.data.sample_weights import check_weights
from perceptive.errors import Parameter, ParameterError, literal
from perceptive.learners.class_learner import (
    ClassLearner,
    check_cost,
    check_problems,
    combine_ovo,
    combine_ovr,
    name_of_output,
    perceptron_criterion,
)
from perceptive.learners.learner import at_one_moment
from perceptive.learners.new_classes import check_new, go_on_open, open_vectors
from perceptive.learners.one_dict import learn_dict, predict_dict
from perceptive.learners.vector_learner import (
    VectorLearner,
    problems_of,
    score_rows,
    state_of_vector,
    vector_from_state,
)
from perceptive.learners.weight_vector import WeightVector
from perceptive.learners.weights import Vector
from perceptive.parameters import LinearParameters
from perceptive.state import State, check_labels, numbered, plain_values


def check_reference(reference: Any, labels: Sequence[Any], all_known: bool) -> None:
    """Raise where the class without a problem of its own is not among the classes, if these are all."""
    if reference is not None and all_known and reference not in labels:
        raise ParameterError(
            "{} is not one of the classes " + literal(f"{[*labels]!r}"), Parameter("reference", reference)
        )


class LinearLearner(ClassLearner, VectorLearner):
    """An online learner: it predicts, sees the truth, and learns from its mistakes.

    Two classes known in advance are one binary problem. Otherwise, classes may appear at any time: the learner then
    keeps a vector per class from the first example on (``multiclass="joint"``), so that a third class finds exactly
    what a joint learner would have learned from the first two.

    Parameters
    ----------
    classes : sequence of labels or None
        All classes, if they are known in advance.
    fixed : bool
        Whether later classes are refused. If not, the first data give the classes; if these are two, they are one
        binary problem, and become competitors when a third class appears.
    provisional : bool
        Whether the classes are only the first two that appeared: then a third one raises `NewClass`, until `finish`.
    **parameters
        See `perceptive.parameters.LinearParameters`. The default hypothesis is ``"last"``.

    Attributes
    ----------
    space : FeatureSpace
        How examples become rows.
    vectors : dict
        The `WeightVector` of each problem, by the classes of the problem.

    Examples
    --------
    The films of the lecture notes: two critics, and whether the film made a profit.

    >>> from perceptive.learners import LinearLearner
    >>> L = LinearLearner(classes=["loss", "profit"])
    >>> L.score((1, 1)), L.predict((1, 1))
    (0.0, 'loss')
    >>> [L.learn(x, y) for x, y in [((1, 1), "loss"), ((3, 2), "profit"), ((2, 4), "profit")]]
    [True, True, False]
    >>> L.score((4, 4)), L.predict((4, 4))
    (12.0, 'profit')
    """

    parameters: LinearParameters

    def __init__(
        self, classes: Sequence[Any] | None = None, *, fixed: bool = True, provisional: bool = False, **parameters: Any
    ) -> None:
        self.parameters = p = LinearParameters.of_learner(parameters)
        self.provisional = provisional
        self.space = FeatureSpace.declared(p.bits, p.n_features)
        self.vectors: dict[Pair, WeightVector] = {}
        self.cost: NDArray[np.float64] | None = None
        self._begin(classes, fixed and not provisional)
        if p.ties == "positive" and self.joint:
            raise ParameterError(
                "{} is about two classes; announce two, or choose {} or {}",
                Parameter("ties", "positive"), Parameter("multiclass", "ovr"), Parameter("multiclass", "ovo"),
            )  # fmt: skip
        if p.cost is not None and not self.announced:
            raise ParameterError("{} needs the classes to be announced", "cost")

    # ------------------------------------------------------------ shape

    @property
    def bias(self) -> float:
        """Value of the constant feature; nan until the first rows determine it."""
        return math.nan if self.parameters.bias == "auto" else float(self.parameters.bias)

    @property
    def binary(self) -> bool:
        """Whether this is one problem of +1 against −1."""
        return super().binary and self.parameters.cost is None

    @property
    def joint(self) -> bool:
        """Whether all classes compete in one problem."""
        return not self.binary and self.parameters.multiclass == "joint"

    def set_classes(self, labels: list[Any]) -> None:
        """Set the classes, in this order."""
        check_problems(self.parameters.multiclass, len(labels))
        super().set_classes(labels)
        check_reference(self.parameters.reference, labels, self.announced)
        if self.parameters.cost is not None:
            self.cost = check_cost(self.parameters.cost, len(labels))

    def pairs(self) -> list[Pair]:
        """Return the problems that these classes need."""
        if self.binary or self.joint:
            return [ALL]
        if self.parameters.multiclass == "ovo":
            return list(combinations(range(len(self.classes)), 2))
        return [(k,) for k, label in enumerate(self.classes) if label != self.parameters.reference]

    def _open_vectors(self, n_features: int) -> None:
        """Make room for so many weights; problems that are not there yet start now, at zero."""
        for vector in self.vectors.values():
            if n_features > vector.n_features:
                vector.grow_features(n_features)
        self.vectors = self._new_vectors(n_features)
        self.open = self._open

    def _new_vectors(self, n_features: int) -> dict[Pair, WeightVector]:
        """Return all vectors; problems that have none yet get one of zeros."""
        n_classes = len(self.classes) if self.joint else None
        return {
            pair: self.vectors.get(pair) or WeightVector(n_features, n_classes, self.parameters)
            for pair in (self.pairs() if self.classes else [])
        }

    def start(self, initial: Mapping[Pair, Vector]) -> None:
        """Forget everything learned, and start from the given vectors."""
        with self.lock.learning(), self.lock.changing():
            for w, _ in initial.values():
                self.space.meet_columns(np.flatnonzero(w.any(axis=1)))
            n_classes, p = len(self.classes) if self.joint else None, self.parameters
            self.first_epoch, self.temperature, self.tally = None, None, _core.Tally()
            self.vectors = {
                pair: WeightVector(self.space.placed, n_classes, p, (self.space.by_place(w), bias))
                for pair, (w, bias) in initial.items()
            }

    def meet_class(self, label: Any) -> None:
        """Add a class that was not known in advance; its weights start at zero.

        Competing classes are numbered in order of appearance, until `sort_classes`.
        """
        with self.lock.learning(), self.lock.changing():
            if self.announced:
                if self.binary:
                    open_vectors(self)
                go_on_open(self)
            old = self.classes
            if self.joint:
                self.set_classes([*old, label])
                for vector in self.vectors.values():
                    vector.add_class()
            else:
                moved = self._sort_classes([*old, label])
                self.vectors = {tuple(int(moved[c]) for c in pair): v for pair, v in self.vectors.items()}
            self._open_vectors(self.space.placed)

    def _sort_classes(self, labels: list[Any]) -> NDArray[np.int64]:
        """Sort these classes, and use them; return the new number of each."""
        self.set_classes(in_order_of_labels(labels))
        return np.fromiter(map(self.index.__getitem__, labels), np.int64, len(labels))

    # ------------------------------------------------------------ learning

    def dataset(
        self, X: Any, y: Any, weights: Any = None, *, epochs: int | None = None, grow: bool = True
    ) -> LabelledRows:
        """Check rows and their labels, and prepare them for learning; see `Learner.dataset`."""
        labels = Labels.of(y)
        n = len(labels.which)
        if not grow:
            with self.lock.learning(), self.lock.exclusive():
                check_known(labels.values, self.index)
                rows = self.space.whole_rows(X)
            check_lengths(rows.n, n)
            return LabelledRows(self, rows, labels, check_weights(weights, n, self.parameters.rule))
        with self.lock.learning():
            check_new(self, labels.values)
            weights = check_weights(weights, n, self.parameters.rule)
            if not self.vectors and self.space.hashed and not self.binary:
                self.space.place_as_met()
            space, first = self.space, not self.vectors
            alone = space.vocabulary is not None or space.places is not None
            with self.lock.exclusive() if alone else nullcontext(), meeting(space, X, first) as (rows, keep):
                check_lengths(rows.n, n)
                with self.lock.changing():
                    self.parameters = frozen(self.parameters, rows, weights, first=epochs is None)
                    self._open_vectors(max(space.placed, rows.d))
                    for vector in self.vectors.values():
                        vector.begin(rows, defer=epochs is not None)
                    keep()
        return LabelledRows(self, rows, labels, weights)

    def batch_of(self, x: Any) -> Any:
        """Return one example as a batch of one."""
        return single_row(x)

    def learn(self, x: Any, y: Any, weight: float = 1.0) -> bool:
        """Learn from x with the label y, by the rule. Return whether it was a mistake."""
        if type(x) is dict and weight == 1.0:
            mistake = learn_dict(self, x, y)
            if mistake is not None:
                return mistake
        return super().learn(x, y, weight)

    # ------------------------------------------------------------ predicting

    def predict(self, x: Any, hypothesis: str | None = None) -> Any:
        """Return the label of x."""
        found = predict_dict(self, x, hypothesis or self.parameters.hypothesis) if type(x) is dict else None
        return super().predict(x, hypothesis) if found is None else found[0]

    @at_one_moment
    def decisions(self, X: Any, hypothesis: str | None = None) -> NDArray[np.int64]:
        """Return the index of the class of each row."""
        return self.decisions_of(self.space.rows(X, first=not self.vectors), hypothesis)

    @at_one_moment
    def decisions_of(self, rows: _core.Rows, hypothesis: str | None = None) -> NDArray[np.int64]:
        """Return the same for rows that its space has made; scores are computed in parts."""
        parts = in_parts(rows.n, len(self.classes))
        return np.concatenate([self.decide(self._scores_of(rows[some], hypothesis)) for some in parts])

    @at_one_moment
    def scores(self, X: Any, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Return scores of many examples: one per row for two classes, else one per row and class."""
        return self._scores_of(self.space.rows(X, first=not self.vectors), hypothesis)

    def _scores_of(self, rows: _core.Rows, hypothesis: str | None) -> NDArray[np.float64]:
        if not self.classes:
            raise ValueError(NO_CLASSES)
        hypothesis = hypothesis or self.parameters.hypothesis
        vectors = self.vectors or self._new_vectors(rows.d)  # before the first example: v₀ = 0
        if self.binary or self.joint:
            scores = score_rows(vectors[ALL], rows, hypothesis, self.threads)
            return scores[:, 0] if self.binary else scores
        parts = {pair: score_rows(vector, rows, hypothesis, self.threads)[:, 0] for pair, vector in vectors.items()}
        reduction = combine_ovr if self.parameters.multiclass == "ovr" else combine_ovo
        return reduction(parts, rows.n, len(self.classes))

    @at_one_moment
    def criterion(self, X: Any, y: Sequence[Any], hypothesis: str | None = None) -> float:
        """Return the perceptron criterion E_p(w): −Σ y·score of the mistakes, or Σ max(0, best rival − score of y)."""
        labels, which = Labels.of(y)
        rows, index = self.space.rows(X, first=not self.vectors), self.index
        check_lengths(rows.n, len(which))
        check_known(labels, index)
        truth = np.array([index[label] for label in labels], dtype=np.int64)[which]
        scored = ((self._scores_of(rows[i], hypothesis), truth[i]) for i in in_parts(rows.n, len(self.classes)))
        return sum(perceptron_criterion(*part) for part in scored)

    # ------------------------------------------------------------ the run so far

    def outputs(self) -> Iterator[tuple[Any, WeightVector, int]]:
        """Return each score: its name, and where its weights are."""
        for pair, vector in self.vectors.items():
            for k in range(vector.n_classes):
                yield name_of_output(self.classes, pair, None if vector.binary else k), vector, k

    @at_one_moment
    def problems(self, witness: ArrayLike | None = None) -> list[Problem]:
        """Return the sequences v₀, v₁, … of the theorems."""
        return problems_of(self.vectors, witness, self.space)

    def finish(self) -> None:
        """End learning for now: no more classes are expected, and predictions may compute whole vectors."""
        with self.lock.changing():
            self.provisional = False
            self.sort_classes()
            super().finish()

    def sort_classes(self) -> None:
        """Sort classes that appeared one by one by their labels."""
        with self.lock.changing():
            if self.joint and not self.announced and self.classes != in_order_of_labels(self.classes):
                new_label = self._sort_classes(self.classes)
                for vector in self.vectors.values():
                    vector.sort_classes(new_label)

    # ------------------------------------------------------------ state

    def state(self) -> State:
        """Return the whole state, as plain values and arrays."""
        with self.lock.exclusive():
            self.check_growth()
            space = self.space.state()
            meta: dict[str, Any] = {
                **space.meta,
                "parameters": plain_values(asdict(self.parameters)),
                "classes": check_labels(self.classes),
                "announced": self.announced,
                "fixed": self.fixed,
                **self.recorded(),
                "temperature": self.temperature,
                "problems": [],
            }
            meta |= {"provisional": True} if self.provisional else {}  # of a checkpoint
            arrays = dict(space.arrays)
            for i, (pair, vector) in enumerate(self.vectors.items()):
                state = state_of_vector(vector)
                meta["problems"].append({"pair": pair, **state.meta})
                arrays |= state.within(f"{i}.").arrays
            return State(meta, arrays)

    @classmethod
    def from_state(cls, state: State, functions: Any = None) -> Self:
        """Make a learner from what `state` returned; raise ValueError if the parts do not fit together."""
        meta, arrays = state
        classes, how = meta["classes"], {name: meta.get(name, False) for name in ("fixed", "provisional")}
        learner = cls(classes if meta["announced"] else None, **how, **meta["parameters"])
        if not learner.announced:
            learner.set_classes(classes)
        learner.space.restore(state)
        if meta["problems"] and [tuple(p["pair"]) for p in meta["problems"]] != learner.pairs():
            raise ValueError("problems and classes do not match")
        parts, n_classes = numbered(arrays), len(classes) if learner.joint else None
        for i, facts in enumerate(meta["problems"]):
            vector = vector_from_state(State(facts, parts[i]), learner.space.placed, n_classes, learner.parameters)
            learner.vectors[tuple(facts["pair"])] = vector
            learner._open = facts["run"].get("open", False)
        learner.restore_recorded(meta)
        learner.temperature = meta.get("temperature")
        return learner
