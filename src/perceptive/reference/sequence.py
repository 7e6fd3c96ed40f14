"""The structured perceptron (`000_…` §4, `002_…`; Collins 2002), with every v_k kept.

A sentence is a list of tokens, a token a dict of features and their values. Φ(x, y) counts features with labels,
pairs of labels, and (second order) triples of labels; v is a dict from these to weights.

On a round B finds ŷ by Viterbi; a mistake is ŷ ≠ y*.

============  ======================  ====================================================================
rule          the competitor ŷ        step along δ = Φ(x, y*) − Φ(x, ŷ)
============  ======================  ====================================================================
perceptron    Viterbi's               1, on a mistake (with margin β: if y* leads by β or less)
pa1, pa2      best of score + cost    min(C, ℓ/‖δ‖²), ℓ/(‖δ‖² + 1/2C) with ℓ = cost(ŷ) − v·δ > 0
mira          k best of score + cost  all δ_j at once, see mira.py
============  ======================  ====================================================================

The cost is the number of wrong labels (Hamming). Without it (cost=None) it is 1 for every other sequence, and the
competitor is the best of the others. A label None is free, and a set of labels is free within the set: y* is then the
best path that agrees with what is given, and the cost counts the labels that do not agree.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from perceptive.reference.mira import solve_mira
from perceptive.reference.rules import Rule
from perceptive.reference.viterbi import Path, Said, Trellis, all_paths, fits, forced

Sentence = Sequence[dict[str, float]]
Vector = dict[Any, float]
NEVER = float("-inf")


class SequencePerceptron:
    """Learn v with v·Φ(x, y*) > v·Φ(x, y) for every other y; ``history`` holds every v_k, ``survival`` its m_k."""

    def __init__(
        self,
        n_labels: int,
        rule: Rule | None = None,
        *,
        hamming: bool = False,
        k: int = 5,
        second_order: bool = False,
        allowed: Any = None,
    ) -> None:
        self.n_labels, self.rule, self.hamming, self.k = n_labels, rule or Rule(), hamming, k
        self.second_order = second_order
        self.allowed = allowed or (lambda before, label: True)  # None is outside the sentence
        self.v: Vector = {}
        self.history: list[Vector] = [{}]
        self.survival = [0]
        self.mistakes = self.updates = 0
        self.radius2 = 0.0

    def phi(self, x: Sentence, y: Path) -> Vector:
        """Return Φ(x, y)."""
        count: Vector = defaultdict(float)
        for t, label in enumerate(y):
            for name, value in x[t].items():
                count[name, label] += value
            if t >= 1:
                count["@", y[t - 1], label] += 1.0
            if t >= 2 and self.second_order:
                count["@@", y[t - 2], y[t - 1], label] += 1.0
        return dict(count)

    def trellis(self, x: Sentence, v: Vector, truth: Sequence[Said] | None = None) -> Trellis:
        """Return the potentials under v; with ``truth``, each wrong label costs 1."""
        L, n = range(self.n_labels), len(x)
        unary = []
        for t, token in enumerate(x):
            row = []
            for y in L:
                possible = (t > 0 or self.allowed(None, y)) and (t < n - 1 or self.allowed(y, None))
                score = sum(v.get((name, y), 0.0) * value for name, value in token.items())
                if truth is not None and not fits(y, truth[t]):
                    score += 1.0
                row.append(score if possible else NEVER)
            unary.append(row)
        pairs = [[v.get(("@", p, y), 0.0) if self.allowed(p, y) else NEVER for y in L] for p in L]
        triples = [[[v.get(("@@", q, p, y), 0.0) for y in L] for p in L] for q in L] if self.second_order else None
        return Trellis(unary, [pairs] * n, triples)

    def predict(self, x: Sentence, v: Vector | None = None) -> Path:
        """Return the best label sequence."""
        return all_paths(self.trellis(x, self.v if v is None else v))[0][1] if x else ()

    def learn(self, x: Sentence, truth: Sequence[Said], weight: float = 1.0) -> bool:
        """Play one round; return whether it was a mistake. ``weight`` is the weight of the sentence; see `Rule`."""
        self.survival[-1] += 1
        plain = self.trellis(x, self.v)
        target = all_paths(forced(plain, truth))[0][1]
        guess = all_paths(plain)[0][1]
        mistake = guess != target
        self.mistakes += mistake
        augmented = self.trellis(x, self.v, truth) if self.hamming else plain
        paths = [path for _, path in all_paths(augmented)]
        rivals = [path for path in paths if path != target]
        if self.rule.name == "mira":
            self.learn_mira(x, truth, target, rivals[: self.k])
            return mistake
        if not rivals:
            return mistake
        rival = guess if mistake and not self.hamming else rivals[0]
        cost = float(hamming(rival, truth)) if self.hamming else 1.0
        delta = minus(self.phi(x, target), self.phi(x, rival))
        m, q = dot(self.v, delta), dot(delta, delta)
        violated = paths[0] != target if self.hamming else mistake
        if q > 0 and self.rule.wants_update(m, violated, cost) and (violated or not self.hamming):
            self.move(delta, self.rule.step(m, q, 0.0, cost, weight)[1], weight**2 * q)
        return mistake

    def learn_batch(self, batch: Sequence[tuple[Sentence, Sequence[Said]]]) -> None:
        """Learn from a batch by the perceptron (Zhao & Huang 2013): one v predicts all, then all updates are made."""
        deltas = []
        for x, truth in batch:
            self.survival[-1] += 1
            plain = self.trellis(x, self.v)
            target, guess = all_paths(forced(plain, truth))[0][1], all_paths(plain)[0][1]
            if guess != target:
                self.mistakes += 1
                deltas.append(minus(self.phi(x, target), self.phi(x, guess)))
        for delta in deltas:
            q = dot(delta, delta)
            if q > 0:
                self.move(delta, self.rule.learning_rate, q)

    def learn_mira(self, x: Sentence, truth: Sequence[Said], target: Path, rivals: list[Path]) -> None:
        """Learn from all competitors at once."""
        deltas = [minus(self.phi(x, target), self.phi(x, rival)) for rival in rivals]
        costs = [hamming(rival, truth) for rival in rivals]
        losses = [cost - dot(self.v, delta) for cost, delta in zip(costs, deltas, strict=True)]
        if not losses or max(losses) <= 1e-6:
            return
        gram = [[dot(a, b) for b in deltas] for a in deltas]
        alpha = solve_mira(gram, losses, self.rule.C)
        total: Vector = defaultdict(float)
        for a, delta in zip(alpha, deltas, strict=True):
            for name, value in delta.items():
                total[name] += a * value
        if any(total.values()):
            self.move(total, 1.0, max(gram[j][j] for j in range(len(rivals)) if alpha[j] > 0))

    def move(self, delta: Vector, tau: float, q: float) -> None:
        """Update v ← v + τδ."""
        self.v = dict(self.v)
        for name, value in delta.items():
            self.v[name] = self.v.get(name, 0.0) + tau * value
        self.updates += 1
        self.radius2 = max(self.radius2, q)
        self.history.append(self.v)
        self.survival.append(0)

    def average(self, open: bool = False) -> Vector:
        """Return Σ m_k v_k / m; while the run is open, (Σ m_k v_k + v_K)/(m + 1)."""
        total: Vector = defaultdict(float)
        counts = [*self.survival[:-1], self.survival[-1] + open]
        for v, m in zip(self.history, counts, strict=True):
            for name, value in v.items():
                total[name] += m * value
        return {name: value / sum(counts) for name, value in total.items()}

    def vote(self, x: Sentence) -> Path:
        """Return the label sequence with most votes: v_k has m_k votes; of equals, the one that got a vote first."""
        votes: dict[Path, int] = {}
        for v, m in zip(self.history, self.survival, strict=True):
            if m:
                path = self.predict(x, v)
                votes[path] = votes.get(path, 0) + m
        return max(votes, key=lambda path: votes[path])


def hamming(path: Path, truth: Sequence[Said]) -> int:
    """Return how many labels contradict what is known about their tokens."""
    return sum(not fits(y, said) for y, said in zip(path, truth, strict=True))


def minus(a: Vector, b: Vector) -> Vector:
    """Return a − b without zeros."""
    names = dict.fromkeys([*a, *b])
    values = {name: a.get(name, 0.0) - b.get(name, 0.0) for name in names}
    return {name: value for name, value in values.items() if value}


def dot(a: Vector, b: Vector) -> float:
    """Return a·b."""
    return sum(value * b.get(name, 0.0) for name, value in a.items())
