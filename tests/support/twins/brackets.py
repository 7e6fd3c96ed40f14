"""Trees in brackets, as nested tuples."""

from typing import Any

Tree = str | tuple


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
    return tree
