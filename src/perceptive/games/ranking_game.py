"""The ranking game (`000_…` §3.1), with a referee."""

from __future__ import annotations

import math
from typing import Any

from perceptive.games.game import Game, GameRound, IllegalMove, dot, numbers, unit_vector


class RankingGame(Game):
    """A shows a list with ‖x_j‖ ≤ R whose best leads by u·x_ℓ − u·x_j ≥ γ; B picks the best by v, from v₀ = 0.

    An update adds x_ℓ − x_j, which may be 2R long, so B errs at most (2R/γ)² times. (Theorem 2 of the notes, with half
    of that, needs x_ℓ·x_j ≥ 0.)

    Parameters
    ----------
    u : sequence of float
        The target, of length 1.
    margin, radius : float
        γ and R, γ ≤ 2R.

    Examples
    --------
    >>> game = RankingGame(u=[0, 1], margin=1, radius=1)
    >>> game.round([[1, 0], [0, 1]], 1).prediction, game.v
    (0, [-1.0, 1.0])
    """

    def __init__(self, u: Any, margin: float, radius: float) -> None:
        super().__init__(margin, 2 * radius)  # that of δ
        self.longest = float(radius)
        self.u = unit_vector(u)
        self.v = [0.0] * len(self.u)

    def round(self, x: Any, y: Any) -> GameRound:
        """A shows a list, B answers which is best, counted from 0, A reveals y."""
        xs = [numbers(one, len(self.u), f"x[{j}]") for j, one in enumerate(x)]
        if isinstance(y, bool) or not isinstance(y, int) or not 0 <= y < len(xs):
            raise IllegalMove(f"best = {y!r}: the list has the places 0 … {len(xs) - 1}")
        if len(xs) < 2:
            raise IllegalMove("a list of one is no question; show two candidates at least")
        target = [dot(self.u, one) for one in xs]
        for j, one in enumerate(xs):
            self._within(math.sqrt(dot(one, one)), f"‖x[{j}]‖", self.longest)
            if j != y:
                self._far_enough(target[y] - target[j], f"u·x[{y}] − u·x[{j}]")
        scores = [dot(self.v, one) for one in xs]
        rival = max((j for j in range(len(xs)) if j != y), key=lambda j: scores[j])
        mistake = scores[y] - scores[rival] <= 0
        prediction = scores.index(max(scores))
        if mistake:
            self.v = [a + (b - c) for a, b, c in zip(self.v, xs[y], xs[rival], strict=True)]
            self.k += 1
        return self._note(xs, y, prediction, mistake, self.v, dot(self.v, self.u), math.sqrt(dot(self.v, self.v)))
