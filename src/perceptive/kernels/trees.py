"""Kernels of trees, given as bracketed text, nested tuples, or NLTK trees."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.content import digest
from perceptive.errors import ExampleError, ExampleTypeError
from perceptive.kernels.examples import as_list
from perceptive.kernels.kernel import Kernel, Values
from perceptive.kernels.strings import check_decay
from perceptive.processors import processors

CLOSE = object()  # the end of a node
MOST_PARTS = 2**22  # of a nested tree: one that contains itself has no end
TOO_MANY = "have too many common parts for a number; use a smaller decay, or smaller trees"


class Trees:
    """Parsed trees, and the trees themselves as brackets or nested tuples."""

    def __init__(self, parsed: _core.Trees, items: list[Any]) -> None:
        self.parsed, self.items = parsed, items

    def __reduce__(self) -> Any:
        return from_layouts, (self.layouts(),)

    def layouts(self) -> list[Any]:
        """Each tree flat, however deep it is: brackets as they are, tuples as kinds and texts."""
        return [item if isinstance(item, str) else _parts(item, i) for i, item in enumerate(self.items)]

    def __len__(self) -> int:
        return len(self.parsed)

    def take(self, index: Any) -> Trees:
        if isinstance(index, slice):
            index = np.arange(*index.indices(len(self)), dtype=np.int64)
        index = np.ascontiguousarray(index, dtype=np.int64)
        return Trees(self.parsed.take(index), [self.items[i] for i in index.tolist()])

    def contents(self) -> list[bytes | None]:
        """A digest of each, whatever form it was given in."""
        return [digest(productions) for productions in self.parsed.contents()]

    def extend(self, other: Trees) -> None:
        self.parsed.extend(other.parsed)
        self.items.extend(other.items)

    def put(self, i: int, other: Trees) -> None:
        self.parsed.put(i, other.parsed)
        self.items[i] = other.items[0]


def from_layouts(layouts: list[Any]) -> Trees:
    """Trees from `Trees.layouts`; raises ValueError where one does not fit together."""
    items = []
    for layout in layouts:
        if not isinstance(layout, str):
            kinds, texts = layout
            _core.Trees().add_parts(kinds, texts)  # checks it
            layout = _nested(kinds, texts)
        items.append(layout)
    return parse_trees(items)


def parse_trees(X: Any) -> Trees:
    """Trees of any of the three forms; says which one is wrong, and where."""
    parsed = _core.Trees()
    items = as_list(X)
    for i, tree in enumerate(items):
        if isinstance(tree, str):
            try:
                parsed.add(tree)
            except ValueError as error:
                raise ExampleError(f"{error}; write it as in '(NP (D the) (N dog))'", i, kind="tree") from None
            continue
        kinds, texts = _parts(tree, i)
        parsed.add_parts(kinds, texts)
        if not isinstance(tree, tuple):
            items[i] = _nested(kinds, texts)
    return Trees(parsed, items)


def _parts(tree: Any, number: int) -> tuple[str, list[str]]:
    """A nested tree, laid out: o opens a node, w is a word, c closes a node."""
    kinds: list[str] = []
    texts: list[str] = []
    waiting: list[Any] = [tree]
    while waiting:
        if len(kinds) > MOST_PARTS:
            said = f"it has more than {MOST_PARTS:,} nodes and words, or contains itself"
            raise ExampleError(said, number, kind="tree")
        node = waiting.pop()
        if node is CLOSE:
            kinds.append("c")
            continue
        if isinstance(node, str):
            if not kinds:
                raise ExampleError(f"{node!r} is a word, not a tree", number, kind="tree")
            kinds.append("w")
            texts.append(node)
            continue
        label, children = _label_and_children(node, number)
        kinds.append("o")
        texts.append(label)
        waiting.append(CLOSE)
        waiting.extend(reversed(list(children)))
    return "".join(kinds), texts


def _nested(kinds: str, texts: list[str]) -> Any:
    """The tuples of a tree that was laid out."""
    stack: list[list[Any]] = [[]]
    remaining = iter(texts)
    for kind in kinds:
        if kind == "o":
            stack.append([next(remaining)])
        elif kind == "w":
            stack[-1].append(next(remaining))
        else:
            node = tuple(stack.pop())
            stack[-1].append(node)
    return stack[0][0]


def _label_and_children(node: Any, number: int) -> tuple[str, Iterable[Any]]:
    if hasattr(node, "label") and callable(node.label):  # NLTK
        return str(node.label()), list(node)
    if isinstance(node, tuple | list) and len(node) and isinstance(node[0], str) and None not in node:
        return node[0], node[1:]
    raise ExampleTypeError(
        f"{reprlib.repr(node)[:60]} is not a tree; give brackets as in '(NP (D the) (N dog))', nested tuples "
        "('NP', ('D', 'the'), ('N', 'dog')), or NLTK's trees",
        number,
        kind="tree",
    )


class TreeKernel(Kernel):
    """Σ over pairs of nodes of C(a, b) = λ·Π_j (σ + C(child_j(a), child_j(b))), if the productions agree."""

    sigma = 1.0
    view = "trees"

    def __init__(self, decay: float = 1.0) -> None:
        self.decay = decay
        check_decay(decay)

    def prepare(self, X: Any, dtype: Any = np.float64) -> Trees:
        return parse_trees(X)

    def compare(self, A: Trees, B: Trees) -> Values:
        K = np.empty((len(A), len(B)))
        A.parsed.compare(B.parsed, float(self.decay), self.sigma, A is B, processors(), K)
        if not np.isfinite(K).all():
            i, j = np.argwhere(~np.isfinite(K))[0]
            raise ValueError(f"the trees {i} and {j} {TOO_MANY}")
        return K

    def norms(self, A: Trees) -> NDArray[np.float64]:
        values = np.empty(len(A))
        A.parsed.norms(float(self.decay), self.sigma, values)
        if not np.isfinite(values).all():
            raise ValueError(f"the tree {int(np.argmin(np.isfinite(values)))} and itself {TOO_MANY}")
        return values


class SubsetTree(TreeKernel):
    """Common subset trees: parts of trees that keep whole productions (Collins & Duffy 2001).

    Parameters
    ----------
    decay : float
        λ in (0, 1]: the factor of each production.

    Examples
    --------
    >>> from perceptive.kernels import SubsetTree
    >>> SubsetTree()("(NP (D the) (N dog))", "(NP (D the) (N cat))")
    3.0
    """


class Subtree(TreeKernel):
    """Common complete subtrees: nodes with everything below them (Vishwanathan & Smola 2002).

    Examples
    --------
    >>> from perceptive.kernels import Subtree
    >>> Subtree()("(NP (D the) (N dog))", "(NP (D the) (N cat))")
    1.0
    """

    sigma = 0.0
