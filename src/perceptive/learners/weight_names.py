"""The weights of a tagger by name: a feature, and the label or pair of labels it speaks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perceptive.features.templates import Templates

RAW, SEGMENT_IN = -1, -5  # of core/sequence/sentences.hpp
SEGMENT = {-2: "length", -3: "text", -4: "shape"}


def weight_name(
    templates: Templates, labels: Sequence[Any], kind: str, template: int, values: Sequence[str], label: int
) -> tuple[str, str]:
    """Feature and label of a weight, as `core.SequenceModel.heaviest` numbers them."""
    if kind != "state":
        before, now = divmod(label, len(labels))
        name = f"{templates.edge_names[template]} = {' / '.join(values)}" if template >= 0 else "@label[-1]"
        return name, f"{labels[before]} → {labels[now]}"
    if template < RAW:
        dictionaries = dict(enumerate(templates.phrases))
        what = SEGMENT.get(template) or f"in({dictionaries.get(SEGMENT_IN - template, '?')})"  # of a strange file
        name = f"segment {what} = {' '.join(values)}"
    else:
        name = values[0] if template == RAW else f"{templates.state_names[template]} = {' / '.join(values)}"
    return name, str(labels[label])
