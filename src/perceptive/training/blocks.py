"""What the blocks of files hold: labelled rows (`RowBlocks`), or lists of candidates (`ListBlocks`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.data.constant_feature import frozen
from perceptive.data.dataset import Dataset
from perceptive.data.labels import Labels
from perceptive.errors import Parameter, ParameterError, literal
from perceptive.streams import FileFormat, Stream
from perceptive.streams.blocks import peek, repeatable
from perceptive.streams.examples import UNLABELLED, Examples, join, size_of
from perceptive.streams.file_format import NO_KEY
from perceptive.streams.lists import CandidateLists, join_lists, read_lists
from perceptive.streams.mixing import can_be_cut
from perceptive.streams.parsing import Log
from perceptive.streams.tables import names_in
from perceptive.streams.values import is_number
from perceptive.training.windows import come_in_runs

MAX_FEATURES = 2**24  # of files that number their features: more are to be hashed
MARKS = re.compile(r"[|;:\t]")  # that may stand between the columns of a table
WIDE = 40  # characters of a column's name that an error shows
PER_EXAMPLE = 32  # bytes that playing takes beside the rows: order, label, target, hash
FAR_LARGER = 100.0  # than the numbers by which columns are scaled
SCALED_BY_ITS_START = (
    "columns are scaled by the numbers at the start of the input, and later ones are far larger: give a file, which is "
    "measured as a whole, instead of a pipe"
)
QUERIES = "there are queries (qid:), which a classifier ignores; to rank their lines, train a ranker"
NO_LISTS = (
    "there are no lists with answers; check the files and the format (a JSON line with candidates tells its answer by "
    'the key "best" or "grades")'
)
NOTHING_BETTER = (
    "no list has a candidate that is better than another, or all of these lists have weight 0; check the grades, and "
    "sort the lines by query: those of a list must follow each other"
)
NO_PREFERENCE = (
    "no held-out list has a candidate that is better than another, so they cannot decide when to stop; hold out more, "
    "or none"
)


class Read(NamedTuple):
    """A block as it was parsed, without what has no answer; None at the end, where some more is counted."""

    block: Any
    file: int  # its number among the files
    unanswered: int  # examples or lists that were left out


def checked_rows(examples: Examples, width: int | None) -> _core.Rows:
    """Parsed examples as checked rows; ``width`` is the number of columns, None as many as they need."""
    columns = examples.width() if width is None else width
    rows = _core.csr_rows(examples.indptr, examples.indices, examples.data, columns, True)
    if rows is None or (width is None and columns > MAX_FEATURES):  # parsers sort, and refuse so many
        raise ValueError("the cache has columns out of order or beyond the limit; delete it")
    return rows


def check_answers(format: FileFormat, files: Sequence[str], log: Log, examples: int, goes_on: bool = False) -> None:
    """Raise where a table lacks the column of the weights, or of the labels and so had no examples.

    A model that ``goes_on``, or is used, keeps the names of both: then the table is to be changed.
    """
    columns, again = log.columns, list(filter(repeatable, files))
    if format.name == "json" and examples == 0:
        columns = [name for path in again for name in names_in(path, format) or ()]
    label = format.label if examples == 0 and format.label != NO_KEY else None
    asked = {"label": label, "weight": format.weight}
    for what, name in asked.items():
        if not columns or name is None or name in columns:
            continue
        there = ", ".join(repr(column if len(column) < WIDE else f"{column[:WIDE]}…") for column in columns)
        headless = " (the first line must name the columns)" if any(map(is_number, columns)) else ""
        kind = "key" if format.name == "json" else "column"
        said = f"there is no {kind} {name!r} for the {what}; there are {there}{headless}; "
        if goes_on:
            raise ValueError(f"{said}rename the one that is meant")
        if format.name == "csv" and len(columns) == 1 and (mark := MARKS.search(columns[0])):
            raise ParameterError(literal(said) + "give {}", Parameter("delimiter", mark[0]))
        if format.name == "json" and "candidates" in columns:
            raise ParameterError(literal(said) + "to rank lists of candidates, learn a ranker (--task rank)")
        if what == "label" and len(columns) == 2 and any(b"\t" in peek(path) for path in again):
            cure = "say which with {}, or give {} where lines are label TAB text"
            raise ParameterError(literal(said) + cure, what, Parameter("format", "text"))
        raise ParameterError(literal(said) + "say which with {}, or rename it", what)


class RowBlocks:
    """Blocks of labelled rows, for classifiers."""

    unit, answered = "examples", "labelled examples"  # what an example is called, and one with an answer
    class_weight: Mapping[Any, float] | None = None  # of classes that do not weigh 1

    def parse(
        self, stream: Stream, then: Callable[[Read], Any], mixed: bool = False, block: int | None = None
    ) -> Iterator[Any]:
        """The blocks of the files, of examples that have a label, each given to ``then``, by threads where possible.

        They come in the order of the files, or mixed, as far as possible, and have so many bytes.
        """

        by_its_start = stream.format.scaling is not None and not all(map(repeatable, stream.files))

        def work(examples: Examples, number: int, file: int) -> Any:
            if by_its_start and len(examples.data) and np.square(examples.data, dtype=float).mean() > FAR_LARGER**2:
                stream.log.remark("start", SCALED_BY_ITS_START)
            if examples.qid is not None and examples.qid.max(initial=-1) >= 0:
                stream.log.remark("queries", QUERIES)
            missing = examples.which == UNLABELLED
            unlabelled = int(np.count_nonzero(missing))
            if unlabelled:
                examples = examples.take(np.flatnonzero(~missing))
            return then(Read(examples, file, unlabelled))

        return stream.blocks(prepare=work, limit=MAX_FEATURES, mixed=mixed, block=block)

    def can_be_mixed(self, stream: Stream) -> bool:
        """Whether a mixed block is a sample of all files: where all can be cut anywhere."""
        return all(can_be_cut(path, stream.format.name) for path in stream.files)

    def labels(self, ready: Any) -> list[Any]:
        """The different labels of what `ready` gave, where there are some."""
        found: list[Any] = ready[1].values
        return found

    def labels_of(self, block: Examples) -> Labels:
        """The labels of a block, one and the same where there are none."""
        return Labels(block.labels, block.which.astype(np.int64))

    def join(self, blocks: list[Any], dtype: np.dtype[Any]) -> Any:
        """Return several blocks as one."""
        return join(blocks, dtype)

    def size(self, block: Examples) -> int:
        """Bytes that it takes in memory."""
        return size_of(block) + PER_EXAMPLE * len(block)

    def in_runs(self, ready: Any) -> bool:
        """Return whether the labels of what `ready` gave come in runs, and so from a few pieces of the files."""
        return ready is not None and len(ready[1].values) > 1 and come_in_runs(ready[1].which)

    def parts(self, read: Read, size: int, in_runs: int) -> Iterator[Read]:
        """Split a block into parts of about ``size`` bytes in memory; of ``in_runs`` where its labels come in runs."""
        block, n = read.block, len(read.block)
        if n == 0:
            yield read._replace(block=None)
            return
        count = min(n, -(-self.size(block) // (in_runs if come_in_runs(block.which) else size)))
        for i in range(count):
            part = block.cut(n * i // count, n * (i + 1) // count) if count > 1 else block
            yield Read(part, read.file, 0 if i else read.unanswered)

    def for_cache(self, block: Examples) -> Examples:
        """Return a block as the cache stores it: without queries, which a classifier does not use."""
        return block if block.qid is None else replace(block, qid=None)

    def from_cache(self, examples: Examples) -> Examples:
        """Return the block that `for_cache` was given."""
        return examples

    def ready(self, block: Examples, width: int | None) -> Any:
        """Return checked rows, labels and weights, from which `dataset` makes a dataset."""
        return checked_rows(block, width), self.labels_of(block), block.weight

    def dataset(self, learner: Any, ready: Any, grow: bool = True) -> Dataset:
        """Return a dataset of the learner, with the weights of the classes."""
        rows, labels, weights = self.weighted(ready)
        if grow:
            learner.parameters = frozen(learner.parameters, rows, weights)
        found: Dataset = learner.dataset(rows, labels, weights, grow=grow)
        return found

    def weighted(self, ready: Any) -> Any:
        """Rows, labels and weights, with those of the classes."""
        rows, labels, weights = ready
        if self.class_weight is not None:
            of_class = np.array([self.class_weight.get(label, 1.0) for label in labels.values])[labels.which]
            weights = of_class if weights is None else weights * of_class
        return rows, labels, weights

    def score(self, learner: Any, blocks: Iterator[Examples]) -> float:
        """Share of the examples, in blocks that are held out, that get the right label."""
        right = total = 0
        for block in blocks:
            truth, rows = held_out_rows(learner, block)
            right += int(np.count_nonzero(learner.decisions(rows) == truth))
            total += len(truth)
        return right / max(1, total)

    def count_rows(self, block: Examples) -> int:
        """How many rows it has."""
        return len(block)


def held_out_rows(learner: Any, block: Examples) -> tuple[NDArray[np.int64], _core.Rows]:
    """The class of each example (−1: none that the learner knows), and the rows."""
    index = np.array([learner.index.get(label, -1) for label in block.labels], np.int64)
    return index[block.which], checked_rows(block.narrow(learner.n_features), learner.n_features)


class ListBlocks:
    """Blocks of lists of candidates, for rankers, with the methods of `RowBlocks`.

    In the cache the number of its list stands for the query of a candidate, its grade for the weight, and the weight
    of its list, as text, for the label; 0 if there are no weights.
    """

    unit, answered = "lists", "lists with answers"

    def parse(
        self,
        stream: Stream,
        then: Callable[[Read], Any],
        mixed: bool = False,
        block: int | None = None,
        live: bool = False,
    ) -> Iterator[Any]:
        """Lists that have an answer, in the order of the files; with ``live`` as soon as they are there."""
        unanswered = 0
        for part in read_lists(stream, live):
            if len(part) == 0:
                continue
            answered = np.flatnonzero(~np.logical_or.reduceat(np.isnan(part.grades), part.starts[:-1]))
            unanswered += len(part) - len(answered)
            if len(answered):
                rest = part if len(answered) == len(part) else part.take(answered)
                yield then(Read(rest, part.file, unanswered))
                unanswered = 0
        yield then(Read(None, 0, unanswered))

    def can_be_mixed(self, stream: Stream) -> bool:
        return False

    def labels(self, ready: Any) -> list[Any]:
        return []

    def labels_of(self, block: CandidateLists) -> Labels:
        return Labels([None], np.zeros(len(block), np.int64))

    def join(self, blocks: list[Any], dtype: np.dtype[Any]) -> Any:
        return join_lists(blocks, dtype)

    def size(self, block: CandidateLists) -> int:
        return size_of(block.examples) + PER_EXAMPLE * len(block.examples)

    def in_runs(self, ready: Any) -> bool:
        return False

    def parts(self, read: Read, size: int, in_runs: int) -> Iterator[Read]:
        yield read  # lists have no classes

    def for_cache(self, block: CandidateLists) -> Examples:
        """Candidates with the number of their list and their grade."""
        number = np.repeat(np.arange(len(block)), np.diff(block.starts))
        examples: Examples = block.examples
        labels: list[Any] = [0]
        which = np.zeros(len(examples), np.int32)
        if block.weights is not None:
            different, of_list = np.unique(block.weights, return_inverse=True)
            labels, which = list(map(repr, different.tolist())), of_list.astype(np.int32)[number]
        return replace(examples, labels=labels, which=which, weight=block.grades, qid=number)

    def from_cache(self, examples: Examples) -> CandidateLists:
        if len(examples) == 0:
            raise ValueError(NO_LISTS)
        if examples.qid is None or examples.weight is None or (examples.qid < 0).any():
            raise ValueError("the cache has no lists; delete it")
        starts = np.flatnonzero(np.diff(examples.qid, prepend=-1, append=-1)).astype(np.int64)
        used, of_list = np.unique(examples.which[starts[:-1]], return_inverse=True)
        told = [examples.labels[i] for i in used.tolist()]
        weights = None if told == [0] else np.array([1.0 if one == 0 else float(one) for one in told])[of_list]
        names: list[Any] = [None] * (len(starts) - 1)
        return CandidateLists(examples, starts, examples.weight, names, weights=weights)

    def ready(self, block: CandidateLists, width: int | None) -> Any:
        return checked_rows(block.examples, width), block.grades, np.diff(block.starts), block.weights

    def dataset(self, learner: Any, ready: Any, grow: bool = True) -> Dataset:
        rows, grades, sizes, weights = ready
        found: Dataset = learner.dataset(rows, grades, weights, sizes=sizes, grow=grow)
        return found

    def score(self, learner: Any, blocks: Iterator[CandidateLists]) -> float:
        """Share of the lists whose best is on top."""
        from perceptive.evaluation.metrics import top1_counts

        right, lists = 0.0, 0
        for block in blocks:
            rows = checked_rows(block.examples.narrow(learner.n_features), learner.n_features)
            found = top1_counts(block.grades, learner.scores(rows, np.diff(block.starts)), block.starts)
            right, lists = right + found[0], lists + found[1]
        if lists == 0:
            raise ValueError(NO_PREFERENCE)
        return right / lists

    def count_rows(self, block: CandidateLists) -> int:
        return len(block.examples)


Blocks = RowBlocks | ListBlocks


def in_parts(
    kind: Blocks, parsed: Callable[..., Generator[tuple[Read, Any]]], read: int, stored: int, in_runs: int
) -> Generator[tuple[Read, Any]]:
    """Yield blocks for the cache: ``read`` bytes of a file are parsed at a time, a block has ``stored`` bytes."""
    with closing(parsed(size=read)) as whole:
        for block, ready in whole:
            for part in kind.parts(block, stored, in_runs):
                yield part, ready
