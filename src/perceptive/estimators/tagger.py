"""`SequenceTagger`: the sequence learner as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.base import BaseEstimator

from perceptive import roles
from perceptive.certificates import Certificate, certify
from perceptive.data.documents import TextSpan, predict_spans
from perceptive.data.sample_weights import check_weights
from perceptive.data.sentence_files import FIRST
from perceptive.data.sentences import as_lists, paired
from perceptive.declarations import declared, one_of, or_word, parameter
from perceptive.errors import Parameter, ParameterError, renumbered, warn_caller
from perceptive.estimators.cluster import fit_sentences, is_on_cluster
from perceptive.estimators.column_warnings import warn_of_values
from perceptive.estimators.data import hold_out, take
from perceptive.estimators.run import PruneMixin, nothing_half_learned, one_at_a_time
from perceptive.estimators.signature import checked, with_parameters
from perceptive.features.presets import brought
from perceptive.learners.calibration import calibrate, label_probabilities
from perceptive.learners.sequence import SequenceLearner, is_preset, plain_template
from perceptive.learners.sequence_model import guess_preset, told_of_rule
from perceptive.parameter_groups import CertifyGroup, ProbabilityGroup, SequenceGroup, TrainingGroup
from perceptive.parameters import SequenceParameters, TrainingParameters
from perceptive.state import State, plain_values
from perceptive.streams.columns import counts_tokens
from perceptive.training.loop import History

GROUP = declared(SequenceGroup) | declared(TrainingGroup)
OPEN = ("rule", "C", "min_count", "encoding", "epochs", "tol")  # that may be "auto"


def _or_auto(name: str, auto: str) -> Any:
    """Declare a parameter again that may also be "auto"."""
    facts = GROUP[name].facts
    check, kind = or_word("auto", facts["check"]), f'{facts["type"]} or "auto"'
    return parameter("auto", check=check, doc=f'{facts.get("doc") or facts["help"]}. "auto": {auto}.', kind=kind)


class PresetGroup(SequenceGroup, TrainingGroup):
    """The parameters of the tagger estimator; "auto" is the value of the preset."""

    rule: str = parameter(
        "auto",
        check=one_of("auto", *roles.rules("sequence", "linear"), why_not=partial(roles.why_not, "sequence", "linear")),
        doc='How far to move on a sentence. "auto": what the preset brings, "pa1" for "chunking", "ner" and "pos"; '
        'else "perceptron".',
    )
    C: Any = _or_auto("C", "0.03")
    min_count: int | str = parameter(
        "auto",
        doc='Features that are seen less often in training are left out. "auto": 2 for the presets "chunking" and '
        '"pos" where there are 5,000 tokens to learn from, else 1.',
    )
    encoding: str | None = parameter(
        "auto",
        check=one_of("auto", None, "bioes", "none"),
        doc=f'{GROUP["encoding"].facts["doc"]} "auto": "bioes" for the presets "chunking" and "ner", else None.',
    )
    epochs: Any = _or_auto("epochs", "10 for the perceptron, else 40")
    tol: Any = _or_auto("tol", "0 for the perceptron, else 0.005")


class LabelSequences(list[list[Any]]):
    """A list of label sequences. NumPy sees it as a one-dimensional array, whatever the lengths.

    >>> found = LabelSequences([["O", "B"], ["O"]])
    >>> found == [["O", "B"], ["O"]], np.concatenate([found, found]).shape
    (True, (4,))
    """

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The sequences as objects."""
        if copy is False:
            raise ValueError("this array of label sequences must be a copy; leave out copy=False")
        array = np.empty(len(self), object)
        for i, labels in enumerate(self):  # NumPy would look into them
            array[i] = labels
        return array if dtype is None else array.astype(dtype)


