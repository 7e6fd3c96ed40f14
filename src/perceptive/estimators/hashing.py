"""`HashedFeatures` and `HashedText`: the hash kernel, and hashed texts, as scikit-learn transformers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from perceptive.data.raw import Table, frame_dicts, frame_table, has_words, names_of
from perceptive.data.rows import is_dicts
from perceptive.declarations import Group, anything, one_of, parameter
from perceptive.estimators.data import check_names, forget_columns, in_order, validated
from perceptive.estimators.signature import with_parameters
from perceptive.features.hashing import HashKernel
from perceptive.features.text import TextFeatures
from perceptive.frames import as_arrow, is_frame, is_table, listed
from perceptive.models.registry import TextPipeline
from perceptive.state import State

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


class HashGroup(Group):
    """The parameters of hashing; `HashKernel` checks them."""

    bits: int = parameter(20, "1 … 30: there are 2^bits columns", anything)
    seed: int = parameter(0, "start value of the hash (MurmurHash3_x86_32)", anything)
    signed: bool = parameter(True, "give each feature a sign, so that collisions do not add up", anything)
    remember_names: bool = parameter(
        False, "keep the names seen in `fit` or `fit_transform`, to name the columns", anything
    )


class HashingTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of transformers with 2^bits columns; `_buckets` has the columns, `_encode` makes the rows."""

    _fitted: ClassVar[str]  # the attribute that has learned
    remember_names: bool

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from X, as `fit_transform` does."""
        self.fit_transform(X)
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return X in hashed columns.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        csr_matrix of shape (n_samples, 2^bits)
        """
        check_is_fitted(self)
        return self._encode(X, fitting=False)

    def _encode(self, X: Any, fitting: bool) -> sparse.csr_matrix:
        indptr, indices, data = self._buckets.encode(X, grow=fitting)
        return sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, self._buckets.width))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns: those remembered from `fit`, else the class name and a number.

        Parameters
        ----------
        input_features : ignored
            The names do not depend on it.

        Returns
        -------
        array of str
            One per column; names that share a column are joined by " | ".

        Examples
        --------
        >>> from perceptive import HashedFeatures
        >>> hashed = HashedFeatures(bits=1, remember_names=True).fit([{"size": 2.5}, {"colour": "red"}])
        >>> hashed.get_feature_names_out().tolist()
        ['size', 'colour=red']
        """
        names: NDArray[np.object_] = super().get_feature_names_out(input_features)
        if self.remember_names:
            for column, met in self._buckets.remembered().items():
                names[column] = " | ".join(met)
        return names

    @property
    def _buckets(self) -> Any:
        return getattr(self, self._fitted)

    @property
    def _n_features_out(self) -> int:
        return int(self._buckets.width)


@with_parameters
class HashedFeatures(HashGroup, HashingTransformer):
    """Hash named features into 2^bits columns, without a vocabulary.

    Takes lists of dicts (feature to number or string), arrays, sparse matrices and data frames. A column of a frame
    is hashed by its name, any other column by its index: column 3 is the feature ``"3"``, in the same place as
    ``{3: x}``. If a frame has columns of words, its numbers are scaled as `LinearClassifier` scales them.

    {parameters}

    Attributes
    ----------
    kernel_ : HashKernel
        The kernel. With ``remember_names=True``, use ``kernel_.names(column)`` and ``kernel_.collisions()``.

    Examples
    --------
    >>> from perceptive import HashedFeatures
    >>> hashed = HashedFeatures(bits=10, remember_names=True)
    >>> X = hashed.fit_transform([{"colour": "red", "size": 2.5}, {"size": 1}])
    >>> X.shape, X.indices.tolist(), hashed.kernel_.names(641)
    ((2, 1024), [641, 1018, 1018], ['colour=red'])
    """

    kernel_: HashKernel
    _fitted = "kernel_"
    _table: Table | None = None  # how the rows of a frame with words become dicts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.dict = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit_transform(self, X: Any, y: Any = None) -> sparse.csr_matrix:
        """Check X, remember its names if ``remember_names`` is set, and transform it.

        Parameters
        ----------
        X : list of dicts, or array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        self.kernel_ = HashKernel(self.bits, self.seed, self.signed, self.remember_names)
        forget_columns(self)  # of an earlier fit
        self._table = None
        return self._encode(X, fitting=True)

    def _encode(self, X: Any, fitting: bool) -> sparse.csr_matrix:
        if is_frame(X):
            X, there = as_arrow(X) if is_table(X) else X, names_of(X)
            if has_words(X):
                if fitting:
                    self._table = frame_table(X, scales=True)
                check_names(self, there, fitting)
                X = frame_dicts(X)
            elif not fitting and hasattr(self, "feature_names_in_"):
                X = in_order(X, list(self.feature_names_in_))
        if is_dicts(X):
            rows = X if self._table is None else [self._table.row(row) for row in X]
            return super()._encode(rows, fitting)
        X = validated(self, X, reset=fitting)
        n_columns = X.shape[1]
        names = getattr(self, "feature_names_in_", map(str, range(n_columns)))
        buckets, signs = self.kernel_.hash(names, grow=fitting)
        columns = sparse.csr_matrix(
            (signs.astype(X.dtype), buckets, np.arange(n_columns + 1, dtype=np.int32)),
            shape=(n_columns, self.kernel_.width),
        )
        hashed = sparse.csr_matrix(sparse.csr_matrix(X) @ columns)
        if not np.isfinite(hashed.data).all():
            raise ValueError("columns of one bucket do not add up to a finite number; scale X")
        hashed.eliminate_zeros()
        hashed.sort_indices()
        return hashed


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
    from sklearn.pipeline import Pipeline  # takes a while to import

    options = parts.features.options()
    pairs = {name: tuple(value) for name, value in options.items() if isinstance(value, list)}
    text = HashedText(**{**options, **pairs})
    text.features_ = parts.features
    first, last = parts.steps
    return Pipeline([(first, text), (last, model)])
