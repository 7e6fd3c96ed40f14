"""The notes' on-line learner L for two classes: δ = y·x."""

import math
from collections.abc import Sequence

from perceptive.reference.rules import Rule
from perceptive.reference.vectors import Row, check_round, dot, scale_of, squared_norm, weighted_squared_norm


class Binary:
    """Learn a vector v with y·(v·x) > 0.

    The bias is one more feature with the constant value ``bias``; its weight is ``v_bias``.
    ``history`` holds every v_k as ``(weights, bias weight)`` and ``survival`` the number m_k of examples it predicted.
    """

    def __init__(
        self,
        n_features: int,
        rule: Rule | None = None,
        *,
        bias: float = 1.0,
        ties: str = "mistake",
        normalize: bool = False,
        delta: float = 0.0,
        initial: tuple[Sequence[float], float] | None = None,
    ) -> None:
        self.rule = rule or Rule()
        self.bias, self.ties, self.normalize, self.delta = bias, ties, normalize, delta
        self.v = list(initial[0]) if initial else [0.0] * n_features
        self.v_bias = initial[1] if initial else 0.0
        self.sigma, self.sigma_bias = [1.0] * n_features, 1.0
        self.id_weights: dict[int, float] = {}
        self.v2 = self.squared_length()
        self.history = [(list(self.v), self.v_bias)]
        self.survival = [0]
        self.rounds = self.mistakes = self.updates = 0
        self.radius2 = 0.0
        self.criterion = 0.0

    def squared_length(self) -> float:
        """Return ‖v‖²."""
        return math.fsum(value * value for value in (*self.v, self.v_bias, *self.id_weights.values()))

    def score(self, x: Row) -> float:
        """Return v·x, the notes' ``predict``."""
        return scale_of(x, self.normalize) * dot(self.v, x) + self.bias * self.v_bias

    def predict(self, x: Row) -> int:
        """Return +1 or −1."""
        score = self.score(x)
        return 1 if score > 0 or (score == 0 and self.ties == "positive") else -1

    def learn(self, x: Row, y: int, *, weight: float = 1.0, identity: int = 0) -> bool:
        """Play one round; return whether it was a mistake. ``identity`` numbers the example for the Δ-trick."""
        check_round(x, len(self.v), weight)
        if y not in (1, -1):
            raise ValueError(f"label {y} is neither 1 nor -1")
        if weight == 0.0:
            return False
        self.rounds += 1
        self.survival[-1] += 1
        scale = scale_of(x, self.normalize)
        score = self.score(x)
        if self.delta:
            score += self.delta * self.id_weights.get(identity, 0.0)
        m = y * score
        mistake = (score >= 0) != (y > 0) if self.ties == "positive" else m <= 0
        self.mistakes += mistake
        if mistake:
            self.criterion += -m
        if self.rule.wants_update(m, mistake):
            self.update(x, y, m, scale, weight, identity)
        return mistake

    def update(self, x: Row, y: int, m: float, scale: float, weight: float, identity: int) -> None:
        """v ← a·v + τ·δ, unless δ = 0."""
        q = scale * scale * squared_norm(x) + self.bias * self.bias + self.delta * self.delta
        if q == 0.0:
            return
        if self.rule.name == "arow":
            variance = scale * scale * weighted_squared_norm(self.sigma, x)
            variance += self.sigma_bias * (self.bias * self.bias)
            _, tau = self.rule.step(m, variance, self.v2, weight=weight)
            shrink = 1.0 / (variance + self.rule.r / weight)
            step = y * tau * scale
            for j, value in x:
                self.v[j] += step * (self.sigma[j] * value)
                sx = self.sigma[j] * (scale * value)
                self.sigma[j] -= shrink * (sx * sx)
            self.v_bias += y * tau * self.bias * self.sigma_bias
            sx = self.sigma_bias * self.bias
            self.sigma_bias -= shrink * (sx * sx)
        else:
            a, tau = self.rule.step(m, q, self.v2, weight=weight)
            if a != 1.0:
                self.v = [a * value for value in self.v]
                self.v_bias *= a
                self.id_weights = {i: a * value for i, value in self.id_weights.items()}
            step = y * tau * scale
            for j, value in x:
                self.v[j] += step * value
            self.v_bias += y * tau * self.bias
            if self.delta:
                self.id_weights[identity] = self.id_weights.get(identity, 0.0) + y * tau * self.delta
            self.v2 = self.squared_length()
        self.updates += 1
        self.radius2 = max(self.radius2, weight * weight * q)
        self.history.append((list(self.v), self.v_bias))
        self.survival.append(0)
