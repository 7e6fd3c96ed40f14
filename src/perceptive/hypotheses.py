"""Which of the vectors v₀, v₁, … of a run predicts in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from perceptive.errors import Parameter, ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Hypothesis(NamedTuple):
    """A way to predict from a run."""

    meaning: str  # in a sentence
    needs_journal: bool  # whether it can only be had from the journal of all updates


HYPOTHESES = {
    "last": Hypothesis("the vector that training ended with", False),
    "averaged": Hypothesis("the mean of all v_k, weighted by the examples they survived", False),
    "best": Hypothesis("the v_k that survived longest", True),
    "voted": Hypothesis("the majority of all v_k, weighted by the examples they survived", True),
    "random": Hypothesis("one v_k, drawn with probability m_k/m", True),
}


def check_name(hypothesis: object) -> None:
    """Raise ParameterError if this is not a hypothesis."""
    if not isinstance(hypothesis, str) or hypothesis not in HYPOTHESES:
        known = ", ".join(map(repr, HYPOTHESES))
        raise ParameterError(f"{{}}: it must be one of {known}", Parameter("hypothesis", hypothesis))


def choose_voter(hypothesis: str, survival: NDArray[np.int64], seed: int) -> int:
    """The k of the one v_k that predicts under "last", "best" or "random", from how many examples each survived.

    Examples
    --------
    >>> import numpy as np
    >>> choose_voter("best", np.array([1, 3, 4, 2, 0]), seed=0)
    2
    """
    import numpy as np

    total = int(survival.sum())
    if hypothesis == "last" or total == 0:
        return len(survival) - 1
    if hypothesis == "best":
        return int(np.argmax(survival))
    drawn = np.random.default_rng(seed).integers(total)
    return int(np.searchsorted(np.cumsum(survival), drawn, side="right"))
