"""What the ranker of a reranker sees of a tagger's proposed label sequences, and how good each of them is."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.rows import hashed_rows
from perceptive.errors import Parameter, ParameterError, ParameterWarning
from perceptive.evaluation.conlleval import evaluate, segments
from perceptive.features.hashing import HashKernel
from perceptive.features.templates import Templates
from perceptive.kernels import Kernel, Linear

Candidate = tuple[list[Any], float]  # labels and score
Features = Callable[[Sequence[Any], Sequence[Any]], Mapping[str, float]]
Structure = Callable[[Sequence[Any], Sequence[Any]], Any]
Piece = tuple[int, int, str]  # begin, end, kind
Clusters = Sequence[tuple[int, dict[str, str]]]  # of which column, and the cluster of each word
BATCH = 64  # sentences whose candidates are in memory
KERNEL_BITS = 18  # fewer than of linear rankers: every comparison of sparse rows walks over the columns
OUTSIDE = "O"
FEW = 200  # sentences: rerankers of fewer are often worse than their taggers, those of 250 and more were always better
NOTHING_TOLD = "no candidate is better than another: the tagger leaves nothing to learn, or k is small"


# ---------------------------------------------------------------- grades


def f1(truth: Sequence[Any], labels: Sequence[Any]) -> float:
    """Return F of whole segments, between 0 and 1; 1 if there are none and none are found."""
    there, found = set(segments(truth)), set(segments(labels))
    return 2.0 * len(there & found) / (len(there) + len(found)) if there or found else 1.0


def accuracy(truth: Sequence[Any], labels: Sequence[Any]) -> float:
    """Return the share of tokens with the right label, among those with a known label; 1 if there are none."""
    right = [one == other for one, other in zip(truth, labels, strict=True) if one is not None]
    return sum(right) / len(right) if right else 1.0


def grade(truth: Sequence[Any], labels: Sequence[Any], target: str) -> float:
    """Return how good a candidate is.

    −1 for each wrong or missed segment, or each wrong token; for "exact", whether it is the true sequence.

    Examples
    --------
    >>> grade(["B-A", "O", "B-A"], ["B-A", "O", "B-B"], "f1"), grade(["X", "Y"], ["X", "Z"], "accuracy")
    (-2.0, -1.0)
    """
    if target == "exact":
        return float(list(truth) == list(labels))
    if target == "f1":
        return -float(len({*segments(truth)} ^ {*segments(labels)}))
    return -float(sum(one not in (None, other) for one, other in zip(truth, labels, strict=True)))


# ---------------------------------------------------------------- lists to learn from


class CandidateLists(NamedTuple):
    """Graded candidates, list after list.

    Attributes
    ----------
    rows : list, or (indptr, indices, data)
        The candidates, or their hashed features in CSR form.
    grades : array
        How good each candidate is.
    sizes : array of int
        How many candidates each list has.
    sentences : array of int
        The sentence of each list.
    oracle : float
        F (0 to 1) of the best candidate of every list; no order can exceed it.
    """

    rows: Any
    grades: NDArray[np.float64]
    sizes: NDArray[np.int64]
    sentences: NDArray[np.int64]
    oracle: float

    def weights(self, given: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Return the weights of the lists, from those of the sentences."""
        return None if given is None else given[self.sentences]


def graded_lists(
    X: Sequence[Any],
    y: Sequence[Any],
    proposed: list[list[Candidate]],
    target: str,
    features: Features | None,
    structure: str | Structure | None,
    clusters: Clusters | None = (),
    of_tokens: bool = False,
    *,
    hashing: HashKernel | None = None,
    only_telling: bool = True,
    in_segments: bool = True,
) -> CandidateLists:
    """Make lists to learn from, of the candidates of sentences.

    With ``hashing``, features are hashed when they are made: storing them all as dicts would take many times the
    memory. ``only_telling`` leaves out lists in which no candidate is better than another. If labels are not
    ``in_segments``, tokens replace segments.
    """
    graded = grades_of(y, proposed, target, in_segments)
    told = [i for i, grades in enumerate(graded) if not only_telling or max(grades) > min(grades)]
    if not told:
        raise ValueError(NOTHING_TOLD)
    rows: Any = []
    for begin in range(0, len(told), BATCH):
        batch = told[begin : begin + BATCH]
        some = [row for i in batch for row in describe(X[i], proposed[i], features, structure, clusters, of_tokens)]
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
    grades, best = np.concatenate([graded[i] for i in told]), best_of(y, proposed, in_segments)
    return CandidateLists(rows, grades, sizes, np.array(told, np.int64), f1_or_accuracy(y, best, in_segments))


def grades_of(y: Sequence[Any], proposed: list[list[Candidate]], target: str, in_segments: bool) -> list[list[float]]:
    """Return how good each candidate of each sentence is."""
    target = target if in_segments else target.replace("f1", "accuracy")
    return [[grade(truth, labels, target) for labels, _ in found] for truth, found in zip(y, proposed, strict=True)]


def best_of(y: Sequence[Any], proposed: list[list[Candidate]], in_segments: bool) -> list[list[Any]]:
    """Return the labels of the best proposal for each sentence."""
    good = f1 if in_segments else accuracy
    return [max(found, key=lambda one: good(truth, one[0]))[0] for truth, found in zip(y, proposed, strict=True)]


