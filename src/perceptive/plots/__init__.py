"""Pictures; matplotlib (``pip install perceptive[plot]``) is imported when one is drawn."""

from perceptive.plots.explanation import plot_explanation
from perceptive.plots.kernels import DecisionSurfaceDisplay, GramDisplay
from perceptive.plots.trellis import plot_trellis

__all__ = ["DecisionSurfaceDisplay", "GramDisplay", "plot_explanation", "plot_trellis"]
