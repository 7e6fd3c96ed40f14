"""Examples as scikit-learn hands them over: checked, weighted, a part held out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from perceptive.data.labels import NO_LABELS, Labels, plain_label
from perceptive.data.raw import frame_dicts, has_words, names_of
from perceptive.data.rows import is_dicts
from perceptive.data.sample_weights import as_floats
from perceptive.frames import as_arrow, is_frame, is_table, listed
from perceptive.kernels.examples import check_real
from perceptive.sparse import inspected
from perceptive.streams.examples import exact_array
from perceptive.streams.values import is_missing, some_names
from perceptive.training.holdout import HoldOut

WIDEST = 2**8  # characters of labels in an array of texts
LARGEST = 2**26  # and its bytes
NO_NUMBERS = ("could not convert", "inhomogeneous", "must be a string or a real number")  # in what NumPy says
MOST_SHOWN = 40  # characters of a text


@contextmanager
def unchanged_if_it_fails(estimator: Any) -> Iterator[None]:
    """What scikit-learn notes of the data is taken back where they are refused."""
    noted = {name: estimator.__dict__.get(name) for name in ("n_features_in_", "feature_names_in_")}
    try:
        yield
    except BaseException:
        for name, value in noted.items():
            estimator.__dict__.pop(name, None)
            if value is not None:
                setattr(estimator, name, value)
        raise


def forget_columns(estimator: Any) -> None:
    """Dicts and objects have no columns that scikit-learn could have noted."""
    for name in ("n_features_in_", "feature_names_in_"):
        estimator.__dict__.pop(name, None)


def check_labels(y: Any) -> NDArray[Any]:
    """Labels in an array."""
    y = listed(y)
    check_real(y, "y")
    if isinstance(y, list | tuple) or (isinstance(y, np.ndarray) and y.dtype.kind in "OS"):
        for label in y:
            if isinstance(label, NO_LABELS):
                plain_label(label)  # raises
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if type(y) is np.ndarray and y.ndim == 1 and _plain(y):
        return y  # scikit-learn would say the same of it, for as much work as learning from some thousand examples
    labels: NDArray[Any] = column_or_1d(_exact(y), warn=True)
    if labels.dtype.kind in "mM":
        raise ValueError("y holds dates or times; give numbers, strings or booleans as labels")
    if labels.dtype == object and any(is_missing(label) for label in labels):
        raise ValueError("y contains missing labels; drop such examples")
    if labels.dtype == object and len({type(label) for label in labels}) > 1:
        raise ValueError("y mixes labels of different kinds; give all as strings, or all as numbers")
    if labels.dtype != object or not isinstance(labels[0], int):  # of whole numbers beyond 64 bits
        check_classification_targets(labels)
    return labels


def check_label(label: Any, learner: Any) -> None:
    """Raise where a label is missing."""
    try:
        if label in learner.index:
            return
    except TypeError:  # which cannot be a class, as the learner will say
        return
    if is_missing(label):
        raise ValueError("y contains missing labels; drop such examples")


def _plain(y: NDArray[Any]) -> bool:
    """Whether an array holds labels that need no look at each: strings, booleans, or whole numbers."""
    if y.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            return len(y) > 0 and bool((y == y.astype(np.int64)).all())
    return len(y) > 0 and y.dtype.kind in "biuU"


def _exact(y: Any) -> Any:
    """Whole numbers as an array that tells all of them apart; anything else as it is."""
    given = y.tolist() if isinstance(y, np.ndarray) and y.dtype == object else y
    whole = isinstance(given, list | tuple) and len(given) > 0 and all(type(label) is int for label in given)
    return exact_array(list(given)) if whole else y


def is_raw(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether X is to be read as the files were that were learned from; with ``reset`` by a learner that begins."""
    space = estimator.reading
    return space is not None and space.takes_raw(X) and (not reset or space.knows(X))


