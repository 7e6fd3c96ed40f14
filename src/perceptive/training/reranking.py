"""From sentences to a reranker: candidates by cross-fitting, their grades, and lists that a ranker learns from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.conlleval import evaluate
from perceptive.features import schemes
from perceptive.features.hashing import HashKernel
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.reranking import BATCH, Candidate, Features, RerankingLearner, Structure, describe, f1, grade
from perceptive.learners.sentence_names import numbered, sentences_named
from perceptive.learners.sentences import as_lists
from perceptive.learners.sequence import SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.local import train
from perceptive.training.passes import History
from perceptive.training.tagging import train_tagger

Propose = Callable[[list[Any]], list[list[Candidate]]]


def check_reranking(
    X: Sequence[Any], y: Sequence[Any], k: int, folds: int, target: str, only_parameters: bool = False
) -> None:
    """Raise ValueError for what cannot be."""
    if target not in ("f1", "exact"):
        raise ValueError(f"target={target!r}: choose 'f1' or 'exact'")
    for name, value in (("k", k), ("folds", folds)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 2:
            raise ValueError(f"{name}={value!r}: {name} must be a whole number of at least 2")
    if only_parameters:
        return
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} sentences, but y has {len(y)} label sequences; give one per sentence")
    if len(X) < folds:
        raise ValueError(f"{len(X)} sentences are too few for {folds} folds; give more")


def _check_labels(base: SequenceLearner, y: list[Any]) -> None:
    """Raise ValueError where the tagger can never propose the truth."""

    def kind(label: Any) -> Any:  # labels within may be another scheme's
        prefix, kind = schemes.split(label)
        return label if base.scheme is None else (prefix == "O", kind)

    known = set(map(kind, base.labels))
    every = dict.fromkeys(label for labels in y for label in labels if label is not None)
    strange = [label for label in every if kind(label) not in known]
    if strange:
        names = ", ".join(map(repr, strange[:5])) + (", …" if len(strange) > 5 else "")
        raise ValueError(f"the tagger does not know the labels {names}; give a base that has learned from these files")


def cross_fit(
    X: list[Any],
    y: list[Any],
    folds: int,
    fit: Callable[[list[Any], list[Any]], Propose],
    after_fold: Callable[[int], None] | None = None,
) -> list[list[Candidate]]:
    """What is proposed for each sentence by a tagger that has learned from the other folds only.

    Parameters
    ----------
    X, y : lists of sentences and of label sequences
    folds : int
        Sentence i is in fold i mod ``folds``.
    fit : callable
        Learns from sentences, and returns what proposes candidates for others.
    after_fold : callable or None
        Called with the number of folds done.
    """
    proposed: list[list[Candidate]] = [[] for _ in X]
    for fold in range(folds):
        rest = [i for i in range(len(X)) if i % folds != fold]
        kept = list(range(fold, len(X), folds))
        with warnings.catch_warnings(), sentences_named(numbered(rest)):
            warnings.filterwarnings("ignore", "sentence ")  # said of all sentences before
            propose = fit([X[i] for i in rest], [y[i] for i in rest])
        with sentences_named(numbered(kept)):
            found = propose([X[i] for i in kept])
        for i, mine in zip(kept, found, strict=True):
            proposed[i] = mine
        if after_fold is not None:
            after_fold(fold + 1)
    return proposed


def lists_to_learn(
    X: list[Any],
    y: list[Any],
    proposed: list[list[Candidate]],
    target: str,
    features: Features | None,
    structure: str | Structure | None,
    hashing: HashKernel | None = None,
) -> tuple[Any, NDArray[np.float64], NDArray[np.int64], float]:
    """The candidates of lists in which somebody is better, their grades, the sizes of the lists, and the oracle.

    That is F of the best candidates of all lists (0 … 1). With ``hashing`` candidates are rows in CSR form (indptr,
    indices, data), hashed as they are made: dicts of them all would take many times the memory.
    """
    graded = [[grade(truth, labels, target) for labels, _ in found] for truth, found in zip(y, proposed, strict=True)]
    told = [i for i, grades in enumerate(graded) if max(grades) > min(grades)]
    if not told:
        raise ValueError("no candidate is better than another: the tagger leaves nothing to learn, or k is small")
    best = [max(found, key=lambda one: f1(truth, one[0]))[0] for truth, found in zip(y, proposed, strict=True)]
    rows: Any = []
    for begin in range(0, len(told), BATCH):
        some = [row for i in told[begin : begin + BATCH] for row in describe(X[i], proposed[i], features, structure)]
        if hashing is None:
            rows += some
        else:
            rows.append(hashing.encode(some))
    if hashing is not None:
        starts, indices, data = ([part[i] for part in rows] for i in range(3))
        indptr = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part) for part in starts]))])
        kind = np.int32 if indptr[-1] < 2**31 else np.int64
        rows = indptr.astype(kind), np.concatenate(indices).astype(kind, copy=False), np.concatenate(data)
    sizes = np.array([len(graded[i]) for i in told], np.int64)
    return rows, np.concatenate([graded[i] for i in told]), sizes, evaluate(y, best).f1 / 100.0


def train_reranker(
    base: SequenceLearner,
    X: Sequence[Any],
    y: Sequence[Sequence[Any]],
    ranker: RankingLearner,
    training: TrainingParameters,
    *,
    k: int = 20,
    folds: int = 5,
    target: str = "f1",
    base_epochs: int | None = None,
    report: Callable[[float, int, int], None] | None = None,
) -> tuple[RerankingLearner, History]:
    """Learn to order what a tagger proposes; it is kept as it is, and its likes are trained for cross-fitting.

    Parameters
    ----------
    base : SequenceLearner
        That has learned from X and y.
    X, y : lists of sentences and of label sequences
    ranker : RankingLearner
        That has learned nothing.
    training : TrainingParameters
        Of the ranker.
    k, folds, target
        As in `Reranker`.
    base_epochs : int or None
        Passes of the taggers for cross-fitting; None: as many as the base made over so many sentences.
    report : callable or None
        Called with the part of the cross-fitting that is done (0 … 1), the sentences played and the mistakes.
    """
    X, y = as_lists(X), as_lists(y)
    check_reranking(X, y, k, folds, target)
    _check_labels(base, y)
    parameters = {f.name: getattr(base.parameters, f.name) for f in fields(base.parameters)}
    SequenceLearner(**parameters).prepare(X, y, first=True)  # what cannot be read is told before anything is learned
    epochs = base_epochs or max(1, round(base.rounds / len(X)))
    done = 0

    def fit(X: list[Any], y: list[Any]) -> Propose:
        learner = SequenceLearner(**parameters)
        lesson = learner.prepare(X, y, first=True)

        def tell(played: int, mistakes: int) -> None:
            if report is not None:
                report((done + played / (epochs * len(X))) / folds, done * epochs * len(X) + played, mistakes)

        train_tagger(learner, lesson, TrainingParameters(epochs=epochs), report=tell)
        return lambda kept: learner.k_best(kept, k)

    def after_fold(number: int) -> None:
        nonlocal done
        done = number

    proposed = cross_fit(X, y, folds, fit, after_fold)
    rows, grades, sizes, oracle = lists_to_learn(X, y, proposed, target, None, None, ranker.kernel)
    del proposed
    if ranker.kernel is not None:
        indptr, indices, data = rows
        rows = _core.csr_rows(indptr, indices, data, ranker.kernel.width, True)
    lesson = ranker.prepare(rows, grades, sizes)
    history = train(lesson, training)
    learner = RerankingLearner(base, ranker, k=k)
    learner.oracle = oracle
    return learner, history
