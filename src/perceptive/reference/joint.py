"""K weight vectors at once: δ = φ(x, y*) − φ(x, ŷ) adds x to the right class, and subtracts it from its rival."""

import math
from collections.abc import Sequence

from perceptive.reference.rules import Rule
from perceptive.reference.vectors import Row, check_round, scale_of, squared_norm


class Joint:
    """Learn vectors v_0 … v_{K−1} with v_y·x > v_c·x for every c ≠ y.

    ``history`` holds every v_k as ``(rows of weights, bias weights)``, ``survival`` its m_k.
    """

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        rule: Rule | None = None,
        *,
        bias: float = 1.0,
        normalize: bool = False,
        delta: float = 0.0,
        cost: Sequence[Sequence[float]] | None = None,
    ) -> None:
        self.rule = rule or Rule()
        self.bias, self.normalize, self.delta, self.cost = bias, normalize, delta, cost
        self.n_classes = n_classes
        self.v = [[0.0] * n_features for _ in range(n_classes)]
        self.v_bias = [0.0] * n_classes
        self.v2 = 0.0
        self.sigma = [[1.0] * n_features for _ in range(n_classes)]
        self.sigma_bias = [1.0] * n_classes
        self.id_weights: dict[int, list[float]] = {}
        self.history = [self.snapshot()]
        self.survival = [0]
        self.rounds = self.mistakes = self.updates = 0
        self.radius2 = 0.0
        self.criterion = 0.0

    def squared_length(self) -> float:
        """Return ‖v‖²."""
        vectors = (*self.v, self.v_bias, *self.id_weights.values())
        return math.fsum(value * value for row in vectors for value in row)

    def snapshot(self) -> tuple[list[list[float]], list[float]]:
        """Copy v_k."""
        return [list(row) for row in self.v], list(self.v_bias)

    def scores(self, x: Row) -> list[float]:
        """Return v_c·x for every class: plain sums in the order of the row."""
        scale = scale_of(x, self.normalize)
        sums = [0.0] * self.n_classes
        for j, value in x:
            for c in range(self.n_classes):
                sums[c] += self.v[c][j] * value
        return [scale * sums[c] + self.bias * self.v_bias[c] for c in range(self.n_classes)]

    def predict(self, x: Row) -> int:
        """Return the class with the highest score; ties go to the lowest index."""
        scores = self.scores(x)
        return scores.index(max(scores))

    def learn(self, x: Row, y: int, *, weight: float = 1.0, identity: int = 0) -> bool:
        """Play one round; return whether it was a mistake."""
        check_round(x, len(self.v[0]), weight)
        if not 0 <= y < self.n_classes:
            raise ValueError(f"class {y} is outside 0 … {self.n_classes - 1}")
        if weight == 0.0:
            return False
        self.rounds += 1
        self.survival[-1] += 1
        if self.n_classes < 2:
            return False  # no rival, nothing to learn
        scores = self.scores(x)
        if self.delta:
            ids = self.id_weights.get(identity, [0.0] * self.n_classes)
            scores = [score + self.delta * ids[c] for c, score in enumerate(scores)]
        rivals = [c for c in range(self.n_classes) if c != y]
        best = max(rivals, key=lambda c: scores[c])
        mistake = scores[y] - scores[best] <= 0
        self.mistakes += mistake
        if mistake:
            self.criterion += scores[best] - scores[y]
        cost = 1.0
        if self.cost is not None:
            best = max(rivals, key=lambda c: scores[c] + self.cost[y][c])  # type: ignore[index]
            cost = self.cost[y][best]
        m = scores[y] - scores[best]
        if self.rule.wants_update(m, mistake, cost):
            self.update(x, y, best, m, cost, weight, identity)
        return mistake

    def update(self, x: Row, y: int, rival: int, m: float, cost: float, weight: float, identity: int) -> None:
        """v_y ← a·v_y + τ·x, v_rival ← a·v_rival − τ·x, unless x = 0."""
        scale = scale_of(x, self.normalize)
        q = 2.0 * (scale * scale * squared_norm(x) + self.bias * self.bias + self.delta * self.delta)
        if q == 0.0:
            return
        if self.rule.name == "arow":
            self.update_arow(x, y, rival, m, scale, weight)
        else:
            a, tau = self.rule.step(m, q, self.v2, cost, weight)
            if a != 1.0:
                self.v = [[a * value for value in row] for row in self.v]
                self.v_bias = [a * value for value in self.v_bias]
                self.id_weights = {i: [a * w for w in ws] for i, ws in self.id_weights.items()}
            for c, sign in ((y, 1.0), (rival, -1.0)):
                step = sign * tau * scale
                for j, value in x:
                    self.v[c][j] += step * value
                self.v_bias[c] += sign * tau * self.bias
                if self.delta:
                    ids = self.id_weights.setdefault(identity, [0.0] * self.n_classes)
                    ids[c] += sign * tau * self.delta
            self.v2 = self.squared_length()
        self.updates += 1
        self.radius2 = max(self.radius2, weight * weight * q)
        self.history.append(self.snapshot())
        self.survival.append(0)

    def update_arow(self, x: Row, y: int, rival: int, m: float, scale: float, weight: float) -> None:
        """AROW's step along Σδ, Σ diagonal over (class, feature)."""
        sums = [0.0, 0.0]
        for j, value in x:
            sums[0] += self.sigma[y][j] * (value * value)
            sums[1] += self.sigma[rival][j] * (value * value)
        variance = scale * scale * (sums[0] + sums[1])
        variance += (self.sigma_bias[y] + self.sigma_bias[rival]) * (self.bias * self.bias)
        _, tau = self.rule.step(m, variance, self.v2, weight=weight)
        shrink = 1.0 / (variance + self.rule.r / weight)
        for c, sign in ((y, 1.0), (rival, -1.0)):
            step = sign * tau * scale
            for j, value in x:
                self.v[c][j] += step * (self.sigma[c][j] * value)
                sx = self.sigma[c][j] * (scale * value)
                self.sigma[c][j] -= shrink * (sx * sx)
            self.v_bias[c] += sign * tau * self.bias * self.sigma_bias[c]
            sx = self.sigma_bias[c] * self.bias
            self.sigma_bias[c] -= shrink * (sx * sx)
