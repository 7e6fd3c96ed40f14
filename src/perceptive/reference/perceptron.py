"""The perceptron of the lecture notes, on plain lists. Read this page first: the others generalise it."""

from collections.abc import Iterable, Sequence

Vector = Sequence[float]


def perceptron(examples: Iterable[tuple[Vector, int]], v: Vector) -> tuple[list[float], int]:
    """Play the examples (x, y) in order, with y = +1 or −1, starting from the guess v₀.

    Return the last guess v_k and the number k of mistakes.

    >>> perceptron([((3, 4), 1), ((4, 3), 1), ((0, -1), 1)], v=(0, 0))
    ([3, 3], 2)
    """
    v, k = list(v), 0
    for x, y in examples:
        score = sum(v_j * x_j for v_j, x_j in zip(v, x, strict=True))
        if y * score <= 0:  # a mistake: a score of 0 is not right either
            v = [v_j + y * x_j for v_j, x_j in zip(v, x, strict=True)]
            k += 1
    return v, k
