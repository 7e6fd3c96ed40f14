"""Take apart and rebuild scikit-learn pipelines of `HashedText` and one of our estimators."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from perceptive.estimators.text import HashedText
from perceptive.models.pipeline import TextPipeline
from perceptive.state import State


def state_of(pipeline: Pipeline) -> State:
    """Return the state of a fitted pipeline; raise TypeError if it has different steps."""
    (first, text), *others = pipeline.steps
    if not isinstance(text, HashedText) or len(others) != 1 or not hasattr(others[0][1], "state"):
        steps = " → ".join(type(step).__name__ for _, step in pipeline.steps)
        raise TypeError(f"cannot save the pipeline {steps}; give HashedText → an estimator of perceptive")
    if not hasattr(text, "features_"):
        raise ValueError("this pipeline has not learned anything; fit it before it is saved")
    [(last, model)] = others
    return TextPipeline([first, last], text.features_, type(model).__name__, model.state()).joined()


def from_parts(parts: TextPipeline, model: Any) -> Pipeline:
    """Build the pipeline from these parts, with the estimator that the state belongs to."""
    options = parts.features.options()
    pairs = {name: tuple(value) for name, value in options.items() if isinstance(value, list)}
    text = HashedText(**{**options, **pairs})
    text.features_ = parts.features
    first, last = parts.steps
    return Pipeline([(first, text), (last, model)])
