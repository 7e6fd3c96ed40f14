"""Describe a learner for people to read, as plain values by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from perceptive.data.feature_space import FeatureSpace

PARAMETERS = ("rule", "hypothesis", "pairs", "budget")  # that tell learners apart


def parameter_facts(parameters: Any) -> dict[str, Any]:
    """Return the parameters that distinguish learners; for rankers also the cost."""
    declared = {f.name for f in fields(parameters)}
    names = [name for name in PARAMETERS if name in declared] + (["cost"] if "pairs" in declared else [])
    return {name: getattr(parameters, name) for name in names}


def rule_facts(parameters: Any) -> dict[str, Any]:
    """Return the properties of the rule that theorems need."""
    return {name: getattr(parameters, name) for name in ("rule", "learning_rate", "margin", "C")}


def space_facts(space: FeatureSpace, parameters: Any) -> dict[str, Any]:
    """Describe how features become columns."""
    format, names = space.format, space.names
    return {
        "format": None if format is None else format.name,
        "bits": getattr(parameters, "bits", None) if format is None else format.bits,
        "names": None if names is None else sum(len(names.names(bucket)) for bucket in names.buckets(1)),
        "collisions": None if names is None else len(names.buckets(2)),
    }
