"""The perceptron game, drawn as in the notes; and the chain kγ ≤ v·u ≤ ‖v‖ ≤ √k·R."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.games.game import Game
from perceptive.games.perceptron_game import PerceptronGame
from perceptive.plots.pyplot import FAINT, MINUS, PLUS, Display, U, V, arrow

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class GameDisplay(Display):
    """u with its margin band, the radius, the examples, and the guess after some of the mistakes.

    Parameters
    ----------
    u : array of shape (2,)
    margin, radius : float
    X, y : arrays
        The examples shown so far, and their answers.
    guesses : dict
        Maps k to v_k.
    """

    u: Floats
    margin: float
    radius: float
    X: Floats
    y: NDArray[np.int64]
    guesses: dict[int, Floats]

    @classmethod
    def from_game(cls, game: PerceptronGame, *, guesses: Any = None, ax: Any = None) -> GameDisplay:
        """Draw a game in the plane.

        Parameters
        ----------
        game : PerceptronGame
        guesses : sequence of int or None
            Which v_k to draw; None: the last one.
        ax : matplotlib axes or None

        Examples
        --------
        >>> from perceptive.games import PerceptronGame
        >>> from perceptive.plots import GameDisplay
        >>> game = PerceptronGame([0, 1], margin=0.2, radius=1)
        >>> for x in ([0.9, 0.3], [-0.8, 0.4]):
        ...     _ = game.round(x, 1)
        >>> GameDisplay.from_game(game, guesses=[1, 2]).guesses[2].round(2).tolist()
        [0.1, 0.7]
        """
        if len(game.u) != 2:
            raise ValueError(f"a picture of the game is of two features; this one has {len(game.u)}")
        found = {0: np.zeros(2)} | {one.k: np.array(one.v) for one in game.rounds}
        chosen = [game.k] if guesses is None else list(guesses)
        missing = [k for k in chosen if k not in found]
        if missing:
            raise ValueError(f"v_{missing[0]} is not there: B has made {game.k} mistakes")
        X = np.array([one.x for one in game.rounds]).reshape(-1, 2)
        y = np.array([one.y for one in game.rounds], dtype=np.int64)
        vectors = {k: found[k] for k in chosen}
        return cls(np.array(game.u), game.margin, game.radius, X, y, vectors).plot(ax)

    def _draw(self, ax: Any) -> None:
        across = np.array([-self.u[1], self.u[0]])
        far = 2 * self.radius
        band = [s * self.margin * self.u + t * far * across for s, t in ((1, -1), (1, 1), (-1, 1), (-1, -1))]
        ax.fill(*np.transpose(band), color=U, alpha=0.12, linewidth=0)
        ax.plot(*np.transpose([-far * across, far * across]), color=U, linewidth=1)
        circle = np.linspace(0, 2 * np.pi, 200)
        ax.plot(self.radius * np.cos(circle), self.radius * np.sin(circle), color=FAINT, linestyle="--", linewidth=1)
        for label, marker, colour in ((1, "o", PLUS), (-1, "s", MINUS)):
            mine = self.X[self.y == label]
            ax.scatter(mine[:, 0], mine[:, 1], marker=marker, color=colour, edgecolors="white", zorder=3)
        arrow(ax, self.u * self.radius, U, "u")
        for k, v in self.guesses.items():
            if v.any():
                arrow(ax, v, V, f"$v_{{{k}}}$")
        reach = 1.3 * max([self.radius, *(float(np.abs(v).max()) for v in self.guesses.values())])
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        ax.set_title(f"margin {self.margin:g}, radius {self.radius:g}")


@dataclass(eq=False, repr=False)
class ChainDisplay(Display):
    """The proof as a picture: a quadratic function of k cannot stay below a linear one for ever.

    Parameters
    ----------
    least, along, length, most : arrays
        kγ, v_k·u, ‖v_k‖ and √k·R for k = 0, 1, …
    bound : float
        (R/γ)², where kγ meets √k·R.
    """

    least: Floats
    along: Floats
    length: Floats
    most: Floats
    bound: float

    @classmethod
    def from_game(cls, game: Game, *, ax: Any = None) -> ChainDisplay:
        """Draw the chain of a game of any kind.

        Examples
        --------
        >>> from perceptive.games import PerceptronGame, Planar
        >>> from perceptive.plots import ChainDisplay
        >>> game = PerceptronGame([0, 1], margin=0.2, radius=1)
        >>> _ = game.play(Planar(), 50)
        >>> len(ChainDisplay.from_game(game).along)
        14
        """
        rows = [(0.0, 0.0, 0.0, 0.0), *(one.chain for one in game.rounds if one.mistake)]
        least, along, length, most = np.array(rows).T
        return cls(least, along, length, most, game.bound).plot(ax)

    def _draw(self, ax: Any) -> None:
        k = np.arange(len(self.along))
        ax.plot(k, self.most, color=FAINT, linestyle=":", label=r"$\sqrt{k}\,R$")
        ax.plot(k, self.length, color=V, label=r"$\|v_k\|$")
        ax.plot(k, self.along, color=U, label=r"$v_k\cdot u$")
        ax.plot(k, self.least, color=U, linestyle="--", label=r"$k\gamma$")
        ax.set(xlabel="mistakes k", title=f"k = {k[-1]} ≤ (R/γ)² = {self.bound:.4g}")
        ax.legend(frameon=False)
