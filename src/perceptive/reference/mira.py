"""The small quadratic program of k-best MIRA.

min ½‖v' − v‖² + C·ξ with v'·δ_j ≥ cost_j − ξ and ξ ≥ 0. The dual is max Σ α_j ℓ_j − ½‖Σ α_j δ_j‖² over α ≥ 0, Σ α ≤ C,
with ℓ_j = cost_j − v·δ_j; then v' = v + Σ α_j δ_j. A slack α_0 (δ = 0, ℓ = 0) makes Σ α = C; each step moves the
two α whose slopes differ most.
"""

from collections.abc import Sequence

KKT = 1e-9
MAX_STEPS = 100_000


def solve_mira(gram: Sequence[Sequence[float]], loss: Sequence[float], C: float) -> list[float]:
    """Return α for the Gram matrix δ_i·δ_j and the losses."""
    k = len(loss)
    K = [[*row, 0.0] for row in gram] + [[0.0] * (k + 1)]
    alpha = [0.0] * k + [C]
    slope = [*loss, 0.0]
    scale = max([1.0, *map(abs, loss)])
    for _ in range(MAX_STEPS):
        up = max(range(k + 1), key=lambda i: slope[i])
        down = min((i for i in range(k + 1) if alpha[i] > 0), key=lambda i: slope[i])
        gap = slope[up] - slope[down]
        if gap <= KKT * scale:
            break
        curvature = K[up][up] + K[down][down] - 2 * K[up][down]
        move = min(alpha[down], gap / curvature) if curvature > 0 else alpha[down]
        alpha[up] += move
        alpha[down] = 0.0 if move == alpha[down] else alpha[down] - move
        slope = [s - move * (K[i][up] - K[i][down]) for i, s in enumerate(slope)]
    return alpha[:k]


def kkt_violation(gram: Sequence[Sequence[float]], loss: Sequence[float], C: float, alpha: Sequence[float]) -> float:
    """Return how far α is from optimal: there, all α > 0 (the slack too) have the same, largest slope."""
    slope = [loss[i] - sum(gram[i][j] * alpha[j] for j in range(len(loss))) for i in range(len(loss))]
    slack = C - sum(alpha)
    used = [s for s, a in zip(slope, alpha, strict=True) if a > 0] + ([0.0] if slack > 1e-12 else [])
    return max([*slope, 0.0]) - min(used)