@with_parameters
class SequenceTagger(PresetGroup, ProbabilityGroup, CertifyGroup, PruneMixin[SequenceLearner], BaseEstimator):
    """The structured perceptron: learns from mistakes to label the tokens of sequences.

    X is a list of sentences, y a list of label sequences. A token is a string, a tuple of columns (word, part of
    speech, …) or a dict of features.

    {parameters}

    Attributes
    ----------
    classes_ : list of labels
    scheme_ : str or None
        The scheme that predictions follow.
    {run}

    Examples
    --------
    >>> from perceptive import SequenceTagger
    >>> X = ["tell Ziv William is on the way".split(), "When will prof Cohen post the notes".split()]
    >>> y = [["O", "B", "B", "O", "O", "O", "O"], ["O", "O", "B", "I", "O", "O", "O"]]
    >>> tagger = SequenceTagger(template=["word[-1:1]", "shape", "@label[-1]"]).fit(X, y)
    >>> tagger.predict([["will", "William", "post"]])
    [['O', 'B', 'O']]
    >>> [labels for labels, score in tagger.predict_kbest([["will", "William", "post"]], k=2)[0]]
    [['O', 'B', 'O'], ['O', 'O', 'O']]
    """

    _estimator_type = "sequence tagger"
    _learner = SequenceLearner
    _parameters = SequenceParameters

    # ------------------------------------------------------------ learning

    @nothing_half_learned
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SequenceTagger:
        """Learn from sentences, from scratch.

        Parameters
        ----------
        X : list of sentences
            For a Dask bag, the workers of the current client learn, with ``shards``.
        y : list of label sequences
            A label that is None is free: the best label given the others counts as right. For a Dask bag X, a bag with
            the same partitions, or None if X has pairs of a sentence and its labels.
        sample_weight : array-like of shape (n_sentences,), optional
            How much each sentence counts. Sentences of weight 0 are not learned from, but their labels become known.
            See `LinearClassifier.fit`: a weight works in addition to the rule's own trade-off, and mira takes only 0
            and 1.
        """
        if not isinstance(self.probability, bool | np.bool_):
            raise ParameterError("{}: choose True or False", Parameter("probability", self.probability))
        if is_on_cluster(X):
            shards = self._check_parameters()[1].shards
            fit_sentences(self, X, y, sample_weight, shards)
            return self
        X, y = paired(X, y)
        parameters, training = self._check_parameters(X, y)
        learner = SequenceLearner(**parameters)
        if self.probability and self.hypothesis == "voted":
            raise ParameterError(
                "{} does not go with {}, which gives no scores of labels",
                Parameter("probability", True), Parameter("hypothesis", "voted"),
            )  # fmt: skip
        X, y = learner.check(X, y)
        if counts_tokens(X[:FIRST]):
            warn_caller("column 0 counts the tokens; leave it out of X, and of what is tagged later")
        weights = check_weights(sample_weight, len(X), learner.parameters.rule, "sentence")
        chosen = hold_out(len(X), training.validation_fraction, self.random_state, self.probability, "sentences")
        rest, held = np.flatnonzero(~chosen), np.flatnonzero(chosen)
        X_held, y_held = take(X, held), take(y, held)
        X, y, weights = take(X, rest), take(y, rest), take(weights, rest)
        with renumbered(rest.tolist()):
            dataset = learner.dataset(X, y, weights, epochs=training.epochs)
        warn_of_values(X)  # which are finite: they were checked
        with renumbered(held.tolist()):
            learner.predict_many(X_held, "last")  # raises for what cannot be read, before anything is learned

        def held_out() -> float:
            return self._score(y_held, learner.predict_many(X_held))

        self._train(learner, training, dataset, held_out if training.validation_fraction else None)
        if self.probability:
            calibrate(learner, X_held, y_held)
        if self.certify:
            self.certificate_ = certify(learner, X, y, weights)
        return self

    def _check_parameters(self, *examples: Any) -> tuple[dict[str, Any], TrainingParameters]:
        """What the learner takes, and what training takes, with what the preset brings; raises for what cannot be.

        Where the preset is to be chosen by sentences and labels, and there are none, nothing is brought.
        """
        auto = isinstance(self.template, str) and self.template == "auto"
        template = guess_preset(*examples) if examples and auto else self.template
        values = self.get_params(deep=False)
        given = {name: value for name, value in values.items() if name not in OPEN or value != "auto"}
        if note := told_of_rule(template, given):
            warnings.warn(note, stacklevel=2)
        known = {**given, "template": template, **brought(template, given)}
        return vars(checked(known, SequenceParameters)), checked(known, TrainingParameters)

    def new_learner(self, *examples: Any) -> SequenceLearner:
        """Make an untrained learner with these parameters; ``examples`` (X and y) choose the preset."""
        return SequenceLearner(**self._check_parameters(*examples)[0])

    @one_at_a_time
    def partial_fit(
        self,
        X: Sequence[Any],
        y: Sequence[Sequence[Any]],
        classes: Sequence[Any] | None = None,
        sample_weight: Any = None,
    ) -> SequenceTagger:
        """Learn from more sentences: one epoch, in the given order."""
        X, y = paired(X, y)
        learner = self.learner_ if hasattr(self, "learner_") else self.new_learner(X, y)
        with learner.lock.learning():
            self._learn_all(learner, learner.dataset(X, y, sample_weight, classes=() if classes is None else classes))
        return self

    @one_at_a_time
    def learn_one(self, x: Sequence[Any], y: Sequence[Any]) -> SequenceTagger:
        """Learn from one sentence."""
        [x], [y] = paired([x], [y])
        first = not hasattr(self, "learner_")
        learner = self.new_learner([x], [y]) if first else self.learner_
        learner.learn(x, y)
        self._take(learner, History() if first else None)
        return self

    # ------------------------------------------------------------ predicting

    def predict(
        self, X: Sequence[Any], *, hypothesis: str | None = None, forced: Sequence[Sequence[Any]] | None = None
    ) -> list[list[Any]]:
        """Return the labels of each sentence.

        Parameters
        ----------
        X : list of sentences
        hypothesis : str, optional
            Use this hypothesis instead of the tagger's own.
        forced : list of label sequences, optional
            The prediction has every label here that is not None.
        """
        return LabelSequences(self._learned.predict_many(X, hypothesis, forced))

    def predict_one(self, x: Sequence[Any]) -> list[Any] | None:
        """Return the labels of one sentence; None before anything was learned."""
        return self.predict([x])[0] if hasattr(self, "learner_") else None

    def predict_spans(self, text: str, *, hypothesis: str | None = None) -> list[TextSpan]:
        """Cut a raw text into sentences and tokens, and return its segments: label, start, end, text of each.

        Offsets count code points: ``text[start:end]`` is the text of a segment.

        Examples
        --------
        >>> from perceptive import SequenceTagger
        >>> tagger = SequenceTagger(template="ner").fit([["Ada", "left", "Rome"]], [["B-PER", "O", "B-LOC"]])
        >>> tagger.predict_spans("Ada left")
        [TextSpan(label='PER', start=0, end=3, text='Ada')]
        """
        return predict_spans(self._learned, text, hypothesis)

    def predict_kbest(
        self, X: Sequence[Any], k: int, *, forced: Sequence[Sequence[Any]] | None = None
    ) -> list[list[tuple[list[Any], float]]]:
        """Return the k best label sequences of each sentence with their scores, the best first."""
        return self._learned.k_best(X, k, forced=forced)

    def decision_margin(
        self, X: Sequence[Any], *, per: str = "token"
    ) -> list[NDArray[np.float64]] | NDArray[np.float64]:
        """Return how sure the predictions are.

        Parameters
        ----------
        X : list of sentences
        per : one of "token", "sequence"
            "token": for each token, how much score the best path through a different label loses. "sequence": the best
            score minus the second best. With ``encoding``, IOB1 labels are treated as BIO, IOE1 labels as IOE2.
        """
        learner = self._learned
        if per not in ("token", "sequence"):
            raise ValueError(f"per={per!r}: choose 'token' or 'sequence'")
        margins = learner.margins(X)
        if per == "token":
            return margins
        # the second best path leaves the best one somewhere, so its loss is the smallest of the tokens'
        return np.array([margin.min() if len(margin) else np.inf for margin in margins])

    def predict_proba(self, X: Sequence[Any]) -> list[NDArray[np.float64]]:
        """Return the probability of each label, tokens × classes per sentence, calibrated on held-out sentences.

        The scores are max-marginals, so the most likely label of a token is its label on the best path. With
        ``encoding``, IOB1 labels are treated as BIO (B begins a segment, I continues it), IOE1 labels as IOE2.
        """
        learner = self._learned
        if learner.temperature is None:
            raise ParameterError("predict_proba needs {} when the tagger is fitted", Parameter("probability", True))
        return label_probabilities(learner, X)

    def score(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> float:
        """Return F of whole segments if labels mark some, else the share of right tokens; between 0 and 1.

        Labels that the tagger does not know count as missed. Labels that are None are free: their tokens are not
        counted, and the segments around them see the predicted label.
        """
        predicted, truth = self.predict(X), as_lists(y)
        if len(truth) != len(predicted):
            raise ValueError(f"X has {len(predicted)} sentences, but y has {len(truth)}; give one list a sentence")
        return self._score(truth, predicted)

    def _score(self, truth: list[Any], predicted: list[Any]) -> float:
        return self.learner_.compare(truth, predicted).measure / 100.0

    # ------------------------------------------------------------ the run

    def certificate(self, X: Sequence[Any], y: Sequence[Sequence[Any]], sample_weight: Any = None) -> Certificate:
        """Compare this run with the theorem: see `Certificate`. It is hypothetical for data not trained on."""
        return certify(self._learned, X, y, sample_weight)

    @property
    def classes_(self) -> list[Any]:
        """The labels."""
        return self._learned.classes

    @property
    def scheme_(self) -> str | None:
        """The scheme that predictions follow."""
        return self._learned.given or self.learner_.scheme

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_") and bool(self.learner_.labels)

    # ------------------------------------------------------------ state

    def _saved_parameters(self, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        parameters = {**self.get_params(), "template": plain_template(self.template, self.learner_)}
        return {"estimator": plain_values(parameters)}

    @classmethod
    def _learned_parameters(cls, learner: Any) -> dict[str, Any]:
        own = learner.parameters.template
        template = own if own == "attributes" else learner.features or learner.templates
        return {**super()._learned_parameters(learner), "template": template}

    @classmethod
    def _loaded_parameters(cls, state: State, learner: Any, functions: Any) -> dict[str, Any]:
        parameters: dict[str, Any] = state.meta["estimator"]
        if is_preset(parameters.get("template")):
            return parameters
        if learner.features is not None:
            return {**parameters, "template": learner.features}
        text, learned = learner.templates.text, learner.templates.clusters  # what was trained, without any file
        dictionaries = {*state.meta["dictionaries"]} - {*learned}
        return {**parameters, "template": text if "\n" in text and not dictionaries else learner.templates}
