"""`PresetGroup`: the parameters of a tagger, some of which its preset sets."""

from __future__ import annotations

import warnings
from typing import Any

from perceptive import roles
from perceptive.declarations import number, one_of, or_word, parameter, positive, whole
from perceptive.features.presets import brought
from perceptive.learners.sequence_model import told_of_rule
from perceptive.parameter_groups import SequenceGroup, TrainingGroup

OPEN = ("rule", "C", "min_count", "encoding", "epochs", "tol")  # that may be "auto"


def settled(values: dict[str, Any], template: Any) -> dict[str, Any]:
    """Replace each "auto" by the template's value, or leave the parameter out."""
    given = {name: value for name, value in values.items() if name not in OPEN or value != "auto"}
    if note := told_of_rule(template, given):
        warnings.warn(note, stacklevel=2)
    return {**given, "template": template, **brought(template, given)}


class PresetGroup(SequenceGroup, TrainingGroup):
    """The parameters of the tagger estimator; "auto" is the value of the preset."""

    rule: str = parameter(
        "auto",
        check=one_of("auto", *roles.rules("sequence", "linear")),
        doc='How far to move on a sentence. "auto": what the preset brings, "pa1" for "chunking", "ner" and "pos"; '
        'else "perceptron".',
    )
    C: Any = parameter(
        "auto",
        check=or_word("auto", positive),
        doc='Aggressiveness of pa1, pa2 and mira. "auto": 0.03.',
        kind='float or "auto"',
    )
    min_count: Any = parameter(
        "auto",
        check=or_word("auto", whole(1)),
        doc='Features seen less often in `fit` are left out. "auto": 2 for the preset "chunking", else 1.',
        kind='int or "auto"',
    )
    encoding: str | None = parameter(
        "auto",
        check=one_of("auto", None, "bioes", "none"),
        doc='"bioes": internally, segment ends and one-token segments have their own labels, which helps to '
        "find chunks and names; input, output and templates use the scheme of your labels. Predicted segments "
        'of a type have one, two or more tokens only if training segments have. "auto": "bioes" for the '
        'presets "chunking" and "ner", else None.',
    )
    epochs: Any = parameter(
        "auto",
        check=or_word("auto", whole(1)),
        doc='Maximum number of epochs; an epoch without an update ends the training. "auto": 10 for the '
        "perceptron, else 40.",
        kind='int or "auto"',
    )
    tol: Any = parameter(
        "auto",
        check=or_word("auto", number("in [0, 1)", lambda value: 0 <= value < 1)),
        doc="After ten or more epochs, stop if the later half made mistakes on at most this part of examples; 0: "
        'never. "auto": 0 for the perceptron, else 0.005.',
        kind='float or "auto"',
    )
