"""The ranking perceptron in the dual: v = Σ α_ij (φ(x_iℓ) − φ(x_ij)), and only values K(x, x') are needed.

A support is a candidate of a list that was learned from. Candidate by candidate, v is Σ α_s φ(x_s): an update raises
the α of the better one of a pair and lowers that of the worse one by the same amount. So the α of each list sum to 0,
and a constant added to K changes nothing. Equal candidates share a support, except with the Δ-trick.
‖δ‖² = Σ share_i share_j K(x_i, x_j); for a single pair K(x_ℓ, x_ℓ) − 2K(x_ℓ, x_j) + K(x_j, x_j).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from perceptive.reference.ranking import ListLearner
from perceptive.reference.rules import Rule

Place = tuple[int, int]  # number of the list, place in it
NO_LENGTH = 1e-12  # of the terms it is the sum of: a ‖δ‖² below is their rounding


class DualRanking(ListLearner):
    """Learn coefficients of candidates under which the best of each list has the highest score.

    ``history`` holds the coefficients of every v_k, ``survival`` the number m_k of lists it predicted.
    """

    def __init__(
        self,
        kernel: Callable[[Any, Any], float],
        rule: Rule | None = None,
        *,
        pairs: str = "best",
        cost: str | None = None,
        delta: float = 0.0,
    ) -> None:
        super().__init__(rule, pairs, cost, delta)
        self.kernel = kernel
        self.candidates: dict[Place, Any] = {}
        self.alpha: dict[Place, float] = {}
        self.history: list[dict[Place, float]] = [{}]

    def check(self, xs: Sequence[Any], weight: float) -> None:
        """Raise ValueError for an impossible weight; the kernel checks candidates."""
        if not (math.isfinite(weight) and weight >= 0):
            raise ValueError(f"weight is {weight}; it must be finite and not negative")

    def score(self, x: Any, alpha: dict[Place, float] | None = None) -> float:
        """Return Σ_s α_s K(x_s, x)."""
        alpha = self.alpha if alpha is None else alpha
        return sum((a * self.kernel(self.candidates[place], x) for place, a in alpha.items()), 0.0)

    def scores(self, xs: Sequence[Any]) -> list[float]:
        """Return the score of each candidate."""
        return [self.score(x) for x in xs]

    def support(self, x: Any, place: Place) -> Place:
        """Return the number of the support of x: its own, or that of an equal candidate before it."""
        if not self.delta:
            place = next((one for one, known in self.candidates.items() if known == x), place)
        self.candidates[place] = x
        return place

    def move(
        self, xs: Sequence[Any], share: Sequence[float], m: float, cost: float, weight: float, identity: int
    ) -> float:
        """Update α_s ← α_s + τ·share_s for the candidates of this list, unless ‖δ‖ = 0."""
        taken = [j for j, part in enumerate(share) if part != 0.0]
        terms = [share[i] * share[j] * self.kernel(xs[i], xs[j]) for i in taken for j in taken]
        q = sum(terms)
        if q <= NO_LENGTH * sum(map(abs, terms)):
            q = 0.0
        q += self.delta * self.delta
        if q == 0.0:
            return 0.0
        _, tau = self.rule.step(m, q, 0.0, cost, weight)
        for j in taken:
            place = self.support(xs[j], (identity, j))
            self.alpha[place] = self.alpha.get(place, 0.0) + tau * share[j]
        if self.delta:
            self.id_weights[identity] = self.id_weights.get(identity, 0.0) + tau * self.delta
        self.history.append(dict(self.alpha))
        return q
