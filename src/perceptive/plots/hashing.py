"""Inner products after hashing, compared with those before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptive.features.hashing import HashKernel
from perceptive.plots.pyplot import FAINT, Display, V

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class HashKernelDisplay(Display):
    """⟨φ(x), φ(x')⟩ of the hash kernel against ⟨x, x'⟩: no bias, and a spread that shrinks with the buckets.

    Parameters
    ----------
    exact, hashed : arrays
        Inner products of the same pairs.
    bits : int
        There are 2^bits buckets.
    """

    exact: Floats
    hashed: Floats
    bits: int

    @classmethod
    def from_data(cls, X: ArrayLike, bits: int, *, seed: int = 0, ax: Any = None) -> HashKernelDisplay:
        """Hash the columns of X, and compare all pairs of rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        bits : int
        seed : int
            Seed of the hash.
        ax : matplotlib axes or None

        Examples
        --------
        >>> from perceptive.plots import HashKernelDisplay
        >>> display = HashKernelDisplay.from_data(np.random.default_rng(0).normal(size=(20, 500)), bits=8)
        >>> bool(abs(np.mean(display.hashed - display.exact)) < 10)
        True
        """
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or len(X) < 2 or not np.isfinite(X).all():
            raise ValueError(f"X has the shape {X.shape}; give two rows of finite numbers at least")
        columns, signs = HashKernel(bits, seed).hash([f"x{j}" for j in range(X.shape[1])])
        phi = np.zeros((len(X), 1 << bits))
        np.add.at(phi.T, columns, (X * signs).T)
        pairs = np.triu_indices(len(X), 1)
        return cls((X @ X.T)[pairs], (phi @ phi.T)[pairs], bits).plot(ax)

    def _draw(self, ax: Any) -> None:
        ends = [float(min(self.exact.min(), self.hashed.min())), float(max(self.exact.max(), self.hashed.max()))]
        ax.plot(ends, ends, color=FAINT, linestyle="--")
        ax.scatter(self.exact, self.hashed, s=8, alpha=0.5, color=V)
        spread = float(np.sqrt(np.mean((self.hashed - self.exact) ** 2)))
        ax.set(xlabel="before hashing", ylabel="after", title=f"{1 << self.bits} buckets: off by {spread:.3g} (rms)")
