"""perceptive itself, behind the interface of the rivals."""

from __future__ import annotations

from functools import partial
from typing import Any

from perceptive import LinearClassifier
from rivals import Rival

NAME = "perceptive"


def _fit(X: Any, y: Any, epochs: int, seed: int, **parameters: Any) -> LinearClassifier:
    return LinearClassifier(epochs=epochs, random_state=seed, **parameters).fit(X, y)


RIVALS = [
    Rival(f"{NAME} averaged", "averaged", _fit),
    Rival(f"{NAME} last", "last", partial(_fit, hypothesis="last")),
    Rival(f"{NAME} pa1 averaged", "pa1 averaged", partial(_fit, rule="pa1")),
    Rival(f"{NAME} pa1", "pa1", partial(_fit, rule="pa1", hypothesis="last")),
]
