"""River: one example at a time, each a dict; our own `learn_one` beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import scipy.sparse as sp
from river.linear_model import PAClassifier, Perceptron

from perceptive import LinearClassifier
from rivals import Rival


def dicts(X: Any) -> list[dict[int, float]]:
    """The non-zeros of each row by column."""
    X = sp.csr_array(X)
    ends = zip(X.indptr, X.indptr[1:], strict=False)
    return [dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)) for a, b in ends]


class _Model:
    """Many predictions from a model that makes one."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, X: Any) -> list[bool]:
        return [self.model.predict_one(x) for x in dicts(X)]


def _fit(X: Any, y: Any, epochs: int, seed: int, make: Callable[[], Any]) -> _Model:
    model = make()
    for _ in range(epochs):
        for x, label in zip(X, y, strict=True):
            model.learn_one(x, label)
    return _Model(model)


def _prepare(X: Any, y: Any) -> tuple[Any, Any]:
    return dicts(X), (y > 0).tolist()


MODELS = {
    "perceptive": {"last": partial(LinearClassifier, hypothesis="last"), "averaged": LinearClassifier,
                   "pa1": partial(LinearClassifier, rule="pa1", hypothesis="last")},
    "River": {"last": Perceptron, "pa1": partial(PAClassifier, C=1.0, mode=1)},
}  # fmt: skip
RIVALS = [
    Rival(f"{library} {kind}", kind, partial(_fit, make=make), _prepare, multiclass=False)
    for library, models in MODELS.items()
    for kind, make in models.items()
]
