"""`HashedText`: text features as a scikit-learn transformer; and how its pipelines are saved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scipy import sparse
from sklearn.pipeline import Pipeline

from perceptive.declarations import Group, anything, one_of, parameter
from perceptive.estimators.hashing import HashGroup, HashingTransformer
from perceptive.estimators.signature import with_parameters
from perceptive.features.text import TextFeatures
from perceptive.frames import is_frame, listed
from perceptive.models.registry import TextPipeline
from perceptive.state import State


class TextGroup(Group):
    """Which features a text has; `TextFeatures` checks them."""

    words: tuple[int, int] | None = parameter(
        (1, 1), "the shortest and the longest word n-grams", anything, kind="pair of int, or None"
    )
    chars: tuple[int, int] | None = parameter(
        None, "the shortest and the longest character n-grams, within words", anything, kind="pair of int, or None"
    )
    lowercase: bool = parameter(True, "fold upper case", anything)
    weighting: str = parameter(
        "tf", "a feature that occurs tf times counts 1, tf, or 1 + ln tf", one_of("binary", "tf", "log-tf")
    )
    idf: bool = parameter(
        False, "weigh rare columns more, by how many of the texts seen in `fit` they are in", anything
    )
    normalize: bool = parameter(True, "divide each row by its length", anything)


@with_parameters
class HashedText(TextGroup, HashGroup, HashingTransformer):
    """Turn texts into hashed word and character n-grams, in 2^bits columns.

    `perceptive.features.text.TextFeatures` describes what a word is and how features are named.

    {parameters}

    Attributes
    ----------
    features_ : TextFeatures
        With ``remember_names=True``, use ``features_.names(column)`` and ``features_.collisions()``.

    Examples
    --------
    >>> from perceptive import HashedText
    >>> hashed = HashedText(words=(1, 2), bits=10, remember_names=True)
    >>> X = hashed.fit_transform(["Learning from mistakes", "mistakes, mistakes"])
    >>> X.shape, X.nnz, hashed.features_.names(X.indices[0])
    ((2, 1024), 7, ['from mistakes'])
    """

    features_: TextFeatures
    _fitted = "features_"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit_transform(self, X: Iterable[str | bytes], y: Any = None) -> sparse.csr_matrix:
        """Count document frequencies and remember names if the parameters say so, and transform X.

        Parameters
        ----------
        X : iterable of str, or of bytes in UTF-8
        y : ignored
        """
        self.features_ = TextFeatures(**self.get_params())
        if self.idf:
            X = X if isinstance(X, str | bytes) or is_frame(X) else list(listed(X))
            self.features_.learn_idf(X)
        return self._encode(X, fitting=True)


# ---------------------------------------------------------------- pipelines of it and one of our estimators


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
