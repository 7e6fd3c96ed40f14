"""Tree kernels (Collins & Duffy 2001; Vishwanathan & Smola 2002) by recursion.

A tree is a word, given as a string, or a tuple ``(label, child, …)``. The production of a node is its label with
those of its children.
"""

from collections.abc import Iterator
from math import prod
from typing import Any, cast

Tree = str | tuple  # type: ignore[type-arg]


def read_brackets(text: str) -> Tree:
    """A tree in brackets; raises ValueError with the position, counted from 1, of what is wrong.

    Examples
    --------
    >>> read_brackets("(NP (D the) (N dog))")
    ('NP', ('D', 'the'), ('N', 'dog'))
    """
    waiting: list[list[Any]] = []  # nodes that are open, and
    places: list[int] = []  # where they begin
    tree: Any = None
    at = 0
    while at < len(text):
        if text[at] in " \t\n\r":
            at += 1
            continue
        if tree is not None:
            raise ValueError(f"position {at + 1}: text after the end of the tree")
        if text[at] == ")":
            if not waiting:
                raise ValueError(f"position {at + 1}: ')' closes nothing")
            node = tuple(waiting.pop())
            places.pop()
            if waiting:
                waiting[-1].append(node)
            else:
                tree = node
            at += 1
            continue
        begin = at
        if text[at] == "(":
            places.append(at)
            begin += 1
            while text[begin : begin + 1] in (" ", "\t", "\n", "\r"):
                begin += 1
        elif not waiting:
            raise ValueError(f"position {at + 1}: a tree begins with '('")
        end = begin
        while end < len(text) and text[end] not in " \t\n\r()":
            end += 1
        if text[at] == "(":
            waiting.append([text[begin:end]])
        else:
            waiting[-1].append(text[begin:end])
        at = end
    if waiting:
        raise ValueError(f"position {places[-1] + 1}: '(' is never closed")
    if tree is None:
        raise ValueError("position 1: there is no tree")
    return cast(Tree, tree)


def nodes(tree: Tree) -> Iterator[tuple]:  # type: ignore[type-arg]
    """All nodes but the words."""
    if isinstance(tree, tuple):
        yield tree
        for child in tree[1:]:
            yield from nodes(child)


def production(node: tuple) -> tuple:  # type: ignore[type-arg]
    """The label and, in order, what the children are: words as they are, nodes by their labels."""
    return node[0], *(child if isinstance(child, str) else (child[0],) for child in node[1:])


def common(a: Tree, b: Tree, decay: float, sigma: float) -> float:
    """C(a, b): σ = 1 counts the common subset trees rooted here, σ = 0 the common complete subtrees."""
    if production(a) != production(b):  # type: ignore[arg-type]
        return 0.0
    pairs = [(x, y) for x, y in zip(a[1:], b[1:], strict=True) if not isinstance(x, str)]
    return decay * prod(sigma + common(x, y, decay, sigma) for x, y in pairs)


def subset_tree(a: Tree, b: Tree, decay: float = 1.0) -> float:
    """Σ over pairs of nodes of C with σ = 1.

    Examples
    --------
    >>> subset_tree(("NP", ("D", "the"), ("N", "dog")), ("NP", ("D", "the"), ("N", "cat")))
    3.0
    """
    return float(sum(common(x, y, decay, 1.0) for x in nodes(a) for y in nodes(b)))


def subtree(a: Tree, b: Tree, decay: float = 1.0) -> float:
    """Σ over pairs of nodes of C with σ = 0."""
    return float(sum(common(x, y, decay, 0.0) for x in nodes(a) for y in nodes(b)))
