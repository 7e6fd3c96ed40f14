"""The dual perceptron: the model is its list of mistakes, w = Σ_i α_i φ(x_i), and only values K(x_i, x) are needed.

A support is an example that was learned from, with a coefficient for each output: one output for two classes
(signed α, the second form in the notes; the counts of the first form are the absolute values), K outputs α_{i,y} for
K classes. If an example, or an equal one, is learned from again, this adds to its coefficient: examples with the same
φ(x) share a support. With the Δ-trick they do not, since each has its own id feature.
"""

from collections.abc import Callable, Sequence
from typing import Any

from perceptive.reference.rules import Rule

Kernel = Callable[[Any, Any], float]
Alpha = dict[int, list[float]]  # number of the example → its coefficients


class Dual:
    """The common part for two and more classes: scores by the kernel, supports, the run v_0, v_1, … and survivals."""

    def __init__(
        self,
        kernel: Kernel,
        n_outputs: int,
        rule: Rule | None = None,
        *,
        bias: float = 0.0,
        delta: float = 0.0,
        ties: str = "mistake",
    ) -> None:
        self.kernel, self.n_outputs, self.rule = kernel, n_outputs, rule or Rule()
        self.bias, self.delta, self.ties = bias, delta, ties
        self.examples: dict[int, Any] = {}
        self.alpha: Alpha = {}
        self.length2 = 0.0  # ‖v‖²
        self.history: list[Alpha] = [{}]
        self.survival = [0]
        self.lengths2 = [0.0]
        self.rounds = self.mistakes = self.updates = 0
        self.radius2 = 0.0

    def start(self, examples: Sequence[Any], alpha: Sequence[Sequence[float]]) -> None:
        """Begin from these coefficients instead of zeros."""
        for i, (x, coefficients) in enumerate(zip(examples, alpha, strict=True)):
            if any(coefficients):
                own = self.alpha.setdefault(self.support(x, i), [0.0] * self.n_outputs)
                for c, a in enumerate(coefficients):
                    own[c] += a
        pairs = [(i, j) for i in self.alpha for j in self.alpha]
        self.length2 = sum(
            a * b * self.value(self.examples[i], self.examples[j])
            for i, j in pairs
            for a, b in zip(self.alpha[i], self.alpha[j], strict=True)
        )
        self.length2 += sum(self.delta * self.delta * a * a for row in self.alpha.values() for a in row)
        self.history, self.lengths2 = [self.copy()], [self.length2]

    def copy(self) -> Alpha:
        """Return a copy of the current α."""
        return {i: list(coefficients) for i, coefficients in self.alpha.items()}

    def value(self, x: Any, z: Any) -> float:
        """Return K(x, z) + b²."""
        return self.kernel(x, z) + self.bias * self.bias

    def scores(self, x: Any, alpha: Alpha | None = None) -> list[float]:
        """Return Σ_i α_i K(x_i, x) for every output."""
        sums = [0.0] * self.n_outputs
        for i, coefficients in (self.alpha if alpha is None else alpha).items():
            value = self.value(self.examples[i], x)
            for c, a in enumerate(coefficients):
                sums[c] += a * value
        return sums

    def scores_of_own(self, x: Any, identity: int) -> list[float]:
        """Return the scores of a training example, with its own id feature: K + Δ²I."""
        own = self.alpha.get(identity, [0.0] * self.n_outputs)
        return [s + self.delta * self.delta * a for s, a in zip(self.scores(x), own, strict=True)]

    def support(self, x: Any, identity: int) -> int:
        """Return the number of the support of x: its own, or that of an equal example before it."""
        if not self.delta:
            identity = next((i for i, known in self.examples.items() if known == x), identity)
        self.examples[identity] = x
        return identity

    def add(self, x: Any, identity: int, steps: Sequence[float], m: float, tau: float, q: float) -> None:
        """Update v ← v + τ·δ by changing the coefficients of x."""
        coefficients = self.alpha.setdefault(self.support(x, identity), [0.0] * self.n_outputs)
        for c, step in enumerate(steps):
            coefficients[c] += step
        self.length2 += 2.0 * tau * m + tau * tau * q
        self.updates += 1
        self.radius2 = max(self.radius2, q)
        self.history.append(self.copy())
        self.lengths2.append(self.length2)
        self.survival.append(0)


class DualBinary(Dual):
    """Two classes, y = ±1: δ = y·φ(x)."""

    def __init__(self, kernel: Kernel, rule: Rule | None = None, **options: Any) -> None:
        super().__init__(kernel, 1, rule, **options)

    def score(self, x: Any) -> float:
        """Return h(x) = Σ_j α_j K(x_j, x)."""
        return self.scores(x)[0]

    def learn(self, x: Any, y: int, identity: int) -> bool:
        """Play one round; return whether it was a mistake. ``identity`` numbers the example."""
        self.rounds += 1
        self.survival[-1] += 1
        score = self.scores_of_own(x, identity)[0]
        m = y * score
        mistake = (score >= 0) != (y > 0) if self.ties == "positive" else m <= 0
        self.mistakes += mistake
        q = self.value(x, x) + self.delta * self.delta
        if self.rule.wants_update(m, mistake) and q > 0.0:
            _, tau = self.rule.step(m, q, self.length2)
            self.add(x, identity, [y * tau], m, tau, q)
        return mistake


class DualJoint(Dual):
    """K classes at once, α_{i,y}: the right class is raised, its best competitor lowered."""

    def learn(self, x: Any, y: int, identity: int) -> bool:
        """Play one round; return whether it was a mistake."""
        self.rounds += 1
        self.survival[-1] += 1
        scores = self.scores_of_own(x, identity)
        rival = max((c for c in range(self.n_outputs) if c != y), key=lambda c: scores[c])
        m = scores[y] - scores[rival]
        mistake = m <= 0
        self.mistakes += mistake
        q = 2.0 * (self.value(x, x) + self.delta * self.delta)
        if self.rule.wants_update(m, mistake) and q > 0.0:
            _, tau = self.rule.step(m, q, self.length2)
            steps = [tau if c == y else -tau if c == rival else 0.0 for c in range(self.n_outputs)]
            self.add(x, identity, steps, m, tau, q)
        return mistake


def average_alpha(dual: Dual, normalized: bool = False, open: bool = False) -> Alpha:
    """Return Σ m_k v_k / m, written out; ``normalized`` divides each v_k by its length (Freund & Schapire 1999).

    While the run is ``open``, v_K counts for one more round.
    """
    counts = [*dual.survival[:-1], dual.survival[-1] + open]
    total = max(1, sum(counts))
    mean: Alpha = {i: [0.0] * dual.n_outputs for i in dual.examples}
    for alpha, m, length2 in zip(dual.history, counts, dual.lengths2, strict=True):
        weight = m / total
        if normalized:
            weight = weight / length2**0.5 if length2 > 0 else 0.0
        for i, coefficients in alpha.items():
            for c, a in enumerate(coefficients):
                mean[i][c] += weight * a
    return mean
