"""The model of a tagger: templates and labels, counts, problems for theorems, weights by name, replicas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.dataset import Problem
from perceptive.data.labels import in_order_of_labels
from perceptive.data.sentences import Features, SentenceReader
from perceptive.data.token_values import Tokens
from perceptive.errors import ParameterError
from perceptive.features.clusters import Contexts
from perceptive.features.presets import brought
from perceptive.features.templates import Templates
from perceptive.features.tokens import TOKENISER
from perceptive.learners.labelling import Labelling, Labels
from perceptive.learners.learner import NOTHING_LEARNED, MixableLearner, counter, forwarded
from perceptive.learners.mixture import weighted
from perceptive.learners.pruning import check_prunable
from perceptive.learners.sequence_model import (
    NO_FEATURES,
    Vectors,
    check_labels_fit,
    guess_preset,
    new_model,
    preset_for,
    tell_labels,
    warn_of_labels,
    warn_of_values,
)
from perceptive.parameters import SequenceParameters
from perceptive.state import Arrays

Parts = tuple[_core.SequenceModel, Templates, Labelling]
NO_LABELS = "no labels are known yet; announce them (labels=…), or let it learn first"
RAW, SEGMENT_IN = -1, -5  # of core/sequence/sentences.hpp
SEGMENT = {-2: "length", -3: "text", -4: "shape"}
MANY_TOKENS = 5000  # that tell which features are rare
OF_THE_CORE = ("model", "_vectors", "played_rows")  # what a copy makes anew


class SequenceRun(MixableLearner):
    """The base class of the tagger's learner: everything about its model except learning and predicting."""

    explained_by = "tokens"
    parameters: SequenceParameters
    given_parameters: dict[str, Any]  # the preset that sentences choose brings others
    model: _core.SequenceModel | None
    templates: Templates | None
    labels: Labels
    index: dict[Any, int]
    labelling: Labelling
    label_column: int | str | None
    tokeniser: str = TOKENISER  # of texts
    features: Features | None
    tokens: Tokens | None
    _vectors: Vectors
    played_rows: _core.SentenceRows | None = None  # of the sentences that were played last, up to date

    # ------------------------------------------------------------ set-up

    def _opened(self, templates: Templates) -> tuple[Templates, _core.SequenceModel]:
        """Return a copy of the templates, and an untrained model of them."""
        templates = templates.copy()  # others may have them too, and segments add columns
        return templates, self._new_model(templates)

    def _new_model(self, templates: Templates) -> _core.SequenceModel:
        """Return an untrained model of these templates and the known labels."""
        check_labels_fit(len(self.labels), templates)
        model = new_model(templates, self.parameters)
        if self.labels:
            self._tell_labels(model, templates)
        return model

    def meet_labels(self, labels: Iterable[Any]) -> None:
        """Make room for new labels, in the given order."""
        with self.lock.learning():
            new = [label for label in dict.fromkeys(labels) if label is not None and label not in self.index]
            if not new:
                return
            check_labels_fit(len(self.labels) + len(new), self.templates)
            with self.lock.changing():
                self.labels = [*self.labels, *new]
                self.index = {label: i for i, label in enumerate(self.labels)}
                if self.model is not None:
                    assert self.templates is not None
                    self._tell_labels(self.model, self.templates)

    def _tell_labels(self, model: _core.SequenceModel, templates: Templates) -> None:
        tell_labels(model, templates, self.labels, self.labelling)
        self._vectors.clear()

    scheme: str | None = forwarded("labelling.scheme", "The scheme that labels within keep to.")
    given: str | None = forwarded("labelling.given", "The scheme of the user's labels, where those within differ.")

    @property
    def classes(self) -> Labels:
        """The labels, as the user writes them."""
        return in_order_of_labels(dict.fromkeys(self.labelling.names(self.labels)))

    @property
    def _readable(self) -> Templates:
        """The templates; before the first sentence chooses a preset, some that fit any tokens."""
        return Templates(NO_FEATURES) if self.templates is None else self.templates

    @property
    def core(self) -> _core.SequenceModel:
        """The model in the core."""
        if self.model is None:
            raise ValueError(NOTHING_LEARNED)
        return self.model

    def _settled(
        self, X: Sequence[Any], y: list[Any], whole: bool, classes: Iterable[Any]
    ) -> tuple[Parts, list[Any], Labels]:
        """Return model, templates and labelling for these sentences, their internal labels, and all labels to know."""
        templates, model = self.templates, self.model
        name = self._choose_preset(X, y) if templates is None or model is None else ""
        labelling = replace(self.labelling)
        within, labels = labelling.meet(y, self.labels, whole, classes)
        if templates is None or model is None:
            templates, model = self._opened(preset_for(name, X, len(labels)))
        new = [label for label in labels if label not in self.index]
        every = [*self.labels, *(in_order_of_labels(new) if whole else new)]
        if not every:
            raise ValueError("no label is given: all are None; say some")
        check_labels_fit(len(every), templates)
        return (model, templates, labelling), within, every

    def min_count(self, sentences: Iterable[Sequence[Any]]) -> int:
        """How often a feature of these sentences, or of their labels, must be seen: few of them say little of that."""
        count = self.parameters.min_count
        return count if isinstance(count, int) else 1 + (sum(map(len, sentences)) >= MANY_TOKENS)

    def _choose_preset(self, X: Sequence[Any], y: list[Any]) -> str:
        """The preset for these sentences, with what it brings; others may choose, as long as nothing is learned."""
        name: str = self.parameters.template
        if name == "auto":
            name, said = guess_preset(X, y), self.given_parameters
            more = {one: value for one, value in brought(name, said).items() if one in SequenceParameters.defaults}
            self.parameters = SequenceParameters.of_learner({**said, **more})
            self.labelling.encoding = Labelling.of(self.parameters).encoding
        return name

    def _keep(self, parts: Parts, every: Labels, X: Sequence[Any], whole: bool) -> None:
        was, known, (model, templates, labelling) = self.labelling, len(self.labels), parts
        with self.lock.changing():
            self.model, self.templates, self.labelling = parts
            self.tokens = self.tokens or Tokens.of(X)
            self.meet_labels(every)
            if (self.scheme, labelling.longest) != (was.scheme, was.longest) and len(self.labels) == known:
                self._tell_labels(model, templates)
        if whole:
            warn_of_labels(templates, self.labels)
            warn_of_values(templates, X)

    def vector(self, hypothesis: str | None = None) -> _core.SequenceVector | None:
        """Return the vector that the core predicts with; None is the last vector."""
        with self.lock.shared():
            return self._vectors.of(self._able(), hypothesis or self.parameters.hypothesis)

    def _able(self) -> _core.SequenceModel:
        """Return the model; before the first sentence one with v₀ = 0. Raise if no label is known."""
        if not self.labels:
            raise ValueError(NO_LABELS)
        return self._opened(self._readable)[1] if self.model is None else self.model

    def snapshot(self) -> tuple[dict[str, Any], int]:
        """Copy everything that learning changes: the arrays, and the fingerprint of the examples played."""
        with self.lock.shared():
            pruned = self.core.run.clock == 0 and not self.parameters.keeps_journal
            return self.core.state(self.core.last() if pruned else None, 0.0), self.core.fingerprint

    def restore(self, state: tuple[dict[str, Any], int]) -> None:
        """Go back to a snapshot."""
        with self.lock.learning():
            model = self._new_model(self._readable)
            arrays, model.fingerprint = state
            try:
                model.restore(arrays)
            except RuntimeError:  # a cast of the core's
                raise ValueError("an array is of another type than it should be") from None
            with self.lock.changing():
                self.model, self.played_rows = model, None
                self._vectors.clear()

    # ------------------------------------------------------------ what was counted

    def problems(self, witness: Any = None) -> list[Problem]:
        """Return the run for the theorem of the structured perceptron (Collins 2002): δ is Φ(x, y*) − Φ(x, ŷ)."""
        if witness is not None:
            raise ValueError("witness does not go with sequences, whose features have no columns; leave it out")
        with self.lock.shared():
            p, core = self.parameters, self.core
            run: Any = {name: getattr(core.run, name) for name in ("rounds", "mistakes", "updates", "radius2")}
            known = p.rule == "perceptron" and not p.hamming and not p.beam
            mixed = {**weighted(core.run), "certified": known, "batch": p.batch}
            mixed.pop("weighted_mistakes", None)  # the theorem is about updates
            return [Problem(**run, **p.rule_facts(), witnesses=self._vectors.witnesses(core), **mixed)]

    def _count(self, name: str) -> Any:
        if self.model is None:
            return 0
        return getattr(self.model if name == "fingerprint" else self.model.run, name)

    played = MixableLearner.rounds  # the core counts them one by one
    ids = 0  # there is no Δ-trick for sequences

    def record(self, fingerprint: int, played: int, ids: int) -> None:
        """Do nothing: the core counts the examples."""

    fingerprint: int = counter("fingerprint", "The sum of the hashes of the sentences played so far.")

    # ------------------------------------------------------------ weights

    def facts(self) -> dict[str, Any]:
        """Describe it, as plain values by name."""
        scheme = {"scheme": self.labelling.given or self.labelling.scheme, "label_column": self.label_column}
        features = 0 if self.model is None else int(self.model.n_state_rows + self.model.n_edge_rows)
        return {**self.parameters.facts(), "classes": self.classes, **scheme, "features": features}

    def prune(self, threshold: float = 0.0, hypothesis: str | None = None, precision: str | None = None) -> None:
        """Keep only the vector that predicts, and only its weights above a threshold in absolute value.

        Learning can continue; the average starts again. A learner that keeps every update cannot be pruned.
        """
        check_prunable(self.parameters, threshold)
        if precision is not None:
            raise ParameterError("{}: files hold the weights of taggers as float32 alone; leave it out", "precision")
        with self.lock.learning():
            vector = self.vector(hypothesis) or self.core.last()
            self.restore((self.core.state(vector, float(threshold)), self.core.fingerprint))

    def heaviest(self, n: int = 20, hypothesis: str | None = None) -> list[tuple[str, str, float]]:
        """Return the n largest weights: feature, label (or pair, or triple of labels), weight; −1 for all."""
        with self.lock.shared():
            vector = self.vector(hypothesis)
            heaviest = self.core.heaviest(vector, n)
            found = [(*_weight_name(self._readable, self.labels, *where), weight) for *where, weight in heaviest]
            if not self._readable.trigrams:
                return found
            found += self._triples(self.core.state(vector, 0.0)["triple.weight"])
        found.sort(key=lambda one: -abs(one[2]))
        return found if n < 0 else found[:n]

    def _triples(self, weights: NDArray[np.float32]) -> list[tuple[str, str, float]]:
        """The weights of triples of labels that are not 0."""
        L = len(self.labels)
        cube = np.asarray(weights).reshape(L, L, -1)[:, :, :L]  # the rest is room to spare
        names = list(map(str, self.labels))
        return [
            ("@label[-2]", " → ".join(names[i] for i in place), float(cube[tuple(place)]))
            for place in np.argwhere(cube).tolist()
        ]

    def unknown(self, X: Sequence[Any]) -> list[list[bool]]:
        """Return for each token of each sentence whether its word, the first column, was unseen in training."""
        with self.lock.shared():
            state = self.core.state(None, 0.0)
        blob, ends = bytes(state["column0.blob"]), np.cumsum(state["column0.lengths"], dtype=np.int64).tolist()
        known = {blob[start:end] for start, end in zip([0, *ends], ends, strict=False)}

        def is_new(token: Any) -> bool:
            word = token if isinstance(token, str) else str(token[0])
            return word.encode() not in known

        return [[not isinstance(token, dict) and is_new(token) for token in x] for x in X]

    # ------------------------------------------------------------ replicas, here and elsewhere

    def divide(self, n: int, sums: Any) -> bool:
        """Defer nothing: a shard has the average of every feature that it has seen."""
        return False

    def _replicate(self, twin: Self) -> None:
        twin.model, twin._vectors = _core.replica_of(self.core), Vectors(self.parameters)

    def mixture(self, replica: Self, by_updates: bool) -> dict[Any, _core.SequenceMixture]:
        assert replica.played_rows is not None
        return {0: _core.SequenceMixture(self.core, replica.core, replica.played_rows, by_updates)}

    def mix(self, mixture: dict[Any, _core.SequenceMixture]) -> None:
        with self.lock.learning(), self.lock.changing():
            self._vectors.clear()
            mixture[0].apply(self.core, self.played_rows)

    @property
    def wants_contexts(self) -> bool:
        """Whether word clusters must be learned first."""
        return bool(self._readable.unlearned)

    def contexts_of(self, X: Sequence[Any], templates: Templates | None = None) -> dict[int, Contexts]:
        """Return what the clusters of its templates are learned from."""
        templates = templates or self._readable
        return SentenceReader(self.features, templates, self.tokens).encode(templates.contexts, X)

    def meet_contexts(self, contexts: Mapping[int, Contexts]) -> None:
        """Learn word clusters, before anything else."""
        with self.lock.learning():
            parts = self._with_clusters((self.core, self._readable, self.labelling), contexts)
            with self.lock.changing():
                self.model, self.templates, _ = parts

    def _with_clusters(self, parts: Parts, contexts: Mapping[int, Contexts]) -> Parts:
        templates, model = self._opened(parts[1].with_clusters(contexts))
        return model, templates, parts[2]

    # Features are known by keys that are made of the numbers of strings, and these are numbered as they are met. So
    # everybody needs the same strings in the same order before features can be compared.

    def meet_elsewhere(self, first: Sequence[Any], y: list[Any], whole: bool) -> list[Any]:
        """Learn the labels of sentences of which the first is here; return the labels, repaired if required.

        ``whole``: they are the whole training set of an untrained learner.
        """
        self.labelling.check(y)
        with self.lock.learning():
            y = self.labelling.mended(y, self.labels)
            parts, _, every = self._settled([first], y, whole, ())
            self._keep(parts, every, [first], whole)
        return y

    def strings_of(self, X: Sequence[Any]) -> Arrays:
        """Learn the strings of sentences; return all known strings, in their order."""
        with self.lock.learning(), self.lock.changing():
            SentenceReader(self.features, self._readable, self.tokens).encode(self.core.meet, X)
            return self.core.strings()

    def meet_strings(self, strings: Arrays) -> None:
        """Add the strings that another learner knows; new ones come last."""
        with self.lock.learning(), self.lock.changing():
            self.core.meet_strings(strings)


def _weight_name(
    templates: Templates, labels: Sequence[Any], kind: str, template: int, values: Sequence[str], label: int
) -> tuple[str, str]:
    """Feature and label of a weight, as `core.SequenceModel.heaviest` numbers them."""
    if kind != "state":
        before, now = divmod(label, len(labels))
        name = f"{templates.edge_names[template]} = {' / '.join(values)}" if template >= 0 else "@label[-1]"
        return name, f"{labels[before]} → {labels[now]}"
    if template < RAW:
        dictionaries = dict(enumerate(templates.phrases))
        what = SEGMENT.get(template) or f"in({dictionaries.get(SEGMENT_IN - template, '?')})"  # of a strange file
        name = f"segment {what} = {' '.join(values)}"
    else:
        name = values[0] if template == RAW else f"{templates.state_names[template]} = {' / '.join(values)}"
    return name, str(labels[label])
