"""What of the run v₀, v₁, … predicts in the end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A way to predict from a run.

    Attributes
    ----------
    meaning : str
        In a sentence.
    needs_journal : bool
        Whether it can only be had from the journal of all updates.
    """

    meaning: str
    needs_journal: bool


HYPOTHESES = {
    "last": Hypothesis("the vector that training ended with", False),
    "averaged": Hypothesis("the mean of all v_k, weighted by the examples they survived", False),
    "best": Hypothesis("the v_k that survived longest", True),
    "voted": Hypothesis("the majority of all v_k, weighted by the examples they survived", True),
    "random": Hypothesis("one v_k, drawn with probability m_k/m", True),
}
