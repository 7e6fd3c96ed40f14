"""Check and weight the examples that scikit-learn passes, and hold out a part of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
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
from perceptive.streams.values import is_missing, missing_names, some_names
from perceptive.training.class_weights import weights_as_they_come
from perceptive.training.holdout import HoldOut

WIDEST = 2**8  # characters of labels in an array of texts
LARGEST = 2**26  # and its bytes
NO_NUMBERS = ("could not convert", "inhomogeneous", "must be a string or a real number")  # in what NumPy says
MOST_SHOWN = 40  # characters of a text
MISSING = "y contains missing labels; drop such examples"
MIXED = "y mixes labels of different kinds; give all as strings, or all as numbers"


@contextmanager
def unchanged_if_it_fails(estimator: Any) -> Iterator[None]:
    """If the data are refused, undo what scikit-learn noted about them."""
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
    """Delete what scikit-learn noted about columns: dicts and objects have none."""
    for name in ("n_features_in_", "feature_names_in_"):
        estimator.__dict__.pop(name, None)


def check_labels(y: Any) -> NDArray[Any]:
    """Return the labels as an array."""
    y = _numpy_of_nullable(listed(y))
    check_real(y, "y")
    if isinstance(y, list | tuple) or (isinstance(y, np.ndarray) and y.dtype.kind in "OS"):
        for label in y:
            if isinstance(label, NO_LABELS):
                plain_label(label)  # raises
    if isinstance(y, list | tuple):
        _check_one_kind(y)
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if type(y) is np.ndarray and y.ndim == 1 and _plain(y):
        return y  # scikit-learn would say the same of it, for as much work as learning from some thousand examples
    labels: NDArray[Any] = column_or_1d(_exact(y), warn=True)
    if labels.dtype.kind in "mM":
        raise ValueError("y holds dates or times; give numbers, strings or booleans as labels")
    if labels.dtype == object and any(is_missing(label) for label in labels):
        raise ValueError(MISSING)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains NaN or inf; drop such examples")
    if labels.dtype == object and len({type(label) for label in labels}) > 1:
        raise ValueError(MIXED)
    if labels.dtype != object or not isinstance(labels[0], int):  # of whole numbers beyond 64 bits
        check_classification_targets(labels)
    return labels


def _check_one_kind(y: Sequence[Any]) -> None:
    """Raise where a list has strings and other labels: NumPy would make strings of all, and 1 and "1" one label."""
    others = [label for label in y if not isinstance(label, str)]
    if 0 < len(others) < len(y):
        raise ValueError(MISSING if any(map(is_missing, others)) else MIXED)


def check_label(label: Any, learner: Any) -> None:
    """Raise if a label is missing."""
    try:
        if label in learner.index:
            return
    except TypeError:  # which cannot be a class, as the learner will say
        return
    if is_missing(label):
        raise ValueError(MISSING)


def _numpy_of_nullable(y: Any) -> Any:
    """Whole numbers and booleans of pandas' nullable types as NumPy's; scikit-learn would make float64 of them."""
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if getattr(kind, "kind", "") not in ("b", "i", "u"):
        return y
    if y.isna().any():
        raise ValueError(MISSING)
    return y.to_numpy(dtype=kind)


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
    """Return whether X must be read as the training files were; with ``reset``, whether a new learner reads it so."""
    space = estimator.reading
    return space is not None and space.takes_raw(X) and (not reset or space.knows(X))


def _by_name(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether the columns of a frame are features by name: where it holds words, or where names are hashed."""
    if reset:
        return getattr(estimator, "bits", None) is not None or has_words(X)
    space = estimator.learner_.space
    return space.vocabulary is not None or space.hasher is not None


def check_names(estimator: Any, names: list[str], reset: bool) -> None:
    """Note the columns of a frame whose features have names; or raise where none of those noted is among them."""
    if reset:
        forget_columns(estimator)
        estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator.n_features_in_ = len(names)
        return
    known = list(getattr(estimator, "feature_names_in_", ()))
    if lost := missing_names(known, names):
        warnings.warn(f"X lacks columns that the model has learned from: {some_names(lost)}", stacklevel=4)


