"""The notes' on-line learner L for ranking: pick the best of a list, learn from δ = x_ℓ − x_ℓ̂ (`000_…` §3).

If lists have grades, ``pairs`` says which pairs (i, j) with grade_i > grade_j the learner learns from:

========  =======================================================  ============================================
pairs     a mistake                                                δ
========  =======================================================  ============================================
best      none of the best has the highest score                   the best of the best − the best of the rest
worst     some pair is in the wrong order                          x_i − x_j of the pair that is most wrong
all       some pair is in the wrong order                          the mean of x_i − x_j over all wrong pairs
========  =======================================================  ============================================

Each list makes at most one update. A mean of δ's is no longer than the longest, gains at least the margin γ of each
along u, and has v·δ ≤ 0 if each of them has: so the bound (R_δ/γ)² holds for ``all`` as well.

Costs c_ij = c_i − c_j make some pairs count for more: c is the grade, or the discount 1/log₂(p + 1) of the place p of
the grade in the right order. Rules with a hinge require m ≥ c_ij; the steps of the perceptron are c_ij times as long.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any

from perceptive.reference.rules import Rule
from perceptive.reference.vectors import Row, check_round, dot, scale_of, squared_norm

RULES = ("perceptron", "pa", "pa1", "pa2", "mira")
NO_LENGTH = 1e-12  # of the terms it is the sum of: a δ that is shorter is their rounding
Pair = tuple[int, int]


class ListLearner:
    """The game over lists of candidates of any kind; subclasses compute scores and updates."""

    def __init__(self, rule: Rule | None, pairs: str, cost: str | None, delta: float) -> None:
        self.rule = rule or Rule()
        if self.rule.name not in RULES:
            raise ValueError(f"rule {self.rule.name!r} does not rank; choose one of {', '.join(RULES)}")
        self.pairs, self.cost, self.delta = pairs, cost, delta
        self.id_weights: dict[int, float] = {}
        self.survival = [0]
        self.rounds = self.mistakes = self.updates = 0
        self.radius2 = 0.0
        self.criterion = 0.0

    def check(self, xs: Sequence[Any], weight: float) -> None:
        """Raise ValueError for candidates that cannot be learned from."""
        raise NotImplementedError

    def scores(self, xs: Sequence[Any]) -> list[float]:
        """Return the score of each candidate."""
        raise NotImplementedError

    def move(
        self, xs: Sequence[Any], share: Sequence[float], m: float, cost: float, weight: float, identity: int
    ) -> float:
        """Update v ← v + τ·δ with δ = Σ share·x; return q = ‖δ‖², 0 if there was nothing to learn."""
        raise NotImplementedError

    def find_best(self, xs: Sequence[Any]) -> int:
        """Return argmax_j v·x_j (the notes' findBest), counted from 0; ties go to the lowest index."""
        scores = self.scores(xs)
        return scores.index(max(scores))

    def learn(self, xs: Sequence[Any], best: int | Collection[int], *, weight: float = 1.0, identity: int = 0) -> bool:
        """Learn which candidate is best, or which ones are equally good (the notes' addExample)."""
        good = {best} if isinstance(best, int) else set(best)
        for j in good:
            if not 0 <= j < len(xs):
                raise ValueError(f"best is {j}, but the list has {len(xs)} candidates: 0 … {len(xs) - 1}")
        return self.learn_graded(xs, [float(j in good) for j in range(len(xs))], weight=weight, identity=identity)

    def learn_graded(
        self, xs: Sequence[Any], grades: Sequence[float], *, weight: float = 1.0, identity: int = 0
    ) -> bool:
        """Play one round; return whether it was a mistake. A list in which no candidate is better is not a round."""
        if not xs:
            raise ValueError("the list has no candidates")
        if len(grades) != len(xs) or not all(math.isfinite(grade) for grade in grades):
            raise ValueError("give one finite grade per candidate")
        self.check(xs, weight)
        if weight == 0.0 or max(grades) == min(grades):
            return False
        self.rounds += 1
        self.survival[-1] += 1
        scores = self.scores(xs)
        extra = self.delta * self.id_weights.get(identity, 0.0)
        i, j = self.closest(scores, grades, None)
        m = scores[i] - scores[j] + extra
        mistake = m <= 0
        self.mistakes += mistake
        if mistake:
            self.criterion += -m
        c = gains(grades, self.cost)
        chosen = self.wrong_pairs(scores, grades, c, extra)
        if chosen:
            self.update(xs, scores, chosen, c, extra, weight, identity)
        return mistake

    def closest(self, scores: Sequence[float], grades: Sequence[float], c: Sequence[float] | None) -> Pair:
        """Return the pair that is most wrong, by its margin minus its cost (if any); of equals, the first."""
        key = list(scores) if c is None else [score - gain for score, gain in zip(scores, c, strict=True)]
        if self.pairs == "best":
            top = [j for j, grade in enumerate(grades) if grade == max(grades)]
            rest = [j for j, grade in enumerate(grades) if grade < max(grades)]
            return max(top, key=lambda i: scores[i]), max(rest, key=lambda j: key[j])
        order = sorted(range(len(grades)), key=lambda j: -grades[j])
        found: Pair | None = None
        for j in order:
            better = [i for i in order if grades[i] > grades[j]]
            if better:
                i = min(better, key=lambda i: key[i])
                if found is None or key[i] - key[j] < key[found[0]] - key[found[1]]:
                    found = i, j
        assert found is not None
        return found

    def wrong_pairs(
        self, scores: Sequence[float], grades: Sequence[float], c: Sequence[float] | None, extra: float
    ) -> list[Pair]:
        """Return the pairs to learn from."""
        hinge = self.rule.name != "perceptron"

        def wanted(i: int, j: int) -> bool:
            m = scores[i] - scores[j] + extra
            return self.rule.wants_update(m, m <= 0, c[i] - c[j] if hinge and c is not None else 1.0)

        if self.pairs == "all":
            n = range(len(grades))
            return [(i, j) for i in n for j in n if grades[i] > grades[j] and wanted(i, j)]
        pair = self.closest(scores, grades, c if hinge else None)
        return [pair] if wanted(*pair) else []

    def update(
        self,
        xs: Sequence[Any],
        scores: Sequence[float],
        chosen: Sequence[Pair],
        c: Sequence[float] | None,
        extra: float,
        weight: float,
        identity: int,
    ) -> None:
        """Learn from the chosen pairs: δ is the mean of their differences."""
        hinge = self.rule.name != "perceptron"
        share = [0.0] * len(xs)
        cost = 0.0
        for i, j in chosen:
            step = c[i] - c[j] if c is not None and not hinge else 1.0
            share[i] += step
            share[j] -= step
            cost += c[i] - c[j] if c is not None and hinge else 1.0
        share = [one / len(chosen) for one in share]
        cost /= len(chosen)
        m = extra
        for part, score in zip(share, scores, strict=True):
            if part != 0.0:
                m += part * score
        q = self.move(xs, share, m, cost, weight, identity)
        if q == 0.0:
            return
        self.updates += 1
        self.radius2 = max(self.radius2, weight * weight * q)
        self.survival.append(0)


class Ranking(ListLearner):
    """Learn a vector v under which the best of each list has the highest score.

    ``history`` holds every v_k, ``survival`` the number m_k of lists it predicted.
    """

    def __init__(
        self,
        n_features: int,
        rule: Rule | None = None,
        *,
        pairs: str = "best",
        cost: str | None = None,
        normalize: bool = False,
        delta: float = 0.0,
    ) -> None:
        super().__init__(rule, pairs, cost, delta)
        self.normalize = normalize
        self.v = [0.0] * n_features
        self.v2 = 0.0
        self.history = [list(self.v)]

    def check(self, xs: Sequence[Row], weight: float) -> None:
        """Raise ValueError for rows of impossible features or values."""
        for x in xs:
            check_round(x, len(self.v), weight)

    def scores(self, xs: Sequence[Row]) -> list[float]:
        """Return v·x of each candidate."""
        return [scale_of(x, self.normalize) * dot(self.v, x) for x in xs]

    def move(
        self, xs: Sequence[Row], share: Sequence[float], m: float, cost: float, weight: float, identity: int
    ) -> float:
        """Update v ← v + τ·δ, unless δ = 0."""
        delta = dict[int, float]()
        terms = 0.0
        for x, part in zip(xs, share, strict=True):
            if part == 0.0:
                continue
            scale = part * scale_of(x, self.normalize)
            for j, value in x:
                delta[j] = delta.get(j, 0.0) + scale * value
            terms += abs(scale) * math.sqrt(squared_norm(x))
        q = squared_norm(sorted(delta.items()))
        if self.pairs == "all" and q <= (NO_LENGTH * terms) ** 2:  # a single pair of equals differs by 0 exactly
            q = 0.0
        q += self.delta * self.delta
        if q == 0.0:
            return 0.0
        _, tau = self.rule.step(m, q, self.v2, cost, weight)
        for j, value in delta.items():
            self.v[j] += tau * value
        if self.delta:
            self.id_weights[identity] = self.id_weights.get(identity, 0.0) + tau * self.delta
        self.v2 += 2.0 * tau * m + tau * tau * q
        self.history.append(list(self.v))
        return q


def gains(grades: Sequence[float], cost: str | None) -> list[float] | None:
    """Return the c of c_ij = c_i − c_j: none, the grades, or the discounts of their places (equal for equal grades).

    Examples
    --------
    >>> [round(c, 4) for c in gains([2, 0, 2], "position")]
    [0.8155, 0.5, 0.8155]
    """
    if cost is None:
        return None
    if cost == "grade":
        return [float(grade) for grade in grades]
    if cost != "position":
        raise ValueError(f"cost is {cost!r}; choose 'grade', 'position' or None")
    c = []
    for grade in grades:
        above = sum(other > grade for other in grades)
        places = range(above, above + sum(other == grade for other in grades))
        c.append(math.fsum(1.0 / math.log2(place + 2) for place in places) / len(places))
    return c
