"""From the run v_0, v_1, … with survivals m_0, m_1, … to one prediction."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

V = TypeVar("V")


def average(
    history: Sequence[Sequence[float]], survival: Sequence[int], kind: str = "examples", open: bool = False
) -> list[float]:
    """Return Σ m_k v_k / m, written out; with ``kind="mistakes"`` the plain mean of v_0 … v_K.

    While a run is ``open``, v_K is credited with the example that it is about to predict: (Σ m_k v_k + v_K)/(m + 1).
    Before the first example, this is v_0.
    """
    counts = [1] * len(history) if kind == "mistakes" else list(survival)
    if kind != "mistakes" and (open or sum(counts) == 0):
        counts[-1] += 1
    total = sum(counts)
    return [sum(m * v[j] for m, v in zip(counts, history, strict=True)) / total for j in range(len(history[0]))]


def best(survival: Sequence[int]) -> int:
    """Return the index k of the longest survivor; the earliest of several."""
    return max(range(len(survival)), key=lambda k: survival[k])


def draw(survival: Sequence[int], rng: random.Random) -> int:
    """Return an index k with probability m_k/m."""
    return rng.choices(range(len(survival)), weights=survival)[0]


def vote_binary(history: Sequence[V], survival: Sequence[int], score: Callable[[V], float]) -> int:
    """Return Σ m_k sign(v_k·x): a vector with score 0 abstains."""
    total = 0
    for v, m in zip(history, survival, strict=True):
        s = score(v)
        total += m * ((s > 0) - (s < 0))
    return total


def vote_joint(history: Sequence[V], survival: Sequence[int], scores: Callable[[V], Sequence[float]]) -> list[int]:
    """Return the votes for each class; v_k votes for its highest score (ties: lowest index), unless all are equal."""
    votes: list[int] = []
    for v, m in zip(history, survival, strict=True):
        s = scores(v)
        votes = votes or [0] * len(s)
        if max(s) > min(s):
            votes[list(s).index(max(s))] += m
    return votes