def validated(
    estimator: Any,
    X: Any,
    reset: bool,
    *,
    cure: str = "encode texts with HashedText, or give a data frame or a list of dicts",
    accept_sparse: Any = "csr",
    **how: Any,
) -> Any:
    """Validate X with scikit-learn, after the core has checked it: scikit-learn trusts sparse matrices.

    The error says ``cure`` if X does not contain numbers.
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


def check_rows(estimator: Any, X: Any, reset: bool, by_name: bool = True, **how: Any) -> Any:
    """Return rows in the form that the learner takes; the learner checks their values.

    Parameters
    ----------
    by_name : bool
        Whether the features of dicts, and of frames with words, have names.
    **how
        Arguments of `validated`.
    """
    if is_raw(estimator, X, reset):
        if reset:
            forget_columns(estimator)
        return X
    if is_frame(X) and by_name:
        X, names = as_arrow(X) if is_table(X) else X, names_of(X)
        if _by_name(estimator, X, reset):
            check_names(estimator, names, reset)
            old = not reset and hasattr(estimator, "feature_names_in_") and estimator.learner_.space.table is None
            return frame_dicts(X, meant=not old)
    given, X = X, X if reset or not by_name else in_columns(estimator, X)
    if is_dicts(given) and by_name:
        if reset:
            forget_columns(estimator)
        return X
    refuse_other_kinds(X)
    # the core looks at every value anyway: finiteness is checked there
    instead = "" if reset or estimator.reading is None else estimator.reading.instead()
    how |= {"cure": instead.removeprefix("; ")} if instead else {}
    if instead and isinstance(X, list) and X and isinstance(X[0], list | tuple):
        estimator.reading.check(len(X[0]), False)  # says what to give instead
    X = validated(estimator, X, reset, **{"order": "C", "ensure_all_finite": False, **how})
    return X if reset else estimator.learner_.space.scaled(X)


def in_columns(estimator: Any, X: Any) -> Any:
    """Return a frame, or dicts, in the column order of a model that learned from a frame of numbers.

    A dict may omit zeros. Anything else is returned unchanged, also a frame that lacks columns.
    """
    known, space = getattr(estimator, "feature_names_in_", None), estimator.learner_.space
    if known is None or space.vocabulary is not None or space.hasher is not None:
        return X
    known = list(known)
    if not is_dicts(X):
        return in_order(X, known)
    missing_names(known, {str(name) for row in X for name in row})  # raises if there is none of them
    return np.array([[number(row.get(name, 0.0), i, name) for name in known] for i, row in enumerate(X)])


def in_order(X: Any, known: list[str]) -> Any:
    """Return a frame with only these columns, in this order, if it has all of them; anything else unchanged."""
    if not is_frame(X) or (names := names_of(X)) == known or not {*known} <= {*names}:
        return X
    return X.select(known) if is_table(X) else X[known]


def number(value: Any, row: int, name: str) -> float:
    """Return a value of a dict as a number; None is NaN."""
    try:
        return float("nan") if is_missing(value) else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"row {row}: {name!r} is {value!r}; the model has learned from numbers: give one") from None


def row_of(estimator: Any, x: Any, learner: Any) -> Any:
    """Return one example in the form that the learner takes: in columns by name, or a row of a frame as a dict."""
    known = estimator.__dict__.get("feature_names_in_")
    if is_frame(x):
        names_of(x)  # raises if two columns have the same name
    if known is not None and (is_frame(x) or is_dicts(x)):
        x = in_columns(estimator, x)
    elif known is not None and hasattr(x, "to_dict") and {*known} <= {*x.index}:  # a row of a frame
        x = x.to_dict()
    if known is not None and isinstance(x, dict):
        found = in_columns(estimator, [x])
        return x if isinstance(found, list) else found[0]
    return learner.space.unframed(x)


def note_columns(estimator: Any, x: Any, space: Any) -> None:
    """Note the columns of the first example of a stream, a row of a frame of numbers, as `fit` notes a frame's."""
    if space.vocabulary is not None or space.hasher is not None:
        return
    if is_frame(x):
        names = list(x.column_names if is_table(x) else x.columns)
    else:
        names = list(x.index) if hasattr(x, "to_dict") and hasattr(x, "index") else []
    if names and all(isinstance(name, str) for name in names):
        check_names(estimator, names, reset=True)


def refuse_other_kinds(X: Any) -> None:
    """Raise if X has a common type that cannot be learned from."""
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
    y: Any,
    classes: NDArray[Any] | None,
    class_weight: Any,
    sample_weight: ArrayLike | None,
    counted: NDArray[np.bool_] | slice = slice(None),
) -> NDArray[np.float64] | None:
    """Return the weights of examples: their own times their class's; None if all are 1.

    ``classes`` are those of all examples; None for a stream, of which these are a part. "balanced" counts the examples
    that are ``counted``: those that are not held out.
    """
    if sample_weight is None and class_weight is None:
        return None
    n = len(y)
    if sample_weight is not None:
        sample_weight = as_floats(sample_weight, "sample_weight")
    weights: NDArray[np.float64] = _check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64, copy=True)
    if class_weight is None:
        return weights
    if classes is None:
        weights *= weights_as_they_come(y, class_weight)
    else:
        try:
            per_class = compute_class_weight(class_weight, classes=classes, y=y[counted])
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
    """Choose which examples, or how many, to hold out: a fraction for early stopping, or some for calibration.

    Raises if a fraction gives none of them, or all. Calibration takes a tenth, and more if there are few examples.
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
    """Return some rows of a frame, an array, a matrix or a list; None if there are no values."""
    if values is None or hasattr(values, "iloc"):
        return None if values is None else values.iloc[rows]
    if is_table(values):
        return as_arrow(values).take(rows)
    return values[rows] if hasattr(values, "shape") else [values[i] for i in rows.tolist()]


def label_array(labels: list[Any], like: NDArray[Any] | None) -> NDArray[Any]:
    """Return labels as an array: of the type of the data, or of objects if types are mixed."""
    if like is not None and like.dtype == object:
        return np.array(labels, dtype=object)
    kinds = {type(label) for label in labels}
    if kinds == {str}:
        return np.array(labels, dtype=roomy(np.dtype(f"<U{max(1, *map(len, labels))}"), len(labels)))
    return exact_array(labels) if len(kinds) == 1 else np.array(labels, dtype=object)


def sorted_classes(learner: Any, like: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return the classes of a learner as a sorted array."""
    with learner.lock.learning():
        learner.sort_classes()
        return label_array(learner.classes, like)


def roomy(kind: np.dtype[Any], n: int) -> np.dtype[Any]:
    """Return the type for n labels: objects if one very long text would make a fixed-width array too large."""
    wide = kind.kind == "U" and (kind.itemsize > 4 * WIDEST or n * kind.itemsize > LARGEST)
    return np.dtype(object) if wide else kind
