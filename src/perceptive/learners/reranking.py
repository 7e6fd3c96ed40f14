"""Reranking (Collins 2002): a tagger proposes label sequences, a ranker that sees them whole chooses."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from perceptive.conlleval import Evaluation, segments
from perceptive.features.hashing import HashKernel
from perceptive.kernels import Kernel, Linear
from perceptive.learners.kernel_ranking import KernelRankingLearner
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.sentences import as_lists
from perceptive.learners.sequence import SequenceLearner

Candidate = tuple[list[Any], float]  # labels and score
Features = Callable[[Sequence[Any], Sequence[Any]], Mapping[str, float]]
Structure = Callable[[Sequence[Any], Sequence[Any]], Any]
BATCH = 64  # sentences whose candidates are in memory
BITS = 20
OUTSIDE = "O"
Piece = tuple[int, int, str]  # begin, end, kind  # of hashed features
KERNEL_BITS = 18  # fewer: every comparison of sparse rows walks over the columns
RANKER: dict[str, Any] = {"rule": "pa1", "C": 0.01}  # what learns the order where nothing else is said


class RerankingLearner:
    """A tagger that proposes the k best label sequences of a sentence, and a ranker that chooses among them.

    It is used as a tagger is: `predict_many`, `k_best`, `compare`. Learning it is `training.train_reranker`.

    Parameters
    ----------
    tagger : SequenceLearner
        That has learned.
    ranker : RankingLearner or KernelRankingLearner
        That has learned to order what `describe` gives.
    k : int
        How many sequences are proposed.
    features : callable or None
        ``features(sentence, labels)`` gives further features of a candidate.
    structure : {None, "tree", "tags"} or callable
        What the kernel of the ranker compares beside features: see `structure_of`.
    """

    def __init__(
        self,
        tagger: SequenceLearner,
        ranker: RankingLearner | KernelRankingLearner,
        *,
        k: int = 20,
        features: Features | None = None,
        structure: str | Structure | None = None,
    ) -> None:
        self.tagger, self.ranker, self.k, self.features, self.structure = tagger, ranker, k, features, structure
        self.oracle = math.nan  # F of the best candidates that it learned from

    @property
    def classes(self) -> list[Any]:
        """The tagger's labels."""
        return self.tagger.classes

    @property
    def scheme(self) -> str | None:
        """Of the tagger's labels."""
        return self.tagger.scheme

    @property
    def given(self) -> str | None:
        """The scheme of the labels that the tagger was given, where it is another."""
        return self.tagger.given

    @property
    def label_column(self) -> int | None:
        """Of the files that the tagger learned from."""
        return self.tagger.label_column

    @property
    def n_columns(self) -> int | None:
        """Of the files that the tagger learned from."""
        return self.tagger.n_columns

    def compare(self, truth: Sequence[Sequence[Any]], predicted: Sequence[Sequence[Any]]) -> Evaluation:
        """What is right of what was predicted, as `conlleval` counts."""
        return self.tagger.compare(truth, predicted)

    def ranked(self, X: Sequence[Any], hypothesis: str | None = None) -> list[list[Candidate]]:
        """The candidates of each sentence with the ranker's scores, the best first; ties as the tagger has them."""
        X = as_lists(X)
        return [found for i in range(0, len(X), BATCH) for found in self._ranked(X[i : i + BATCH], hypothesis)]

    def _ranked(self, X: list[Any], hypothesis: str | None) -> list[list[Candidate]]:
        proposed = self.tagger.k_best(X, self.k)
        several = [i for i, found in enumerate(proposed) if len(found) > 1]
        ordered = [[(labels, 0.0) for labels, _ in found] for found in proposed]
        if not several:
            return ordered
        lists = [describe(X[i], proposed[i], self.features, self.structure) for i in several]
        sizes = np.array([len(one) for one in lists], np.int64)
        scores = self.ranker.scores([row for one in lists for row in one], sizes, hypothesis)
        for i, mine in zip(several, np.split(scores, np.cumsum(sizes)[:-1]), strict=True):
            order = np.argsort(-mine, kind="stable").tolist()
            ordered[i] = [(proposed[i][j][0], float(mine[j])) for j in order]
        return ordered

    def predict_many(self, X: Sequence[Any], hypothesis: str | None = None) -> list[list[Any]]:
        """The labels of each sentence; ``hypothesis`` is the ranker's."""
        return [found[0][0] for found in self.ranked(X, hypothesis)]

    def k_best(self, X: Sequence[Any], k: int, hypothesis: str | None = None) -> list[list[Candidate]]:
        """The k best of the candidates of each sentence and the ranker's scores."""
        if k > self.k:
            raise ValueError(f"this reranker chooses among {self.k} label sequences; ask for {self.k} at most")
        return [found[:k] for found in self.ranked(X, hypothesis)]

    def margins(self, X: Sequence[Any], hypothesis: str | None = None) -> Any:
        """Not here: a ranker looks at whole sequences."""
        raise ValueError("a reranker gives no margins of tokens; ask its tagger, or for the k best")


