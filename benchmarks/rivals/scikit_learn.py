"""scikit-learn: stochastic gradient descent with the perceptron's loss, or with pa1 as its learning rate."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.linear_model import Perceptron, SGDClassifier

from rivals import Rival

NAME = "scikit-learn"
AVERAGED = {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "penalty": None, "average": True}
PA1 = {"loss": "hinge", "learning_rate": "pa1", "eta0": 1.0, "penalty": None}  # eta0 is C


def _fit(X: Any, y: Any, epochs: int, seed: int, model: type = SGDClassifier, **parameters: Any) -> Any:
    return model(max_iter=epochs, tol=None, shuffle=True, random_state=seed, **parameters).fit(X, y)


RIVALS = [
    Rival(f"{NAME} Perceptron", "last", partial(_fit, model=Perceptron)),
    Rival(f"{NAME} averaged", "averaged", partial(_fit, **AVERAGED)),
    Rival(f"{NAME} pa1", "pa1", partial(_fit, **PA1)),
    Rival(f"{NAME} pa1 averaged", "pa1 averaged", partial(_fit, **PA1, average=True)),
]
