"""`LinearClassifier`: the linear learner as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from perceptive.certificates import certify_datasets
from perceptive.data.labelled_rows import ALL, Pair
from perceptive.data.rows import is_dicts
from perceptive.data.sample_weights import as_floats
from perceptive.declarations import parameter
from perceptive.errors import Parameter, ParameterError, ScaleWarning, warn_caller
from perceptive.estimators.classifier import ClassifierRunMixin
from perceptive.estimators.cluster import fit_rows, is_on_cluster
from perceptive.estimators.data import check_label, check_rows, row_of, sorted_classes, unchanged_if_it_fails
from perceptive.estimators.run import PruneMixin, nothing_half_learned, progress_bar, threads_of
from perceptive.estimators.signature import with_parameters
from perceptive.features.vocabulary import Vocabulary
from perceptive.learners.linear import LinearLearner
from perceptive.learners.weights import Vector
from perceptive.parameter_groups import EstimatorGroup, LinearGroup, TrainingGroup
from perceptive.parameters import LinearParameters
from perceptive.state import State
from perceptive.streams import Stream
from perceptive.streams import open as open_stream
from perceptive.streams.blocks import Paths
from perceptive.training.blocks import RowBlocks
from perceptive.training.class_weights import check_class_weight, weigh_classes
from perceptive.training.classifiers import calibrate, classifier_for
from perceptive.training.loop import Run, train
from perceptive.training.source import FileSource
from perceptive.training.windows import MEMORY

HELD_OUT = 0.1  # of files, for calibration, where nothing is held out for early stopping


@with_parameters
class LinearClassifier(
    LinearGroup,
    TrainingGroup,
    EstimatorGroup,
    PruneMixin[LinearLearner],
    ClassifierRunMixin[LinearLearner],
    ClassifierMixin,
    BaseEstimator,
):
    """Mistake-driven linear classifier: averaged, voted, last or best; perceptron, PA, MIRA, ROMMA or AROW.

    {parameters}

    Attributes
    ----------
    classes_ : array of labels
    coef_, intercept_ : arrays of shape (1 or n_classes, n_features) and (1 or n_classes,)
        Of ``hypothesis``. Voted has no single vector, so it has none; ovo has a row per pair.
    {run}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from perceptive import LinearClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = LinearClassifier().fit(X[:1000], y[:1000])
    >>> bool(clf.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    bias: float | str = parameter("auto")

    _learner = LinearLearner
    _parameters = LinearParameters

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
        X : array or sparse matrix of shape (n_samples, n_features), list of dicts, or data frame
            A frame with columns of words (strings, categories) gets the same features as a CSV file: ``size``, scaled
            by all rows, and ``colour=red``. Arrays, frames of numbers and dicts are used as they are. A model that has
            learned from files, or a clone of it, reads texts, dicts, frames and rows of its table as it read the files,
            and measures their columns again. For Dask arrays, Dask frames of numbers and Dask bags of dicts, the
            workers of the current client learn, with ``shards``.
        y : array of labels
        sample_weight : array or None
            Weights of the examples: each multiplies the step of its example; 0 leaves the example out.
        coef_init, intercept_init : arrays or None
            Starting weights, in the shape of ``coef_`` and ``intercept_``.
        """
        parameters, training = self._check_parameters()
        if is_on_cluster(X):
            fit_rows(self, X, y, sample_weight, parameters, training)
            return self
        with unchanged_if_it_fails(self):
            begun = self._begin(X, y, sample_weight, parameters, training)
            _, learner, taught, held = begun
            previous = getattr(self, "learner_", None) if self.warm_start else None
            if previous is not None and previous.space.vocabulary is not None and is_dicts(taught[0]):
                names = previous.space.vocabulary.names()
                learner.space.vocabulary = Vocabulary(names)  # the same names, the same places
            if previous is not None and learner.space.table is not None:
                known = previous.space.table  # its weights are of columns that were scaled so
                scaling = None if known is None else known.scaling
                learner.space.table = replace(learner.space.table, scaling=scaling)
            dataset = learner.dataset(*taught, epochs=training.epochs)
            self._warn_of_columns(learner, taught[0])
            initial = initial_vectors(learner, previous, coef_init, intercept_init)
            if initial:
                learner.start(initial)
                for vector in learner.vectors.values():
                    vector.begin(dataset.rows, defer=True)
            rows = None if held is None else learner.space.rows(held.X)
        self._play(begun, training, dataset, lambda: learner.decisions_of(rows))
        return self

    @nothing_half_learned
    def fit_stream(
        self, source: Stream | Paths, *, cache: str | None = None, memory: int = MEMORY, **how: Any
    ) -> LinearClassifier:
        """Learn from files of any size: memory holds the weights and a part of the examples.

        If the examples fit in ``memory``, this learns as `fit` does; but of more than two classes, each joins when its
        first example is played (`fit` and ``--classes`` know them from the start). Otherwise the examples are parsed
        into a binary cache, and every epoch plays windows of examples from the whole cache. One epoch without a
        hold-out instead mixes the files while parsing them; if the first block has two classes, it learns one binary
        problem until a third class appears.

        Parameters
        ----------
        source : Stream, path, glob, "-" or a sequence of paths
            The result of `streams.open`, or its argument.
        cache : path or None
            Keep the cache there for later calls.
        memory : int
            Bytes of memory for examples.
        **how
            How files are read, if they are given by their paths: options of `streams.open`, such as ``label="price"``.

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
        if self.warm_start:
            raise ParameterError("{} is for examples in memory; leave it out, or use fit", "warm_start")
        check_class_weight(self.class_weight)
        if not isinstance(source, Stream):
            source = open_stream(source, **{"n_features": self.n_features, "bits": self.bits, **how})
        elif how:
            raise TypeError(f"{', '.join(how)}: the stream is open; give this to streams.open")
        source = source.to_learn_from(nameless=cache is not None, dtype=self.dtype)
        width, format = source.format.width, source.format
        if self.n_features is not None and width != self.n_features:
            raise ParameterError(
                f"{{}}, but the stream has {width or 'any number of'} columns", Parameter("n_features", self.n_features)
            )
        if self.bits is not None and (format.bits, format.hash_seed) != (self.bits, 0):
            raise ParameterError(
                "{}, but the stream hashes differently; leave {} out", Parameter("bits", self.bits), "bits"
            )
        held_out = training.validation_fraction or (HELD_OUT if self.probability else 0.0)
        played: dict[str, Any] = {
            "cache": cache,
            "holdout": held_out,
            "seed": self.random_state,
            "shuffle": training.shuffle,
            "memory": memory,
        }
        with FileSource(source, RowBlocks(), epochs=self.epochs, **played) as examples:
            weigh_classes(examples, self.class_weight)
            run = Run.of(classifier_for(examples, None, **parameters), training)
            with progress_bar(self.progress, 0, run) as report:
                train(run, examples, report=report, threads=threads_of(training))
            learner = cast(LinearLearner, run.learner)
            learner.space.remember(source.log.names, source.columns)
            for kind, said in source.log.remarks.items():
                warn_caller(ScaleWarning(said) if kind == "scale" else said)
            if self._calibrates:
                calibrate(learner, examples)
            certificate = certify_datasets(learner, examples.datasets(learner)) if self.certify else None
        self.__dict__.pop("feature_names_in_", None)
        classes = sorted_classes(learner)
        self._take(learner, run.history, classes_=classes, n_features_in_=learner.n_features)
        if certificate is not None:
            self.certificate_ = certificate
        return self

    def learn_one(self, x: Mapping[Any, Any], y: Any, w: float = 1.0) -> LinearClassifier:
        """Learn from one example, a dict of features to numbers or strings (as River does)."""
        try:
            learner = self.learner_
        except AttributeError:
            return super().learn_one(x, y, w)
        check_label(y, learner)
        row = row_of(self, x, learner)
        learner.learn(row, y, self._weight(y, w))  # without a detour: a stream has millions of them
        if "_first" in self.__dict__:
            self._look_at(learner, [row])
        if "certificate_" in self.__dict__ or len(self.classes_) != len(learner.classes):
            self._take(learner, classes_=sorted_classes(learner))
        return self

    def _check_unchanged(self, parameters: dict[str, Any], learner: LinearLearner) -> None:
        if parameters["bias"] == "auto":
            parameters = {**parameters, "bias": learner.parameters.bias}  # what it has become
        if repr(LinearParameters(**parameters)) != repr(learner.parameters):
            raise ValueError("parameters have changed since learning began; fit again, or set them back")

    # ------------------------------------------------------------ predicting

    def perceptron_criterion(self, X: Any, y: Any) -> float:
        """Return E_p(w) = −Σ y·score over the mistakes; for many classes Σ max(0, best rival − score of y)."""
        return self._learned.criterion(check_rows(self, X, reset=False), y)

    def _vectors(self) -> list[Vector]:
        vectors: list[Vector] = self._of_vector(
            lambda one, name: [vector.vector(name) for vector in one.vectors.values()]
        )
        return vectors

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights: one row for two classes, a row per class, or (ovr, ovo) a row per problem."""
        vectors, space = self._vectors(), self.learner_.space
        if len(vectors) > 1 or self.learner_.binary:
            return np.vstack([space.by_column(w[:, 0]) for w, _ in vectors])
        return np.ascontiguousarray(space.by_column(vectors[0][0][:, : len(self.learner_.classes)]).T)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """bias × weight of the constant feature."""
        return np.concatenate([self.learner_.bias * b for _, b in self._vectors()])

    @classmethod
    def _loaded_parameters(cls, state: State, learner: Any, functions: Any) -> dict[str, Any]:
        parameters = super()._loaded_parameters(state, learner, functions)
        return {**parameters, "cost": None if parameters["cost"] is None else np.array(parameters["cost"])}


def initial_vectors(
    learner: LinearLearner, previous: LinearLearner | None, coef: ArrayLike | None, intercept: ArrayLike | None
) -> dict[Pair, Vector]:
    """Return the vectors v₀ of a learner's problems; empty if they start from zero.

    If neither ``coef`` nor ``intercept`` is given, these are the last vectors of the previous learner.
    """
    if coef is None and intercept is None:
        return {} if previous is None else _last_vectors(previous, learner)
    if not (learner.binary or learner.joint):
        raise ParameterError("coef_init and intercept_init need two classes or {}", Parameter("multiclass", "joint"))
    vector, bias = learner.vectors[ALL], learner.bias
    shape = (vector.n_classes, learner.n_features or 0)
    w = np.zeros(shape) if coef is None else np.atleast_2d(as_floats(coef, "coef_init"))
    b = np.zeros(shape[0]) if intercept is None else np.atleast_1d(as_floats(intercept, "intercept_init"))
    if w.shape != shape or b.shape != shape[:1]:
        raise ValueError(f"coef_init and intercept_init must have the shapes {shape} and {shape[:1]}")
    if not (np.isfinite(w).all() and np.isfinite(b).all()):
        raise ValueError("coef_init and intercept_init must be finite")
    if b.any() and not bias:
        raise ParameterError("intercept_init needs a bias; {} is 0", "bias")
    start = np.zeros((shape[1], vector.stride), vector.dtype)
    start[:, : shape[0]] = w.T
    return {ALL: (start, b / (bias or 1.0))}


def _last_vectors(previous: LinearLearner, learner: LinearLearner) -> dict[Pair, Vector]:
    """The vectors that a learner ended with, for another one to start from, whose constant feature may differ."""
    shapes = [[(pair, v.stride) for pair, v in one.vectors.items()] for one in (previous, learner)]
    missing = (learner.n_features or 0) - (previous.n_features or 0)
    if (
        previous.classes != learner.classes
        or shapes[0] != shapes[1]
        or missing < 0
        or (missing and not learner.space.vocabulary)
    ):
        raise ParameterError(
            "{}, but classes, features or {} are not those of the last fit", Parameter("warm_start", True), "multiclass"
        )
    vectors = {}
    for pair, vector in previous.vectors.items():
        w, b = vector.vector("last")
        w = np.concatenate([previous.space.by_column(w), np.zeros((missing, vector.stride), w.dtype)])
        vectors[pair] = w, b if previous.bias == learner.bias else b * (previous.bias / (learner.bias or 1.0))
    return vectors
