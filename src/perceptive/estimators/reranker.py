"""`Reranker`: puts the proposals of a tagger into a better order (Collins 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from perceptive.certificates import Certificate, certify
from perceptive.data.documents import TextSpan, predict_spans
from perceptive.data.sample_weights import check_weights
from perceptive.data.sentences import as_lists, paired
from perceptive.estimators.cluster import fit_lists, is_on_cluster
from perceptive.estimators.history import HistoryMixin
from perceptive.estimators.ranker import KernelRanker, LinearRanker
from perceptive.estimators.run import threads_of
from perceptive.estimators.tagger import LabelSequences, SequenceTagger
from perceptive.kernels import as_kernel
from perceptive.learners.candidates import best_of, check_reranking, f1_or_accuracy, kernel_of, warn_of_few
from perceptive.learners.description import Candidate, Features, Structure
from perceptive.learners.kernel_ranking import KernelRankingLearner
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.reranking import BITS, LOOKBACK, OWN, RANKER, RerankingLearner
from perceptive.learners.reranking_state import join_states, part_states
from perceptive.learners.sequence import SequenceLearner
from perceptive.state import State, number_or_nan, plain
from perceptive.training.loop import History
from perceptive.training.reranking import epochs_made


@dataclass(eq=False, repr=False)
class Reranker(HistoryMixin, BaseEstimator):
    """Learn which of a tagger's k best label sequences is best, from features of the whole sequence.

    The training candidates come from taggers that have not seen the sentence (cross-fitting), so they look like those
    at test time. A candidate has its score, and features of its segments: words, shapes, other columns, the tagger's
    word clusters, ends, neighbours and context; and how its words were labelled before, in the same text.

    Parameters
    ----------
    tagger : SequenceTagger or None
        The tagger that proposes; None: ``SequenceTagger()``.
    k : int
        How many sequences it proposes.
    folds : int
        Number of parts of the training data; each is tagged by a tagger that learned from the others.
    target : one of "f1", "exact"
        "f1": grade candidates by their wrong and missing segments; "exact": only the true sequence is good.
    lookback : int
        In how many sentences before it the labels of a sentence's words are looked up. Sentences that are given
        together, in `fit` and in `predict`, are one text in its order. 0: each sentence is labelled by itself.
    features : callable or None
        ``features(sentence, labels)`` returns more features of a candidate, as a dict. A saved model stores only its
        name, so pass it when loading: ``load(path, functions={"name": …})``. The same holds for ``structure``.
    ranker : LinearRanker, KernelRanker or None
        The ranker that learns the order; None: ``LinearRanker(rule="pa1", C=0.01, cost="grade", bits=22)``, or with a
        kernel ``KernelRanker(rule="pa1", C=0.01, cost="grade")``.
    kernel : Kernel, str or None
        Compares whole candidates: the ranker's kernel is x·x' of the features plus this one. The time grows with the
        number of mistakes. Normalise the kernel, so that its values are of the size of the features.
    structure : one of "tree", "tags", or callable
        What the kernel compares: the tree of the segments (see `learners.description.to_tree`), the label sequence, or
        the result of ``structure(sentence, labels)``.

    Attributes
    ----------
    tagger_ : SequenceTagger
        The tagger, fitted to all sentences.
    ranker_ : LinearRanker or KernelRanker
        The fitted ranker.
    oracle_ : float
        F (0 to 1) of the best candidates of the cross-fitted lists; no order can exceed it.
    n_iter_, mistakes_, updates_, loss_, history_, rounds_, converged_, held_out_, certificate_
        The history of the ranker, as in other estimators; a mistake is a list whose best candidate did not win.
    learner_ : RerankingLearner
        The learner itself.

    Examples
    --------
    >>> from perceptive import Reranker, SequenceTagger
    >>> X = [s.split() for s in ("Ann met Bob", "we saw Eve", "Dan left", "they met Ann", "Bob saw Dan", "we left")]
    >>> y = [["B", "O", "B"], ["O", "O", "B"], ["B", "O"], ["O", "O", "B"], ["B", "O", "B"], ["O", "O"]]
    >>> reranker = Reranker(SequenceTagger(template=["shape", "@label[-1]"]), k=3, folds=2).fit(X, y)
    >>> reranker.predict(["we met Eve".split()])
    [['O', 'O', 'B']]

    In addition to the features, a kernel of the trees (S (B (X Ann)) (x met) (B (X Bob))):

    >>> from perceptive.kernels import SubsetTree
    >>> kernel = SubsetTree(0.5).normalized()
    >>> reranker = Reranker(SequenceTagger(template=["shape", "@label[-1]"]), k=3, folds=2, kernel=kernel).fit(X, y)
    >>> reranker.predict(["we met Eve".split()])
    [['O', 'O', 'B']]
    """

    tagger: SequenceTagger | None = None
    _: KW_ONLY
    k: int = 20
    folds: int = 5
    target: str = "f1"
    lookback: int = LOOKBACK
    features: Features | None = None
    ranker: LinearRanker | KernelRanker | None = None
    kernel: Any = None
    structure: str | Structure = "tree"

    def fit(self, X: Any, y: Any = None, fitted: SequenceTagger | None = None, sample_weight: Any = None) -> Reranker:
        """Learn from sentences, from scratch: the tagger, its candidates by cross-fitting, and their order.

        Parameters
        ----------
        X : list of sentences
            For a Dask bag, the workers of the current client learn, with the ``shards`` of tagger and ranker.
        y : list of label sequences
            See `SequenceTagger.fit`.
        fitted : SequenceTagger or None
            A tagger with the same parameters that has already learned from all of X; it is kept.
        sample_weight : array-like of shape (n_sentences,), optional
            How much each sentence counts, for the taggers as in `SequenceTagger.fit`, and for the ranker.
        """
        on_cluster = is_on_cluster(X)
        if not on_cluster:
            X, y = as_lists(X), as_lists(y)
        base = self._base
        if fitted is not None:
            if not isinstance(fitted, SequenceTagger):
                raise ValueError(
                    f"fitted is a {type(fitted).__name__}; give a SequenceTagger that has learned, or none"
                )
            check_is_fitted(fitted, "learner_")
        check_reranking(self.k, self.folds, self.target, self.lookback, self.structure)
        ranker = self._new_ranker()
        tagger = base.new_learner() if fitted is None else fitted.learner_
        learner = self._joined(tagger, ranker.new_learner())
        learner.threads = threads_of(base._check_parameters()[1])

        def fit_tagger() -> SequenceTagger:
            return clone(base).fit(X, y, sample_weight) if fitted is None else fitted

        if on_cluster:
            taught = fit_lists(ranker, learner, X, y, sample_weight, fit_tagger)
            return self._has(taught, ranker, learner.oracle, learner.description)
        weights = check_weights(sample_weight, len(X), learner.parameters.rule, "sentence")
        warn_of_few(len(X))
        proposed = learner.cross_fitted(X, y, weights)
        taught = fit_tagger()
        learner.tagger = taught.learner_
        lists = learner.graded(X, y, proposed, learner.recalled(X, proposed), True, learner.in_segments(y))
        rows = lists.rows
        if learner.hashing is not None:
            indptr, indices, data = rows
            rows = sp.csr_array((data, indices, indptr), shape=(len(lists.grades), learner.hashing.width))
        ranker.fit(rows, lists.grades, np.repeat(lists.sentences, lists.sizes), lists.weights(weights))
        return self._has(taught, ranker, lists.oracle, learner.description)

    def _has(self, tagger: Any, ranker: LinearRanker | KernelRanker, oracle: float, description: int) -> Self:
        """Have what was fitted from now on; ``description`` is as `RerankingLearner` has it."""
        self.tagger_: SequenceTagger = tagger
        self.ranker_, self.oracle_, self._description = ranker, oracle, description
        return self

    @property
    def _base(self) -> SequenceTagger:
        return SequenceTagger() if self.tagger is None else self.tagger

    @property
    def _fold_epochs(self) -> int | None:
        """The epochs of the fold taggers, where the parameters say how many."""
        epochs = self._base.epochs
        return None if epochs == "auto" else int(epochs)

    @property
    def _structure(self) -> str | Structure | None:
        return None if self.kernel is None else self.structure

    def _new_ranker(self) -> LinearRanker | KernelRanker:
        if self.kernel is None:
            if isinstance(self.ranker, KernelRanker):
                raise ValueError("a KernelRanker needs a kernel of the candidates; give it as kernel=")
            return LinearRanker(bits=BITS, **RANKER) if self.ranker is None else _of_best(clone(self.ranker))
        if isinstance(self.ranker, LinearRanker):
            raise ValueError("kernel does not go with a LinearRanker; give a KernelRanker, or none")
        ranker = KernelRanker(**RANKER) if self.ranker is None else _of_best(clone(self.ranker))
        kernel = as_kernel(self.kernel)
        if kernel.one_way:
            raise ValueError("the candidates do not exist yet, so no Gram matrix has them; give a kernel of candidates")
        ranker.set_params(kernel=kernel_of(kernel))
        return ranker

    @property
    def learner_(self) -> RerankingLearner:
        """The learner that predicts."""
        check_is_fitted(self, "ranker_")
        learner = self._joined(self.tagger_.learner_, self.ranker_.learner_)
        learner.oracle, learner.description = self.oracle_, self._description
        return learner

    def _joined(self, tagger: SequenceLearner, ranker: RankingLearner | KernelRankingLearner) -> RerankingLearner:
        own: dict[str, Any] = {name: getattr(self, name) for name in OWN}
        learner = RerankingLearner(tagger, ranker, features=self.features, structure=self._structure, **own)
        learner.fold_epochs = self._fold_epochs
        learner.fit_tagger = lambda X, y, weights: clone(self._base).fit(X, y, weights).learner_
        return learner

    # ------------------------------------------------------------ the run: the ranker's

    @property
    def _history(self) -> History:  # type: ignore[override]
        return self.ranker_._history

    @property
    def certificate_(self) -> Certificate:
        """The certificate, if the ranker has ``certify=True``."""
        return self.ranker_.certificate_

    def certificate(self, X: Sequence[Any], y: Sequence[Sequence[Any]], sample_weight: Any = None) -> Certificate:
        """Compare this run of the ranker with the theorem: see `Certificate`. The candidates are made again.

        It is hypothetical for data not trained on.
        """
        return certify(self.learner_, X, y, sample_weight)

    # ------------------------------------------------------------ predicting

    def predict(self, X: Sequence[Any], hypothesis: str | None = None) -> list[list[Any]]:
        """Return the labels of each sentence: the tagger's candidate that the ranker puts on top."""
        return LabelSequences(self.learner_.predict_many(X, hypothesis))

    def predict_spans(self, text: str, *, hypothesis: str | None = None) -> list[TextSpan]:
        """Cut a raw text into sentences and tokens, and return its segments: label, start, end, text of each."""
        return predict_spans(self.learner_, text, hypothesis)

    def candidates(self, X: Sequence[Any]) -> list[list[Candidate]]:
        """Return the tagger's proposals: for each sentence, label sequences with scores, the best first."""
        check_is_fitted(self, "ranker_")
        return self.tagger_.predict_kbest(X, self.k)

    def score(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> float:
        """Return F of whole segments, or the share of right tokens if labels mark no segments; between 0 and 1."""
        X, y = paired(X, y)
        return f1_or_accuracy(y, self.predict(X), self.learner_.in_segments(y))

    def oracle(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> float:
        """Return the score of the best candidate of every list; between 0 and 1."""
        X, y = paired(X, y)
        in_segments = self.learner_.in_segments(y)
        return f1_or_accuracy(y, best_of(y, self.candidates(X), in_segments), in_segments)

    # ------------------------------------------------------------ state

    def state(self) -> State:
        """Return the whole state, as plain values and arrays; raise ValueError if nothing was learned."""
        if not hasattr(self, "ranker_"):
            raise ValueError("this Reranker has not learned anything; fit it before it is saved")
        about = {name: plain(getattr(self, name)) for name in (*OWN, "oracle_")} | {"description": self._description}
        about["fold_epochs"] = self._fold_epochs
        return join_states(self.tagger_.state(), self.ranker_.state(), about, self.features, self._structure)

    @classmethod
    def from_learner(cls, learner: RerankingLearner) -> Reranker:
        """Make an estimator from a trained learner, for example one that the command line trained from files."""
        kind: Any = KernelRanker if hasattr(learner.ranker, "kernel") else LinearRanker
        own = {name: getattr(learner, name) for name in OWN}
        tagger, ranker = SequenceTagger.from_learner(learner.tagger), kind.from_learner(learner.ranker)
        tagger.set_params(epochs=learner.fold_epochs or epochs_made(learner.tagger))
        learned = learner.oracle, learner.description
        return cls._of_parts(tagger, ranker, learner.features, learner.structure, learned, own)

    @classmethod
    def from_state(cls, state: State, functions: Any = None) -> Reranker:
        """Make an estimator from what `state` returned; raise ValueError if the parts do not fit together."""
        parts = part_states(state, functions)
        own = {"lookback": 0, **{name: state.meta[name] for name in OWN if name in state.meta}}
        kind: Any = KernelRanker if "kernel" in parts.ranker.meta else LinearRanker
        tagger = SequenceTagger.from_state(parts.tagger, parts.functions)
        ranker = kind.from_state(parts.ranker, parts.functions)
        learned = number_or_nan(state.meta.get("oracle_")), state.meta.get("description", 1)
        return cls._of_parts(tagger, ranker, parts.features, parts.structure, learned, own)

    @classmethod
    def _of_parts(
        cls, tagger: Any, ranker: Any, features: Any, structure: Any, learned: tuple[float, int], own: dict[str, Any]
    ) -> Reranker:
        """What two fitted estimators are together."""
        if isinstance(ranker, KernelRanker):
            # what was added to the features, of the second part of a candidate
            own |= {"kernel": ranker.kernel.k2.k, "structure": structure}
        model = cls(clone(tagger), ranker=clone(ranker), features=features, **own)
        check_reranking(model.k, model.folds, model.target, model.lookback, model.structure)
        return model._has(tagger, ranker, *learned)


def _of_best(ranker: Any) -> Any:
    """A ranker that learns what is best of the candidates, unless it is told which pairs to learn from."""
    return ranker.set_params(pairs="best") if ranker.pairs == "auto" else ranker
