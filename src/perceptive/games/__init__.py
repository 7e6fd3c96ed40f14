"""The games of the notes: player A chooses examples, player B learns, and theorems bound B's mistakes."""

from perceptive.games.descent import batch_descent, duplicated_features, stochastic_descent
from perceptive.games.drift import Regret, drifting_game, regret
from perceptive.games.examples import hard_game, noisy_game, separable_game
from perceptive.games.game import GameRound, IllegalMove
from perceptive.games.perceptron_game import PerceptronGame
from perceptive.games.players import Greedy, LabelFlipping, Orthogonal, Planar, RandomPlayer, Replay
from perceptive.games.prediction import (
    FirstConsistent,
    Halving,
    Optimal,
    PredictionGame,
    monotone_conjunctions,
    thresholds,
)
from perceptive.games.random_numbers import RandomNumbers
from perceptive.games.ranking_game import RankingGame
from perceptive.games.separability import Cycle, Separation, cycle, separate
from perceptive.games.sequence_game import SequenceGame

__all__ = [
    "Cycle",
    "FirstConsistent",
    "GameRound",
    "Greedy",
    "Halving",
    "IllegalMove",
    "LabelFlipping",
    "Optimal",
    "Orthogonal",
    "PerceptronGame",
    "Planar",
    "PredictionGame",
    "RandomNumbers",
    "RandomPlayer",
    "RankingGame",
    "Regret",
    "Replay",
    "Separation",
    "SequenceGame",
    "batch_descent",
    "cycle",
    "drifting_game",
    "duplicated_features",
    "hard_game",
    "monotone_conjunctions",
    "noisy_game",
    "regret",
    "separable_game",
    "separate",
    "stochastic_descent",
    "thresholds",
]
