"""`SequenceLearner`: the structured perceptron over the core; no scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.dataset import Problem
from perceptive.data.sentences import Features, SentenceDataset, paired
from perceptive.errors import Parameter, ParameterError
from perceptive.evaluation.conlleval import Evaluation
from perceptive.features.template import Template
from perceptive.features.templates import Templates
from perceptive.learners.label_numbers import different_labels, in_order, numbered
from perceptive.learners.labelling import Labelling, Labels
from perceptive.learners.learner import learn_all
from perceptive.learners.margins import lost_by_others, merged
from perceptive.learners.sentence_reader import Ask, SentenceReader
from perceptive.learners.sequence_model import guess_preset, new_model, tell_labels, warn_of_labels
from perceptive.learners.sequence_state import parameters_from, restore_state, state_of
from perceptive.learners.sequence_vectors import Vectors, need_log
from perceptive.learners.weight_names import weight_name
from perceptive.parameters import SequenceParameters
from perceptive.state import State

NOTHING_LEARNED = "this learner has learned nothing yet; let it learn first"


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
        p = self.parameters
        self.labels: Labels = []
        self.index: dict[Any, int] = {}
        wanted = "bio" if p.segments else p.constraints
        self.labelling = Labelling(wanted, p.segments, p.encoding, p.max_segment, longest=p.max_segment)
        self.templates: Templates | None = None
        self.model: _core.SequenceModel | None = None
        self.first_epoch: tuple[int, int] | None = None
        self.temperature: float | None = None
        self.label_column: int | None = None  # of files in columns, and how many columns there were
        self.n_columns: int | None = None
        self._vectors = Vectors(p)
        own = callable(p.template) and not isinstance(p.template, Template)
        self.features: Features | None = p.template if own else None  # a function of the user's
        if not (isinstance(p.template, str) and p.template == "auto"):
            self._open(Templates("@label[-1]") if own else Templates.of(p.template))
        if labels is not None:
            self.meet_labels(labels)

    # ------------------------------------------------------------ set-up

    def _open(self, templates: Templates) -> None:
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
            raise ValueError(NOTHING_LEARNED)
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
        tell_labels(model, templates, self.labels, self.labelling)
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

    def dataset(
        self,
        X: Sequence[Any],
        y: Sequence[Sequence[Any]],
        weights: Any = None,
        *,
        epochs: int | None = None,
        grow: bool = True,
        classes: Iterable[Any] = (),
        resumed: bool = False,
    ) -> SentenceDataset:
        """Check sentences and their labels and make them ready to be learned from: see `Learner.dataset`.

        With ``epochs``, before anything is learned (or where a run is ``resumed``), these are the whole training set:
        labels are numbered in sorted order, ``min_count`` applies, and a scheme that is recognised is kept to.
        ``classes`` are labels to know beside those of y; a label that is None is free. Sentences have no weights.
        """
        if weights is not None:
            raise ValueError("sequences take no sample weights: every sentence counts once; repeat those to count more")
        X, y = self.check(X, y)
        if not grow:
            return self._encoded(X, self.labelling.look_up(y, self.index), self.index)
        whole = epochs is not None and (resumed or self.rounds == 0)
        before = self.templates, self.model, self.labelling
        self.labelling = replace(self.labelling)
        try:
            if self.model is None:
                self._open(Templates.of(guess_preset(X, y)))
            y, labels = self.labelling.meet(y, self.labels, whole, classes)
            every = [*self.labels, *(new for new in (in_order(labels) if whole else labels) if new not in self.index)]
            if not every:
                raise ValueError("no label is given: all are None; say some")
            index = {label: i for i, label in enumerate(every)}
            dataset = self._encoded(X, y, index, self.parameters.min_count if whole else 1)
        except Exception:
            self.templates, self.model, self.labelling = before
            raise
        known, was = len(self.labels), before[2]
        self.meet_labels(every)
        if (self.scheme, self.labelling.longest) != (was.scheme, was.longest) and len(self.labels) == known:
            assert self.templates is not None
            self._tell_labels(self.core, self.templates)
        if whole and self.templates is not None:
            warn_of_labels(self.templates, self.labels)
        return dataset

    def check(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
        """Sentences and labels as lists; raises where they do not fit each other or the scheme that is wanted."""
        X, y = paired(X, y)
        self.labelling.check(y)
        return X, y

    def _encoded(self, X: list[Any], y: list[Any], index: dict[Any, int], min_count: int = 1) -> SentenceDataset:
        """Sentences and labels as the core plays them."""
        model, reader = self.core, self._reader
        longest = self.labelling.longest or 1 if self.labelling.segments else 0
        numbers, choices = numbered(different_labels(y), index)

        def encode(X: list[Any], y: list[Any], min_count: int) -> _core.Sentences:
            return reader.encode(lambda tokens: model.encode(tokens, y, numbers, choices, min_count, longest), X)

        return SentenceDataset(self, encode(X, y, min_count), lambda i: encode([X[i]], [y[i]], 1))

    @property
    def _reader(self) -> SentenceReader:
        assert self.templates is not None
        return SentenceReader(self.features, self.templates.n_base)

    def compare(self, truth: Sequence[Sequence[Any]], predicted: Sequence[Sequence[Any]]) -> Evaluation:
        """What is right of what was predicted, as `conlleval` counts; labels that are None are left out."""
        return self.labelling.compare(truth, predicted)

    def play(self, sentences: _core.Sentences, order: NDArray[np.int64]) -> None:
        """Learn from sentences in the order given."""
        p = self.parameters
        self._vectors.clear()
        self.core.play(sentences, order, p.rule, p.learning_rate, p.margin, p.C, p.hamming, p.k, True, p.beam)

    def learn(self, x: Sequence[Any], y: Sequence[Any]) -> bool:
        """Be told the labels of a sentence; learn if that is wanted. Returns whether it was a mistake."""
        dataset, before = self.dataset([x], [y]), self.mistakes
        learn_all(dataset)
        return self.mistakes > before

    def learn_many(
        self, X: Sequence[Any], y: Sequence[Sequence[Any]], weights: Any = None, *, classes: Iterable[Any] = ()
    ) -> None:
        """Learn from many sentences, in the order given; ``classes`` are labels to know beside those of y."""
        learn_all(self.dataset(X, y, weights, classes=classes))

    def finish(self) -> None:
        """Nothing has to be done: vectors are made when they are first asked for, and kept until learning goes on."""

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
        core, names, beam = self._able(), self.labelling.names(self.labels), self.parameters.beam
        if (hypothesis or self.parameters.hypothesis) == "voted":
            need_log(self.parameters, "voted")
            if forced is not None:
                raise ValueError("a vote cannot be forced; choose another hypothesis")
            found = self._ask(lambda X, _: core.vote(X, names), X)
        else:
            vector = self.vector(hypothesis)
            found = self._ask(lambda X, forced: core.predict(X, names, vector, forced, beam), X, forced)
        return [self.labelling.decode(labels) for labels in found] if self.given == "iob1" else found

    def k_best(
        self, X: Sequence[Any], k: int, hypothesis: str | None = None, forced: Sequence[Sequence[Any]] | None = None
    ) -> list[list[tuple[Labels, float]]]:
        """The k best label sequences of each sentence and their scores, the best first; of a beam those it kept."""
        core, names, beam = self._able(), self.labelling.names(self.labels), self.parameters.beam
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < 2**31:
            raise ParameterError("{}: it must be a whole number from 1 to 2³¹ − 1", Parameter("k", k))
        vector = self.vector(hypothesis)
        found = self._ask(lambda X, forced: core.predict_kbest(X, int(k), names, vector, forced, beam), X, forced)
        return [[(self.labelling.decode(labels), score) for labels, score in paths] for paths in found]

    def max_marginals(
        self, X: Sequence[Any], hypothesis: str | None = None
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """For each sentence the best path, and for each token and label the score of the best path through it.

        Labels are numbered as in ``classes``; those of IOB1 are taken for BIO. Paths that a beam dropped do not count.
        """
        core, n, beam = self._able(), len(self.labels), self.parameters.beam
        vector = self.vector(hypothesis)
        found = self._ask(lambda X, _: core.max_marginals(X, n, vector, beam), X)
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
        core, n, vector = self.core, len(self.labels), self.vector(hypothesis)
        unary, edges = self._ask(lambda X, _: core.trellis(X, n, vector), [x])
        return unary.reshape(len(x), n), edges.reshape(max(0, len(x) - 1), n, n)

    def _able(self) -> _core.SequenceModel:
        """The model, where it can predict."""
        if not self.labels or self.model is None:
            raise ValueError(NOTHING_LEARNED)
        return self.model

    def _ask(self, ask: Ask, X: Sequence[Any], forced: Sequence[Sequence[Any]] | None = None) -> Any:
        return self._reader.ask(ask, X, forced, lambda X, forced: self.labelling.forced(X, forced, self.labels))

    # ------------------------------------------------------------ the model as a whole

    def snapshot(self) -> tuple[dict[str, Any], int]:
        """Everything that learning changes: the arrays, and the fingerprint of what was played."""
        pruned = self.core.clock == 0 and not self.parameters.keeps_log
        return self.core.state(self.core.last() if pruned else None, 0.0), self.core.fingerprint

    def restore(self, state: tuple[dict[str, Any], int]) -> None:
        """Go back to a snapshot."""
        assert self.templates is not None
        model = self._new_model(self.templates)
        arrays, model.fingerprint = state
        try:
            model.restore(arrays)
        except RuntimeError:  # a cast of the core's
            raise ValueError("an array is of another type than it should be") from None
        self.model = model
        self._vectors.clear()

    def state(self) -> State:
        """All that it is, as plain values and arrays."""
        return state_of(self)

    @classmethod
    def from_state(cls, state: State, functions: Any = None) -> Self:
        """What `state` gave; raises ValueError where the parts do not fit together."""
        learner = cls(**parameters_from(state))
        restore_state(learner, state)
        return learner

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
            self.restore(pickled["learned"])

    def prune(self, threshold: float = 0.0, hypothesis: str | None = None) -> None:
        """Keep only the vector that predicts, and of it only the weights above a threshold in absolute value.

        Learning may go on from there; the average begins anew. A learner that keeps every update cannot be pruned.
        """
        if isinstance(threshold, bool) or not isinstance(threshold, Real) or not threshold >= 0:
            raise ValueError(f"threshold={threshold!r}: it must be a number ≥ 0")
        if self.parameters.keeps_log:
            why = "a learner that keeps every update ({}, or the {} best, voted or random) cannot be pruned; "
            raise ParameterError(why + "train an averaged or last one", Parameter("keep", "all"), "hypothesis")
        vector = self.vector(hypothesis) or self.core.last()
        self.restore((self.core.state(vector, float(threshold)), self.core.fingerprint))

    def heaviest(self, n: int = 20, hypothesis: str | None = None) -> list[tuple[str, str, float]]:
        """The n largest weights: feature, label (or pair of labels), weight."""
        assert self.templates is not None
        heaviest = self.core.heaviest(self.vector(hypothesis), n)
        return [(*weight_name(self.templates, self.labels, *where), weight) for *where, weight in heaviest]

    # ------------------------------------------------------------ the run so far

    def problems(self, witness: Any = None) -> list[Problem]:
        """The run as the theorem of the structured perceptron (Collins 2002) sees it: δ is Φ(x, y*) − Φ(x, ŷ)."""
        if witness is not None:
            raise ValueError("witness does not go with sequences, whose features have no columns; leave it out")
        p, core = self.parameters, self.core
        run: Any = {name: getattr(core, name) for name in ("rounds", "mistakes", "updates", "radius2")}
        rule: Any = {name: getattr(p, name) for name in ("rule", "learning_rate", "margin", "C")}
        known = p.rule == "perceptron" and not p.hamming and not p.beam
        return [Problem(**run, **rule, witnesses=self._vectors.witnesses(core), certified=known)]

    @property
    def rounds(self) -> int:
        """Sentences played so far."""
        return 0 if self.model is None else self.model.rounds

    played = rounds  # the core counts them one by one
    ids = 0  # there is no Δ-trick for sequences

    @property
    def fingerprint(self) -> int:
        """The sum of the hashes of the sentences played so far."""
        return 0 if self.model is None else self.model.fingerprint

    @property
    def mistakes(self) -> int:
        """Sentences that were labelled wrongly when they were played."""
        return 0 if self.model is None else self.model.mistakes

    @property
    def updates(self) -> int:
        """Updates so far."""
        return 0 if self.model is None else self.model.updates

    @property
    def loss(self) -> float:
        """How far the wrong sequences were from losing, summed."""
        return 0.0 if self.model is None else self.model.criterion
