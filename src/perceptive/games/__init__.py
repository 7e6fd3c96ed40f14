"""The games of the notes: player A chooses examples, player B learns, and theorems keep the score."""

from perceptive.games.perceptron import Round, hard_game, noisy_game, play, separable_game
from perceptive.games.separability import Cycle, Separation, cycle, separate

__all__ = [
    "Cycle",
    "Round",
    "Separation",
    "cycle",
    "hard_game",
    "noisy_game",
    "play",
    "separable_game",
    "separate",
]
