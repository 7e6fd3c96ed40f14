"""`RerankingLearner` (Collins 2002): a tagger proposes label sequences; a ranker sees them whole and chooses."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.dataset import Dataset
from perceptive.data.sample_weights import check_weights, takes
from perceptive.data.sentences import as_lists, different_labels
from perceptive.errors import DataError, ExampleWarning, renumbered
from perceptive.evaluation.conlleval import Evaluation
from perceptive.features import schemes
from perceptive.features.hashing import HashKernel
from perceptive.features.label_repair import meant
from perceptive.learners.candidates import BATCH, CandidateLists, check_reranking, graded_lists, warn_of_few
from perceptive.learners.description import Candidate, Features, Structure, View, clusters_of, describe, words_of
from perceptive.learners.learner import Learner, forwarded
from perceptive.learners.lookback import Lookback
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.reranking_state import join_states, part_states, ranker_class
from perceptive.learners.sequence import SequenceLearner
from perceptive.state import State, number_or_nan, plain

if TYPE_CHECKING:
    from perceptive.learners.kernel_ranking import KernelRankingLearner

BITS = 22  # of hashed features: sentences have many candidates, and each has features that no other has
LOOKBACK = 1000  # sentences
RANKER: dict[str, Any] = {"rule": "pa1", "C": 0.01, "pairs": "best", "cost": "grade"}  # where nothing else is said
OWN = ("k", "folds", "target", "lookback")
FitTagger = Callable[[list[Any], list[Any], Any], SequenceLearner]


class RerankingLearner(Learner):
    """A tagger that proposes the k best label sequences of a sentence, and a ranker that chooses among them.

    Only the order is learned. Rounds, mistakes and updates are those of the ranker.

    Parameters
    ----------
    tagger : SequenceLearner
        The tagger that proposes.
    ranker : RankingLearner or KernelRankingLearner
        The ranker that learns the order of `candidates.describe`.
    k : int
        How many sequences are proposed.
    folds : int
        Number of parts of a training set; each is tagged by a tagger that learned from the others (cross-fitting), so
        that the training candidates look like those at test time.
    target : one of "f1", "exact"
        "f1": grade candidates by their wrong and missing segments; "exact": only the true sequence is good.
    lookback : int
        In how many sentences before it the labels of a sentence's words are looked up: sentences that are given
        together are one text. 0: each sentence is labelled by itself.
    features : callable or None
        ``features(sentence, labels)`` returns more features of a candidate.
    structure : one of None, "tree", "tags", or callable
        What the ranker's kernel compares in addition to features: see `candidates.structure_of`.
    fit_tagger : callable or None
        ``fit_tagger(X, y, weights)`` returns a tagger that has learned from some sentences, for cross-fitting; see
        `training.reranking.train_like`. None: a tagger with the parameters of ``tagger`` learns from them once, in the
        given order.

    Examples
    --------
    >>> from perceptive.learners import RankingLearner, SequenceLearner
    >>> X = [s.split() for s in ("Ann met Bob", "we saw Eve", "Dan left", "they met Ann", "Bob saw Dan", "we left")]
    >>> y = [["B", "O", "B"], ["O", "O", "B"], ["B", "O"], ["O", "O", "B"], ["B", "O", "B"], ["O", "O"]]
    >>> def fit(X, y, weights=None):
    ...     tagger = SequenceLearner(template=["shape", "@label[-1]"])
    ...     tagger.learn_many(X, y, weights)
    ...     return tagger
    >>> learner = RerankingLearner(fit(X, y), RankingLearner(bits=12), k=3, folds=2, fit_tagger=fit)
    >>> learner.learn(X[1], y[1])
    True
    >>> learner.predict(["we", "met", "Eve"])
    ['O', 'O', 'B']
    """

    explained_by = "choice"

    def __new__(cls, *_: Any, **__: Any) -> Self:
        return object.__new__(cls)  # the ranker's lock is its lock

    def __init__(
        self,
        tagger: SequenceLearner,
        ranker: RankingLearner | KernelRankingLearner,
        *,
        k: int = 20,
        folds: int = 5,
        target: str = "f1",
        lookback: int = LOOKBACK,
        features: Features | None = None,
        structure: str | Structure | None = None,
        fit_tagger: FitTagger | None = None,
    ) -> None:
        check_reranking(k, folds, target, lookback, structure)
        self.tagger, self.ranker = tagger, ranker
        if ranker.parameters.pairs == "auto":  # grades count the segments that are wrong: the best is what matters
            ranker.parameters = replace(ranker.parameters, pairs="best")
        self.k, self.folds, self.target, self.lookback = int(k), int(folds), target, int(lookback)
        self.features, self.structure, self.fit_tagger = features, structure, fit_tagger
        self.oracle = math.nan  # F of the best candidates that it learned from

    threads = 1  # that fit taggers at the same time; results do not depend on it
    fold_epochs: int | None = None  # that the taggers of folds make at most, where it is known
    remembers_names = False  # of hashed features, for `inspection.heaviest`
    description = 4  # how candidates are described; the rankers of earlier builds have learned from 1 to 3
    text: Any = None  # what a reader remembers of it, a `Lookback`
    view: View  # what a reader's ranker sees

    # ------------------------------------------------------------ learning

    def dataset(self, X: Any, y: Any, weights: Any = None, *, epochs: int | None = None, grow: bool = True) -> Dataset:
        """Make the ranker's dataset from the proposals for sentences: see `Learner.dataset`.

        With ``epochs``, the sentences are a training set, and their candidates come from cross-fitting; else from the
        tagger itself. With ``grow=False``, they are made in the same way as its training candidates. A list has the
        weight of its sentence.
        """
        X, y = self._checked(X, y)
        weights = check_weights(weights, len(X), self.parameters.rule, "sentence")
        whole = epochs is not None or (not grow and not math.isnan(self.oracle))
        if grow and whole:
            warn_of_few(len(X))
        proposed = self.cross_fitted(X, y, weights) if whole else self.tagger.k_best(X, self.k)
        recalled = self.recalled(X, proposed, whole)
        lists = self.graded(X, y, proposed, recalled, whole, self.in_segments(y))
        dataset = ranked_dataset(self.ranker, lists, lists.weights(weights), epochs=epochs, grow=grow)
        if grow and epochs is not None:
            self.oracle = lists.oracle
        return dataset

    def _checked(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
        X, y = self.tagger.check(X, y)
        different_labels(y)  # raises where one cannot be a label
        return X, y

    def cross_fitted(
        self, X: Sequence[Any], y: Sequence[Sequence[Any]], weights: NDArray[np.float64] | None = None
    ) -> list[list[Candidate]]:
        """Return proposals of taggers that have not seen the sentence: sentence i is in fold i mod ``folds``.

        ``weights`` say how much each sentence counts for them.
        """
        X, y = self._checked(X, y)
        self.check_folds(y, weights)
        new_like(self.tagger).dataset(X, y, epochs=1)  # what cannot be read is told before anything is learned
        proposed: list[list[Candidate]] = [[] for _ in X]
        threads = min(self.threads, self.folds)
        with warnings.catch_warnings(), ThreadPoolExecutor(threads) as pool:
            warnings.simplefilter("ignore", ExampleWarning)  # said of all sentences before
            each = map if threads == 1 else pool.map  # Ctrl-C breaks into this thread at once
            found = each(lambda fold: self.propose(X, y, fold, weights), range(self.folds))
            for fold, mine in enumerate(found):
                proposed[fold :: self.folds] = mine
        return proposed

    def check_folds(self, y: list[Any], weights: NDArray[np.float64] | None = None) -> None:
        """Raise if there are too few sentences for cross-fitting, or labels or weights that no tagger takes."""
        if len(y) < self.folds:
            few = "1 sentence is" if len(y) == 1 else f"{len(y)} sentences are"
            said = f"{few} too few for {self.folds} folds; give more, or choose fewer folds"
            raise DataError(f"{said} ({{}})", "folds")
        rule = self.tagger.parameters.rule
        if weights is not None and not takes(rule, weights):
            raise ValueError(f"the tagger learns by {rule}, which takes only the weights 0 and 1; give another tagger")
        self._check_labels(y)

    def propose(
        self, X: list[Any], y: list[Any], fold: int, weights: NDArray[np.float64] | None = None
    ) -> list[list[Candidate]]:
        """Return the candidates of the sentences of a fold, by a tagger that has learned from the other folds."""
        fit_tagger = self.fit_tagger or self._fit_once
        rest, kept = [i for i in range(len(X)) if i % self.folds != fold], list(range(fold, len(X), self.folds))
        with renumbered(rest):
            mine = None if weights is None else weights[rest]
            tagger = fit_tagger([X[i] for i in rest], [y[i] for i in rest], mine)
        with renumbered(kept):
            return tagger.k_best([X[i] for i in kept], self.k)

    def _fit_once(self, X: list[Any], y: list[Any], weights: Any) -> SequenceLearner:
        tagger = new_like(self.tagger)
        tagger.learn_many(X, y, weights)
        return tagger

    @property
    def hashing(self) -> HashKernel | None:
        """How the features of candidates are hashed; None if they are not."""
        return hashing_of(self.ranker, self.remembers_names)

    def graded(
        self, X: list[Any], y: list[Any], proposed: list[list[Candidate]], recalled: Any, only_telling: bool,
        in_segments: bool,
    ) -> CandidateLists:  # fmt: skip
        """Make lists to learn from, of the candidates of sentences; see `graded_lists`."""
        hashing = self.hashing
        how: dict[str, Any] = {"hashing": hashing, "only_telling": only_telling, "in_segments": in_segments}
        lists = graded_lists(X, y, proposed, self.target, self._seen(in_segments), recalled, **how)
        if hashing is not None and self.remembers_names:
            self.ranker.space.remember(hashing.index)
        return lists

    @property
    def _view(self) -> View:
        """What the ranker sees of candidates; see `describe`."""
        return self._seen(self.in_segments([[label] for label in self.classes]))

    def _seen(self, in_segments: bool) -> View:
        clusters = None if self.description == 1 else clusters_of(self.tagger.templates)
        return View(self.features, self.structure, clusters, self.description >= 3 and not in_segments)

    def recalled(self, X: list[Any], proposed: list[list[Candidate]], in_text: bool = True) -> list[Any]:
        """Return how the words of each sentence were labelled before, by the tagger; see `describe`.

        ``in_text`` says whether the sentences are one text; else nothing is recalled.
        """
        if self.description < 4:
            return [None] * len(X)
        text, found = Lookback(self.lookback if in_text else 0), []
        for x, mine in zip(X, proposed, strict=True):
            words = words_of(x)
            found.append(text.recall(words))
            text.add(words, mine[0][0])
        return found

    def in_segments(self, y: Sequence[Sequence[Any]]) -> bool:
        """Whether labels mark segments, so that F is used; else the share of right tokens."""
        return self.tagger.scheme is not None or meant(y) is not None

    def _check_labels(self, y: list[Any]) -> None:
        """Raise ValueError where the tagger can never propose the truth."""
        if not self.tagger.labels:
            return

        def kind(label: Any) -> Any:  # labels within may be another scheme's
            prefix, kind = schemes.split(label)
            return label if self.tagger.scheme is None else (prefix == "O", kind)

        known = set(map(kind, self.tagger.labels))
        every = dict.fromkeys(label for labels in y for label in labels if label is not None)
        strange = [label for label in every if kind(label) not in known]
        if strange:
            names = ", ".join(map(repr, strange[:5])) + (", …" if len(strange) > 5 else "")
            raise ValueError(f"the tagger does not know the labels {names}; give one that has learned from such data")

    # ------------------------------------------------------------ predicting

    def reader(self) -> Self:
        """Return a reader of one text, whose sentences may come in several calls; it learns nothing."""
        reader = object.__new__(type(self))
        reader.__dict__.update(self.__dict__, text=Lookback(self.lookback), view=self._view)
        return reader

    def ranked(self, X: Sequence[Any], hypothesis: str | None = None) -> list[list[Candidate]]:
        """Return the candidates of each sentence with the ranker's scores, best first; ties in the tagger's order.

        The sentences are one text: what is chosen for one is recalled in those after it. With "voted" it is what the
        tagger chose, as in training, because each call replays the whole run, so that many sentences must share one.
        """
        X, reader = as_lists(X), self if self.text else self.reader()
        size = 1 if self.lookback and self._recalls_choices(hypothesis) else BATCH
        return [found for i in range(0, len(X), size) for found in reader._ranked(X[i : i + size], hypothesis)]

    def _recalls_choices(self, hypothesis: str | None) -> bool:
        return (hypothesis or self.parameters.hypothesis) != "voted"

    def _ranked(self, X: list[Any], hypothesis: str | None) -> list[list[Candidate]]:
        proposed = self.tagger.k_best(X, self.k)
        lists = [self._described(x, found, hypothesis) for x, found in zip(X, proposed, strict=True)]
        ordered = [[(labels, 0.0) for labels, _ in found] for found in proposed]
        several = [i for i, found in enumerate(proposed) if len(found) > 1]
        sizes = np.array([len(proposed[i]) for i in several], np.int64)
        rows = [row for i in several for row in lists[i]]
        scores: Any = self.ranker.scores(rows, sizes, hypothesis) if several else []
        for i, mine in zip(several, np.split(scores, np.cumsum(sizes)[:-1]), strict=False):
            order = np.argsort(-mine, kind="stable").tolist()
            ordered[i] = [(proposed[i][j][0], float(mine[j])) for j in order]
        self._remember(X, ordered, hypothesis)
        return ordered

    def _described(self, x: Sequence[Any], proposed: list[Candidate], hypothesis: str | None) -> list[Any]:
        words = words_of(x)
        recalled = self.text.recall(words) if self.description >= 4 else None
        if not self._recalls_choices(hypothesis):
            self.text.add(words, proposed[0][0])
        return describe(x, proposed, self.view, recalled)

    def _remember(self, X: list[Any], ordered: list[list[Candidate]], hypothesis: str | None) -> None:
        for x, found in zip(X, ordered, strict=True) if self._recalls_choices(hypothesis) else ():
            self.text.add(words_of(x), found[0][0])

    def chosen(self, x: Sequence[Any], hypothesis: str | None = None) -> tuple[Any, list[Any]]:
        """Return the best candidate of a sentence in the ranker's form, and its labels."""
        reader, [proposed] = self if self.text else self.reader(), self.tagger.k_best([x], self.k)
        rows = reader._described(x, proposed, hypothesis)
        best = int(np.argmax(self.ranker.scores(rows, None, hypothesis))) if len(rows) > 1 else 0
        reader._remember([x], [proposed[best:]], hypothesis)
        return rows[best], proposed[best][0]

    def predict_many(self, X: Sequence[Any], hypothesis: str | None = None) -> list[list[Any]]:
        """Return the labels of each sentence; ``hypothesis`` is the ranker's."""
        return [found[0][0] for found in self.ranked(X, hypothesis)]

    def score(self, x: Sequence[Any], hypothesis: str | None = None) -> float:
        """Return the ranker's score of the best candidate of a sentence."""
        return self.ranked([x], hypothesis)[0][0][1]

    def k_best(self, X: Sequence[Any], k: int, hypothesis: str | None = None) -> list[list[Candidate]]:
        """Return the k best candidates of each sentence with the ranker's scores."""
        if k > self.k:
            raise ValueError(f"this reranker chooses among {self.k} label sequences; ask for {self.k} at most")
        return [found[:k] for found in self.ranked(X, hypothesis)]

    def margins(self, X: Sequence[Any], hypothesis: str | None = None) -> Any:
        """Raise: there are no margins, because a ranker scores whole sequences."""
        raise ValueError("a reranker gives no margins of tokens; ask its tagger, or for the k best")

    # ------------------------------------------------------------ the tagger's labels, and the ranker's run

    classes: list[Any] = forwarded("tagger.classes", "The tagger's labels.")
    scheme: str | None = forwarded("tagger.scheme", "The scheme of the tagger's labels.")
    given: str | None = forwarded("tagger.given", "The scheme of the labels that the tagger was given, if another.")
    label_column: int | str | None = forwarded("tagger.label_column", "The column of labels in the tagger's files.")
    columns: tuple[str, ...] = forwarded("tagger.columns", "The columns of a token in the tagger's files.")
    n_columns: int | None = forwarded("tagger.n_columns", "The number of columns in the tagger's files.")
    tokeniser: str = forwarded("tagger.tokeniser", "How texts become tokens.")
    lock: _core.Lock = forwarded("ranker.lock", "The ranker's: it is what learns.")
    parameters: Any = forwarded("ranker.parameters", "The ranker's: rule, hypothesis, …")
    played: int = forwarded("ranker.played", "Lists recorded by datasets.")
    fingerprint: int = forwarded("ranker.fingerprint", "The sum of the hashes of these lists.")
    open: bool = forwarded("ranker.open", "Whether the ranker stands between two lists of a stream.")
    ids: int = forwarded("ranker.ids", "Id features that the Δ-trick has handed out.")
    first_epoch: tuple[int, int] | None = forwarded("ranker.first_epoch", "Rounds and mistakes of the first epoch.")

    compare: Callable[..., Evaluation] = forwarded("tagger.compare", "What is right of what was predicted.")
    _count: Any = forwarded("ranker._count", "Lists played, those whose best did not win, updates, …")
    record: Any = forwarded("ranker.record", "Add to what its datasets have recorded.")
    finish: Any = forwarded("ranker.finish", "Learning is over for now.")
    snapshot: Any = forwarded("ranker.snapshot", "Everything that learning changes, copied.")
    restore: Any = forwarded("ranker.restore", "Go back to a snapshot.")
    problems: Any = forwarded("ranker.problems", "The run as theorems see it.")

    def facts(self) -> dict[str, Any]:
        """Describe the ranker, and what it chooses from."""
        own = {"k": self.k, "lookback": self.lookback, "oracle": self.oracle, "classes": self.classes}
        return {**own, **self.ranker.facts()}

    def state(self) -> State:
        """Return the whole state, as plain values and arrays."""
        about = {name: plain(getattr(self, name)) for name in OWN}
        about |= {"oracle_": None if math.isnan(self.oracle) else self.oracle, "description": self.description}
        about["fold_epochs"] = self.fold_epochs
        return join_states(self.tagger.state(), self.ranker.state(), about, self.features, self.structure)

    @classmethod
    def from_state(cls, state: State, functions: Any = None) -> Self:
        """Make a learner from what `state` returned; raise ValueError if the parts do not fit together."""
        parts = part_states(state, functions)
        ranker = ranker_class(parts.ranker).from_state(parts.ranker, parts.functions)
        own = {name: state.meta[name] for name in OWN if name in state.meta}  # learners of old knew k only
        tagger = SequenceLearner.from_state(parts.tagger, parts.functions)
        learner = cls(tagger, ranker, features=parts.features, structure=parts.structure, **own)
        learner.oracle = number_or_nan(state.meta.get("oracle_"))
        learner.description = state.meta.get("description", 1)
        learner.lookback = state.meta.get("lookback", 0)
        learner.fold_epochs = state.meta.get("fold_epochs")
        return learner


def hashing_of(ranker: Any, remember_names: bool = False) -> HashKernel | None:
    """Return how a ranker's features are hashed; None if they are not."""
    bits = getattr(ranker.parameters, "bits", None)
    return None if bits is None else HashKernel(bits, remember_names=remember_names)


def ranked_dataset(ranker: Any, lists: CandidateLists, weights: Any = None, **how: Any) -> Dataset:
    """Prepare lists of candidates for a ranker."""
    rows, hashing = lists.rows, hashing_of(ranker)
    if hashing is not None:
        indptr, indices, data = rows
        rows = _core.csr_rows(indptr, indices, data, hashing.width, True)
    dataset: Dataset = ranker.dataset(rows, lists.grades, weights, sizes=lists.sizes, **how)
    return dataset


def new_like(tagger: SequenceLearner) -> SequenceLearner:
    """Return an untrained tagger with the same parameters."""
    return SequenceLearner(**{f.name: getattr(tagger.parameters, f.name) for f in fields(tagger.parameters)})
