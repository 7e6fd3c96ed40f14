"""What all learners in the dual share: the kernel, the dual itself, and the facts of the run."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import numpy as np

from perceptive.data.dataset import Problem, Witness
from perceptive.data.feature_space import FeatureSpace
from perceptive.data.rows import BY_COLUMN, BY_NAME, hashed_rows, is_dicts, only_row
from perceptive.features.hashing import HashKernel
from perceptive.frames import is_frame
from perceptive.kernels import Kernel, as_kernel
from perceptive.kernels.custom import check_symmetric
from perceptive.kernels.examples import Dense, check_alike, in_double
from perceptive.kernels.storage import kernel_to_plain
from perceptive.kernels.vectors import vectors
from perceptive.learners.dual import Dual
from perceptive.learners.learner import NOTHING_LEARNED, Recorded, at_one_moment
from perceptive.learners.weight_vector import WeightVector
from perceptive.state import Arrays, State, plain_values
from perceptive.streams.file_format import BITS

ONE_SET = "a precomputed Gram matrix is about one set of examples"
WITNESSES = ("last", "averaged", "best")


class DualLearner(Recorded):
    """A learner that remembers its mistakes, and whose kernel compares new examples with them."""

    explained_by = "supports"
    # What learning changes, beside the dual.
    learned_names: tuple[str, ...] = ("kernel", "n_features", "seen", "first_epoch")

    def __init__(self, parameters: Any) -> None:
        self.parameters = parameters
        self.asked_kernel = as_kernel(parameters.kernel)  # as it was given
        self.kernel: Kernel = self.asked_kernel  # as it is used: "scale" replaced by a number
        self.dual: Dual | None = None
        self.space = FeatureSpace()  # how files become rows, where it learned from files
        self.seen = 0  # examples so far, which numbers them

    # ------------------------------------------------------------ examples

    def batch_of(self, x: Any) -> Any:
        """Return one example as a batch of one; x may be the only row of a matrix or frame, or a list of one dict."""
        of_rows = self.asked_kernel.vectors or self.asked_kernel.one_way
        shape: tuple[int, ...] = getattr(x, "shape", ())
        if hasattr(x, "tocsr") or (len(shape) == 2 and (of_rows or shape[0] == 1)) or (of_rows and is_dicts(x)):
            return only_row(x)
        return np.asarray(x)[None, :] if isinstance(x, np.ndarray) and x.ndim == 1 else [x]

    @property
    def open(self) -> bool:
        """Whether it is between two examples of a stream; see `Learner`."""
        return self.dual is not None and self.dual.open

    @open.setter
    def open(self, open: bool) -> None:
        if self.dual is not None:
            self.dual.set_open(open)

    def learned(self) -> Dual:
        """Return the dual; raise if nothing was learned."""
        if self.dual is None:
            raise ValueError(NOTHING_LEARNED)
        return self.dual

    @abstractmethod
    def _new_dual(self, kernel: Kernel) -> Dual:
        """Return a dual that has learned nothing: v₀ = 0."""

    def _dual_or_start(self, kernel: Kernel) -> Dual:
        """Return the dual; before the first example, one that predicts with v₀."""
        return self._new_dual(kernel) if self.dual is None else self.dual

    def as_rows(self, X: Any) -> Any:
        """Return rows as one array if the kernel compares vectors: a row alone then equals a row among many."""
        if not (self.asked_kernel.vectors and (is_frame(X) or (isinstance(X, list) and X))) or is_dicts(X):
            return X
        rows = vectors(X)
        return rows.array if isinstance(rows, Dense) else rows.matrix

    def read_raw(self, X: Any, grow: bool = False) -> Any:
        """Return rows of raw examples if it learned from files of rows, and of dicts; anything else unchanged."""
        if self.space.takes_raw(X):
            return self.space.examples(X, self.parameters.dtype, grow=grow).X(self.n_features or 0)
        hasher = self.hashing(X)
        return hashed_rows(self.space.named(X), hasher) if hasher is not None and is_dicts(X) else X

    @contextmanager
    def reading(self, X: Any, grow: bool) -> Iterator[Any]:
        """Give rows to make a dataset of; once it is made, their columns, and how names are hashed, are remembered."""
        columns, hasher = self.space.columns_of(X) if grow else [], self.hashing(X)
        rows = self.read_raw(X, grow)
        with self.lock.learning() if grow else self.lock.shared():
            yield rows
            self.space.remember(None, columns)
            self.space.hasher = hasher

    def hashing(self, X: Any) -> HashKernel | None:
        """Return what hashes the names of dicts, as those of files, if the kernel compares vectors; else None.

        Raises if the model learned from the other kind of examples.
        """
        if not self.asked_kernel.vectors or self.space.format is not None:
            return None
        if self.n_features is None:
            return HashKernel(BITS) if is_dicts(X) else None
        hasher = self.space.hasher
        if hasher is None and is_dicts(X):
            raise ValueError(BY_COLUMN)
        empty, shape = isinstance(X, list) and not X, getattr(X, "shape", ())
        if hasher is not None and not (
            is_dicts(X) or empty or shape[1:] == (hasher.width,)
        ):  # rows of files are hashed
            raise ValueError(BY_NAME)
        return hasher

    def prepared(self, X: Any, grow: bool) -> tuple[Kernel, Any]:
        """Return the kernel, and the examples in its form: for learning, or only for prediction."""
        if not grow:
            self.learned()
            self.check_features(X)
            return self.kernel, self.as_learned(X)
        fresh = self.dual is None
        if self.asked_kernel.one_way:
            check_gram(X, fresh)
        kernel = self.asked_kernel.resolved(X) if fresh else self.kernel
        examples = self.as_learned(X, kernel)
        if len(examples) == 0:
            raise ValueError("X has 0 rows; a minimum of 1 is required")
        if self.asked_kernel.pairwise:
            check_symmetric(np.asarray(X))
        if self.dual is not None and self.dual.supports is not None:
            check_alike(self.dual.supports, examples)
        self.check_features(X)
        return kernel, examples

    def take(self, kernel: Kernel, dual: Dual, X: Any) -> None:
        """Use this kernel, and this dual, which will learn from X, from now on."""
        n_features = self.check_features(X)
        with self.lock.changing():
            self.kernel, self.dual, self.n_features = kernel, dual, n_features

    def as_learned(self, X: Any, kernel: Kernel | None = None) -> Any:
        """Return examples in the form for learning: their numbers are rounded to the model's precision."""
        return (kernel or self.kernel).prepare(X, np.dtype(self.parameters.dtype))

    def as_predicted(self, X: Any, dual: Dual) -> Any:
        """Return examples in the precision for prediction."""
        examples = self.as_learned(X)
        return examples if dual.K.dtype == np.dtype(self.parameters.dtype) else in_double(examples)

    def check_features(self, X: Any) -> int | None:
        """Return how many columns X has, if the kernel compares vectors; raise if the model has a different number."""
        shape = getattr(X, "shape", None)
        if not self.kernel.vectors or shape is None or len(shape) != 2:
            return self.n_features
        if self.n_features is not None and shape[1] != self.n_features:
            raise ValueError(f"X has {shape[1]} features, but this model expects {self.n_features} features as input")
        return int(shape[1])

    # ------------------------------------------------------------ the run so far

    def _count(self, name: str) -> Any:
        if self.dual is None:
            return 0
        count = getattr(self.dual, name)
        return count * len(self.dual.journals) if name == "rounds" else np.sum(count)

    def facts(self, **own: Any) -> dict[str, Any]:
        supports = 0 if self.dual is None else len(self.dual)
        return {"kernel": repr(self.kernel), **super().facts(**own, features=self.n_features, supports=supports)}

    def weights_of(self, k: int, hypothesis: str) -> tuple[Any, float]:
        """Return the coefficients of the supports in score k, and its bias."""
        dual = self.learned().predictor()
        alpha = dual.coefficients(hypothesis, getattr(self.parameters, "normalized", False))
        return (1 if k else -1) * alpha[:, 0] if dual.task == "binary" else alpha[:, k], 0.0

    def outputs(self) -> Iterator[tuple[Any, WeightVector, int]]:
        """None: features have no weights."""
        return iter(())

    def snapshot(self) -> dict[str, Any]:
        """Copy everything that learning changes."""
        with self.lock.exclusive():
            dual = None if self.dual is None else self.dual.copy()
            found = {name: getattr(self, name) for name in self.learned_names}
            return {"dual": dual, "tally": copy.copy(self.tally), **found}

    def restore(self, state: dict[str, Any]) -> None:
        """Return to a snapshot; datasets that are half played cannot continue."""
        dual = None if state["dual"] is None else state["dual"].copy()
        with self.lock.learning(), self.lock.changing():
            for name, value in {**state, "dual": dual, "tally": copy.copy(state["tally"])}.items():
                setattr(self, name, value)

    @at_one_moment
    def problems(self, witness: Any = None) -> list[Problem]:
        """Return the sequences v₀, v₁, … of the theorems; witnesses are coefficients of the supports."""
        if witness is not None:
            raise ValueError("a kernel model takes no witness: its vectors are sums over its supports; leave it out")
        dual, p = self.learned().in_double(), self.parameters  # margins decide here, and rounding must not
        found = []
        for c, journal in enumerate(dual.journals):
            mine = slice(c, c + 1) if dual.task == "ovr" else slice(None)
            problem = Problem(
                **p.rule_facts(),
                rounds=dual.rounds,
                mistakes=int(dual.mistakes[c]),
                updates=int(dual.made[c]),
                radius2=float(dual.radius2[c]),
                witnesses={} if dual.forgetting is not None else _witnesses(dual, mine),
                delta=p.delta,
                key=c,
                start_length=None if dual.initial is None else math.sqrt(max(0.0, float(journal.length2[0]))),
                certified=dual.forgetting is None,
            )
            found.append(problem)
        return found

    # ------------------------------------------------------------ files

    def state(self) -> State:
        """Return the whole state, as plain values and arrays."""
        with self.lock.exclusive():
            arrays: Arrays = {}
            names = [f.name for f in fields(self.parameters) if f.name != "kernel"]
            meta: dict[str, Any] = {
                "parameters": plain_values({name: getattr(self.parameters, name) for name in names}),
                "kernel": kernel_to_plain(self.kernel, arrays),
                **self.recorded(),
                **self.space.state().meta,
                "dual": None,
                "seen": self.seen,
            }
            if self.space.hasher is not None:
                meta["bits"] = self.space.hasher.bits
            if self.dual is not None:
                meta["dual"], more = self.dual.state()
                arrays |= more
            return State(meta, {name: array.copy() for name, array in arrays.items()})

    def _read_state(self, state: State, task: str, n_outputs: int) -> None:
        meta = state.meta
        self.space.hasher = HashKernel(meta["bits"]) if meta.get("bits") else None
        self.space.restore(State(meta, {}))
        self.restore_recorded(meta)
        self.seen = meta["seen"]
        if meta["dual"] is not None:
            part = State(meta["dual"], state.arrays)
            self.dual = Dual.from_state(part, self.kernel, task, n_outputs, self.parameters)


def check_gram(X: Any, fresh: bool) -> None:
    """Raise ValueError if this cannot be the Gram matrix of all training examples."""
    if not fresh:
        raise ValueError(f"{ONE_SET}; give the kernel itself, or start again")
    shape = np.shape(X) if isinstance(X, np.ndarray) else ()
    if len(shape) == 2 and shape[0] != shape[1]:
        raise ValueError(f"the precomputed Gram matrix should be square, not {shape[0]} × {shape[1]}")


def _witnesses(dual: Dual, mine: slice) -> dict[str, Witness]:
    """Return the vectors of the hypotheses, as coefficients of the supports."""
    found: dict[str, Witness] = {}
    for name in WITNESSES if dual.supports is not None else ():
        u = dual.coefficients(name)[:, mine]
        on_supports = dual.K.weighted(dual.supports, dual.supports, u)
        length = math.sqrt(max(0.0, float((u * on_supports).sum())))
        if length > 0.0:
            start = np.zeros((0, u.shape[1])) if dual.initial is None else dual.initial[:, mine]
            along = float((start * on_supports[: len(start)]).sum()) / length
            found[name] = Witness(u, length, along)
    return found
