"""The perceptron game (`000_…` §1.1), with a referee."""

from __future__ import annotations

import math
from typing import Any

from perceptive.games.game import SLACK, Game, GameRound, IllegalMove, dot, numbers, unit_vector


class PerceptronGame(Game):
    """A shows (x, y) with y·(u·x) ≥ γ and ‖x‖ ≤ R; B is the perceptron from v₀ = 0. B errs at most (R/γ)² times.

    Parameters
    ----------
    u : sequence of float
        The target, of length 1.
    margin, radius : float
        γ and R.
    deviation : float
        D: how far A may fall short of the margin, √Σ max(0, γ − y·(u·x))² over all rounds. The bound is then ((R +
        D)/γ)². 0 is the game of the notes.

    Examples
    --------
    >>> game = PerceptronGame(u=[0, 1], margin=0.5, radius=2)
    >>> game.round([1, 0.5], 1).mistake, game.round([-1, 1], 1).mistake
    (True, True)
    >>> game.rounds[-1].v, [round(value, 3) for value in game.rounds[-1].chain]
    ([0.0, 1.5], [1.0, 1.5, 1.5, 2.828])
    >>> game.round([1, 0.25], 1)
    Traceback (most recent call last):
    perceptive.games.game.IllegalMove: y·(u·x) is 0.25, less than the margin γ = 0.5
    """

    def __init__(self, u: Any, margin: float, radius: float, *, deviation: float = 0.0) -> None:
        super().__init__(margin, radius)
        if not 0 <= deviation < math.inf:
            raise ValueError(f"deviation={deviation}: give a number ≥ 0")
        self.u, self.deviation = unit_vector(u), float(deviation)
        self.v = [0.0] * len(self.u)
        self._lied2 = 0.0  # Σ d² so far
        self._short = 0.0  # Σ d over the mistakes

    @property
    def bound(self) -> float:
        """((R + D)/γ)²."""
        return ((self.radius + self.deviation) / self.margin) ** 2

    def check(self, x: Any, y: Any) -> tuple[list[float], float]:
        """Return x as a list, and by how much it falls short of the margin; raise `IllegalMove`."""
        x = numbers(x, len(self.u))
        if y not in (1, -1):
            raise IllegalMove(f"y = {y!r}: the answers are +1 and −1")
        self._within(math.sqrt(dot(x, x)), "‖x‖", self.radius)
        margin = y * dot(self.u, x)
        short = max(0.0, self.margin - margin)
        if not self.deviation:
            self._far_enough(margin, "y·(u·x)")
        elif math.sqrt(self._lied2 + short * short) > self.deviation * (1 + SLACK):
            left = math.sqrt(max(0.0, self.deviation**2 - self._lied2))
            raise IllegalMove(
                f"y·(u·x) falls {short:.6g} short of γ; of D = {self.deviation:.6g} only {left:.6g} is left"
            )
        return x, short

    def round(self, x: Any, y: Any) -> GameRound:
        """A shows x, B answers the sign of v·x, A reveals y."""
        x, short = self.check(x, y)
        self._lied2 += short * short
        score = dot(self.v, x)
        mistake = y * score <= 0
        if mistake:
            self.v = [a + y * b for a, b in zip(self.v, x, strict=True)]
            self.k += 1
            self._short += short
        said, along, length = (score > 0) - (score < 0), dot(self.v, self.u), math.sqrt(dot(self.v, self.v))
        return self._note(x, y, said, mistake, self.v, along, length, self._short)
