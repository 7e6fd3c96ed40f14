"""Random numbers that the page of `perceptive play` draws too: mulberry32, 32 bits at a time."""

from __future__ import annotations

import math

from perceptive.games.game import dot


class RandomNumbers:
    """Tommy Ettinger's mulberry32. The same seed gives the same numbers in JavaScript.

    Only sums, products and square roots are made of them, which every machine rounds alike.

    Examples
    --------
    >>> numbers = RandomNumbers(7)
    >>> [round(numbers.uniform(), 4) for _ in range(3)]
    [0.0117, 0.062, 0.9769]
    """

    def __init__(self, seed: int) -> None:
        self.state = seed & 0xFFFFFFFF

    def bits(self) -> int:
        """The next 32 bits."""
        self.state = (self.state + 0x6D2B79F5) & 0xFFFFFFFF
        t = self.state
        t = ((t ^ (t >> 15)) * (t | 1)) & 0xFFFFFFFF
        t ^= (t + (((t ^ (t >> 7)) * (t | 61)) & 0xFFFFFFFF)) & 0xFFFFFFFF
        return t ^ (t >> 14)

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """In [low, high)."""
        return low + (high - low) * (self.bits() / 4294967296.0)

    def below(self, n: int) -> int:
        """One of 0 … n − 1."""
        return self.bits() * n >> 32

    def sign(self) -> int:
        """+1 or −1."""
        return 1 if self.bits() & 1 else -1

    def direction(self, d: int) -> list[float]:
        """A unit vector, by rejection from the cube."""
        while True:
            x = [self.uniform(-1.0, 1.0) for _ in range(d)]
            total = dot(x, x)
            if 0.01 < total <= 1.0 or (d > 6 and total > 0.01):
                length = math.sqrt(total)
                return [value / length for value in x]
