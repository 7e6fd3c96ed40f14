"""XOR lifted to (x₁, x₂, x₁x₂), where a plane separates it, and that plane projected back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive.estimators import LinearClassifier
from perceptive.plots.pyplot import MINUS, PLUS, axes, pyplot

Floats = NDArray[np.float64]


def lifted(X: ArrayLike) -> Floats:
    """(x₁, x₂, x₁x₂).

    Examples
    --------
    >>> lifted([[2, 3]]).tolist()
    [[2.0, 3.0, 6.0]]
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"X has the shape {X.shape}; give rows of two numbers")
    return np.column_stack([X, X[:, 0] * X[:, 1]])


@dataclass(eq=False, repr=False)
class LiftDisplay:
    """Points in the plane, lifted by their product; the separating plane above, its shadow below.

    Parameters
    ----------
    X, y : arrays
        Rows of two numbers, and their labels.
    w : array of shape (4,)
        Weights of x₁, x₂, x₁x₂ and 1.
    """

    X: Floats
    y: NDArray[Any]
    w: Floats

    @classmethod
    def from_data(cls, X: ArrayLike, y: ArrayLike, *, epochs: int = 200, axs: Any = None) -> LiftDisplay:
        """Learn in three dimensions, and draw both pictures.

        Parameters
        ----------
        X, y : rows of two numbers, and labels of two classes
        epochs : int
            Maximum number of epochs of the perceptron.
        axs : two matplotlib axes or None
            The first of them in three dimensions.

        Examples
        --------
        >>> from perceptive.plots import LiftDisplay
        >>> xor = LiftDisplay.from_data([[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1])
        >>> (np.sign(xor.scores(xor.X)) == xor.y).all()
        np.True_
        """
        model = LinearClassifier(hypothesis="last", epochs=epochs, bias=1.0).fit(lifted(X), y)
        if len(model.classes_) != 2:
            raise ValueError(f"y has {len(model.classes_)} classes; a plane separates two")
        w = np.append(model.coef_[0], model.intercept_)
        return cls(np.asarray(X, dtype=np.float64), np.asarray(y), w.astype(np.float64)).plot(axs)

    def scores(self, X: ArrayLike) -> Floats:
        """Return what the plane predicts for points below it."""
        scores: Floats = lifted(X) @ self.w[:3] + self.w[3]
        return scores

    def plot(self, axs: Any = None) -> LiftDisplay:
        """Draw."""
        if axs is None:
            figure = pyplot().figure(figsize=(9, 4), layout="constrained")
            axs = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
        self.axs_ = above, below = axs
        below = axes(below)
        low, high = self.X.min(axis=0) - 0.3, self.X.max(axis=0) + 0.3
        x1, x2 = np.meshgrid(np.linspace(low[0], high[0], 80), np.linspace(low[1], high[1], 80))
        if self.w[2]:
            height = -(self.w[0] * x1 + self.w[1] * x2 + self.w[3]) / self.w[2]
            above.plot_surface(x1, x2, height, alpha=0.25, color="0.5", linewidth=0)
        scores = self.scores(np.column_stack([x1.ravel(), x2.ravel()])).reshape(x1.shape)
        below.contourf(x1, x2, scores > 0, levels=[-0.5, 0.5, 1.5], colors=[MINUS, PLUS], alpha=0.2)
        below.contour(x1, x2, scores, levels=[0.0], colors="black")
        for label, marker, colour in zip(np.unique(self.y), "so", (MINUS, PLUS), strict=True):
            mine = lifted(self.X[self.y == label])
            above.scatter(*mine.T, marker=marker, color=colour, s=50, depthshade=False)
            below.scatter(mine[:, 0], mine[:, 1], marker=marker, color=colour, edgecolors="black", zorder=3)
        above.set(xlabel="$x_1$", ylabel="$x_2$", zlabel="$x_1 x_2$")
        below.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
        self.figure_ = below.figure
        return self
