"""`SequenceLearner`: the structured perceptron, without scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.sample_weights import check_weights
from perceptive.data.sentences import Ask, SentenceDataset, SentenceReader, different_labels, numbered, paired
from perceptive.data.token_values import Tokens
from perceptive.errors import Parameter, ParameterError
from perceptive.evaluation.conlleval import Evaluation
from perceptive.features.presets import PRESETS
from perceptive.features.schemes import STRICT
from perceptive.features.templates import Templates
from perceptive.features.tokens import TOKENISERS
from perceptive.learners.calibration import lost_by_others, merged
from perceptive.learners.labelling import Labelling, Labels
from perceptive.learners.sequence_model import Vectors, need_journal, opened_template
from perceptive.learners.sequence_run import OF_THE_CORE, Parts, SequenceRun
from perceptive.named_functions import function_of, name_of
from perceptive.parameters import SequenceParameters
from perceptive.state import Meta, State, array_of, below, check_labels, pair_or_none, plain

MODEL = "model."  # before the names of the core's arrays


class SequenceLearner(SequenceRun):
    """Learns to label sequences from its mistakes.

    The game of the notes (`000_…` §4): B finds the best label sequence by Viterbi; if it is wrong, v ← v + Φ(x, y) −
    Φ(x, ŷ).

    Parameters
    ----------
    labels : sequence, optional
        Labels known in advance; others may appear later.
    **parameters
        See `SequenceParameters`. The default hypothesis is ``"last"``.

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
        self.given_parameters = parameters
        self.parameters = SequenceParameters.of_learner(parameters)
        p = self.parameters
        self.labels: Labels = []
        self.index: dict[Any, int] = {}
        self.labelling = Labelling.of(p)
        self.templates: Templates | None = None
        self.model: _core.SequenceModel | None = None
        self.first_epoch: tuple[int, int] | None = None
        self.temperature: float | None = None
        self.tokens: Tokens | None = None  # the kind of tokens that it has learned from
        self.label_column: int | str | None = None  # of files in columns
        self.n_columns: int | None = None  # of these files
        self.columns: tuple[str, ...] = ()  # of a token, if they were chosen
        self._vectors = Vectors(p)
        self.features, templates = opened_template(p.template)
        if templates is not None:
            self.templates, self.model = self._opened(templates)
        if labels is not None:
            self.meet_labels(labels)

    # ------------------------------------------------------------ learning

    lookback = 0  # the labels of a sentence do not depend on those before

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
        """Check sentences and their labels, and prepare them for learning: see `Learner.dataset`.

        With ``epochs``, on an untrained learner (or a ``resumed`` run), these are the whole training set: labels are
        numbered in sorted order, ``min_count`` applies, word clusters are learned, and a recognised scheme is kept.
        ``classes`` are more labels than those of y; a label that is None is free.
        """
        X, y = self.check(X, y)
        weights = check_weights(weights, len(X), self.parameters.rule, "sentence")
        if not grow:
            with self.lock.shared():
                parts = self._able(), self._readable, self.labelling
                return self._encoded(parts, X, self.labelling.look_up(y, self.index), self.index, weights)
        with self.lock.learning():  # all is made first, and then kept
            whole = epochs is not None and (resumed or self.rounds == 0)
            parts, within, every = self._settled(X, y, whole, classes)
            if whole and parts[1].unlearned:
                parts = self._with_clusters(parts, self.contexts_of(X, parts[1]))
            index = {label: i for i, label in enumerate(every)}
            dataset = self._encoded(parts, X, within, index, weights, self.min_count(X) if whole else 1)
            self._keep(parts, every, X, whole)
            return dataset

    def check(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
        """Return sentences and labels as lists; raise if they do not fit each other or the required scheme."""
        X, y = paired(X, y)
        self.labelling.check(y)
        return X, y

    def _encoded(
        self, parts: Parts, X: list[Any], y: list[Any], index: dict[Any, int], weights: Any, min_count: int = 1
    ) -> SentenceDataset:
        """Return sentences and labels as the core plays them."""
        model, templates, labelling = parts
        reader = SentenceReader(self.features, templates, self.tokens)
        longest = labelling.longest or 1 if labelling.segments else 0
        numbers, choices = numbered(different_labels(y), index)

        def encode(X: list[Any], y: list[Any], min_count: int) -> _core.Sentences:
            return reader.encode(lambda tokens: model.encode(tokens, y, numbers, choices, min_count, longest), X)

        return SentenceDataset(self, encode(X, y, min_count), lambda i: encode([X[i]], [y[i]], 1), weights)

    def compare(
        self, truth: Sequence[Sequence[Any]], predicted: Sequence[Sequence[Any]], X: Sequence[Any] | None = None
    ) -> Evaluation:
        """Compare predictions with the truth: segments as `conlleval` counts them, else tags.

        Labels that are None are left out. If the sentences are given, words unseen in training are counted separately.
        """
        return self.labelling.compare(truth, predicted, None if X is None else self.unknown(X))

    def play(self, sentences: _core.Sentences, rows: _core.SentenceRows, order: NDArray[np.int64]) -> None:
        """Learn from sentences in the given order."""
        p = self.parameters
        how = p.rule, p.learning_rate, p.margin, p.C, p.hamming, p.k, True, p.beam, p.batch, self.threads
        with self.lock.learning(), self.lock.changing():
            self._vectors.clear()
            self.played_rows = rows if rows is self.played_rows else None
            self.core.play(sentences, rows, order, *how)

    @property
    def open(self) -> bool:
        """Whether it is between two sentences of a stream; see `Learner`."""
        return self.model is not None and self.model.run.open

    @open.setter
    def open(self, open: bool) -> None:
        if self.model is not None:
            self.model.run.open = open

    # ------------------------------------------------------------ predicting

    def predict_many(
        self,
        X: Sequence[Any],
        hypothesis: str | None = None,
        forced: Sequence[Sequence[Any]] | None = None,
    ) -> list[Labels]:
        """Return the labels of many sentences; predictions have every label in ``forced`` that is not None."""
        with self.lock.shared():
            core, names, beam = self._able(), self.labelling.names(self.labels), self.parameters.beam
            hypothesis = hypothesis or self.parameters.hypothesis
            if hypothesis == "voted":
                need_journal(self.parameters, "voted")
                if forced is not None:
                    raise ValueError("a vote cannot be forced; choose another hypothesis")
            if hypothesis == "voted" and core.run.rounds:
                found = self._ask(lambda X, _: core.vote(X, names), X)
            else:  # before the first sentence there is v₀ alone to vote
                vector = None if hypothesis == "voted" else self.vector(hypothesis)
                found = self._ask(lambda X, forced: core.predict(X, names, vector, forced, beam), X, forced)
            return [self.labelling.decode(labels) for labels in found] if self.given in STRICT else found

    def reader(self) -> Self:
        """Return a reader of one text, whose sentences come in several calls: see `RerankingLearner.reader`."""
        return self

    def k_best(
        self, X: Sequence[Any], k: int, hypothesis: str | None = None, forced: Sequence[Sequence[Any]] | None = None
    ) -> list[list[tuple[Labels, float]]]:
        """Return the k best label sequences of each sentence with scores, best first; with a beam, those it kept."""
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < 2**31:
            raise ParameterError("{}: it must be a whole number from 1 to 2³¹ − 1", Parameter("k", k))
        with self.lock.shared():
            core, names, beam = self._able(), self.labelling.names(self.labels), self.parameters.beam
            vector = self.vector(hypothesis)
            found = self._ask(lambda X, forced: core.predict_kbest(X, int(k), names, vector, forced, beam), X, forced)
            return [[(self.labelling.decode(labels), score) for labels, score in paths] for paths in found]

    def score(self, x: Sequence[Any], hypothesis: str | None = None) -> float:
        """Return the score of the best label sequence of a sentence."""
        return self.k_best([x], 1, hypothesis)[0][0][1]

    def best_path(self, x: Sequence[Any], hypothesis: str | None = None) -> list[int]:
        """Return the best label sequence of a sentence, by the numbers of the internal labels."""
        with self.lock.shared():
            core, numbers, beam = self._able(), list(range(len(self.labels))), self.parameters.beam
            vector = self.vector(hypothesis)
            [found] = self._ask(lambda X, forced: core.predict(X, numbers, vector, forced, beam), [x])
            return list(found)

    def max_marginals(
        self, X: Sequence[Any], hypothesis: str | None = None
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Return the best path of each sentence, and for each token and label the score of the best path through it.

        Labels are numbered as in ``classes``; IOB1 labels are treated as BIO, IOE1 labels as IOE2. Paths that a beam
        dropped do not count.
        """
        with self.lock.shared():
            core, n, beam = self._able(), len(self.labels), self.parameters.beam
            vector = self.vector(hypothesis)
            found = self._ask(lambda X, _: core.max_marginals(X, n, vector, beam), X)
            names, classes = self.labelling.names(self.labels), self.classes
        found = [(np.array(path, np.int64), scores.reshape(len(path), n)) for path, scores in found]
        return found if names == classes else [merged(path, scores, names, classes) for path, scores in found]

    def margins(self, X: Sequence[Any], hypothesis: str | None = None) -> list[NDArray[np.float64]]:
        """Return for each token how much score the best path with a different label there loses."""
        return [lost_by_others(path, scores) for path, scores in self.max_marginals(X, hypothesis)]

    def trellis(
        self, x: Sequence[Any], hypothesis: str | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return scores of the labels of each token (n × L), and of the pairs of neighbours (n − 1 × L × L)."""
        with self.lock.shared():
            core, n, vector = self._able(), len(self.labels), self.vector(hypothesis)
            unary, edges = self._ask(lambda X, _: core.trellis(X, n, vector), [x])
        return unary.reshape(len(x), n), edges.reshape(max(0, len(x) - 1), n, n)

    def _ask(self, ask: Ask, X: Sequence[Any], forced: Sequence[Sequence[Any]] | None = None) -> Any:
        reader = SentenceReader(self.features, self._readable, self.tokens)
        return reader.ask(ask, X, lambda tokens: self.labelling.forced(tokens, forced, self.labels))

    # ------------------------------------------------------------ the model as a whole

    def departure(self) -> tuple[State, Mapping[str, Any]]:
        """Return the state of a replica; see `MixableLearner`. Rows of weights keep their numbers."""
        replica = self.replica()
        functions = {} if self.features is None else {name_of(self.features): self.features}
        return state_of(replica, (replica.core.state(None, 0.0), 0)), functions

    def state(self) -> State:
        """Return the whole state, as plain values and arrays."""
        with self.lock.exclusive():
            return state_of(self)

    @classmethod
    def from_state(cls, state: State, functions: Any = None) -> Self:
        """Make a learner from what `state` returned; raise ValueError if the parts do not fit together."""
        learner = cls(**parameters_from(state, functions or {}))
        restore_state(learner, state)
        return learner

    def _parts(self) -> dict[str, Any]:
        mine = {name: value for name, value in super()._parts().items() if name not in OF_THE_CORE}
        return {"mine": mine, "learned": None if self.model is None or not self.labels else self.snapshot()}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        self.__dict__.update(pickled["mine"])
        self.model, self._vectors = None, Vectors(self.parameters)
        if self.templates is not None:
            self.templates, self.model = self._opened(self.templates)
        if pickled["learned"] is not None:
            self.restore(pickled["learned"])


# ---------------------------------------------------------------- as plain values and arrays, and back


def is_preset(template: Any) -> bool:
    """Return whether a template is the name of a preset."""
    return isinstance(template, str) and (template in ("auto", "attributes") or template in PRESETS)


def plain_template(template: Any, learner: SequenceLearner) -> Any:
    """Return a template for JSON: the name of a preset, or the text of the templates that the learner has."""
    assert learner.templates is not None
    return template if is_preset(template) else learner.templates.text


def state_of(learner: SequenceLearner, learned: Any = None) -> State:
    """Return the whole state of a learner; ``learned`` is a snapshot to use instead of its own."""
    templates, p = learner.templates, learner.parameters
    if templates is None or learner.model is None:
        raise ValueError("this learner has learned nothing yet; let it learn before it is saved")
    parameters = {f.name: plain(getattr(p, f.name)) for f in fields(p) if f.name != "template"}
    model, fingerprint = learner.snapshot() if learned is None else learned
    words, own_function = _dictionaries(templates), learner.features is not None and p.template != "attributes"
    meta = {
        "parameters": {**parameters, "template": plain_template(p.template, learner)},
        "text": templates.text,
        "where": templates.where,
        "dictionaries": [name for name, _ in words],
        "labels": check_labels(list(map(plain, learner.labels))),
        **learner.labelling.state(),
        "label_column": learner.label_column,
        "columns": list(learner.columns),
        "n_columns": learner.n_columns,
        "tokeniser": learner.tokeniser,
        **({"function": {"function": name_of(learner.features)}} if own_function else {}),
        **({} if learner.tokens is None else learner.tokens.state()),
        "fingerprint": str(fingerprint),
        "first_pass": None if learner.first_epoch is None else list(learner.first_epoch),
        "temperature": learner.temperature,
    }
    arrays = {MODEL + name: array for name, array in model.items()}
    for i, (_, some) in enumerate(words):
        arrays[f"dictionary{i}"] = np.frombuffer("\n".join(some).encode(), np.uint8)
    return State(meta, arrays)


def parameters_from(state: State, functions: Mapping[str, Any]) -> Meta:
    """Return the parameters in a state; raise ValueError if they are impossible, or a function is missing."""
    parameters = state.meta["parameters"]
    if parameters.get("template") == "attributes":
        return dict(parameters)
    function = function_of("template", state.meta.get("function"), functions)
    return {**parameters, "template": _templates_from(state) if function is None else function}


def restore_state(learner: SequenceLearner, state: State) -> None:
    """Restore a state in a new learner; raise ValueError if the parts do not fit together."""
    meta = state.meta
    learner.labelling.restore(meta)
    in_scheme = meta["scheme"] is not None or meta["given"] is not None
    if in_scheme and not all(isinstance(label, str) and label for label in meta["labels"]):
        raise ValueError("the labels of a scheme must be texts that are not empty")
    learner.columns = tuple(meta.get("columns", ()))
    learner.label_column, learner.n_columns = _columns_from(meta)
    learner.tokeniser = meta.get("tokeniser", TOKENISERS[0])  # models of earlier builds have no such field
    learner.meet_labels(meta["labels"])
    if len(learner.labels) != len(meta["labels"]):
        raise ValueError("labels are not all different")
    learner.restore((below(state.arrays, MODEL), int(meta["fingerprint"])))
    learner.first_epoch = pair_or_none(meta.get("first_pass"))
    learner.temperature = meta.get("temperature")
    if "tokens" in meta:
        learner.tokens = Tokens.from_state(meta)


def _templates_from(state: State) -> Templates:
    text, where, names = (state.meta[name] for name in ("text", "where", "dictionaries"))
    blobs = [array_of(state.arrays, f"dictionary{i}", np.uint8, (None,)).tobytes().decode() for i in range(len(names))]
    words = {name: blob.split("\n") if blob else [] for name, blob in zip(names, blobs, strict=True)}
    templates = Templates(text, where, words, reads=False)
    if [name for name, _ in _dictionaries(templates)] != names:
        raise ValueError("dictionaries and templates do not match")
    return templates


def _dictionaries(templates: Templates) -> list[tuple[str, list[str]]]:
    """Return all known dictionaries with their words."""
    every = [*templates.dictionaries.items(), *templates.phrases.items()]
    return [(name, words) for name, words in every if name not in templates.unlearned]


def _columns_from(meta: Meta) -> tuple[int | str | None, int | None]:
    """Return the column of the labels and the number of columns; models of earlier builds have neither."""
    column, n = meta.get("label_column"), meta.get("n_columns")
    chosen = isinstance(column, str) or meta.get("columns")  # a name, or the number of a column of the file
    if (column is None) != (n is None) or (n is not None and not chosen and not -n <= column < n):
        raise ValueError(f"label_column is {column}, of {n} columns")
    return column, n
