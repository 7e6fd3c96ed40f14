"""Explanations of wide rows: only what is listed is named."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from perceptive.explanation import explain_rows
from perceptive.learners import LinearLearner

pytestmark = pytest.mark.core


def test_only_what_is_listed_is_named():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-2, 3, (20, 200)).astype(float), rng.integers(0, 2, 20).tolist()
    learner = LinearLearner(classes=[0, 1], hypothesis="last", bias=0)
    learner.learn_many(X, y)
    asked = []

    def name(column):
        asked.append(column)
        return f"c{column}", 1.0

    rows = csr_array(X)
    short, whole = explain_rows(learner, rows, name, top=3), explain_rows(learner, rows, lambda j: (f"c{j}", 1.0))
    assert len(asked) == len({*asked}) <= 60
    for few, every in zip(short, whole, strict=True):
        assert few.parts == every.parts[:3]
        assert few.score == every.score
        assert few.rest == sum(part.contribution for part in every.parts[3:])
        sizes = [abs(part.contribution) for part in every.parts]
        assert sizes == sorted(sizes, reverse=True)
        assert 0 not in sizes
