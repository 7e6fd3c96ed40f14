"""Plots; matplotlib (``pip install perceptive[plot]``) is imported when one is drawn."""

from perceptive.plots.explanation import plot_explanation
from perceptive.plots.game import ChainDisplay, GameDisplay
from perceptive.plots.hashing import HashKernelDisplay
from perceptive.plots.lift import LiftDisplay
from perceptive.plots.ranking import RankingDisplay
from perceptive.plots.runs import HypothesesDisplay, LearningCurveDisplay, SurvivalDisplay
from perceptive.plots.surfaces import DecisionSurfaceDisplay, GramDisplay
from perceptive.plots.trellis import plot_trellis

__all__ = [
    "ChainDisplay",
    "DecisionSurfaceDisplay",
    "GameDisplay",
    "GramDisplay",
    "HashKernelDisplay",
    "HypothesesDisplay",
    "LearningCurveDisplay",
    "LiftDisplay",
    "RankingDisplay",
    "SurvivalDisplay",
    "plot_explanation",
    "plot_trellis",
]
