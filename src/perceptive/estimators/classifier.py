"""What all classifiers share as scikit-learn estimators."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from perceptive.certificates import Certificate, certify
from perceptive.data.dataset import Dataset
from perceptive.data.labels import Labels
from perceptive.errors import Parameter, ParameterError
from perceptive.estimators.data import (
    check_label,
    check_labels,
    check_rows,
    example_weights,
    hold_out,
    label_array,
    note_columns,
    row_of,
    sorted_classes,
    take,
    unchanged_if_it_fails,
)
from perceptive.estimators.run import LearnerType, RunMixin, one_at_a_time
from perceptive.estimators.signature import checked
from perceptive.learners.calibration import fit_temperature, probabilities, thinning
from perceptive.parameters import EstimatorParameters, TrainingParameters
from perceptive.training.loop import History


def _has_probabilities(self: Any) -> bool:
    if self.probability or self.hypothesis == "voted":
        return True
    said = "predict_proba needs probability=True or hypothesis='voted'"
    raise AttributeError(f"{said}; a model of the command line learns it by `perceptive train --holdout 0.1`")


class HeldOut(NamedTuple):
    """The examples that `fit` holds out and does not learn from."""

    rows: NDArray[np.int64]
    X: Any
    which: NDArray[np.int64]  # the class of each


class Beginning(NamedTuple):
    """The state in which `fit` starts."""

    classes: NDArray[Any]
    learner: Any
    taught: tuple[Any, Labels, NDArray[np.float64] | None]  # examples, labels, weights
    held: HeldOut | None


class ClassifierRunMixin(RunMixin[LearnerType]):
    """`partial_fit`, `predict`, `predict_proba` and the other methods of a classifier."""

    classes_: NDArray[Any]
    class_weight: Any
    certify: bool
    random_state: int
    probability: bool
    hypothesis: str

    _supervised = _multiclass = True  # what River asks of a classifier

    def __post_init__(self) -> None:
        river = sys.modules.get("river.base")  # which, where it is in use, asks what it is given before it has it learn
        if river is not None and not issubclass(type(self), river.Classifier):
            river.Classifier.register(type(self))

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """Return a copy as River's ensembles ask for it: untrained, unless with ``include_attributes``."""
        model: Self = copy.deepcopy(self) if include_attributes else clone(self)
        return model.set_params(**(new_params or {}))  # type: ignore[attr-defined, no-any-return]

    def _get_params(self) -> dict[str, Any]:
        return dict(self.get_params(deep=False))  # type: ignore[attr-defined]

    @classmethod
    def from_learner(cls, learner: Any) -> Self:
        """Make an estimator from a trained learner, for example one that the command line trained from files."""
        model = super().from_learner(learner)
        model.classes_ = sorted_classes(learner)
        return model

    @property
    def _calibrates(self) -> bool:
        """Whether scores become probabilities on examples that are held out; votes need none."""
        return self.probability and self.hypothesis != "voted"

    # ------------------------------------------------------------ learning

    def _check_parameters(self) -> tuple[dict[str, Any], TrainingParameters]:
        checked(vars(self), EstimatorParameters)
        return super()._check_parameters()

    def _check_examples(self, X: Any, reset: bool) -> Any:
        """Examples as the learner takes them."""
        return check_rows(self, X, reset)

    def _check_data(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        """Examples and labels, checked."""
        X, y = self._check_examples(X, reset), check_labels(y)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if n != len(y):
            raise ValueError(f"X has {n} rows, but y has {len(y)} labels; give one label per row")
        return X, y

    def _begin(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, parameters: dict[str, Any], training: TrainingParameters
    ) -> Beginning:
        """Check the examples of a `fit`, make a learner of their classes, and hold some of them out."""
        given = X
        X, y = self._check_data(X, y, reset=True)
        classes, which = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only, {classes.item()!r}: a classifier needs examples of at least 2 classes to fit"
            )
        learner = self._learner(classes=classes.tolist(), fixed=False, **parameters)
        X = self._read_as_before(learner, X, given)
        labels = Labels(learner.classes, which)
        held = hold_out(labels, training.validation_fraction, self.random_state, self._calibrates)
        weights = example_weights(y, classes, self.class_weight, sample_weight, ~held)
        if not held.any():
            return Beginning(classes, learner, (X, labels, weights), None)
        rest, kept = np.flatnonzero(~held), np.flatnonzero(held)
        taught = take(X, rest), Labels(learner.classes, which[rest]), take(weights, rest)
        return Beginning(classes, learner, taught, HeldOut(kept, take(X, kept), which[kept]))

    def _play(
        self, begun: Beginning, training: TrainingParameters, dataset: Dataset, decide: Callable[[], Any], **known: Any
    ) -> None:
        """Train a learner, calibrate and certify it; ``decide()`` gives the classes of the examples held out."""
        classes, learner, taught, held = begun

        def accuracy() -> float:
            assert held is not None
            return float(np.mean(decide() == held.which))

        score = accuracy if training.validation_fraction else None
        self._train(learner, training, dataset, score, classes_=classes, **known)
        if held is not None and self._calibrates:
            some = np.arange(0, len(held.which), thinning(len(held.which), len(classes)))
            learner.temperature = fit_temperature(learner.scores(take(held.X, some)), held.which[some])
        if self.certify:
            self.certificate_ = certify(learner, *taught)

    @one_at_a_time
    def partial_fit(
        self, X: Any, y: Any, classes: Sequence[Any] | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Continue learning: play one epoch over these examples, in the given order.

        Parameters
        ----------
        X : examples, in the same form as for `fit`
        y : array of labels
        classes : sequence of labels or None
            All classes, at the first call. Without it, new classes may appear at any time (only
            ``multiclass="joint"``).
        sample_weight : array or None
        """
        first = not hasattr(self, "learner_")
        parameters, _ = self._check_parameters()
        known = None if classes is None else np.unique(np.asarray(classes)).tolist()
        learner = self._learner(classes=known, **parameters) if first else self.learner_
        with learner.lock.learning():
            with unchanged_if_it_fails(self):
                given = X
                X, y = self._check_data(X, y, reset=first)
                self._check_unchanged(parameters, learner)
                check_label(y[0], learner)
                if known is not None and known != learner.classes:
                    raise ValueError(f"classes={known!r} is not what the first call announced: {learner.classes!r}")
                weights = example_weights(y, None, self.class_weight, sample_weight)
                if first:
                    X = self._read_as_before(learner, X, given, whole=False)
                dataset = learner.dataset(X, y, weights)
            self._warn_of_first(learner, X, first)
            self._learn_all(learner, dataset, lambda: {"classes_": sorted_classes(learner, y)})
        return self

    def _check_unchanged(self, parameters: dict[str, Any], learner: LearnerType) -> None:
        """Raise where a learner that goes on had other parameters."""

    def _weight(self, y: Any, w: float) -> float:
        """The weight of one example of a stream: its own times its class's."""
        weights = None if self.class_weight is None else example_weights([y], None, self.class_weight, [w])
        return w if weights is None else float(weights[0])

    @one_at_a_time
    def learn_one(self, x: Any, y: Any, w: float = 1.0) -> Self:
        """Learn from one example."""
        first, learner = not hasattr(self, "learner_"), self._going_on()
        check_label(y, learner)
        row = row_of(self, x, learner)
        learner.learn(row, y, self._weight(y, w))
        if first:
            note_columns(self, x, learner.space)
        if first or "_first" in self.__dict__:
            self._look_at(learner, [row], first)
        new = first or len(self.classes_) != len(learner.classes)
        known = {"classes_": sorted_classes(learner)} if new else {}
        self._take(learner, History() if first else None, **known)
        return self

    # ------------------------------------------------------------ predicting

    def decision_function(self, X: Any, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Return scores: one per row for two classes (> 0: the second), else one per class; vote shares if voted."""
        scores: NDArray[np.float64] = self._learned.scores(self._check_examples(X, reset=False), hypothesis)
        return scores[:, 1] - scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 2 else scores

    def predict(self, X: Any, hypothesis: str | None = None) -> NDArray[Any]:
        """Return the label of each example, by ``hypothesis`` or by any other hypothesis that was kept.

        All labels come from the same state of the learner, even if another thread trains it meanwhile.
        """
        learner, X = self._learned, self._check_examples(X, reset=False)
        classes, which = learner.asked(lambda: (learner.classes, learner.decisions(X, hypothesis)))
        known = self.classes_
        if self.learner_ is not learner or len(known) != len(classes):  # another thread is about to note new ones
            known = label_array(classes, known)
        labels: NDArray[Any] = known[which]
        return labels

    def predict_one(self, x: Any) -> Any:
        """Return the label of one example; None before anything was learned."""
        if not hasattr(self, "learner_") or not self.learner_.classes:
            return None
        return self.learner_.predict(row_of(self, x, self.learner_))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities, in the order of the scores.

        For ``voted``, the shares of the votes; an abstention counts for all classes equally. Otherwise
        softmax(a·scores) (two classes: the logistic function of a·score) with one a > 0 that makes the held-out labels
        most likely. The number of held-out examples limits how confident they can be.

        Probabilities are only as good as the scores. If columns of X differ much in size, `fit` warns
        (`perceptive.errors.ScaleWarning`), and the probabilities are poor too: scale the columns first. On
        scikit-learn's wine, the worst log loss over 10 splits is 0.7 unscaled, and 0.2 standardised.
        """
        return self._probabilities(self.decision_function(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each class for one example, as River does; empty before anything was learned.

        A stream has nothing to calibrate on: use ``hypothesis="voted"`` there, or start with `fit`.
        """
        if not hasattr(self, "learner_") or not self.learner_.classes:
            return {}
        learner = self.learner_
        row = row_of(self, x, learner)
        classes, score = learner.asked(lambda: (learner.classes, learner.score(row)))
        found = self._probabilities(np.asarray(score)[None])[0]
        return dict(zip(classes, found.tolist(), strict=True))

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        learner: Any = self.learner_
        voted = learner.parameters.hypothesis == "voted"
        if not voted and learner.temperature is None:
            raise ParameterError(
                "the probabilities were not calibrated; use fit with {} (not partial_fit), or {}",
                Parameter("probability", True), Parameter("hypothesis", "voted"),
            )  # fmt: skip
        return probabilities(scores, None if voted else learner.temperature)

    def certificate(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, witness: ArrayLike | None = None
    ) -> Certificate:
        """Compare this run with the theorem: see `Certificate`. It is hypothetical for data not trained on."""
        learner = self._learned
        X, y = self._check_data(X, y, reset=False)
        weights = example_weights(y, self.classes_, self.class_weight, sample_weight)
        return certify(learner, X, y, weights, witness=witness)
