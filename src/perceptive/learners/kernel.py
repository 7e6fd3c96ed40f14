"""The learner L of the notes in the dual: it remembers its mistakes; a kernel compares new examples with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptive.data.fingerprint import hash_examples
from perceptive.data.labels import NO_CLASSES, Labels, check_known, check_lengths, in_order_of_labels
from perceptive.data.sample_weights import as_floats, check_weights
from perceptive.errors import Parameter, ParameterError
from perceptive.kernels import Kernel
from perceptive.kernels.examples import listed
from perceptive.kernels.storage import kernel_from_plain
from perceptive.learners.class_learner import ClassLearner
from perceptive.learners.dual import Dual
from perceptive.learners.dual_learner import DualLearner
from perceptive.learners.kernel_dataset import KernelDataset
from perceptive.learners.kernel_values import Floats
from perceptive.learners.learner import at_one_moment
from perceptive.learners.new_classes import check_new, go_on_open, meet_output, open_dual, share
from perceptive.named_functions import Functions
from perceptive.parameters import KernelParameters
from perceptive.state import State, check_labels


class KernelLearner(DualLearner, ClassLearner):
    """An online learner of anything that a kernel compares.

    Two classes known in advance are one problem with signed α. Otherwise all classes compete with α_{i,y}
    (``multiclass="joint"``) and new ones may appear at any time, or each is learned against the rest ("ovr").

    Parameters
    ----------
    classes : sequence of labels or None
        All classes, if they are known in advance.
    fixed : bool
        Whether later classes are refused. If not, the first data give the classes; if these are two, they are one
        problem, and become competitors when a third class appears.
    **parameters
        See `perceptive.parameters.KernelParameters`. The default hypothesis is ``"last"``.

    Examples
    --------
    XOR, which no line separates:

    >>> from perceptive.kernels import Quadratic
    >>> from perceptive.learners import KernelLearner
    >>> L = KernelLearner(classes=[0, 1], kernel=Quadratic())
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> for _ in range(10):
    ...     L.learn_many(X, y)
    >>> L.predict_many(X, hypothesis="last")
    [0, 1, 1, 0]
    """

    learned_names = (*DualLearner.learned_names, "classes", "index", "announced", "temperature")

    def __init__(self, classes: Sequence[Any] | None = None, *, fixed: bool = True, **parameters: Any) -> None:
        super().__init__(KernelParameters.of_learner(parameters))
        self.takes_objects = False  # whether the files that it learned from were JSON lines
        self._begin(classes, fixed)
        if not self.announced and self.parameters.multiclass == "ovr":
            raise ParameterError(
                "{} needs the classes to be announced; give classes, or choose {}",
                Parameter("multiclass", "ovr"), Parameter("multiclass", "joint"),
            )  # fmt: skip
        if self.parameters.ties == "positive" and not self.binary:
            raise ParameterError("{} is about two classes; announce two", Parameter("ties", "positive"))

    @property
    def task(self) -> str:
        """ "binary", "joint" or "ovr"."""
        return "binary" if self.binary else str(self.parameters.multiclass)

    @property
    def _n_outputs(self) -> int:
        return 1 if self.binary else max(1, len(self.classes))

    def _new_dual(self, kernel: Kernel) -> Dual:
        return Dual(kernel, self.task, self._n_outputs, self.parameters)

    # ------------------------------------------------------------ learning

    def dataset(
        self,
        X: Any,
        y: Any,
        weights: Any = None,
        *,
        epochs: int | None = None,
        grow: bool = True,
        alpha_init: Any = None,
    ) -> KernelDataset:
        """Check examples and prepare them for learning; see `Learner.dataset`.

        ``alpha_init`` are signed coefficients to start from, one for each example (and class); only for an untrained
        learner.
        """
        with self.reading(listed(X), grow) as raw:
            rows, labels = self.as_rows(raw), Labels.of(y)
            if grow:
                check_new(self, labels.values)
            else:
                check_known(labels.values, self.index)
            kernel, examples = self.prepared(rows, grow)
            n = len(labels.which)
            check_lengths(len(examples), n)
            checked = check_weights(weights, n, self.parameters.rule)
            hashes = hash_examples(rows)
            if not grow:
                return KernelDataset(self, examples, labels, checked, hashes)
            dual = self._dual_or_start(kernel)
            alpha = None if alpha_init is None else _check_alpha(alpha_init, n, dual)
            dataset = KernelDataset(self, examples, labels, checked, hashes, dual, epochs)
            with self.lock.changing():
                if alpha is not None:
                    dual.start(examples, alpha, dataset.first_id)
                self.take(kernel, dual, rows)
            return dataset

    def meet_class(self, label: Any) -> None:
        """Add a class that was not known in advance; its coefficients start at zero."""
        with self.lock.learning(), self.lock.changing():
            first = not self.classes
            if self.announced:
                if self.binary and self.dual is not None:
                    open_dual(self.dual, str(self.parameters.multiclass), share(self))
                go_on_open(self)
            self.set_classes(in_order_of_labels([*self.classes, label]))
            if not first and self.dual is not None:
                meet_output(self.dual, self.index[label])

    # ------------------------------------------------------------ predicting

    @at_one_moment
    def scores(self, X: Any, hypothesis: str | None = None, normalized: bool | None = None) -> Floats:
        """Return scores of many examples: one per row for two classes, else one per row and class."""
        if not self.classes:
            raise ValueError(NO_CLASSES)
        predictor, X = self._dual_or_start(self.kernel).predictor(), self.read_raw(listed(X))
        self.check_features(X)
        normalized = self.parameters.normalized if normalized is None else normalized
        examples = self.as_predicted(X, predictor)
        scores = predictor.scores(examples, hypothesis or self.parameters.hypothesis, normalized)
        return scores[:, 0] if self.binary else scores

    def decisions(self, X: Any, hypothesis: str | None = None) -> NDArray[np.int64]:
        """Return the index of the class of each example."""
        return self.decide(self.scores(X, hypothesis))

    # ------------------------------------------------------------ files

    def state(self) -> State:
        """Return the whole state, as plain values and arrays."""
        with self.lock.exclusive():
            meta, arrays = super().state()
            more = {name: getattr(self, name) for name in ("takes_objects", "temperature", "announced", "fixed")}
            return State({**meta, "classes": check_labels(self.classes), **more}, arrays)

    @classmethod
    def from_state(cls, state: State, functions: Functions | None = None) -> Self:
        """Make a learner from what `state` returned; raise ValueError if the parts do not fit together."""
        meta = state.meta
        classes, announced, takes_objects = meta["classes"], meta["announced"], meta["takes_objects"]
        if len(set(classes)) != len(classes):
            raise ValueError("classes must be labels, each once")
        kernel = kernel_from_plain(meta["kernel"], state.arrays, functions or {})
        known = classes if announced or meta["parameters"]["multiclass"] == "ovr" else None
        learner = cls(known, fixed=meta.get("fixed", False), kernel=kernel, **meta["parameters"])
        learner.announced = announced
        learner.set_classes(classes)
        learner.takes_objects, learner.temperature = takes_objects, meta.get("temperature")
        learner._read_state(state, learner.task, learner._n_outputs)
        return learner


def _check_alpha(alpha_init: Any, n: int, dual: Dual) -> Floats:
    """Coefficients to start from: a row per example, a column per output."""
    alpha = as_floats(alpha_init, "alpha_init")
    if alpha.ndim == 1 and dual.n_outputs == 1:
        alpha = alpha[:, None]
    wanted = (n, dual.n_outputs)
    if alpha.shape != wanted or not np.isfinite(alpha).all():
        raise ValueError(f"alpha_init must hold finite numbers in the shape {wanted}, one row per example")
    if len(dual) or dual.forgetting is not None:
        raise ValueError("alpha_init is for a learner that has learned nothing, and without a budget")
    return alpha
