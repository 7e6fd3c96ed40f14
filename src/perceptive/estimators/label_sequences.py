"""`LabelSequences`: what taggers predict, so that scikit-learn can put the parts of a cross-validation together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class LabelSequences(list[list[Any]]):
    """A list of label sequences. For NumPy it is an array of one dimension, whatever their lengths.

    >>> found = LabelSequences([["O", "B"], ["O"]])
    >>> found == [["O", "B"], ["O"]], np.concatenate([found, found]).shape
    (True, (4,))
    """

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The sequences as objects."""
        if copy is False:
            raise ValueError("an array of label sequences is made anew; leave out copy=False")
        array = np.empty(len(self), object)
        for i, labels in enumerate(self):  # NumPy would look into them
            array[i] = labels
        return array if dtype is None else array.astype(dtype)