# ---------------------------------------------------------------- grades


def f1(truth: Sequence[Any], labels: Sequence[Any]) -> float:
    """F of whole segments, between 0 and 1; 1 where there are none and none are found."""
    there, found = set(segments(truth)), set(segments(labels))
    return 2.0 * len(there & found) / (len(there) + len(found)) if there or found else 1.0


def grade(truth: Sequence[Any], labels: Sequence[Any], target: str) -> float:
    """How good a candidate is: F to the truth, or ("exact") whether it is the truth."""
    return float(list(truth) == list(labels)) if target == "exact" else f1(truth, labels)


# ---------------------------------------------------------------- what a ranker sees


def describe(
    x: Sequence[Any], found: list[Candidate], features: Features | None, structure: str | Structure | None
) -> list[Any]:
    """The candidates of a sentence as the ranker sees them: dicts of features, or pairs of such with a structure.

    What all of them share cancels out, and is left out of the features.
    """
    pieces = [_pieces(labels) for labels, _ in found]
    shared = set.intersection(*map(set, pieces))
    columns = [[column.lower() for column in _columns(token)] for token in x]
    best = found[0][1]
    rows: list[Any] = []
    for place, ((labels, score), mine) in enumerate(zip(found, pieces, strict=True)):
        row = {"place": math.log(place + 1.0), "score": score - best}
        kinds = ["^", "^", *(kind for _, _, kind in mine), "$"]
        for at, (begin, end, kind) in enumerate(mine):
            *_, before, _, after = around = kinds[at : at + 4]
            names = [f"n {' '.join(around[i:j])}" for i, j in ((1, 3), (1, 4), (0, 4))]
            if (begin, end, kind) not in shared:
                names += (
                    _of_token(columns[begin], before, after)
                    if kind == OUTSIDE
                    else _of_segment(x, columns, begin, end, kind)
                )
            for name in names:
                row[name] = row.get(name, 0.0) + 1.0
        if features is not None:
            more = features(x, labels)
            if not isinstance(more, Mapping):
                raise ValueError(
                    f"features gave a {type(more).__name__} for {labels!r}; give a dict of numbers by name"
                )
            row |= more
        rows.append(row)
    if structure is None:
        return rows
    view = structure_of(structure)
    seen = [view(x, labels) for labels, _ in found]
    for (labels, _), one in zip(found, seen, strict=True):
        if one is None:
            raise ValueError(f"structure gave None for {labels!r}; give what the kernel compares")
    return list(zip(rows, seen, strict=True))


def kernel_of(kernel: Kernel) -> Kernel:
    """x·x' of the features plus a kernel of the structures."""
    return Linear().after(hashed).on(0) + kernel.on(1)


def hashed(row: Mapping[str, float]) -> Any:
    """Features as a sparse row."""
    import scipy.sparse as sp

    kernel = HashKernel(KERNEL_BITS)
    indptr, indices, data = kernel.encode([row])
    return sp.csr_array((data, indices, indptr), shape=(1, kernel.width))


