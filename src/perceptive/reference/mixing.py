"""Iterative parameter mixing (McDonald, Hall & Mann 2010): split the examples, learn on the parts, mix, repeat.

    v ← v₀
    for n = 1, 2, …                                       an epoch
        for each shard i:  v_{i,n} ← play(v, shard i)     at the same time; k_{i,n} updates
        v ← Σ_i μ_{i,n} v_{i,n}                           with μ_{i,n} ≥ 0 and Σ_i μ_{i,n} = 1

With μ ``"uniform"``, μ_{i,n} = 1/S; with ``"mistakes"``, μ_{i,n} = k_{i,n}/Σ_j k_{j,n} (1/S if there are none).
If shards are trained to the end and mixed only once (one-shot mixing), this need not converge.

The bound. Let u be a unit vector, γ > 0, d_t = max(0, γ − u·δ_t) for each round t, R the largest ‖δ‖ over the updates,
and D² = Σ_n Σ_i μ_{i,n} Σ_t d_t² over the rounds of shard i in epoch n. Then the perceptron makes

    Σ_n Σ_i μ_{i,n} k_{i,n} ≤ ((R + D)/γ)²                (D = 0, separable data: McDonald et al. 2010, Theorem 3)

since u·v is linear in v, and ‖v‖² is convex: ‖Σ μ_i v_i‖² ≤ Σ μ_i ‖v_i‖².

The averaged hypothesis. As in one sequence, every example that is played is predicted by one vector, and the average is
their mean: Σ_n Σ_i Σ_t v_{i,n,t} / Σ_n Σ_i T_{i,n}, where v_{i,n,t} predicts example t of shard i in epoch n. μ
enters only through v.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

Vector = Sequence[float]


class Played(NamedTuple):
    """The vectors of one shard: v_0 = v, v_1, …, v_K, and how many examples each of them predicted."""

    history: Sequence[Vector]
    survival: Sequence[int]

    @property
    def updates(self) -> int:
        """K."""
        return len(self.history) - 1


class Mixed(NamedTuple):
    """The result of mixing.

    Attributes
    ----------
    last, averaged : list of float
        The two hypotheses.
    updates : float
        Σ_n Σ_i μ_{i,n} k_{i,n}, the left side of the bound.
    epochs : int
        Epochs played; the last one made no update, or was the last one allowed.
    """

    last: list[float]
    averaged: list[float]
    updates: float
    epochs: int


def shares(updates: Sequence[int], how: str = "uniform") -> list[float]:
    """Return μ_{i,n} of each shard."""
    if how not in ("uniform", "mistakes"):
        raise ValueError(f"unknown mixing {how!r}; choose uniform or mistakes")
    if how == "uniform" or not any(updates):
        return [1.0 / len(updates)] * len(updates)
    return [k / sum(updates) for k in updates]


def mix(vectors: Sequence[Vector], mu: Sequence[float]) -> list[float]:
    """Return Σ μ_i v_i."""
    return [sum(m * v[j] for m, v in zip(mu, vectors, strict=True)) for j in range(len(vectors[0]))]


def mix_by_precision(
    vectors: Sequence[Vector], sigmas: Sequence[Vector], mu: Sequence[float]
) -> tuple[list[float], list[float]]:
    """AROW has a variance σ_j beside each weight: with P_i = 1/σ_i, P = Σ μ_i P_i and v = P⁻¹ Σ μ_i P_i v_i.

    So a shard that has seen a feature often influences its weight more. Return v and 1/P. No bound is known.
    """
    precision = mix([[1.0 / s for s in sigma] for sigma in sigmas], mu)
    told = mix(
        [[value / s for value, s in zip(v, sigma, strict=True)] for v, sigma in zip(vectors, sigmas, strict=True)], mu
    )
    return [t / p for t, p in zip(told, precision, strict=True)], [1.0 / p for p in precision]


def iterate(
    start: Vector, shards: int, play: Callable[[Vector, int, int], Played], epochs: int, how: str = "uniform"
) -> Mixed:
    """Mix after every epoch, until one makes no update.

    Parameters
    ----------
    start : sequence of float
        v₀.
    shards : int
    play : callable
        Called as ``play(v, i, n)``: returns what shard i learns in epoch n, starting from v.
    epochs : int
        At most.
    how : one of "uniform", "mistakes"
        What μ is.
    """
    v, total, rounds, weighted = list(start), [0.0] * len(start), 0, 0.0
    for epoch in range(1, epochs + 1):
        played = [play(v, i, epoch - 1) for i in range(shards)]
        mu = shares([one.updates for one in played], how)
        v = mix([one.history[-1] for one in played], mu)
        weighted += sum(m * one.updates for m, one in zip(mu, played, strict=True))
        for one in played:
            rounds += sum(one.survival)
            for vector, m in zip(one.history, one.survival, strict=True):
                total = [t + m * value for t, value in zip(total, vector, strict=True)]
        if not any(one.updates for one in played):
            break
    return Mixed(v, [t / rounds for t in total] if rounds else list(v), weighted, epoch)
