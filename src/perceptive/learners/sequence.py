"""`SequenceLearner`: the structured perceptron over the core; no scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.conlleval import Evaluation
from perceptive.features import schemes
from perceptive.features.template import Template
from perceptive.features.templates import Templates
from perceptive.learners.labelling import Labelling, Labels, longest_segment, misfit
from perceptive.learners.margins import lost_by_others, merged
from perceptive.learners.sentences import (
    Features,
    as_lists,
    different_labels,
    featured,
    forced_labels,
    guess,
    in_order,
    numbered,
    only_labels,
    paired,
)
from perceptive.learners.sequence_model import new_model, tell_labels, warn_of_labels
from perceptive.learners.sequence_vectors import Vectors, need_log
from perceptive.learners.weight_names import weight_name
from perceptive.parameters import SequenceParameters


class SequenceLearner:
    """Learns to label sequences from its mistakes.

    The notes' game (`000_…` §4): B finds the best label sequence by Viterbi; where it is wrong,
    v ← v + Φ(x, y) − Φ(x, ŷ).

    Parameters
    ----------
    labels : sequence, optional
        Labels known beforehand; others may come later.
    **parameters
        See `SequenceParameters`.

    Examples
    --------
    >>> from perceptive.learners import SequenceLearner
    >>> learner = SequenceLearner(template="word[-1:0]\\n@label[-1]", hypothesis="last")
    >>> sentence, tags = "When will prof Cohen post the notes".split(), ["O", "O", "B", "I", "O", "O", "O"]
    >>> while learner.learn(sentence, tags):
    ...     pass
    >>> learner.predict(sentence)
    ['O', 'O', 'B', 'I', 'O', 'O', 'O']
    """

    def __init__(self, labels: Sequence[Any] | None = None, **parameters: Any) -> None:
        self.parameters = SequenceParameters(**parameters)
        self.labels: Labels = []
        self.index: dict[Any, int] = {}
        wanted = "bio" if self.parameters.segments else self.parameters.constraints
        self.labelling = Labelling(wanted, self.parameters.segments, self.parameters.encoding)
        self.templates: Templates | None = None
        self.model: _core.SequenceModel | None = None
        self.first_pass: tuple[int, int] | None = None
        self.temperature: float | None = None
        self.label_column: int | None = None  # of files in columns, and how many columns there were
        self.n_columns: int | None = None
        self.longest = self.parameters.max_segment  # tokens of the longest segment
        self._vectors = Vectors(self.parameters)
        self.features: Features | None = None  # a function of the user's
        if callable(self.parameters.template) and not isinstance(self.parameters.template, Template):
            self.features = self.parameters.template
            self._open(Templates("@label[-1]"))
        elif not (isinstance(self.parameters.template, str) and self.parameters.template == "auto"):
            self._open(Templates.of(self.parameters.template))
        if labels is not None:
            self.meet_labels(labels)

    # ------------------------------------------------------------ set-up

    def _open(self, templates: Templates) -> None:
        if templates.empty:
            raise ValueError(
                f"{templates.where}: there are no templates; write at least one, such as word or @label[-1]"
            )
        templates = templates.copy()  # others may have them too, and segments add columns
        self.templates, self.model = templates, self._new_model(templates)

    def _new_model(self, templates: Templates) -> _core.SequenceModel:
        """A model of these templates and of the labels there are, which has learned nothing."""
        model = new_model(templates, self.parameters)
        if self.labels:
            self._tell_labels(model, templates)
        return model

    @property
    def core(self) -> _core.SequenceModel:
        """The model in the core."""
        if self.model is None:
            raise ValueError("this learner has learned nothing yet; let it learn first")
        return self.model

    def meet_labels(self, labels: Iterable[Any]) -> None:
        """Make room for labels that are new, in the order given."""
        new = [label for label in dict.fromkeys(labels) if label is not None and label not in self.index]
        if not new:
            return
        self.labels += new
        self.index = {label: i for i, label in enumerate(self.labels)}
        if self.model is not None:
            assert self.templates is not None
            self._tell_labels(self.model, self.templates)

    def _tell_labels(self, model: _core.SequenceModel, templates: Templates) -> None:
        tell_labels(model, templates, self.labels, self.labelling, self.longest if self.parameters.segments else None)
        self._vectors.clear()

    @property
    def scheme(self) -> str | None:
        """The scheme that labels within keep to."""
        return self.labelling.scheme

    @property
    def given(self) -> str | None:
        """The scheme of the user's labels, where those within are another's."""
        return self.labelling.given

    @property
    def classes(self) -> Labels:
        """The labels as the user knows them."""
        return in_order(dict.fromkeys(self.labelling.names(self.labels)))

    # ------------------------------------------------------------ learning

    def prepare(
        self, X: Sequence[Any], y: Sequence[Sequence[Any]], *, first: bool = False, classes: Iterable[Any] = ()
    ) -> _core.Sentences:
        """Check sentences and their labels and make them ready to be played.

        With ``first`` (the whole training set) labels are numbered in sorted order, ``min_count`` applies, and a scheme
        that is recognised is kept to. ``classes`` are labels to know beside those of y.
        """
        X, y = self.check(X, y)
        before = self.templates, self.model, self.labelling, self.longest
        self.labelling = replace(self.labelling)
        try:
            if self.model is None:
                self._open(Templates.of(guess(X, y)))
            partial = [i for i, mine in enumerate(y) if None in mine]
            y, more = self.labelling.encode(y, self.labels)
            said = different_labels(y)
            labels = {**different_labels([list(classes)]), **dict.fromkeys(only_labels(said)), **dict.fromkeys(more)}
            self.labelling.keep_to(y, first)
            if self.scheme == "bioes" and not any(schemes.split(label)[0] in ("O", "S") for label in labels):
                labels["O"] = None  # else a sentence of one token could not be labelled
            if self.parameters.segments:
                longest = longest_segment(y, self.parameters.max_segment)
                self.longest = self.parameters.max_segment or max(self.longest or 1, longest)
                labels.setdefault("O", None)
            self._need_paths(y, partial, labels)
            every = [*self.labels, *(new for new in (in_order(labels) if first else labels) if new not in self.index)]
            index = {label: i for i, label in enumerate(every)}
            if not every:
                raise ValueError("no label is given: all are None; say some")
            min_count = self.parameters.min_count if first else 1
            lesson = self.core.encode(self._tokens(X), y, *numbered(said, index), min_count, self._longest)
        except Exception:
            self.templates, self.model, self.labelling, self.longest = before
            raise
        known = len(self.labels)
        self.meet_labels(every)
        if (self.scheme, self.longest) != (before[2].scheme, before[3]) and len(self.labels) == known:
            assert self.templates is not None
            self._tell_labels(self.core, self.templates)
        if first and self.templates is not None:
            warn_of_labels(self.templates, self.labels)
        return lesson

    def check(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
        """Sentences and labels as lists; raises where they do not fit each other or the scheme that is wanted."""
        X, y = paired(X, y)
        self.labelling.check(y)
        return X, y

    def _need_paths(self, y: list[Any], partial: list[int], labels: dict[Any, None]) -> None:
        """See to it that labels that are None can be filled in; adds to ``labels`` what that needs."""
        if self.scheme is None or not partial:
            return
        every = [*self.labels, *(label for label in labels if label not in self.index)]
        new = schemes.completed(self.scheme, every)
        labels |= dict.fromkeys(new)
        paths = schemes.Paths(self.scheme, [*every, *new], self.longest if self.parameters.segments else None)
        for i in partial:
            if not paths.fit(y[i]):
                raise ValueError(
                    f"sentence {i}: no labels fit between those given in the scheme {self.scheme!r}; repair them"
                )

    def lesson(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> _core.Sentences:
        """Sentences ready to be looked at; unlike `prepare` this learns no labels, and refuses those not known."""
        X, y = self.check(X, y)
        if self.given is not None:
            y, _ = self.labelling.encode(y, self.labels)
        for i, labels in enumerate(y):
            for t, label in enumerate(labels):
                if label is not None and label not in self.index and not isinstance(label, schemes.Choice):
                    raise ValueError(f"sentence {i}, token {t}: the learner has never met the label {label!r}")
            if self.given is not None or self.scheme is None:
                continue
            if (wrong := schemes.violation(self.scheme, labels)) is not None:
                raise ValueError(f"sentence {i}, token {wrong}: {misfit(labels[wrong], self.scheme)}")
        if self.parameters.segments:
            longest_segment(y, self.longest)
        return self.core.encode(self._tokens(X), y, *numbered(different_labels(y), self.index), 1, self._longest)

    @property
    def _longest(self) -> int:
        return self.longest or 1 if self.parameters.segments else 0

    def compare(self, truth: Sequence[Sequence[Any]], predicted: Sequence[Sequence[Any]]) -> Evaluation:
        """What is right of what was predicted, as `conlleval` counts; labels that are None are left out."""
        return self.labelling.compare(truth, predicted)

    def _tokens(self, X: Sequence[Any]) -> list[Any]:
        """Sentences as the core reads them."""
        X = as_lists(X)
        return X if self.features is None else featured(X, self.features)

    def play(self, lesson: _core.Sentences, order: NDArray[np.int64]) -> None:
        """Play sentences of a lesson in the order given."""
        p = self.parameters
        self._vectors.clear()
        self.core.play(lesson, order, p.rule, p.learning_rate, p.margin, p.C, p.hamming, p.k, True, p.beam)

    def learn(self, x: Sequence[Any], y: Sequence[Any]) -> bool:
        """Be told the labels of a sentence; learn if that is wanted. Returns whether it was a mistake."""
        lesson = self.prepare([x], [y])
        before = self.core.mistakes
        self.play(lesson, np.zeros(1, np.int64))
        return bool(self.core.mistakes > before)

    def learn_many(self, X: Sequence[Any], y: Sequence[Sequence[Any]], classes: Iterable[Any] = ()) -> None:
        """Learn from many sentences, in the order given; ``classes`` are labels to know beside those of y."""
        lesson = self.prepare(X, y, classes=classes)
        self.play(lesson, np.arange(len(lesson)))

    # ------------------------------------------------------------ predicting

    def vector(self, hypothesis: str | None = None) -> _core.SequenceVector | None:
        """What the core predicts by; None is the last vector."""
        return self._vectors.of(self.core, hypothesis or self.parameters.hypothesis)

    def predict(self, x: Sequence[Any], hypothesis: str | None = None) -> Labels:
        """The labels of a sentence."""
        return self.predict_many([x], hypothesis)[0]

    def predict_many(
        self,
        X: Sequence[Any],
        hypothesis: str | None = None,
        forced: Sequence[Sequence[Any]] | None = None,
    ) -> list[Labels]:
        """The labels of many sentences; labels that are not None in ``forced`` are obeyed."""
        self._need_labels()
        if (hypothesis or self.parameters.hypothesis) == "voted":
            need_log(self.parameters)
            if forced is not None:
                raise ValueError("a vote cannot be forced; choose another hypothesis")
            return [
                self.labelling.decode(labels)
                for labels in self.core.vote(self._tokens(X), self.labelling.names(self.labels))
            ]
        names, vector = self.labelling.names(self.labels), self.vector(hypothesis)
        found = self.core.predict(self._tokens(X), names, vector, self._forced(forced), self.parameters.beam)
        return [self.labelling.decode(labels) for labels in found] if self.given == "iob1" else found

    def k_best(
        self, X: Sequence[Any], k: int, hypothesis: str | None = None, forced: Sequence[Sequence[Any]] | None = None
    ) -> list[list[tuple[Labels, float]]]:
        """The k best label sequences of each sentence and their scores, the best first; of a beam those it kept."""
        self._need_labels()
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < 2**31:
            raise ValueError(f"k={k!r}: it must be a whole number from 1 to 2³¹ − 1")
        names, vector = self.labelling.names(self.labels), self.vector(hypothesis)
        beam = self.parameters.beam
        found = self.core.predict_kbest(self._tokens(X), int(k), names, vector, self._forced(forced), beam)
        return [[(self.labelling.decode(labels), score) for labels, score in paths] for paths in found]

    def max_marginals(
        self, X: Sequence[Any], hypothesis: str | None = None
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """For each sentence the best path, and for each token and label the score of the best path through it.

        Labels are numbered as in ``classes``; those of IOB1 are taken for BIO. Paths that a beam dropped do not count.
        """
        self._need_labels()
        n = len(self.labels)
        found = self.core.max_marginals(self._tokens(X), n, self.vector(hypothesis), self.parameters.beam)
        found = [(np.array(path, np.int64), scores.reshape(len(path), n)) for path, scores in found]
        names, classes = self.labelling.names(self.labels), self.classes
        return found if names == classes else [merged(path, scores, names, classes) for path, scores in found]

    def margins(self, X: Sequence[Any], hypothesis: str | None = None) -> list[NDArray[np.float64]]:
        """For each token: the score lost by the best path that has another label there."""
        return [lost_by_others(path, scores) for path, scores in self.max_marginals(X, hypothesis)]

    def trellis(
        self, x: Sequence[Any], hypothesis: str | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scores of the labels of each token (n × L), and of the pairs from each token to the next (n − 1 × L × L)."""
        n = len(self.labels)
        unary, edges = self.core.trellis(self._tokens([x]), n, self.vector(hypothesis))
        return unary.reshape(len(x), n), edges.reshape(max(0, len(x) - 1), n, n)

    def _need_labels(self) -> None:
        if not self.labels or self.model is None:
            raise ValueError("this learner has learned nothing yet; let it learn first")

    def _forced(self, forced: Sequence[Sequence[Any]] | None) -> _core.Forced:
        if forced is None:
            return _core.Forced()
        return forced_labels(forced, self.labelling, self.labels)

    # ------------------------------------------------------------ the model as a whole

    def arrays(self) -> dict[str, Any]:
        """What was learned, as arrays."""
        pruned = self.core.clock == 0 and not self.parameters.keeps_log
        return self.core.state(self.core.last() if pruned else None, 0.0)

    def snapshot(self) -> tuple[dict[str, Any], int]:
        """Everything that learning changes: the arrays, and the fingerprint of what was played."""
        return self.arrays(), self.core.fingerprint

    def restore(self, state: tuple[dict[str, Any], int]) -> None:
        """Go back to a snapshot."""
        assert self.templates is not None
        model = self._new_model(self.templates)
        arrays, model.fingerprint = state
        model.restore(arrays)
        self.model = model
        self._vectors.clear()

    def __getstate__(self) -> dict[str, Any]:
        mine = {name: value for name, value in self.__dict__.items() if name not in ("model", "_vectors")}
        learned = None if self.model is None or not self.labels else self.snapshot()
        return {"mine": mine, "learned": learned}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        self.__dict__.update(pickled["mine"])
        self.model, self._vectors = None, Vectors(self.parameters)
        if self.templates is not None:
            self._open(self.templates)
        if pickled["learned"] is not None:
            state, self.core.fingerprint = pickled["learned"]
            self.core.restore(state)

    def prune(self, threshold: float = 0.0, hypothesis: str | None = None) -> None:
        """Keep only the vector that predicts, and of it only the weights above a threshold in absolute value.

        Learning may go on from there; the average begins anew. A learner that keeps every update cannot be pruned.

        Parameters
        ----------
        threshold : float
            0 drops what weighs nothing.
        hypothesis : {"averaged", "last"}, optional
            Whose weights are kept.
        """
        if isinstance(threshold, bool) or not isinstance(threshold, Real) or not threshold >= 0:
            raise ValueError(f"threshold={threshold!r}: it must be a number ≥ 0")
        if self.parameters.keeps_log:
            raise ValueError(
                "a learner that keeps every update (keep='all', or the hypothesis best or voted) cannot be pruned; "
                "train an averaged or last one"
            )
        vector = self.vector(hypothesis) or self.core.last()
        self.restore((self.core.state(vector, float(threshold)), self.core.fingerprint))

    def heaviest(self, n: int = 20, hypothesis: str | None = None) -> list[tuple[str, str, float]]:
        """The n largest weights: feature, label (or pair of labels), weight."""
        assert self.templates is not None
        heaviest = self.core.heaviest(self.vector(hypothesis), n)
        return [(*weight_name(self.templates, self.labels, *where), weight) for *where, weight in heaviest]

    # ------------------------------------------------------------ the run so far

    @property
    def mistakes(self) -> int:
        """Sentences that were labelled wrongly when they were played."""
        return self.core.mistakes

    @property
    def updates(self) -> int:
        """Updates so far."""
        return self.core.updates

    @property
    def rounds(self) -> int:
        """Sentences played so far."""
        return self.core.rounds

    @property
    def loss(self) -> float:
        """How far the wrong sequences were from losing, summed."""
        return self.core.criterion

    @property
    def radius(self) -> float:
        """R_δ: the largest ‖Φ(x, y) − Φ(x, ŷ)‖ over the updates made."""
        return float(np.sqrt(self.core.radius2))
