"""Tree kernels (Collins & Duffy 2001; Vishwanathan & Smola 2002) by recursion.

A tree is a word, given as a string, or a tuple ``(label, child, …)``. The production of a node is its label and
the labels of its children.
"""

from collections.abc import Iterator
from math import prod

Tree = str | tuple  # type: ignore[type-arg]


def nodes(tree: Tree) -> Iterator[tuple]:  # type: ignore[type-arg]
    """Return all nodes except the words."""
    if isinstance(tree, tuple):
        yield tree
        for child in tree[1:]:
            yield from nodes(child)


def production(node: tuple) -> tuple:  # type: ignore[type-arg]
    """Return the label, and for each child in order the word, or the label of the node."""
    return node[0], *(child if isinstance(child, str) else (child[0],) for child in node[1:])


def common(a: Tree, b: Tree, decay: float, sigma: float) -> float:
    """Return C(a, b): σ = 1 counts the common subset trees rooted here, σ = 0 the common complete subtrees."""
    if production(a) != production(b):  # type: ignore[arg-type]
        return 0.0
    pairs = [(x, y) for x, y in zip(a[1:], b[1:], strict=True) if not isinstance(x, str)]
    return decay * prod(sigma + common(x, y, decay, sigma) for x, y in pairs)


def subset_tree(a: Tree, b: Tree, decay: float = 1.0) -> float:
    """Return the sum of C with σ = 1 over all pairs of nodes.

    Examples
    --------
    >>> subset_tree(("NP", ("D", "the"), ("N", "dog")), ("NP", ("D", "the"), ("N", "cat")))
    3.0
    """
    return float(sum(common(x, y, decay, 1.0) for x in nodes(a) for y in nodes(b)))


def subtree(a: Tree, b: Tree, decay: float = 1.0) -> float:
    """Return the sum of C with σ = 0 over all pairs of nodes."""
    return float(sum(common(x, y, decay, 0.0) for x in nodes(a) for y in nodes(b)))
