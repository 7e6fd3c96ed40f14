"""matplotlib, imported when something is drawn; and what the plots share."""

from __future__ import annotations

from typing import Any, Self

U, V, FAINT = "tab:green", "tab:purple", "0.6"  # the target, the guess, and what only helps the eye
PLUS, MINUS = "#0072B2", "#D55E00"  # told apart by everyone (Okabe & Ito); markers say the same again


def pyplot() -> Any:
    """Return matplotlib.pyplot, or raise an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib; install it with: pip install 'perceptive[plot]'") from None
    return plt


def axes(ax: Any) -> Any:
    """Return the given axes, or the current ones."""
    return pyplot().gca() if ax is None else ax


def plain(text: Any) -> str:
    """Return a text that matplotlib draws as it is: names of features may hold the signs of its formulas."""
    return str(text).replace("$", r"\$")


def arrow(ax: Any, tip: Any, colour: str, name: str, tail: Any = (0.0, 0.0)) -> None:
    """Draw a vector, with its name at the tip."""
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=tip, xytext=tail, arrowprops=style, zorder=4)
    ax.annotate(name, xy=tip, xytext=(5, 5), textcoords="offset points", color=colour)


class Display:
    """A picture of its fields.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where `plot` has drawn.
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw, in the given axes or the current ones."""
        self.ax_ = axes(ax)
        self._draw(self.ax_)
        self.figure_ = self.ax_.figure
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError
