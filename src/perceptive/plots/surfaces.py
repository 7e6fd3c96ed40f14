"""Decision surfaces of any classifier of two features, and Gram matrices as heat maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.estimators.data import in_order
from perceptive.frames import is_frame, is_table
from perceptive.kernels import as_kernel
from perceptive.plots.pyplot import MINUS, PLUS, Display, V, arrow


@dataclass(eq=False, repr=False)
class DecisionSurfaceDisplay(Display):
    """Which class a classifier of two features predicts where; the margin as a band, supports circled.

    For a linear classifier, w is drawn too: perpendicular to the boundary.

    Parameters
    ----------
    x, y : arrays of shape (n, m)
        The grid.
    scores : array of shape (n, m) or (n, m, n_classes)
        Scores of the classifier there.
    X, classes : arrays
        The examples, and the index of the class of each.
    supports : array of shape (n_supports, 2)
        None for a classifier without supports.
    margin : float
        Half the width of the band |score| ≤ margin; for two classes.
    w : array of shape (3,) or None
        For a linear classifier of two classes: the weights, the intercept last.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    scores: NDArray[np.float64]
    X: NDArray[Any]
    classes: NDArray[np.int64]
    supports: NDArray[Any]
    margin: float
    w: NDArray[np.float64] | None = None

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
        estimator : classifier
            Fitted on two features: one of ours, or of scikit-learn.
        X, y : the examples to show
        hypothesis : str or None
            Use this hypothesis instead of the estimator's own; only for ours.
        grid : int
            Points on each side.
        margin : float or None
            Half the width of the band; None: the smallest |score| of an example (so that the band touches it).
        ax : matplotlib axes or None

        Examples
        --------
        >>> from perceptive import KernelClassifier
        >>> from perceptive.plots import DecisionSurfaceDisplay
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> clf = KernelClassifier(kernel="quadratic", hypothesis="last", epochs=20).fit(X, y)
        >>> DecisionSurfaceDisplay.from_estimator(clf, X, y).scores.shape
        (200, 200)
        """
        known = getattr(estimator, "feature_names_in_", None)
        like = X = X if known is None else in_order(X, list(known))
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
        scores = _scores(estimator, _as_rows(like, [p.ravel() for p in points]), hypothesis)
        if margin is None and scores.ndim == 1:
            margin = float(np.abs(_scores(estimator, like, hypothesis)).min())
        classes = np.searchsorted(estimator.classes_, np.asarray(y))
        shape = (grid, grid) if scores.ndim == 1 else (grid, grid, scores.shape[1])
        supports = np.asarray(getattr(estimator, "support_vectors_", np.empty((0, 2))), dtype=np.float64)
        w = _weights(estimator, hypothesis)
        return cls(points[0], points[1], scores.reshape(shape), X, classes, supports, margin or 0.0, w).plot(ax)

    def _draw(self, ax: Any) -> None:
        if self.scores.ndim == 2:
            colors = [MINUS, PLUS]
            ax.contourf(self.x, self.y, self.scores > 0, levels=[-0.5, 0.5, 1.5], colors=colors, alpha=0.25)
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
            mine, marker = self.classes == c, "so^Dv"[c % 5]
            style = {"color": colors[c], "marker": marker, "edgecolors": "black", "linewidths": 0.5, "zorder": 3}
            ax.scatter(self.X[mine, 0], self.X[mine, 1], **style)
        ax.scatter(self.supports[:, 0], self.supports[:, 1], s=120, facecolors="none", edgecolors="black", zorder=4)
        if self.w is not None and self.w[:2].any():
            self._draw_w(ax)

    def _draw_w(self, ax: Any) -> None:
        """w from the boundary on, a fifth of the picture long; with one scale on both axes, for right angles."""
        assert self.w is not None
        w, b = self.w[:2], self.w[2]
        middle = self.X.mean(axis=0)
        foot = middle - (middle @ w + b) / (w @ w) * w
        size = 0.2 * float(max(np.ptp(self.x), np.ptp(self.y)))
        arrow(ax, foot + size * w / np.linalg.norm(w), V, "w", foot)
        ax.set_aspect("equal", adjustable="datalim")


def _as_rows(like: Any, columns: list[NDArray[np.float64]]) -> Any:
    """Columns as rows of the kind of given examples: a frame with the same names, or an array."""
    if not is_frame(like):
        return np.column_stack(columns)
    named = dict(zip(like.column_names if is_table(like) else like.columns, columns, strict=True))
    return type(like).from_pydict(named) if hasattr(type(like), "from_pydict") else type(like)(named)


def _scores(estimator: Any, X: Any, hypothesis: str | None) -> NDArray[np.float64]:
    """What decides: scores where there are some, else probabilities, else 1 for the class that is predicted."""
    asked = {} if hypothesis is None else {"hypothesis": hypothesis}
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X, **asked), dtype=np.float64)
    if hasattr(estimator, "predict_proba"):
        scores = np.asarray(estimator.predict_proba(X, **asked), dtype=np.float64)
    else:
        scores = (np.asarray(estimator.predict(X, **asked))[:, None] == estimator.classes_).astype(np.float64)
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def _weights(estimator: Any, hypothesis: str | None) -> NDArray[np.float64] | None:
    """The weights of a linear classifier of two classes, the intercept last."""
    coef = None if hypothesis is not None else getattr(estimator, "coef_", None)
    if coef is None or np.shape(coef) != (1, 2):
        return None
    return np.append(np.asarray(coef, dtype=np.float64)[0], np.ravel(getattr(estimator, "intercept_", 0.0))[:1])


@dataclass(eq=False, repr=False)
class GramDisplay(Display):
    """A Gram matrix as a heat map.

    Parameters
    ----------
    K : array of shape (n, n)
    """

    K: NDArray[Any]

    @classmethod
    def from_kernel(cls, kernel: Any, X: Any, y: Any = None, *, ax: Any = None) -> GramDisplay:
        """Compute, and draw; with labels y, the examples are sorted by class."""
        K = as_kernel(kernel).gram(X)
        if y is not None:
            order = np.argsort(np.asarray(y), kind="stable")
            K = K[np.ix_(order, order)]
        return cls(K).plot(ax)

    def _draw(self, ax: Any) -> None:
        image = ax.imshow(self.K, interpolation="nearest")
        ax.figure.colorbar(image, ax=ax)
