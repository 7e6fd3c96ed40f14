"""Pictures of kernel models; matplotlib (``pip install perceptive[plot]``) is imported when one is drawn."""

from perceptive.plots.kernels import DecisionSurfaceDisplay, GramDisplay

__all__ = ["DecisionSurfaceDisplay", "GramDisplay"]
