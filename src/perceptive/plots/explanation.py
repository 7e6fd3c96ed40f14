"""The explanation of a prediction, as bars."""

from __future__ import annotations

from typing import Any

from perceptive.explanation import Explanation, label_of
from perceptive.plots.pyplot import plain, pyplot


def plot_explanation(explanation: Explanation, *, top: int = 15, ax: Any = None) -> Any:
    """Draw how much each feature adds to the score of a label: a bar for each, the largest on top.

    Parameters
    ----------
    explanation : Explanation
        The result of an estimator's ``explain``; for a sentence, that of one of its tokens.
    top : int
        Maximum number of bars; one more bar shows the sum of the others.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
    """
    if not isinstance(explanation, Explanation):
        raise TypeError("this draws one explanation; a sentence has one for each token: plot_explanation(told[0])")
    plt = pyplot()
    shown = [(part.name or f"#{part.column}", part.contribution) for part in explanation.parts[:top]]
    rest = explanation.rest + sum(part.contribution for part in explanation.parts[top:])
    bars = shown + [(name, value) for name, value in (("the rest", rest), ("bias", explanation.bias)) if value]
    if ax is None:
        _, ax = plt.subplots(figsize=(6, 0.3 * len(bars) + 1.2), layout="constrained")
    values = [value for _, value in bars]
    ax.barh(range(len(bars)), values, color=["tab:green" if value > 0 else "tab:red" for value in values])
    ax.set_yticks(range(len(bars)), [plain(name) for name, _ in bars])
    ax.invert_yaxis()
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    head = "" if explanation.label is None else f"{plain(label_of(explanation))}: "
    ax.set_title(f"{head}score {explanation.score:+.4g}")
    ax.set_xlabel("adds to the score")
    return ax
