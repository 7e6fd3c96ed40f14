"""Explain predictions: how much each feature, or each support, adds to a score.

A score is the bias plus the sum of its parts: v·x = b + Σ_j w_j·x_j, in the dual Σ_i α_i·(K(x_i, x) + b²). For a token
of a sentence, the parts are the weights of its features for its label, and of the transition from the previous label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.feature_space import FeatureSpace
from perceptive.data.raw import frame_dicts
from perceptive.data.rows import is_dicts, single_row
from perceptive.data.sentences import as_lists
from perceptive.errors import Parameter, ParameterError
from perceptive.features.hashing import HashKernel
from perceptive.features.vocabulary import encode
from perceptive.frames import is_frame
from perceptive.learners.probing import segment_features, token_features
from perceptive.learners.reranking import RerankingLearner
from perceptive.learners.sequence import SequenceLearner
from perceptive.sparse import inspected
from perceptive.streams.file_format import FileFormat

Floats = NDArray[np.float64]
STEP = "@label[-1]"  # the weight of a pair of labels
VOTED = "a vote has no single vector to explain it; choose {}"
LAST = Parameter("hypothesis", "last")


class Part(NamedTuple):
    """How much one feature or support adds to a score.

    Attributes
    ----------
    name : str or None
        Name of the feature, if known; for a support, which example it was.
    column : int or None
        Column of the feature.
    value : float
        Value of the feature in the example, or K(x_i, x) + b² of a support.
    weight : float
        Weight of the feature, or α_i of the support.
    contribution : float
        Their product: positive if it supports the label.
    """

    name: str | None
    column: int | None
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True)
class Explanation:
    """Why a label has its score: ``score = bias + Σ contributions + rest``.

    Attributes
    ----------
    label : label
        The prediction, or the requested class; None for a candidate of a ranker; for a reranker, the label sequence
        that it chose.
    score : float
        Score of this label. Two classes have one score, which gets the sign of the label.
    bias : float
    parts : list of Part
        The largest contributions first.
    rest : float
        Sum of the contributions that are not listed.
    """

    label: Any
    score: float
    bias: float
    parts: list[Part]
    rest: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**asdict(self), "parts": [part._asdict() for part in self.parts]}

    def __str__(self) -> str:
        rows = [(_called(part), part.value, part.weight, part.contribution) for part in self.parts]
        names = [name for name, *_ in rows]
        others = [("bias", self.bias)] * bool(self.bias) + [("the rest", self.rest)] * bool(self.rest)
        width = max(map(len, [*names, *(name for name, _ in others), "feature"]))
        lines = [f"{label_of(self)}  score {self.score:+.5g}".strip()]
        lines.append(f"  {'feature'.ljust(width)}  {'value':>10}  {'weight':>10}  {'adds':>10}")
        lines += [f"  {name.ljust(width)}  {x:>10.4g}  {w:>+10.4g}  {c:>+10.4g}" for name, x, w, c in rows]
        lines += [f"  {name.ljust(width)}  {'':>10}  {'':>10}  {c:>+10.4g}" for name, c in others]
        return "\n".join(lines)


def label_of(explanation: Explanation) -> str:
    """The label in words: empty for a candidate, the labels of a sequence in order."""
    label = explanation.label
    if isinstance(label, list):
        return " ".join(map(str, label))
    return "" if label is None else str(label)


def _called(part: Part) -> str:
    return f"#{part.column}" if part.name is None else part.name or "''"  # of a column without a name


def explain(
    learner: Any,
    x: Any,
    *,
    label: Any = None,
    top: int | None = None,
    hypothesis: str | None = None,
    names: Sequence[str] | None = None,
) -> Any:
    """Explain the prediction of a learner for one example.

    Parameters
    ----------
    learner : Learner
    x : an example
        In the form for the learner's `predict`; for a ranker, a candidate.
    label : label or None
        Explain this class instead of the predicted one; not for sentences.
    top : int or None
        How many parts are listed; the others are summed as the rest.
    hypothesis : str or None
        Use this hypothesis instead of the learner's own; not "voted", which has no single vector.
    names : sequence of str or None
        Names of the columns of an array.

    Returns
    -------
    Explanation, or a list of them: one for each token of a sentence
        A reranker has one for a sentence: for the label sequence that it chose.

    Examples
    --------
    >>> from perceptive.learners import LinearLearner
    >>> L = LinearLearner(classes=["loss", "profit"])
    >>> L.learn_many([{"critic": 1.0}, {"star": 2.0}], ["loss", "profit"])
    >>> print(explain(L, {"star": 1.0, "critic": 1.0}, hypothesis="last"))
    profit  score +1
      feature       value      weight        adds
      star              1          +2          +2
      critic            1          -1          -1
    """
    if label is not None and learner.explained_by in ("tokens", "choice"):
        raise ValueError(f"label is {label!r}, but a sentence is explained by the labels that it gets; leave it out")
    return EXPLAIN[learner.explained_by](learner, x, names, label, top, hypothesis)


def _one_row(learner: Any, x: Any, names: Sequence[str] | None, *how: Any) -> Explanation:
    row = single_row(x if is_frame(x) else learner.space.unframed(x))
    return explain_rows(learner, *_rows(learner.space, row, names), *how)[0]


def _single(learner: Any, hypothesis: str | None) -> str:
    """The hypothesis that predicts; raises where it has no single vector."""
    hypothesis = hypothesis or learner.parameters.hypothesis
    if hypothesis == "voted":
        raise ParameterError(VOTED, LAST)
    return str(hypothesis)


# ---------------------------------------------------------------- linear learners

Naming = Callable[[int], tuple[str | None, float]]  # of a column: its name, and the sign that its values have


def explain_rows(
    learner: Any, X: Any, name: Naming, label: Any = None, top: int | None = None, hypothesis: str | None = None
) -> list[Explanation]:
    """Explain the predictions of a linear learner for rows (an object with CSR arrays) of named columns."""
    hypothesis = _single(learner, hypothesis)
    rows = _core.csr_rows(X.indptr, X.indices, X.data, learner.n_features or 0, False)
    assert rows is not None  # indices rise
    rows = learner.space.find(rows)
    outputs = learner.explained(rows.n, label, lambda: learner.decisions_of(rows, hypothesis))
    name = cache(name)

    def values(i: int) -> tuple[NDArray[Any], Floats]:
        entries = slice(X.indptr[i], X.indptr[i + 1])
        x = X.data[entries].astype(np.float64)
        if learner.parameters.normalize:
            x = x / (float(np.linalg.norm(x)) or 1.0)
        return X.indices[entries], x

    def part(column: int, value: float, weight: float, added: float) -> Part:
        called, sign = name(column)
        return Part(called, column, value * sign, weight * sign, added)

    return _explain_each(learner, outputs, values, part, top, hypothesis)


def _explain_each(
    learner: Any,
    outputs: Sequence[tuple[int, Any]],
    values: Callable[[int], tuple[NDArray[Any], Floats]],
    part: Callable[..., Part],
    top: int | None,
    hypothesis: str,
) -> list[Explanation]:
    """Explain one output for each example, of which ``values`` gives the columns, or supports, and their values."""
    weights, told = {k: learner.weights_of(k, hypothesis) for k, _ in set(outputs)}, []
    for i, (k, label) in enumerate(outputs):
        (columns, x), (w, bias) = values(i), weights[k]
        found = _telling(columns, x, w[columns], x * w[columns])

        def listed(j: int, found: tuple[NDArray[Any], ...] = found) -> Part:
            return part(*(array[j].item() for array in found))

        told.append(_explained(label, found[-1], listed, bias, top))
    return told


def _telling(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return the entries of arrays for which the last array, the contributions, is not 0."""
    there = np.flatnonzero(arrays[-1])
    return tuple(array[there] for array in arrays)


