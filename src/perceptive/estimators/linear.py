"""`LinearClassifier`: the linear learner as a scikit-learn estimator."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from perceptive.certificate import Certificate, certify, certify_lessons
from perceptive.estimators.data import (
    check_data,
    check_rows,
    example_weights,
    hold_out,
    label_array,
    take,
    unchanged_if_it_fails,
)
from perceptive.estimators.initial import initial_vectors
from perceptive.estimators.progress import progress_bar
from perceptive.estimators.run import RunMixin, nothing_half_learned
from perceptive.features.vocabulary import Vocabulary
from perceptive.learners.calibration import fit_temperature, probabilities
from perceptive.learners.lesson import Labels
from perceptive.learners.linear import LinearLearner
from perceptive.learners.problem import Vector
from perceptive.learners.rows import is_dicts
from perceptive.parameters import EstimatorParameters, LinearParameters, TrainingParameters
from perceptive.streams import Stream
from perceptive.streams import open as open_stream
from perceptive.streams.blocks import Paths
from perceptive.training import History, train
from perceptive.training.source import Source
from perceptive.training.stream import Run, calibrate

LEARNER = [f.name for f in fields(LinearParameters)]
TRAINING = [f.name for f in fields(TrainingParameters)]
HELD_OUT = 0.1  # for calibration, where nothing is held out for early stopping


def _has_probabilities(self: LinearClassifier) -> bool:
    if self.probability or self.hypothesis == "voted":
        return True
    raise AttributeError("predict_proba needs probability=True or hypothesis='voted'")


class LinearClassifier(RunMixin, ClassifierMixin, BaseEstimator):
    """Mistake-driven linear classifier: averaged, voted, last or best; perceptron, PA, MIRA, ROMMA or AROW.

    Parameters
    ----------
    rule : {"perceptron", "pa", "pa1", "pa2", "mira", "romma", "aggressive-romma", "arow"}
        When and how far to move on an example.
    learning_rate : float
        η of the perceptron.
    margin : float
        β: the perceptron also updates on right answers with y·score ≤ β.
    C : float
        Aggressiveness of pa1 and pa2.
    r : float
        Regularisation of arow.
    cost : array of shape (n_classes, n_classes) or None
        mira: what it costs to answer ŷ (column) for y (row).
    hypothesis : {"averaged", "last", "best", "voted", "random"}
        What of v₀, v₁, … predicts.
    keep : {None, "all"}
        "all" keeps the journal of updates, so that every hypothesis is at hand after one run. Implied by
        voted, best and random.
    max_voters : int or None
        How many of the longest survivors the journal keeps.
    average : {"examples", "mistakes"}
        Mean over the examples, or of v₀ … v_K.
    multiclass : {"joint", "ovr", "ovo"}
        How more than two classes are learned.
    reference : label or None
        ovr: the class that has no problem of its own and wins when no other does.
    bias : float
        Value of the constant feature; 0 for none.
    normalize : bool
        Scale rows to unit length.
    delta : float
        Δ-trick: train on [X | ΔI].
    ties : {"mistake", "positive"}
        A score of 0 is a mistake, or predicts the second class.
    dtype : {"float32", "float64"}
        Of the weights.
    n_features : int or None
        Number of features, if known before the data.
    bits : int or None
        Hash the names of dicts into 2^bits columns, instead of giving each name a column of its own.
    random_state : int
        Seed of the shuffling and of the random hypothesis.
    epochs : int
        Passes at most; a pass without an update ends the training.
    shuffle : bool
        Play each pass in a new random order.
    validation_fraction : float
        Part of the data held out for early stopping; 0 for none.
    patience : int
        Passes without a better held-out score before stopping.
    progress : bool
        Show a progress bar where training takes longer than a second.
    class_weight : dict, "balanced" or None
        Weights of the classes.
    probability : bool
        Hold out a tenth of the data (or ``validation_fraction``) and calibrate `predict_proba` on it.
    certify : bool
        Make ``certificate_`` at the end of `fit`.
    warm_start : bool
        Let `fit` start from the weights that are there.

    Attributes
    ----------
    classes_ : array of labels
    coef_, intercept_ : arrays of shape (1 or n_classes, n_features) and (1 or n_classes,)
        Under ``hypothesis`` (not for voted, which has no single vector; ovo has a row per pair).
    n_iter_ : int
        Passes played.
    mistakes_, updates_, loss_ : arrays
        Per pass of `fit` or call of `partial_fit`: mistakes, updates, and the perceptron criterion of the mistakes as
        they happened. What `learn_one` did is in ``learner_.mistakes`` and ``learner_.updates``.
    rounds_ : int
        Examples played, over all passes and problems.
    converged_ : bool
        Whether a pass went by without a mistake or an update.
    held_out_ : array
        Accuracy on the validation part, per pass.
    certificate_ : Certificate
        With ``certify=True``.
    learner_ : LinearLearner
        The learner itself.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from perceptive import LinearClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = LinearClassifier().fit(X[:1000], y[:1000])
    >>> bool(clf.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    def __init__(
        self,
        *,
        rule: str = "perceptron",
        learning_rate: float = 1.0,
        margin: float = 0.0,
        C: float = 1.0,
        r: float = 1.0,
        cost: ArrayLike | None = None,
        hypothesis: str = "averaged",
        keep: str | None = None,
        max_voters: int | None = None,
        average: str = "examples",
        multiclass: str = "joint",
        reference: Any = None,
        bias: float = 1.0,
        normalize: bool = False,
        delta: float = 0.0,
        ties: str = "mistake",
        dtype: str = "float32",
        n_features: int | None = None,
        bits: int | None = None,
        random_state: int = 0,
        epochs: int = 10,
        shuffle: bool = True,
        validation_fraction: float = 0.0,
        patience: int = 3,
        progress: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        probability: bool = False,
        certify: bool = False,
        warm_start: bool = False,
    ) -> None:
        _register_with_river()  # which asks what it is given before it has it learn
        self.rule = rule
        self.learning_rate = learning_rate
        self.margin = margin
        self.C = C
        self.r = r
        self.cost = cost
        self.hypothesis = hypothesis
        self.keep = keep
        self.max_voters = max_voters
        self.average = average
        self.multiclass = multiclass
        self.reference = reference
        self.bias = bias
        self.normalize = normalize
        self.delta = delta
        self.ties = ties
        self.dtype = dtype
        self.n_features = n_features
        self.bits = bits
        self.random_state = random_state
        self.epochs = epochs
        self.shuffle = shuffle
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.progress = progress
        self.class_weight = class_weight
        self.probability = probability
        self.certify = certify
        self.warm_start = warm_start

    _supervised = _multiclass = True  # what River asks of a classifier

    learner_: LinearLearner
    classes_: NDArray[Any]
    _history: History

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.dict = True
        return tags

    # ------------------------------------------------------------ learning

    @nothing_half_learned
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ) -> LinearClassifier:
        """Learn from scratch.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or list of dicts
        y : array of labels
        sample_weight : array or None
            Weights of the examples: each multiplies the step its example makes; 0 leaves the example out.
        coef_init, intercept_init : arrays or None
            Where to start from, in the shape of ``coef_`` and ``intercept_``.
        """
        parameters, training = self._check_parameters()
        with unchanged_if_it_fails(self):
            X, y = check_data(self, X, y, reset=True)
            classes, which = np.unique(y, return_inverse=True)
            if len(classes) < 2:
                raise ValueError(
                    f"y has one class only, {classes[0]!r}: a classifier needs examples of at least 2 classes to fit"
                )
            weights = example_weights(y, classes, self.class_weight, sample_weight)
            learner = LinearLearner(classes=classes.tolist(), **parameters)
            previous = getattr(self, "learner_", None) if self.warm_start else None
            if previous is not None and previous.vocabulary is not None and is_dicts(X):
                learner.vocabulary = Vocabulary(previous.vocabulary.names())  # the same names, the same places
            calibrates = self.probability and self.hypothesis != "voted"
            fraction = training.validation_fraction or (HELD_OUT if calibrates else 0.0)
            held_out = hold_out(y, fraction, self.random_state)
            train_rows = np.flatnonzero(~held_out) if held_out.any() else None
            labels = Labels(learner.classes, take(which, train_rows))
            taught = take(X, train_rows), labels, take(weights, train_rows)
            lesson = learner.prepare(*taught, defer=True)
            assert learner.n_features is not None
            initial = initial_vectors(learner, previous, coef_init, intercept_init)
            if initial:
                learner.start(learner.n_features, initial)
                for problem in learner.problems.values():
                    problem.begin(lesson.rows, defer=True)
            validation = None
            if held_out.any():
                validation = learner.rows(take(X, np.flatnonzero(held_out))), which[held_out]

        def accuracy() -> float:
            assert validation is not None
            return float(np.mean(learner.decide(learner.scores_of(validation[0])) == validation[1]))

        self.classes_, self.learner_ = classes, learner
        self.__dict__.pop("certificate_", None)
        history = History()
        try:
            with progress_bar(self.progress, self.epochs * lesson.rows.n) as report:
                train(lesson, training, accuracy if validation and self.validation_fraction else None, report, history)
        finally:
            self._after(history)
        if validation is not None and self.probability and self.hypothesis != "voted":
            learner.temperature = fit_temperature(learner.scores_of(validation[0]), validation[1])
        if self.certify:
            self.certificate_ = certify(learner, *taught)
        return self

    @nothing_half_learned
    def fit_stream(self, source: Stream | Paths, *, cache: str | None = None) -> LinearClassifier:
        """Learn from files, however large: memory holds the weights and a few blocks.

        The first pass parses the files and writes a binary cache, from which later passes read. Examples are shuffled
        within blocks, and the blocks from the second pass on. Two classes that are all the first block has are one
        binary problem until a third one is met.

        Parameters
        ----------
        source : Stream, path, glob, "-" or a sequence of paths
            From `streams.open`, or what that takes.
        cache : path or None
            Keep the cache there, for later calls.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "and.svm")
        >>> _ = path.write_text("0\\n0 1:1\\n0 2:1\\n1 1:1 2:1\\n")
        >>> clf = LinearClassifier(epochs=20).fit_stream(path)
        >>> clf.predict([[1, 1], [1, 0]]).tolist()
        [1, 0]
        """
        parameters, training = self._check_parameters()
        if self.class_weight is not None or self.warm_start:
            raise ValueError("class_weight and warm_start are for examples in memory; leave them out, or use fit")
        if not isinstance(source, Stream):
            source = open_stream(source, dtype=self.dtype, n_features=self.n_features, bits=self.bits)
        width, how = source.reading.width, source.reading
        if self.n_features is not None and width != self.n_features:
            raise ValueError(f"n_features={self.n_features}, but the stream has {width or 'any number of'} columns")
        if self.bits is not None and (how.bits, how.hash_seed) != (self.bits, 0):
            raise ValueError(f"bits={self.bits}, but the stream hashes otherwise; leave bits out")
        held_out = training.validation_fraction or (HELD_OUT if self.probability else 0.0)
        with Source(source, passes=self.epochs, cache=cache, holdout=held_out, seed=self.random_state) as examples:
            run = Run.start(examples, training, None, **parameters)
            with progress_bar(self.progress, 0) as report:
                run.play(examples, lambda run: report(run.learner.rounds, run.learner.mistakes) if report else None)
            learner = run.learner
            learner.names = source.log.names
            if self.probability and self.hypothesis != "voted":
                calibrate(learner, examples)
            self.__dict__.pop("certificate_", None)
            self.__dict__.pop("feature_names_in_", None)
            if self.certify:
                parts = (learner.lesson(batch.rows, batch.labels, batch.weights) for batch in examples.batches())
                self.certificate_ = certify_lessons(learner, parts)
        self.learner_, self.classes_ = learner, label_array(learner.classes, None)
        self.n_features_in_ = learner.n_features
        self._after(run.history)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Sequence[Any] | None = None, sample_weight: ArrayLike | None = None
    ) -> LinearClassifier:
        """Go on learning: one pass over these examples, in the order given.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or list of dicts
        y : array of labels
        classes : sequence of labels or None
            All classes, at the first call; without it, classes may appear at any time.
        sample_weight : array or None
        """
        first = not hasattr(self, "learner_")
        parameters, _ = self._check_parameters()
        with unchanged_if_it_fails(self):
            X, y = check_data(self, X, y, reset=first)
            if first:
                known = None if classes is None else np.unique(np.asarray(classes)).tolist()
                learner = LinearLearner(classes=known, **parameters)
            else:
                learner = self.learner_
                if repr(LinearParameters(**parameters)) != repr(learner.parameters):
                    raise ValueError("parameters have changed since learning began; fit anew, or set them back")
                if classes is not None and np.unique(np.asarray(classes)).tolist() != learner.classes:
                    raise ValueError(
                        f"classes={list(classes)!r} is not what the first call announced: {learner.classes!r}"
                    )
            seen = np.unique(y)
            weights = example_weights(y, seen, self.class_weight, sample_weight)
            lesson = learner.prepare(X, y, weights)
        self.__dict__.pop("certificate_", None)
        before = learner.mistakes, learner.updates, learner.loss
        try:
            lesson.play_as_they_come()
        finally:
            self.learner_ = learner
            self.classes_ = label_array(learner.classes, seen)
            history = History([learner.mistakes - before[0]], [learner.updates - before[1]], [learner.loss - before[2]])
            self._after(history, go_on=not first)
        return self

    def learn_one(self, x: Mapping[Any, Any], y: Any, w: float = 1.0) -> LinearClassifier:
        """Learn from one example, a dict of features to numbers or strings (as River does)."""
        try:
            learner = self.learner_
        except AttributeError:
            learner = LinearLearner(**self._check_parameters()[0])
            learner.learn(x, y, w)
            self.learner_, self.classes_ = learner, label_array(learner.classes, None)
            self._after(History())
            return self
        learner.learn(x, y, w)
        self.__dict__.pop("certificate_", None)
        if len(self.classes_) != len(learner.classes):
            self.classes_ = label_array(learner.classes, None)
        return self

    def _check_parameters(self) -> tuple[dict[str, Any], TrainingParameters]:
        """What the learner takes, and what training takes; raises for what cannot be."""
        learner = {name: getattr(self, name) for name in LEARNER}
        LinearParameters(**learner)
        EstimatorParameters(**{f.name: getattr(self, f.name) for f in fields(EstimatorParameters)})
        return learner, TrainingParameters(**{name: getattr(self, name) for name in TRAINING})

    def _after(self, history: History, go_on: bool = False) -> None:
        """Set the attributes that tell of the run."""
        past = self._history if go_on else History()
        for name in ("mistakes", "updates", "loss", "held_out"):
            getattr(past, name).extend(getattr(history, name))
        past.converged = history.converged
        self._history = past

    # ------------------------------------------------------------ predicting

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_")

    def decision_function(self, X: Any, hypothesis: str | None = None) -> NDArray[np.float64]:
        """Scores: one per row for two classes (> 0: the second), else one per class; shares of votes if voted."""
        check_is_fitted(self)
        rows = self.learner_.rows(check_rows(self, X, reset=False))
        scores = self.learner_.scores_of(rows, hypothesis)
        if scores.ndim == 2 and len(self.learner_.classes) == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def predict(self, X: Any, hypothesis: str | None = None) -> NDArray[Any]:
        """The label of each row, under ``hypothesis`` or any other that was kept."""
        check_is_fitted(self)
        rows = self.learner_.rows(check_rows(self, X, reset=False))
        return self.classes_[self.learner_.decide(self.learner_.scores_of(rows, hypothesis))]

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The label of one dict of features; None before anything was learned."""
        if not hasattr(self, "learner_") or not self.learner_.classes:
            return None
        return self.learner_.predict(x)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities, in the order of the scores.

        Under ``voted`` the shares of the votes, an abstention counting for all classes alike. Otherwise
        softmax(a·scores) (two classes: the logistic function of a·score) with one a > 0, chosen to make the held-out
        labels likeliest.
        """
        scores = self.decision_function(X)
        voted = self.learner_.parameters.hypothesis == "voted"
        if not voted and self.learner_.temperature is None:
            raise ValueError("the probabilities were not calibrated; fit with probability=True (not partial_fit)")
        return probabilities(scores, None if voted else self.learner_.temperature)

    def perceptron_criterion(self, X: Any, y: Any) -> float:
        """E_p(w) = −Σ y·score over the misclassified examples; for many classes Σ max(0, best rival − score of y)."""
        check_is_fitted(self)
        return self.learner_.criterion(check_rows(self, X, reset=False), y)

    def _vectors(self) -> list[Vector]:
        check_is_fitted(self)
        hypothesis = self.learner_.parameters.hypothesis
        if hypothesis == "voted":
            raise AttributeError("a voted model has no single weight vector; use learner_, or another hypothesis")
        return [problem.vector(hypothesis) for problem in self.learner_.problems.values()]

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights: a row for two classes, a row per class, or (ovr, ovo) a row per problem."""
        vectors = self._vectors()
        if len(vectors) > 1 or self.learner_.binary:
            return np.vstack([w[:, 0] for w, _ in vectors])
        return np.ascontiguousarray(vectors[0][0][:, : len(self.learner_.classes)].T)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """bias × weight of the constant feature."""
        return np.concatenate([self.learner_.parameters.bias * b for _, b in self._vectors()])

    # ------------------------------------------------------------ certificate and file

    def certificate(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, witness: ArrayLike | None = None
    ) -> Certificate:
        """What the theorem allows this run: see `Certificate`. Data other than trained on makes it hypothetical."""
        check_is_fitted(self)
        X, y = check_data(self, X, y, reset=False)
        weights = example_weights(y, self.classes_, self.class_weight, sample_weight)
        return certify(self.learner_, X, y, weights, witness=witness)


def _register_with_river() -> None:
    """Where River is in use, let it know that this is a classifier."""
    base = sys.modules.get("river.base")
    if base is not None and not issubclass(LinearClassifier, base.Classifier):
        base.Classifier.register(LinearClassifier)