def structure_of(structure: str | Structure) -> Structure:
    """What a kernel compares of a candidate: "tree" is `to_tree`, "tags" the labels; or a function of one's own."""
    if callable(structure):
        return structure
    if structure not in STRUCTURES:
        raise ValueError(f"structure={structure!r}: choose 'tree', 'tags', or a function of sentence and labels")
    return STRUCTURES[structure]


def to_tree(x: Sequence[Any], labels: Sequence[Any]) -> tuple[Any, ...]:
    """A labelled sentence as a tree of segments, for kernels of trees.

    Words stand under their second column (the part of speech, say), or under their shape where there is none.

    Examples
    --------
    >>> to_tree([("the", "DT"), ("dog", "NN"), ("ran", "VB")], ["B-NP", "I-NP", "O"])
    ('S', ('NP', ('DT', 'the'), ('NN', 'dog')), ('VB', 'ran'))
    """
    words = []
    for token in x:
        columns = _columns(token)
        words.append((columns[1] if len(columns) > 1 else shape(columns[0]) or "_", columns[0] or "_"))
    nodes: list[Any] = []
    at = 0
    for begin, end, kind in segments(labels):
        nodes += [*words[at:begin], (kind or "segment", *words[begin:end])]
        at = end
    return ("S", *nodes, *words[at:])


def _tags(x: Sequence[Any], labels: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(labels)


STRUCTURES: dict[str, Structure] = {"tree": to_tree, "tags": _tags}


def shape(word: str) -> str:
    """Capitals, small letters and digits, runs of a kind as one: New-York → X-X, U.S. → X.X., 1,200 → 0,0."""
    kinds = re.sub(r"[^\W\d_a-z]+[a-z]*", "X", word)
    return re.sub(r"\d+", "0", re.sub(r"[a-z]+", "x", kinds))


def _columns(token: Any) -> list[str]:
    return [token] if isinstance(token, str) else [str(column) for column in token]


def _pieces(labels: Sequence[Any]) -> list[Piece]:
    """The segments and, one by one, the tokens outside, in order."""
    pieces: list[Piece] = []
    at = 0
    for begin, end, kind in [*sorted(segments(labels)), (len(labels), len(labels), OUTSIDE)]:
        pieces += [(t, t + 1, OUTSIDE) for t in range(at, begin)]
        if begin < end:
            pieces.append((begin, end, kind))
        at = end
    return pieces


def _of_token(columns: list[str], before: str, after: str) -> list[str]:
    """Features of a token outside: each column, alone and with the kinds around it."""
    return [f"{OUTSIDE} {c} {text}" for c, value in enumerate(columns) for text in (value, f"{before} {value} {after}")]


def _of_segment(x: Sequence[Any], columns: list[list[str]], begin: int, end: int, kind: str) -> list[str]:
    """Features of one segment: each column as a whole, its ends, its shape, its length, and what surrounds it."""
    shapes = " ".join(shape(_columns(token)[0]) for token in x[begin:end])
    names = [f"{kind} length {min(end - begin, 8)}", f"{kind} shape {shapes}"]
    for c in range(len(columns[begin])):
        outer = [*("^" * 2), *(row[c] for row in columns), *("$" * 2)]
        inside = outer[begin + 2 : end + 2]
        first, last, (left, before), (after, right) = (
            inside[0],
            inside[-1],
            outer[begin : begin + 2],
            outer[end + 2 : end + 4],
        )
        names += [
            f"{kind} {c} {what}"
            for what in (
                f"all {' '.join(inside)}",
                f"first {first}",
                f"last {last}",
                f"before {before}",
                f"after {after}",
                f"around {before} {after}",
                f"begins {before} {first}",
                f"begins {left} {before} {first}",
                f"ends {last} {after}",
                f"ends {last} {after} {right}",
            )
        ]
    return names
