"""LIBLINEAR: L2-regularised L2-loss SVM in the dual, its default; it runs until it is done and knows no epochs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from liblinear.liblinearutil import problem, train

from rivals import Rival


class _Model:
    """Predicts from the weights: LIBLINEAR's own `predict` walks through the rows in Python."""

    def __init__(self, model: Any) -> None:
        self.model = model  # owns the weights
        self.labels = np.array(model.get_labels())
        self.w = np.ctypeslib.as_array(model.w, (model.get_nr_feature() + 1,))

    def predict(self, X: Any) -> Any:
        return np.where(X @ self.w[:-1] + self.w[-1] > 0, *self.labels)


def _fit(data: Any, _: Any, epochs: int, seed: int) -> _Model:
    return _Model(train(data, "-B 1 -q"))


def _prepare(X: Any, y: Any) -> tuple[Any, Any]:
    return problem(y, sp.csr_matrix(X)), None


RIVALS = [Rival("LIBLINEAR", "svm", _fit, _prepare, multiclass=False)]
