"""Many classes by binary problems: one against the rest, one against one."""

from itertools import combinations
from typing import Any

from perceptive.reference.binary import Binary
from perceptive.reference.vectors import Row


class OneVsRest:
    """Problem k learns class k (+1) against all others (−1); a ``reference`` class has no problem and scores 0."""

    def __init__(self, n_features: int, n_classes: int, reference: int | None = None, **options: Any) -> None:
        self.n_classes, self.reference = n_classes, reference
        self.problems = {k: Binary(n_features, **options) for k in range(n_classes) if k != reference}

    def learn(self, x: Row, y: int, **options: Any) -> None:
        """Play one round of every problem."""
        for k, problem in self.problems.items():
            problem.learn(x, 1 if k == y else -1, **options)

    def predict(self, x: Row) -> int:
        """Return the class with the highest score; the reference class if no score is above 0."""
        scores = {k: problem.score(x) for k, problem in self.problems.items()}
        winner = max(sorted(scores), key=lambda k: scores[k])
        return self.reference if self.reference is not None and scores[winner] <= 0 else winner


class OneVsOne:
    """Problem (i, j), i < j, learns j (+1) against i (−1) only from their examples."""

    def __init__(self, n_features: int, n_classes: int, **options: Any) -> None:
        self.n_classes = n_classes
        self.problems = {pair: Binary(n_features, **options) for pair in combinations(range(n_classes), 2)}

    def learn(self, x: Row, y: int, **options: Any) -> None:
        """Play one round of every problem that y takes part in."""
        for (i, j), problem in self.problems.items():
            if y in (i, j):
                problem.learn(x, 1 if y == j else -1, **options)

    def votes(self, x: Row) -> list[int]:
        """Return the votes: each problem votes for the winner of its pair; a score of 0 abstains."""
        votes = [0] * self.n_classes
        for (i, j), problem in self.problems.items():
            score = problem.score(x)
            if score > 0:
                votes[j] += 1
            elif score < 0:
                votes[i] += 1
        return votes
