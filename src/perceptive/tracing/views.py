"""What a table shows of a learner: its weights, how its score comes about, and the margins of a vector u."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.data.dataset import Dataset
from perceptive.data.labelled_rows import ALL, margins_of
from perceptive.errors import ParameterError
from perceptive.learners.kernel import KernelLearner
from perceptive.learners.linear import LinearLearner
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.sequence import SequenceLearner
from perceptive.tracing.table import Weights, shown

Floats = NDArray[np.float64]
Margin = tuple[float | None, float]  # of u on the examples, where it can be told, and v·u


def numbers(X: Any, name: str = "X") -> Floats:
    """Rows of numbers, or an error that says what to give."""
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold rows of numbers, all of one length") from None
    if not np.isfinite(rows).all() and name != "X":
        raise ParameterError("{} contains NaN or inf; give finite numbers", name)
    if not np.isfinite(rows).all():
        raise ValueError(f"{name} contains NaN or inf")
    return rows


class View:
    """A learner as the table shows it: its vector v, and what that says of the examples; this one starts from 0."""

    learner: Any

    def __init__(self, learner: Any, X: Any, y: Any, initial: Any) -> None:
        if initial is not None:
            raise ValueError(f"{type(learner).__name__} starts from 0; leave initial out")
        self.learner, self.X, self.y = learner, list(X), list(y)
        self.dataset: Dataset = learner.dataset(self.X, self.y)

    def vector(self) -> Floats:
        raise NotImplementedError

    def margin(self, u: Floats) -> float:
        """The smallest margin of a unit vector on the examples."""
        raise NotImplementedError

    def weights(self) -> Weights:
        return list(self.vector().tolist())

    def length2(self) -> float:
        v = self.vector()
        return float(np.vdot(v, v))

    def along(self, u: Any) -> Margin:
        """The margin of u/‖u‖ on the examples, and v·u/‖u‖."""
        v = self.vector()
        u = unit(u, v.shape)
        return self.margin(u), float(np.vdot(v, u))

    def example(self, i: int) -> Any:
        return self.X[i]

    def score(self, i: int) -> float | list[float]:
        score = self.learner.score(self.X[i], "last")
        return np.asarray(score).tolist() if isinstance(score, np.ndarray) else float(score)

    def spelled(self, i: int) -> str:
        """The sum that the score is."""
        return ""

    def prediction(self, i: int) -> Any:
        return self.learner.predict(self.X[i], "last")


def unit(u: Any, shape: tuple[int, ...]) -> Floats:
    """A vector u of this shape, of length 1."""
    u = numbers(u, "u")
    if u.size != math.prod(shape) or not u.any():
        raise ParameterError(f"{{}} has {u.size} numbers; give {' × '.join(map(str, shape))}, not all of them 0", "u")
    scaled: Floats = u.reshape(shape) / math.sqrt(float(np.vdot(u, u)))
    return scaled


def lead(learner: Any, scores: Floats, y: list[Any]) -> float:
    """The smallest margin: of two classes y·score, of more what the right one has more than the next."""
    truth, binary = np.array([learner.index[label] for label in y]), scores.shape[1] == 1
    return float(margins_of(scores.copy(), np.where(truth == 1, 1, -1) if binary else truth, binary).min())


class Rows(View):
    """Two classes, or K that compete: the constant feature stands last."""

    learner: LinearLearner

    def __init__(self, learner: LinearLearner, X: Any, y: Any, initial: Any) -> None:
        rows = numbers(X)
        if rows.ndim != 2:
            raise ValueError(f"X has the shape {rows.shape}; give rows of numbers")
        super().__init__(learner, rows, y, None)
        if not (learner.binary or learner.joint):
            raise ValueError("a table is of one problem: announce two classes, or let them compete")
        bias = learner.bias
        self.rows = np.hstack([rows, np.full((len(rows), 1), bias)]) if bias else rows
        self.K = learner.vectors[ALL].n_classes
        if initial is not None:
            v, shape = numbers(initial, "initial"), (self.K, self.rows.shape[1])
            if v.size != math.prod(shape):
                raise ParameterError(f"{{}} has {v.size} numbers; give {' × '.join(map(str, shape))}", "initial")
            start = np.zeros((rows.shape[1], learner.vectors[ALL].stride))
            start[:, : self.K] = v.reshape(shape)[:, : rows.shape[1]].T
            learner.start({ALL: (start, v.reshape(shape)[:, -1].copy() if bias else np.zeros(self.K))})

    def vector(self) -> Floats:
        """v, a row for each class that competes."""
        w, b = self.learner.vectors[ALL].vector("last")
        rows = np.asarray(w[:, : self.K].T, np.float64)
        return np.hstack([rows, b[:, None]]) if self.learner.bias else rows

    def weights(self) -> Weights:
        v: list[list[float]] = self.vector().tolist()
        return v[0] if self.learner.binary else v

    def margin(self, u: Floats) -> float:
        return lead(self.learner, self.rows @ u.T, self.y)

    def example(self, i: int) -> Any:
        return self.rows[i].tolist()

    def spelled(self, i: int) -> str:
        """v_1·x_1 + v_2·x_2 + …, of two classes."""
        v = self.vector()
        terms = [f"{shown(a)}·{shown(b)}" for a, b in zip(v[0].tolist(), self.rows[i].tolist(), strict=True)]
        return " + ".join(terms) if self.learner.binary else ""


class Lists(View):
    """Lists of candidates, one of which is best."""

    learner: RankingLearner

    def __init__(self, learner: RankingLearner, X: Any, y: Any, initial: Any) -> None:
        super().__init__(learner, [numbers(xs) for xs in X], y, initial)

    def vector(self) -> Floats:
        v: Floats = self.learner.vector.vector("last")[0][:, 0].astype(np.float64)
        return v

    def margin(self, u: Floats) -> float:
        """By how much the best of each list leads the next."""
        if not all(isinstance(best, int | np.integer) for best in self.y):
            raise ValueError("u needs one best candidate in each list; leave it out")
        lists = [(xs, b) for xs, b in zip(self.X, self.y, strict=True) if len(xs) > 1]
        return min((float(min(u @ (xs[b] - x) for j, x in enumerate(xs) if j != b)) for xs, b in lists), default=0.0)

    def example(self, i: int) -> Any:
        return self.X[i].tolist()

    def prediction(self, i: int) -> Any:
        """The place of the best, from 0 on."""
        return self.learner.find_best(self.X[i], "last")


class Duals(View):
    """The dual: α counts the mistakes on each example, signed; K classes have K of them."""

    learner: KernelLearner

    def __init__(self, learner: KernelLearner, X: Any, y: Any, initial: Any) -> None:
        if learner.dual is not None:
            raise ValueError("this learner has supports from before, which the table has no column for; give a new one")
        self.learner, self.X, self.y = learner, list(X), list(y)
        dataset = learner.dataset(self.X, self.y, alpha_init=initial)
        self.dataset, self.first = dataset, dataset.first_id

    def vector(self) -> Floats:
        """α, the coefficients of the examples; of equal ones the first has them."""
        dual = self.learner.learned()
        full = np.zeros((len(self.X), dual.n_outputs))
        for number, row in zip(dual.ids, dual.alpha, strict=True):
            full[number - self.first] = row
        return full

    def gram(self) -> Floats:
        """K + b²."""
        kernel: Any = self.learner.kernel
        return np.asarray(kernel.gram(self.X), np.float64) + float(self.learner.parameters.bias) ** 2

    def weights(self) -> Weights:
        alpha = self.vector()
        return list(alpha[:, 0].tolist() if alpha.shape[1] == 1 else alpha.tolist())

    def length2(self) -> float:
        alpha = self.vector()
        return float(np.vdot(alpha, self.gram() @ alpha))

    def along(self, u: Any) -> Margin:
        """u = Σ u_i φ(x_i), given by its coefficients; those of K classes in K columns."""
        u, K, alpha = numbers(u, "u"), self.gram(), self.vector()
        if u.size != alpha.size or np.vdot(u.reshape(alpha.shape), K @ u.reshape(alpha.shape)) <= 0:
            shape = " × ".join(map(str, alpha.shape))
            raise ValueError(f"u has {u.size} coefficients; give {shape}, one row for each example, with ‖u‖ > 0")
        u = u.reshape(alpha.shape)
        scores = K @ u / math.sqrt(float(np.vdot(u, K @ u)))
        return lead(self.learner, scores, self.y), float(np.vdot(alpha, scores))

    def spelled(self, i: int) -> str:
        """α_1·K(x_1, x) + …, of two classes, over the supports."""
        alpha, column = self.vector()[:, 0], self.gram()[:, i]
        terms = [f"{shown(float(a))}·{shown(float(k))}" for a, k in zip(alpha, column, strict=True) if a]
        return " + ".join(terms) if self.learner.binary else ""


class Sentences(View):
    """Sentences and their labels."""

    learner: SequenceLearner

    def weights(self) -> Weights:
        """The weights that are not 0, by feature and label."""
        return {f"{name}|{label}": w for name, label, w in sorted(self.learner.heaviest(1 << 20, "last")) if w}

    def length2(self) -> float:
        return math.fsum(w * w for _, _, w in self.learner.heaviest(1 << 20, "last"))

    def along(self, u: Any) -> Margin:
        """u by the names of weights; its margin is left to the updates, since labellings are too many."""
        if not isinstance(u, dict) or not all(isinstance(w, int | float) and math.isfinite(w) for w in u.values()):
            raise ValueError("u of a tagger is a dict of weights, named as in the table: {'word[0] = Ziv|B': 1.0}")
        length = math.sqrt(math.fsum(w * w for w in u.values()))
        if not length:
            raise ValueError("u has no weight; give one that is not 0")
        v: Any = self.weights()
        return None, math.fsum(w * v.get(name, 0.0) for name, w in u.items()) / length

    def example(self, i: int) -> Any:
        return " ".join(token if isinstance(token, str) else str(token[0]) for token in self.X[i])


VIEWS: dict[type, type[View]] = {
    LinearLearner: Rows,
    RankingLearner: Lists,
    KernelLearner: Duals,
    SequenceLearner: Sentences,
}
