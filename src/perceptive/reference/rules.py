"""The rules: when to update, and v ← a·v + τ·δ.

m = v·δ is how much better the right answer scores than its best competitor, q = ‖δ‖².

==================  =============================  =====================================================
rule                updates when                   step
==================  =============================  =====================================================
perceptron          a mistake, or m ≤ β (β > 0)    a = 1, τ = η                 Rosenblatt 1958
pa                  ℓ = 1 − m > 0                  a = 1, τ = ℓ/q               Crammer et al. 2006
pa1                 ℓ > 0                          a = 1, τ = min(C, ℓ/q)
pa2                 ℓ > 0                          a = 1, τ = ℓ/(q + 1/2C)
mira                ℓ = cost − m > 0               a = 1, τ = ℓ/q               Crammer & Singer 2003
romma               a mistake                      Li & Long 2002, below
aggressive-romma    1 − m > 0                      the same
arow                1 − m > 0                      τ = ℓ/(δᵀΣδ + r), along Σδ   Crammer et al. 2009
==================  =============================  =====================================================

A sample weight w scales the trade-off of a rule: η becomes w·η, C becomes w·C, r becomes r/w. The rules that
have none (pa, mira, romma) take no weights.

Corner cases. A zero δ (an empty row without bias) teaches nothing: it may be a mistake, it is never an update.
At v = 0 every rule updates (m = 0); ROMMA's first step is δ/‖δ‖². If ROMMA's two constraints are collinear (0/0),
or the old one is implied by the new one, it starts again from the new one alone: a = 0, τ = 1/q.
"""

from dataclasses import dataclass

RULES = ("perceptron", "pa", "pa1", "pa2", "mira", "romma", "aggressive-romma", "arow")
# A hinge loss below this is the rounding of float32 weights, not a loss to learn from.
LOSS_FLOOR = 1e-6
# sin² of the angle between v and δ below which ROMMA's determinant is the rounding of its terms.
COLLINEAR = 1e-12


@dataclass(frozen=True)
class Rule:
    """A rule and its parameters."""

    name: str = "perceptron"
    learning_rate: float = 1.0
    margin: float = 0.0
    C: float = 1.0
    r: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in RULES:
            raise ValueError(f"unknown rule {self.name!r}; choose one of {', '.join(RULES)}")
        if not self.margin >= 0:
            raise ValueError(f"margin is {self.margin}; it must not be negative")
        for parameter in ("learning_rate", "C", "r"):
            if not getattr(self, parameter) > 0:
                raise ValueError(f"{parameter} is {getattr(self, parameter)}; it must be above 0")

    def wants_update(self, m: float, mistake: bool, cost: float = 1.0) -> bool:
        """Decide whether an example with score difference m is learned from."""
        if self.name == "perceptron":
            return mistake or (self.margin > 0 and m <= self.margin)
        if self.name == "romma":
            return mistake
        return cost - m > LOSS_FLOOR

    def step(self, m: float, q: float, v2: float, cost: float = 1.0, weight: float = 1.0) -> tuple[float, float]:
        """Return (a, τ); v2 is ‖v‖², which only ROMMA asks for; AROW's q is δᵀΣδ."""
        loss = cost - m
        if self.name == "perceptron":
            return 1.0, self.learning_rate * weight
        if self.name in ("pa", "mira"):
            return 1.0, loss / q
        if self.name == "pa1":
            return 1.0, min(weight * self.C, loss / q)
        if self.name == "pa2":
            return 1.0, loss / (q + 1.0 / (2.0 * weight * self.C))
        if self.name == "arow":
            return 1.0, loss / (q + self.r / weight)
        # ROMMA: the smallest v' with v'·v ≥ ‖v‖² and v'·δ ≥ 1
        if v2 == 0.0:
            return 1.0, 1.0 / q
        product = q * v2
        determinant = product - m * m
        if determinant <= COLLINEAR * product or m >= product:
            return 0.0, 1.0 / q
        return (product - m) / determinant, v2 * (1.0 - m) / determinant