def f1_or_accuracy(y: Sequence[Any], labels: list[list[Any]], in_segments: bool) -> float:
    """Return F of label sequences, or their accuracy; that of the best candidates is the oracle."""
    result = evaluate(y, labels)
    return float(result.f1 if in_segments else result.accuracy) / 100.0


# ---------------------------------------------------------------- what a ranker sees


def clusters_of(templates: Templates | None) -> Clusters:
    """Return the word clusters that templates have learned; templates not yet chosen have none."""
    if templates is None:
        return []
    known = [(name, column) for name, (_, column) in templates.clusters.items() if name not in templates.unlearned]
    return [(column, dict(line.split("\t") for line in templates.dictionaries[name])) for name, column in known]


def describe(
    x: Sequence[Any],
    found: list[Candidate],
    features: Features | None,
    structure: str | Structure | None,
    clusters: Clusters | None = (),
    of_tokens: bool = False,
) -> list[Any]:
    """Describe the candidates of a sentence for the ranker: dicts of features, or pairs of a dict and a structure.

    Features that all candidates share cancel out, so they are left out. The cluster of a word is one more column;
    ``clusters=None`` describes candidates as the first versions did, for rankers trained by them. With ``of_tokens``,
    labels mark no segments, and each token is described with its label.
    """
    pieces = [_tokens(labels) if of_tokens else _pieces(labels) for labels, _ in found]
    shared = set.intersection(*map(set, pieces))
    columns = [_seen(_columns(token), clusters or ()) for token in x]
    made: dict[Any, list[str]] = {}
    best = found[0][1]
    rows: list[Any] = []
    for place, ((labels, score), mine) in enumerate(zip(found, pieces, strict=True)):
        row = {"place": math.log(place + 1.0)} if clusters is None else {}
        row["score"] = score - best
        kinds = ["^", "^", *(kind for _, _, kind in mine), "$"]
        same = [True, True, *(piece in shared for piece in mine), True]
        for at, piece in enumerate(mine):
            *_, before, _, after = around = kinds[at : at + 4]
            begin, end, kind = piece
            names = []
            if clusters is None or not all(same[at : at + 4]):
                names = [f"n {' '.join(around[i:j])}" for i, j in ((1, 3), (1, 4), (0, 4))]
            if piece not in shared:
                key = (begin, before, after) if kind == OUTSIDE else piece
                if key not in made and kind == OUTSIDE:
                    made[key] = _of_token(columns[begin], before, after)
                elif key not in made:
                    made[key] = _of_segment(x, columns, begin, end, kind)
                names += made[key]
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
    """Return x·x' of the features plus a kernel of the structures."""
    return Linear().after(hashed).on(0) + kernel.on(1)


def hashed(row: Mapping[str, float]) -> Any:
    """Return features as a sparse row."""
    return hashed_rows([row], HashKernel(KERNEL_BITS))


def structure_of(structure: str | Structure) -> Structure:
    """Return what a kernel compares: "tree" is `to_tree`, "tags" the labels; or the result of the user's function."""
    if callable(structure):
        return structure
    if structure not in STRUCTURES:
        raise ParameterError(
            "{}: choose 'tree', 'tags', or a function of sentence and labels", Parameter("structure", structure)
        )
    return STRUCTURES[structure]


def check_reranking(k: Any, folds: Any, target: Any, structure: Any) -> None:
    """Raise ValueError for impossible parameters."""
    if target not in ("f1", "exact"):
        raise ParameterError("{}: choose 'f1' or 'exact'", Parameter("target", target))
    for name, value in (("k", k), ("folds", folds)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 2:
            raise ParameterError("{}: it must be a whole number of at least 2", Parameter(name, value))
    if structure is not None:
        structure_of(structure)


def warn_of_few(n: int) -> None:
    """Warn if a reranker learns from few sentences."""
    if n < FEW:
        said = (
            f"{n} sentences are few for a reranker: with fewer than {FEW} it is often worse than its tagger; compare "
            "the two on sentences that neither has learned from (perceptive eval, or score), and try larger steps: {}"
        )
        warnings.warn(ParameterWarning(said, Parameter("C", 0.1)), stacklevel=3)


def to_tree(x: Sequence[Any], labels: Sequence[Any]) -> tuple[Any, ...]:
    """Turn a labelled sentence into a tree of segments, for tree kernels.

    Words stand under their second column (for example the part of speech), or under their shape if there is none.

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


STRUCTURES: dict[str, Structure] = {"tree": to_tree, "tags": lambda x, labels: tuple(labels)}


def shape(word: str) -> str:
    """Return the word shape, equal kinds in a row as one: New-York → X-X, U.S. → X.X., 1,200 → 0,0."""
    kinds = re.sub(r"[^\W\d_a-z]+[a-z]*", "X", word)
    return re.sub(r"\d+", "0", re.sub(r"[a-z]+", "x", kinds))


def _columns(token: Any) -> list[str]:
    return [token] if isinstance(token, str) else [str(column) for column in token]


def _seen(columns: list[str], clusters: Clusters) -> list[str]:
    """The columns of a token that segments are described by."""
    of_words = [of.get(_core.norm(columns[column]), "?") for column, of in clusters]
    return [column.lower() for column in columns] + of_words


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


def _tokens(labels: Sequence[Any]) -> list[Piece]:
    """The tokens one by one, each of the kind that its label says."""
    return [(t, t + 1, str(label)) for t, label in enumerate(labels)]


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
        (left, before), (after, right) = outer[begin : begin + 2], outer[end + 2 : end + 4]
        first, last = inside[0], inside[-1]
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
