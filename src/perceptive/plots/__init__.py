"""Pictures, with matplotlib (``pip install perceptive[plot]``)."""

from perceptive.plots.trellis import plot_trellis

__all__ = ["plot_trellis"]
