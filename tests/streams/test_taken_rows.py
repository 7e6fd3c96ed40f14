"""Examples that are taken out of others."""

import numpy as np

from perceptive.streams import examples
from perceptive.streams.examples import Examples


def test_rows_are_copied_part_by_part(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (50, 9)) * (rng.random((50, 9)) < 0.4)
    X[[0, 7, 49]] = 0  # rows without entries
    indptr = np.append(0, np.cumsum((X != 0).sum(axis=1))).astype(np.int32)
    indices = np.nonzero(X)[1].astype(np.int32)
    some = Examples(["a", "b"], rng.integers(2, size=50).astype(np.int32), rng.random(50), None, indptr, indices,
                    X[X != 0].astype(np.float32))  # fmt: skip
    for part in (1, 7, 4096):
        monkeypatch.setattr(examples, "PART", part)
        for rows in (rng.permutation(50)[:23], np.arange(50), np.empty(0, np.int64)):
            taken = some.take(rows)
            np.testing.assert_array_equal(taken.X(9).toarray(), X[rows])
            np.testing.assert_array_equal(taken.which, some.which[rows])
            np.testing.assert_array_equal(taken.weight, some.weight[rows])
            assert (taken.indptr.dtype, taken.indices.dtype, taken.data.dtype) == (np.int32, np.int32, np.float32)
