"""`SequenceTagger`: the sequence learner as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from perceptive.certificate import Certificate, certify
from perceptive.estimators.label_sequences import LabelSequences
from perceptive.estimators.progress import progress_bar
from perceptive.estimators.run import RunMixin, nothing_half_learned
from perceptive.learners.calibration import fit_temperature, probabilities
from perceptive.learners.sentence_names import numbered, sentences_named
from perceptive.learners.sentences import as_lists
from perceptive.learners.sequence import SequenceLearner
from perceptive.parameters import SequenceParameters, TrainingParameters
from perceptive.training import History, train_tagger

LEARNER = [f.name for f in fields(SequenceParameters)]
TRAINING = [f.name for f in fields(TrainingParameters)]
HELD_OUT = 0.1  # for calibration, where nothing is held out for early stopping
IMPOSSIBLE = -1e6  # what stands for −∞ where probabilities are made


class SequenceTagger(RunMixin, BaseEstimator):
    """The structured perceptron: labels for the tokens of sequences, learned from mistakes.

    X is a list of sentences, y a list of label sequences. A token is a string, a tuple of columns (word, part of
    speech, …) or a dict of features.

    Parameters
    ----------
    template : str, path, list of str or of templates, or callable
        Which features are read: a preset ("chunking", "ner", "pos", "records", "hmm"), a file (ours or CRF++'s), lines
        (see `perceptive.features.templates`), objects (see `perceptive.features.terms`), or a function of a sentence
        and a place in it that gives a dict or the names of features. "auto" chooses a preset by the look of the tokens.
    rule : {"perceptron", "pa", "pa1", "pa2", "mira"}
        How far to move on a sentence.
    learning_rate : float
        η of the perceptron.
    margin : float
        β: the perceptron also updates where the second best sequence is this close.
    C : float
        Aggressiveness of pa1, pa2 and mira.
    cost : {"auto", "hamming", None}
        "hamming": a wrong sequence must lose by the number of its wrong labels, and the competitor is sought under
        score + cost; None: by 1. "auto" is None for the perceptron, else "hamming".
    k : int
        mira: competitors at once.
    hypothesis : {"averaged", "last", "best", "voted"}
        What of v₀, v₁, … predicts.
    keep : {None, "all"}
        "all" keeps every update, so that every hypothesis is at hand after one run. Implied by voted and best.
    max_voters : int or None
        How many of the longest survivors vote.
    min_count : int
        Features seen less often in `fit` are left out.
    constraints : {"auto", "bio", "iob1", "bioes", None}
        Scheme that every prediction keeps to; "auto" recognises it, and warns where labels look like one but break it.
        What breaks a scheme recognised by `fit` is refused later.
    encoding : {None, "bioes"}
        "bioes": within, the ends of segments and segments of one token have labels of their own, which helps to find
        chunks and names; BIO or IOB1 labels go in and come out, and templates speak of them. Predicted segments of a
        type have one, two or more tokens only where some that were learned from have.
    beam : int
        States kept at a token; 0 for all. The k best, margins and probabilities know only what it kept.
    segments : bool
        Semi-Markov: beside its tokens every segment has features of its own (length, text, capitalisation, dictionary
        membership). Labels are BIO tags. For records such as addresses and bibliographies.
    max_segment : int or None
        Tokens of the longest segment; None: that of the data learned from so far.
    random_state : int
        Seed of the shuffling.
    epochs : int
        Passes at most; a pass without an update ends the training.
    shuffle : bool
        Play each pass in a new random order.
    validation_fraction : float
        Part of the sentences held out for early stopping; 0 for none.
    patience : int
        Passes without a better held-out score before stopping.
    progress : bool
        Show a progress bar where training takes longer than a second.
    probability : bool
        Hold out a tenth of the sentences (or ``validation_fraction``) and calibrate `predict_proba` on it.
    certify : bool
        Make ``certificate_`` at the end of `fit`.

    Attributes
    ----------
    classes_ : list of labels
    scheme_ : str or None
        The scheme that predictions keep to.
    n_iter_ : int
        Passes played.
    mistakes_, updates_, loss_ : arrays
        Per pass of `fit` or call of `partial_fit`: sentences labelled wrongly, updates, and how far wrong sequences
        were from losing.
    held_out_ : array
        Score on the held-out part, per pass.
    converged_ : bool
        Whether a pass went by without a mistake or an update.
    certificate_ : Certificate
        With ``certify=True``.
    learner_ : SequenceLearner
        The learner itself.

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

    def __init__(
        self,
        *,
        template: Any = "auto",
        rule: str = "perceptron",
        learning_rate: float = 1.0,
        margin: float = 0.0,
        C: float = 0.03,
        cost: str | None = "auto",
        k: int = 5,
        hypothesis: str = "averaged",
        keep: str | None = None,
        max_voters: int | None = None,
        min_count: int = 1,
        constraints: str | None = "auto",
        encoding: str | None = None,
        beam: int = 0,
        segments: bool = False,
        max_segment: int | None = None,
        random_state: int = 0,
        epochs: int = 10,
        shuffle: bool = True,
        validation_fraction: float = 0.0,
        patience: int = 3,
        progress: bool = False,
        probability: bool = False,
        certify: bool = False,
    ) -> None:
        self.template = template
        self.rule = rule
        self.learning_rate = learning_rate
        self.margin = margin
        self.C = C
        self.cost = cost
        self.k = k
        self.hypothesis = hypothesis
        self.keep = keep
        self.max_voters = max_voters
        self.min_count = min_count
        self.constraints = constraints
        self.encoding = encoding
        self.beam = beam
        self.segments = segments
        self.max_segment = max_segment
        self.random_state = random_state
        self.epochs = epochs
        self.shuffle = shuffle
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.progress = progress
        self.probability = probability
        self.certify = certify

    learner_: SequenceLearner
    certificate_: Certificate
    _history: History
    _estimator_type = "sequence tagger"

    def _new_learner(self) -> SequenceLearner:
        return SequenceLearner(**{name: getattr(self, name) for name in LEARNER})

    def _training(self) -> TrainingParameters:
        return TrainingParameters(**{name: getattr(self, name) for name in TRAINING})

    # ------------------------------------------------------------ learning

    @nothing_half_learned
    def fit(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> SequenceTagger:
        """Learn from sentences, anew.

        Parameters
        ----------
        X : list of sentences
        y : list of label sequences
            A label that is None is free: the best one under the others is taken for right.
        """
        if not isinstance(self.probability, bool | np.bool_):
            raise ValueError(f"probability={self.probability!r}: choose True or False")
        training = self._training()
        learner = self._new_learner()
        if self.probability and self.hypothesis == "voted":
            raise ValueError("probability=True does not go with hypothesis='voted', which gives no scores of labels")
        X, y = learner.check(X, y)
        rest, held = self._hold_out(len(X), training)
        X_held, y_held = [X[i] for i in held], [y[i] for i in held]
        X, y = ([X[i] for i in rest], [y[i] for i in rest]) if held else (X, y)
        with sentences_named(numbered(rest)):
            lesson = learner.prepare(X, y, first=True)
        with sentences_named(numbered(held)):
            learner.predict_many(X_held, "last")  # what cannot be read is told before anything is learned
        self.learner_, self._history = learner, History()
        self.__dict__.pop("certificate_", None)
        held_out = None
        if training.validation_fraction > 0:

            def held_out() -> float:
                return self._score(y_held, learner.predict_many(X_held))

        with progress_bar(self.progress, len(X) * training.epochs) as report:
            train_tagger(learner, lesson, training, held_out, report, self._history)
        if self.probability:
            learner.temperature = self._calibrate(X_held, y_held)
        if self.certify:
            self.certificate_ = certify(learner, X, y)
        return self

    def _hold_out(self, n: int, training: TrainingParameters) -> tuple[list[int], list[int]]:
        """The numbers of the sentences to learn from, and of those held out."""
        fraction = training.validation_fraction or (HELD_OUT if self.probability else 0.0)
        if fraction == 0:
            return list(range(n)), []
        n_held = round(fraction * n)
        if not 0 < n_held < n:
            raise ValueError(f"{n} sentences are too few to hold out a part of {fraction}; give more")
        order = np.random.default_rng(self.random_state).permutation(n)
        return sorted(order[n_held:].tolist()), sorted(order[:n_held].tolist())

    def partial_fit(
        self, X: Sequence[Any], y: Sequence[Sequence[Any]], classes: Sequence[Any] | None = None
    ) -> SequenceTagger:
        """Learn from further sentences, one pass in the order given."""
        if not hasattr(self, "learner_"):
            self.learner_, self._history = self._new_learner(), History()
        learner = self.learner_
        before = (learner.mistakes, learner.updates, learner.loss) if learner.model is not None else (0, 0, 0.0)
        self.__dict__.pop("certificate_", None)
        learner.learn_many(X, y, () if classes is None else classes)
        self._history.mistakes.append(learner.mistakes - before[0])
        self._history.updates.append(learner.updates - before[1])
        self._history.loss.append(learner.loss - before[2])
        return self

    def learn_one(self, x: Sequence[Any], y: Sequence[Any]) -> SequenceTagger:
        """Learn from one sentence."""
        if not hasattr(self, "learner_"):
            self.learner_, self._history = self._new_learner(), History()
        self.__dict__.pop("certificate_", None)
        self.learner_.learn(x, y)
        return self

    def prune(self, threshold: float = 0.0) -> SequenceTagger:
        """Keep only the vector that predicts, and of it only the weights above a threshold in absolute value.

        A tagger that keeps every update (``keep="all"``, best, voted) cannot be pruned.
        """
        check_is_fitted(self, "learner_")
        self.learner_.prune(threshold)
        return self

    # ------------------------------------------------------------ predicting

    def predict(
        self, X: Sequence[Any], *, hypothesis: str | None = None, forced: Sequence[Sequence[Any]] | None = None
    ) -> list[list[Any]]:
        """The labels of each sentence.

        Parameters
        ----------
        X : list of sentences
        hypothesis : str, optional
            Another than the tagger's own.
        forced : list of label sequences, optional
            Labels that are not None are obeyed.
        """
        check_is_fitted(self, "learner_")
        return LabelSequences(self.learner_.predict_many(X, hypothesis, forced))

    def predict_one(self, x: Sequence[Any]) -> list[Any]:
        """The labels of one sentence."""
        return self.predict([x])[0]

    def predict_kbest(
        self, X: Sequence[Any], k: int, *, forced: Sequence[Sequence[Any]] | None = None
    ) -> list[list[tuple[list[Any], float]]]:
        """The k best label sequences of each sentence with their scores, the best first."""
        check_is_fitted(self, "learner_")
        return self.learner_.k_best(X, k, forced=forced)

    def decision_margin(
        self, X: Sequence[Any], *, per: str = "token"
    ) -> list[NDArray[np.float64]] | NDArray[np.float64]:
        """How sure the predictions are.

        Parameters
        ----------
        X : list of sentences
        per : {"token", "sequence"}
            For each token the score lost by the best path through any other label; for each sequence the best score
            minus the second best. Under an encoding labels of IOB1 are taken for those of BIO.
        """
        check_is_fitted(self, "learner_")
        if per not in ("token", "sequence"):
            raise ValueError(f"per={per!r}: choose 'token' or 'sequence'")
        margins = self.learner_.margins(X)
        if per == "token":
            return margins
        # the second best path leaves the best one somewhere, so its loss is the smallest of the tokens'
        return np.array([margin.min() if len(margin) else np.inf for margin in margins])

    def predict_proba(self, X: Sequence[Any]) -> list[NDArray[np.float64]]:
        """For each sentence tokens × classes: how likely each label is, calibrated on held-out sentences.

        The scores are max-marginals, so the likeliest label of a token is its label on the best path. Under an
        encoding labels of IOB1 are taken for those of BIO: B begins a segment, I goes on.
        """
        check_is_fitted(self, "learner_")
        if self.learner_.temperature is None:
            raise AttributeError("predict_proba needs probability=True when the tagger is fitted")
        temperature = self.learner_.temperature
        return [probabilities(scores, temperature) for scores in self._scores(X)]

    def _scores(self, X: Sequence[Any]) -> list[NDArray[np.float64]]:
        return [
            np.maximum(scores - scores.max(axis=1, keepdims=True), IMPOSSIBLE)
            for _, scores in self.learner_.max_marginals(X)
        ]

    def _calibrate(self, X: list[Any], y: list[Any]) -> float:
        scores = np.concatenate(self._scores(X))
        index = {label: i for i, label in enumerate(self.learner_.classes)}
        truth = np.array([index.get(label, -1) for labels in y for label in self.learner_.labelling.named(labels)])
        possible = truth >= 0
        possible[possible] &= scores[possible, truth[possible]] > IMPOSSIBLE
        if not possible.any():
            return 1.0
        finite = np.maximum(scores[possible], -1e3 * max(1.0, float(np.median(np.abs(scores[scores > IMPOSSIBLE])))))
        return float(fit_temperature(finite, truth[possible]))

    def score(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> float:
        """F of whole segments where labels keep to a scheme, else the share of right tokens; between 0 and 1.

        Labels that the tagger does not know count as missed. Labels that are None are free: their tokens are not
        counted, and to the segments around them they are as predicted.
        """
        check_is_fitted(self, "learner_")
        predicted, truth = self.predict(X), as_lists(y)
        if len(truth) != len(predicted):
            raise ValueError(f"X has {len(predicted)} sentences, but y has {len(truth)}; give one list a sentence")
        return self._score(truth, predicted)

    def _score(self, truth: list[Any], predicted: list[Any]) -> float:
        result = self.learner_.compare(truth, predicted)
        return (result.f1 if self.learner_.scheme is not None else result.accuracy) / 100.0

    # ------------------------------------------------------------ the run

    def certificate(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> Certificate:
        """What the theorem allows this run: see `Certificate`. Data other than trained on makes it hypothetical."""
        check_is_fitted(self, "learner_")
        return certify(self.learner_, X, y)

    @property
    def classes_(self) -> list[Any]:
        """The labels."""
        check_is_fitted(self, "learner_")
        return self.learner_.classes

    @property
    def scheme_(self) -> str | None:
        """The scheme that predictions keep to."""
        check_is_fitted(self, "learner_")
        return self.learner_.given or self.learner_.scheme

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_") and bool(self.learner_.labels)
