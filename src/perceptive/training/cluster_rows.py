"""`ClusterRows`: arrays, data frames and bags of Dask as shards on their cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive.data.constant_feature import add_lengths, lengths_counted
from perceptive.data.dataset import Dataset
from perceptive.data.labelled_rows import LabelledRows
from perceptive.data.labels import Labels
from perceptive.data.rows import as_rows, is_dicts
from perceptive.data.sample_weights import as_valid_weights
from perceptive.features.vocabulary import Vocabulary
from perceptive.learners.linear import LinearLearner
from perceptive.training.cluster import Cluster
from perceptive.training.dask import ClusterDataset, Shard, ShardSource, dealt, partitions, shards_of
from perceptive.training.mixing import too_many


class RowPart(NamedTuple):
    """A partition: rows or dicts, labels, and weights or None."""

    X: Any
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    number: int = 0

    def check(self) -> None:
        """Raise for numbers that cannot be learned from, and say where they are."""
        try:
            as_rows(self.X, Vocabulary() if is_dicts(self.X) else None, grow=True)
            as_valid_weights(self.weights, len(self.y))
        except ValueError as error:
            raise ValueError(f"partition {self.number}, {error}") from None


class RowFacts(NamedTuple):
    """What must be known about a partition before the first epoch."""

    examples: int
    labels: list[Any]
    counts: list[int]
    width: int | None  # None: of dicts
    names: list[str]  # of dicts, as they were met
    dtype: str
    weighed: bool  # whether weights are not all 1


def part_of(X: Any, y: Any, weights: Any, number: int) -> RowPart:
    """Return a partition as arrays; raise if its parts do not fit each other."""
    if hasattr(X, "iloc"):
        words = [str(name) for name, kind in X.dtypes.items() if kind.kind not in "biuf"]
        if words:
            raise ValueError(f"column {words[0]!r} does not hold numbers; encode it, or give a bag of dicts")
        X = X.to_numpy()
    X = X if hasattr(X, "shape") else list(X)
    labels = np.asarray(y)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n != len(labels):
        raise ValueError(f"partition {number} has {n} rows, but {len(labels)} labels; give one label per row")
    return RowPart(X, labels, None if weights is None else np.asarray(weights, np.float64), number)


def facts_of(part: RowPart) -> RowFacts:
    if len(part.y):
        part.check()
    values, counts = np.unique(part.y, return_counts=True)
    dicts = isinstance(part.X, list)
    names = list(dict.fromkeys(name for x in part.X for name in x)) if dicts else []
    kind = "float64" if dicts else str(part.X.dtype)
    width, weighed = None if dicts else part.X.shape[1], part.weights is not None and bool((part.weights != 1).any())
    return RowFacts(len(part.y), values.tolist(), counts.tolist(), width, names, kind, weighed)


def add_part(before: tuple[float, int], part: RowPart, hasher: Any, normalize: bool) -> tuple[float, int]:
    """Return Σ‖x‖² and the number of rows so far."""
    if not len(part.y):
        return before
    names = hasher or (Vocabulary() if is_dicts(part.X) else None)
    return add_lengths(before, lengths_counted(as_rows(part.X, names, grow=True), part.weights, normalize))


def take_part(part: RowPart, rows: NDArray[np.int64]) -> RowPart | None:
    if not len(rows):
        return None
    X = [part.X[i] for i in rows] if isinstance(part.X, list) else part.X[rows]
    return RowPart(X, part.y[rows], None if part.weights is None else part.weights[rows])


@dataclass
class RowShard(Shard):
    """The rows of a shard."""

    X: Any
    y: Labels
    weights: NDArray[np.float64] | None

    def made(self, learner: Any) -> Dataset:
        dataset: LabelledRows = learner.dataset(self.X, self.y, self.weights, grow=False)
        dataset.weights = self.weights  # also where all are 1, since those of other shards are not
        return dataset


def make_shard(
    parts: list[RowPart | None], classes: list[Any], class_weight: dict[Any, float] | None, weighed: bool
) -> RowShard:
    """Return a shard of parts of partitions; its labels are numbers of classes."""
    given = [part for part in parts if part is not None]
    blocks = [part.X for part in given]
    if isinstance(blocks[0], list):
        X: Any = [x for block in blocks for x in block]
    elif hasattr(blocks[0], "indptr"):
        import scipy.sparse as sp

        X = sp.vstack(blocks, format="csr")
    else:
        X = np.concatenate(blocks)
    index = {label: i for i, label in enumerate(classes)}
    y = np.concatenate([part.y for part in given]).tolist()
    weights = np.concatenate([part.weights for part in given]) if weighed else None
    if class_weight is not None:
        of_class = np.array([class_weight[label] for label in y])
        weights = of_class if weights is None else weights * of_class
    return RowShard(X, Labels(classes, np.array([index[label] for label in y], np.int64)), weights)


class ClusterRows(ShardSource):
    """Rows with labels on a cluster, as a source.

    X is an array, data frame or bag of Dask (of dicts), y an array, series or bag in the same partitions.
    """

    def __init__(self, cluster: Cluster, X: Any, y: Any, weights: Any, shards: int) -> None:
        self.cluster, self.shards = cluster, shards
        if getattr(X, "ndim", 1) == 2 and hasattr(X, "rechunk") and len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        self._partitions = partitions(X, y, weights)
        self.facts: list[RowFacts] = cluster.ask(
            lambda client: [client.submit(facts_of, part, pure=False) for part in self._parts(client)]
        )
        self.classes = np.unique(np.concatenate([np.array(one.labels) for one in self.facts])).tolist()

    @property
    def examples(self) -> int:
        return sum(one.examples for one in self.facts)

    def counts(self) -> dict[Any, int]:
        found = dict.fromkeys(self.classes, 0)
        for one in self.facts:
            for label, n in zip(one.labels, one.counts, strict=True):
                found[label] += n
        return found

    def _parts(self, client: Any) -> list[Any]:
        known = enumerate(self._partitions(client))
        return [client.submit(part_of, *parts, number, pure=False) for number, parts in known]

    def begin(self, learner: LinearLearner, class_weight: dict[Any, float] | None = None) -> ClusterDataset:
        """Show a learner all data; return the dataset that it plays."""
        if self.examples < self.shards:
            raise too_many(self.shards, self.examples)
        self.freeze_bias(learner, self._parts, add_part, learner.space.hasher, learner.parameters.normalize)
        names = list(dict.fromkeys(name for one in self.facts for name in one.names))
        widths = {one.width for one in self.facts if one.examples}
        if len(widths) > 1:
            raise ValueError(f"partitions have rows of {sorted(map(str, widths))} columns; give all the same")
        [width] = widths
        first: Any = [dict.fromkeys(names, 1.0)] if width is None else np.zeros((1, width), self.facts[0].dtype)
        label = Labels(self.classes, np.zeros(1, np.int64))
        learner.dataset(first, label, epochs=1)
        for vector in learner.vectors.values():
            vector.begin_elsewhere(self.examples)
        rows = dealt([one.examples for one in self.facts], self.shards)
        weighed = any(one.weighed for one in self.facts)

        def load(client: Any) -> list[Any]:
            parts = ((part,) for part in self._parts(client))
            return shards_of(client, parts, rows, take_part, make_shard, self.classes, class_weight, weighed)

        self.dataset = ClusterDataset(learner, self.cluster, load, [sum(map(len, mine)) for mine in rows])
        return self.dataset
