"""What the parts of a data set are to a theorem, put together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perceptive.data.dataset import Margins


def join(parts: list[Margins]) -> Margins:
    """The margins of all parts as one; examples that can err with δ = 0 too count as a round of their own."""
    parts = [_with_twins(part) for part in parts]
    if len(parts) == 1:
        return parts[0]
    weighted = any(part.weights is not None for part in parts)
    weights = [np.ones(len(part.lengths2)) if part.weights is None else part.weights for part in parts]
    return Margins(
        {name: np.concatenate([part.margins[name] for part in parts]) for name in (parts[0].margins if parts else {})},
        np.concatenate([np.empty(0), *(part.lengths2 for part in parts)]),
        max((part.radius2 for part in parts), default=0.0),
        np.concatenate(weights) if weighted else None,
        certified=all(part.certified for part in parts),
    )


def _with_twins(part: Margins) -> Margins:
    if part.twins is None:
        return part

    def add(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.append(values, values[part.twins])

    lengths2 = np.append(part.lengths2, np.zeros(np.count_nonzero(part.twins)))
    margins = {name: add(values) for name, values in part.margins.items()}
    return Margins(margins, lengths2, part.radius2, part.weights, certified=part.certified)