def _by_name(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether the columns of a frame are features by name: where it holds words, or where names are hashed."""
    if reset:
        return getattr(estimator, "bits", None) is not None or has_words(X)
    space = estimator.learner_.space
    return space.vocabulary is not None or space.hasher is not None


def _check_names(estimator: Any, names: list[str], reset: bool) -> None:
    """Note the columns of a frame whose features have names; or raise where none of those noted is among them."""
    if reset:
        forget_columns(estimator)
        estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator.n_features_in_ = len(names)
        return
    known = list(getattr(estimator, "feature_names_in_", ()))
    lost = [name for name in known if name not in names]
    if lost and len(lost) == len(known):
        raise ValueError(
            f"there is none of the columns that the model has learned from, {some_names(known)}; there are "
            f"{some_names(names)}; check the data"
        )
    if lost:
        warnings.warn(f"X lacks columns that the model has learned from: {some_names(lost)}", stacklevel=4)


def validated(
    estimator: Any,
    X: Any,
    reset: bool,
    *,
    cure: str = "encode texts by HashedText, or give dicts",
    accept_sparse: Any = "csr",
    **how: Any,
) -> Any:
    """What scikit-learn makes of X, which the core has looked at first: scikit-learn trusts sparse matrices.

    ``cure`` is told where X does not hold numbers.
    """
    check_real(X, "X")
    how |= {"dtype": [np.float64, np.float32], "accept_sparse": accept_sparse, "accept_large_sparse": True}
    try:
        return validate_data(estimator, inspected(X), reset=reset, **how)
    except (TypeError, ValueError) as error:
        if not any(said in str(error) for said in NO_NUMBERS):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"X must hold numbers, all rows of one length ({error}); {cure}") from None


def check_rows(estimator: Any, X: Any, reset: bool) -> Any:
    """Rows as the learner takes them; what is wrong within them is found there."""
    if is_raw(estimator, X, reset):
        if reset:
            forget_columns(estimator)
        return X
    if is_frame(X):
        X, names = as_arrow(X) if is_table(X) else X, names_of(X)
        if _by_name(estimator, X, reset):
            _check_names(estimator, names, reset)
            old = not reset and hasattr(estimator, "feature_names_in_") and estimator.learner_.space.table is None
            return frame_dicts(X, meant=not old)
    if is_dicts(X):
        if reset:
            forget_columns(estimator)
        return X
    refuse_other_kinds(X)
    # the core looks at every value anyway: finiteness is checked there
    instead = "" if reset or estimator.reading is None else estimator.reading.instead()
    cure = {"cure": instead.removeprefix("; ")} if instead else {}
    if instead and isinstance(X, list) and X and isinstance(X[0], list | tuple):
        estimator.reading.check(len(X[0]), False)  # says what to give instead
    X = validated(estimator, X, reset, order="C", ensure_all_finite=False, **cure)
    return X if reset else estimator.learner_.space.scaled(X)


def refuse_other_kinds(X: Any) -> None:
    """Raise where X is none of what can be learned from, and something else that people have."""
    if isinstance(X, str):
        raise ValueError(f"X is one text, {X[:MOST_SHOWN]!r}; give a list of examples")
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):
        if X and all(isinstance(values, list | tuple | np.ndarray) for values in X.values()):
            raise ValueError("X is a dict of columns; give a data frame, pandas.DataFrame(X)")
        raise ValueError("X is one dict; give a list of dicts, or use predict_one and learn_one")
    if type(X).__name__ == "LazyFrame":
        raise ValueError("X is a LazyFrame, which holds no rows yet; give X.collect()")
    if getattr(getattr(X, "dtype", None), "names", None):
        raise ValueError("X is a structured array; give a data frame, pandas.DataFrame(X)")


def example_weights(
    y: NDArray[Any], classes: NDArray[Any], class_weight: Any, sample_weight: ArrayLike | None
) -> NDArray[np.float64] | None:
    """The weights of examples: their own times their class's; None where all are 1."""
    if sample_weight is None and class_weight is None:
        return None
    n = len(y)
    if sample_weight is not None:
        sample_weight = as_floats(sample_weight, "sample_weight")
    weights: NDArray[np.float64] = _check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64, copy=True)
    if class_weight is not None:
        try:
            per_class = compute_class_weight(class_weight, classes=classes, y=y)
        except ValueError:
            raise ValueError(
                f"class_weight={class_weight!r}: give a dict with a weight for each of {classes.tolist()}, "
                "'balanced', or None"
            ) from None
        weights *= per_class[np.searchsorted(classes, y)]
    return weights


def hold_out(
    labels: Labels | int, fraction: float, seed: int, calibrates: bool = False, what: str = "examples"
) -> NDArray[np.bool_]:
    """Which examples, or of how many, are held out: a fraction for early stopping, else some for calibration.

    Raises where a fraction would be none of them, or all. For calibration there is a tenth, of few examples more.
    """
    labels = Labels([None], np.zeros(labels, np.int64)) if isinstance(labels, int) else labels
    for part in (0.1, 0.25) if calibrates and not fraction else ():
        chosen = HoldOut(part, seed).choose(labels)
        if chosen.any():
            return chosen
    if not (fraction or calibrates):
        return np.zeros(len(labels.which), bool)
    holdout = HoldOut(fraction or 0.5, seed)
    chosen = holdout.choose(labels)
    holdout.check(what if fraction else "examples")
    return chosen


def take(values: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a frame, an array, a matrix or a list; None where there are no values."""
    if values is None or hasattr(values, "iloc"):
        return None if values is None else values.iloc[rows]
    if is_table(values):
        return as_arrow(values).take(rows)
    return values[rows] if hasattr(values, "shape") else [values[i] for i in rows.tolist()]


def label_array(labels: list[Any], like: NDArray[Any] | None) -> NDArray[Any]:
    """Labels as an array: of the kind that the data had, or of objects where kinds are mixed."""
    if like is not None and like.dtype == object:
        return np.array(labels, dtype=object)
    kinds = {type(label) for label in labels}
    if kinds == {str}:
        return np.array(labels, dtype=roomy(np.dtype(f"<U{max(1, *map(len, labels))}"), len(labels)))
    return exact_array(labels) if len(kinds) == 1 else np.array(labels, dtype=object)


def sorted_classes(learner: Any, like: NDArray[Any] | None = None) -> NDArray[Any]:
    """The classes of a learner as an array, in order: those that came one by one are sorted."""
    with learner.lock.learning():
        learner.sort_classes()
        return label_array(learner.classes, like)


def roomy(kind: np.dtype[Any], n: int) -> np.dtype[Any]:
    """The type for n labels: texts are objects where all would take the room of one that is very long."""
    wide = kind.kind == "U" and (kind.itemsize > 4 * WIDEST or n * kind.itemsize > LARGEST)
    return np.dtype(object) if wide else kind
