"""Ranking in the plane: the candidates, their projections on u or v, and the correction x_ℓ − x_ℓ̂."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.games.ranking_game import RankingGame
from perceptive.plots.pyplot import FAINT, Display, U, V, arrow

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class RankingDisplay(Display):
    """A list, ranked by the projections of its candidates on a vector.

    Parameters
    ----------
    X : array of shape (n, 2)
    direction : array of shape (2,)
        u or v.
    name : one of "u", "v"
    best, chosen : int
        The right answer (circled green), and what v ranks highest (circled purple).
    after : array of shape (2,) or None
        v after the correction, if that is drawn.
    """

    X: Floats
    direction: Floats
    name: str
    best: int
    chosen: int
    after: Floats | None = None

    @classmethod
    def from_game(cls, game: RankingGame, round: int = -1, *, by: str = "v", ax: Any = None) -> RankingDisplay:
        """Draw a round of a game.

        Parameters
        ----------
        game : RankingGame
            In the plane.
        round : int
            Which one.
        by : one of "u", "v", "correction"
            Projections on the target, on the guess before the round, or what the guess learned from it.
        ax : matplotlib axes or None

        Examples
        --------
        >>> from perceptive.games import RankingGame
        >>> from perceptive.plots import RankingDisplay
        >>> game = RankingGame([0, 1], margin=0.2, radius=1)
        >>> _ = game.round([[0.5, 0.2], [0.1, 0.9]], 1)
        >>> RankingDisplay.from_game(game, by="correction").after.tolist()
        [-0.4, 0.7]
        """
        if len(game.u) != 2:
            raise ValueError(f"a picture of the game is of two features; this one has {len(game.u)}")
        if by not in ("u", "v", "correction"):
            raise ValueError(f"by={by!r}: choose 'u', 'v' or 'correction'")
        if not game.rounds:
            raise ValueError("nothing has been played; play a round first")
        at = range(len(game.rounds))[round]
        one = game.rounds[at]
        before = np.array(game.rounds[at - 1].v if at else [0.0, 0.0])
        direction = np.array(game.u) if by == "u" else before
        after = np.array(one.v) if by == "correction" else None
        name = "u" if by == "u" else "v"
        return cls(np.array(one.x), direction, name, one.y, one.prediction, after).plot(ax)

    def _draw(self, ax: Any) -> None:
        colour = U if self.name == "u" else V
        length = float(np.linalg.norm(self.direction))
        if length:
            unit = self.direction / length
            ax.plot(*np.transpose([-2 * unit, 2 * unit]), color=colour, linewidth=0.8, linestyle="--")
            for x in self.X:
                ax.plot(*np.transpose([x, (x @ unit) * unit]), color=FAINT, linewidth=0.8, linestyle=":")
            arrow(ax, self.direction, colour, self.name)
        ax.scatter(self.X[:, 0], self.X[:, 1], color="0.2", zorder=3)
        for which, ring, size in ((self.best, U, 160), (self.chosen, V, 260)):
            ax.scatter(*self.X[which], s=size, facecolors="none", edgecolors=ring, linewidths=2, zorder=4)
        if self.after is not None:
            step = self.after - self.direction
            if step.any():
                arrow(ax, self.direction + step, FAINT, r"$x_b - x_{b^*}$", self.direction)
            arrow(ax, self.after, V, "v'")
        reach = 1.2 * max(1.0, *(float(np.abs(a).max()) for a in (self.X, self.direction, self.after) if a is not None))
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
