"""Tree kernels (Collins & Duffy 2001; Vishwanathan & Smola 2002) by recursion.

A tree is a word, given as a string, or a tuple ``(label, child, …)``. The production of a node is its label with
those of its children.
"""

from collections.abc import Iterator
from math import prod

Tree = str | tuple  # type: ignore[type-arg]


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