def _explained(
    label: Any, contributions: Floats, part: Callable[[int], Part], bias: float, top: int | None
) -> Explanation:
    """Return the largest parts of a score first; all beyond ``top`` are the rest.

    ``part`` makes the part of a contribution, and is asked for those that are listed.
    """
    order = np.argsort(-np.abs(contributions), kind="stable")
    added, kept = contributions[order].tolist(), order[:top].tolist()
    return Explanation(label, bias + sum(added), bias, list(map(part, kept)), sum(added[len(kept) :]))


class CsrArrays(NamedTuple):
    """The arrays of a CSR matrix."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]


def _rows(space: FeatureSpace, X: Any, names: Sequence[str] | None) -> tuple[Any, Naming]:
    """Examples as rows, and the names of their columns."""
    if space.takes_raw(X):
        assert space.format is not None
        index = _core.InvertedIndex()
        return space.examples(X, index=index), file_names(space.format, index, space.names)
    if is_frame(X) and (space.hasher is not None or space.vocabulary is not None):
        X = frame_dicts(X, space.table is not None)
    X = space.named(X)
    if is_dicts(X) and space.hasher is not None:
        kernel = HashKernel(space.hasher.bits, space.hasher.seed, space.hasher.signed, remember_names=True)
        return CsrArrays(*kernel.encode(X)), _signed(kernel.names, kernel)
    if is_dicts(X) and space.vocabulary is not None:
        known = space.vocabulary.names()
        return CsrArrays(*encode(X, space.vocabulary, grow=False)), lambda column: (known[column], 1.0)
    space.rows(X)  # raises where this is no example
    from scipy.sparse import csr_array

    matrix = space.known_part(csr_array(inspected(X) if hasattr(X, "tocsr") else np.asarray(X, np.float64), copy=True))
    matrix.sum_duplicates()
    if names is None and space.format is not None:
        return matrix, file_names(space.format, space.names)
    if names is None:
        return matrix, lambda column: (None, 1.0)
    called = [str(name) for name in names]
    return matrix, lambda column: (called[column], 1.0)


def file_names(format: FileFormat, *known: _core.InvertedIndex | None) -> Naming:
    """Return the names of the columns of files; for hashed columns from the first index that knows some."""
    if format.columns is not None:
        called = {column: name for name, column in format.columns.items()}
        return lambda column: (called.get(column), 1.0)
    if format.bits is None:
        first = 0 if format.zero_based else 1
        return lambda column: (str(column + first), 1.0)  # as the file has it

    def names(bucket: int) -> list[str]:
        return next((found for one in known if one is not None and (found := one.names(bucket))), [])

    return _signed(names, HashKernel(format.bits, format.hash_seed))


def _signed(names: Callable[[int], list[str]], kernel: HashKernel) -> Naming:
    def name(bucket: int) -> tuple[str | None, float]:
        found = names(bucket)
        if not found:
            return None, 1.0
        _, signs = kernel.hash(found[:1], grow=False)
        return " + ".join(found), float(signs[0])

    return name


# ---------------------------------------------------------------- kernels


def explain_supports(
    learner: Any, X: Any, label: Any = None, top: int | None = None, hypothesis: str | None = None
) -> list[Explanation]:
    """Explain the predictions of a learner in the dual: what each support adds, the largest first."""
    dual, hypothesis = learner.learned().predictor(), _single(learner, hypothesis)
    X = learner.read_raw(X)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    outputs = learner.explained(n, label, lambda: learner.decisions(X, hypothesis))
    if dual.supports is None:
        return [Explanation(label, 0.0, 0.0, []) for _, label in outputs]
    K = dual.K.with_supports(learner.as_predicted(X, dual), dual.supports).astype(np.float64)
    all_supports, ids = np.arange(len(dual.ids)), dual.ids

    def part(support: int, *numbers: float) -> Part:
        return Part(f"support {ids[support]}", None, *numbers)

    return _explain_each(learner, outputs, lambda i: (all_supports, K[i]), part, top, hypothesis)


# ---------------------------------------------------------------- taggers


def explain_tokens(
    learner: SequenceLearner, X: Sequence[Any], top: int | None = None, hypothesis: str | None = None
) -> list[list[Explanation]]:
    """Explain the labels of sentences, token by token: features, and the transition from the previous label.

    The features of a segment are listed at its first token. With ``encoding``, weights belong to the internal labels,
    whose names the transitions show. The scores of the tokens add up to the score of the path.
    """
    hypothesis = _single(learner, hypothesis)
    weights = {(name, label): weight for name, label, weight in learner.heaviest(-1, hypothesis)}
    return [_explain_sentence(learner, x, weights, top, hypothesis) for x in as_lists(X)]


def _explain_sentence(
    learner: SequenceLearner,
    x: list[Any],
    weights: dict[tuple[str, str], float],
    top: int | None,
    hypothesis: str | None,
) -> list[Explanation]:
    labels, path = learner.predict(x, hypothesis), learner.best_path(x, hypothesis)
    _, steps = learner.trellis(x, hypothesis)
    features = token_features(learner, x)
    if learner.parameters.segments:
        features = [mine + more for mine, more in zip(features, segment_features(learner, x, labels), strict=True)]
    told = []
    for t, within in enumerate(str(learner.labels[number]) for number in path):
        found = [(name, value, weights.get((name, within), 0.0)) for name, value in features[t]]
        parts = [Part(name, None, value, weight, value * weight) for name, value, weight in found if weight]
        if t:
            step = float(steps[t - 1, path[t - 1], path[t]])
            parts.append(Part(f"{STEP} = {learner.labels[path[t - 1]]}", None, 1.0, step, step))
        adds = np.array([part.contribution for part in parts])
        told.append(_explained(labels[t], adds, parts.__getitem__, 0.0, top))
    return told


# ---------------------------------------------------------------- rerankers


def explain_choice(
    learner: RerankingLearner, x: Any, top: int | None = None, hypothesis: str | None = None
) -> Explanation:
    """Explain which label sequence of a tagger's proposals was chosen: what the ranker saw in it."""
    [x] = as_lists([x])
    row, labels = learner.chosen(x, hypothesis)
    told: Explanation = explain(learner.ranker, row, top=top, hypothesis=hypothesis)
    return replace(told, label=labels)


EXPLAIN: dict[str, Callable[..., Any]] = {
    "features": _one_row,
    "supports": lambda learner, x, _, *how: explain_supports(learner, learner.batch_of(x), *how)[0],
    "tokens": lambda learner, x, _, __, *how: explain_tokens(learner, [x], *how)[0],
    "choice": lambda learner, x, _, __, *how: explain_choice(learner, x, *how),
}  # by what a learner's predictions are explained by
