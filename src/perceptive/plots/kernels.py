"""Decision surfaces with their supports, and Gram matrices as heat maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.kernels import as_kernel


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib; install it with: pip install 'perceptive[plot]'") from None
    return plt


@dataclass(eq=False, repr=False)
class DecisionSurfaceDisplay:
    """Where a classifier of two features decides for which class, its supports circled, the margin as a band.

    Parameters
    ----------
    x, y : arrays of shape (n, m)
        The grid.
    scores : array of shape (n, m) or (n, m, n_classes)
        What the classifier gives there.
    X, classes : arrays
        The examples, and the index of the class of each.
    supports : array of shape (n_supports, 2)
    margin : float
        Half the width of the band |score| ≤ margin; for two classes.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    scores: NDArray[np.float64]
    X: NDArray[Any]
    classes: NDArray[np.int64]
    supports: NDArray[Any]
    margin: float

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        hypothesis: str | None = None,
        grid: int = 200,
        margin: float | None = None,
        ax: Any = None,
    ) -> DecisionSurfaceDisplay:
        """Compute, and draw.

        Parameters
        ----------
        estimator : KernelClassifier
            Fitted on two features.
        X, y : the examples to show
        hypothesis : str or None
            Another one than the estimator's.
        grid : int
            Points on each side.
        margin : float or None
            Of the band; where None, the smallest |score| of an example (so that the band touches it).
        ax : matplotlib axes or None

        Examples
        --------
        >>> from perceptive import KernelClassifier
        >>> from perceptive.plots import DecisionSurfaceDisplay
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> clf = KernelClassifier(kernel="quadratic", hypothesis="last", epochs=20).fit(X, y)
        >>> DecisionSurfaceDisplay.from_estimator(clf, X, y).scores.shape  # doctest: +SKIP
        (200, 200)
        """
        try:
            X = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("a decision surface is of two features; X holds no rows of two numbers") from None
        if X.ndim != 2 or X.shape[1] != 2:
            raise ValueError(f"a decision surface is of two features; X has the shape {X.shape}")
        low, high = X.min(axis=0), X.max(axis=0)
        room = 0.15 * np.maximum(high - low, 1e-9)
        x1, x2 = (np.linspace(low[i] - room[i], high[i] + room[i], grid) for i in (0, 1))
        points = np.meshgrid(x1, x2)
        scores = estimator.decision_function(np.column_stack([p.ravel() for p in points]), hypothesis=hypothesis)
        if margin is None and scores.ndim == 1:
            margin = float(np.abs(estimator.decision_function(X, hypothesis=hypothesis)).min())
        classes = np.searchsorted(estimator.classes_, np.asarray(y))
        shape = (grid, grid) if scores.ndim == 1 else (grid, grid, scores.shape[1])
        supports = np.asarray(estimator.support_vectors_, dtype=np.float64)
        display = cls(points[0], points[1], scores.reshape(shape), X, classes, supports, margin or 0.0)
        return display.plot(ax)

    def plot(self, ax: Any = None) -> DecisionSurfaceDisplay:
        """Draw."""
        plt = _pyplot()
        self.ax_ = ax = plt.gca() if ax is None else ax
        if self.scores.ndim == 2:
            ax.contourf(self.x, self.y, self.scores > 0, levels=[-0.5, 0.5, 1.5], colors=["C0", "C1"], alpha=0.25)
            ax.contour(self.x, self.y, self.scores, levels=[0.0], colors="black")
            if self.margin > 0:
                band = [-self.margin, self.margin]
                ax.contour(
                    self.x, self.y, self.scores, levels=band, colors="black", linestyles="dashed", linewidths=0.8
                )
        else:
            best = self.scores.argmax(axis=2)
            n = self.scores.shape[2]
            colors = [f"C{c % 10}" for c in range(n)]
            ax.contourf(self.x, self.y, best, levels=np.arange(n + 1) - 0.5, colors=colors, alpha=0.25)
        for c in np.unique(self.classes):
            mine = self.classes == c
            ax.scatter(
                self.X[mine, 0], self.X[mine, 1], color=f"C{c % 10}", edgecolors="black", linewidths=0.5, zorder=3
            )
        ax.scatter(self.supports[:, 0], self.supports[:, 1], s=120, facecolors="none", edgecolors="black", zorder=4)
        self.figure_ = ax.figure
        return self


@dataclass(eq=False, repr=False)
class GramDisplay:
    """A Gram matrix as a heat map.

    Parameters
    ----------
    K : array of shape (n, n)
    """

    K: NDArray[Any]

    @classmethod
    def from_kernel(cls, kernel: Any, X: Any, y: Any = None, *, ax: Any = None) -> GramDisplay:
        """Compute, and draw; with labels y the examples are put in the order of their classes."""
        K = as_kernel(kernel).gram(X)
        if y is not None:
            order = np.argsort(np.asarray(y), kind="stable")
            K = K[np.ix_(order, order)]
        return cls(K).plot(ax)

    def plot(self, ax: Any = None) -> GramDisplay:
        """Draw."""
        plt = _pyplot()
        self.ax_ = ax = plt.gca() if ax is None else ax
        image = ax.imshow(self.K, interpolation="nearest")
        ax.figure.colorbar(image, ax=ax)
        self.figure_ = ax.figure
        return self
