"""How estimators train their learner, and how they are saved."""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from perceptive import _core
from perceptive.certificates import Certificate
from perceptive.data.dataset import Dataset
from perceptive.data.feature_space import FeatureSpace
from perceptive.data.raw import frame_table, names_of
from perceptive.data.rows import is_dicts
from perceptive.declarations import Checked
from perceptive.estimators.column_warnings import ENOUGH, FirstExamples, warn_of_columns
from perceptive.estimators.data import is_raw, roomy
from perceptive.estimators.history import HistoryMixin
from perceptive.estimators.signature import checked
from perceptive.frames import is_frame
from perceptive.learners.learner import learn_all
from perceptive.parameters import TrainingParameters
from perceptive.processors import processors
from perceptive.state import State, plain_values
from perceptive.training.loop import History, InMemory, Run, train

Fit = TypeVar("Fit", bound=Callable[..., Any])
LearnerType = TypeVar("LearnerType", bound=Any)
KINDS = "biufUO"  # of labels


def one_at_a_time(learn: Fit) -> Fit:
    """Let only one thread at a time train an estimator, even before it has a learner."""

    @wraps(learn)
    def learn_alone(self: Any, *arguments: Any, **options: Any) -> Any:
        lock = self.__dict__.setdefault("_lock", _core.Lock())
        with lock.learning():
            return learn(self, *arguments, **options)

    return learn_alone  # type: ignore[return-value]


def nothing_half_learned(fit: Fit) -> Fit:
    """Leave an estimator unchanged if `fit` raises; keep what was learned if Ctrl-C or a timeout ends it."""

    @wraps(fit)
    def fit_or_not(self: Any, *arguments: Any, **options: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return fit(self, *arguments, **options)
        except TimeoutError:
            raise
        except Exception:
            self.__dict__ = before
            raise

    return one_at_a_time(fit_or_not)  # type: ignore[return-value]


def threads_of(training: TrainingParameters) -> int:
    """Return the number of threads that ``n_jobs`` means."""
    if training.n_jobs == -1:
        return processors()
    return training.n_jobs or 1


@contextmanager
def progress_bar(wanted: bool, total: int, run: Any) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar after a second: yields a function to call with each number of examples played.

    Yields None if no bar is wanted. A ``total`` of 0 is unknown; ``run``, or a learner, has the mistakes so far.
    """
    if not wanted:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    began = time.monotonic()
    bar = Progress(
        TextColumn("training"),
        BarColumn(),
        TextColumn("{task.completed:,} examples, {task.fields[rate]:.1%} mistakes"),
        TimeRemainingColumn(),
        transient=True,
    )
    task, done = bar.add_task("", total=total, rate=0.0), 0

    def report(played: int) -> None:
        nonlocal done
        done += played
        if not bar.live.is_started and time.monotonic() - began > 1.0:
            bar.start()
        learner = getattr(run, "learner", run)
        bar.update(task, completed=done, rate=learner.mistakes / max(1, learner.rounds))

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()


class _NoCertificate:
    """What stands for ``certificate_`` until there is one: says how to have it."""

    def __get__(self, estimator: object, _: type) -> Self:
        if estimator is None:
            return self
        raise AttributeError(
            "there is no certificate: call certificate(X, y) with the training data, or fit with certify=True; it "
            "is not kept in files, and partial_fit makes it void"
        )


class RunMixin(HistoryMixin, Generic[LearnerType]):
    """How a learner is trained, and the estimator's state."""

    learner_: LearnerType
    certificate_: Certificate = cast(Certificate, _NoCertificate())
    progress: bool
    _learner: ClassVar[Any]  # the class of the learner
    _parameters: ClassVar[type[Checked]]  # and what it takes
    _lost: ClassVar[tuple[str, ...]] = ("certificate_",)  # what is no longer true of a learner that has gone on

    @property
    def _learned(self) -> LearnerType:
        """The learner; raises where there is none yet."""
        check_is_fitted(self, "learner_")
        return self.learner_

    def _of_vector(self, read: Callable[[LearnerType, str], Any]) -> Any:
        """What is read of the learner's vector, under its hypothesis; raises where it has no single one."""
        learner = self._learned
        hypothesis = learner.parameters.hypothesis
        if hypothesis == "voted":
            raise AttributeError("a voted model has no single weight vector; use learner_, or another hypothesis")
        return learner.asked(lambda: read(learner, hypothesis))

    def _take(self, learner: Any, history: History | None = None, **known: Any) -> None:
        """Have this learner from now on (and this history), all in one step."""
        known |= {"learner_": learner} if history is None else {"learner_": learner, "_history": history}
        with learner.lock.changing():
            self.__dict__.update(known)
            for name in self._lost:
                self.__dict__.pop(name, None)

    def _check_parameters(self) -> tuple[dict[str, Any], TrainingParameters]:
        """What the learner takes, and what training takes; raises for what cannot be."""
        return vars(checked(vars(self), self._parameters)), checked(vars(self), TrainingParameters)

    def _train(
        self,
        learner: LearnerType,
        training: TrainingParameters,
        dataset: Dataset,
        held_out: Callable[[], float] | None,
        **known: Any,
    ) -> None:
        """Let a new learner play its examples; ``held_out`` is the score on those held out."""
        self._take(learner, History(), **known)
        source = InMemory(dataset, training.shuffle, held_out)
        with progress_bar(self.progress, training.epochs * len(dataset), learner) as report:
            train(Run.of(learner, training, self._history), source, report=report, threads=threads_of(training))

    @property
    def reading(self) -> FeatureSpace | None:
        """How this estimator, or the one it was cloned from, reads files; None if it has not learned from files."""
        space: FeatureSpace | None = getattr(getattr(self, "learner_", None), "space", None)
        return self.__dict__.get("_reading") if space is None or space.format is None else space

    def __sklearn_clone__(self) -> Any:
        copied: Any = super().__sklearn_clone__()  # type: ignore[misc]
        if self.reading is not None:
            names = None if self.reading.names is None else _core.InvertedIndex()
            copied._reading = FeatureSpace(format=self.reading.format, header=self.reading.header, names=names)
        return copied

    def _read_as_before(self, learner: Any, X: Any, given: Any, whole: bool = True) -> Any:
        """Have a new learner read raw examples as files were read, their columns measured anew; matrices are scaled.

        Parameters
        ----------
        X : examples
            As they were checked.
        given : examples
            As they were before: dicts may have been a data frame, whose rows are read as those of a file.
        whole : bool
            Whether these are all examples, by which the columns of a frame can be measured.
        """
        framed = is_dicts(X) and is_frame(given)
        learner.space.table = frame_table(given, whole) if framed else None
        if framed and hasattr(self, "kernel"):  # which would compare other columns, too
            learner.space.header = tuple(names_of(given))
        if self._is_read(X):
            learner.space.reads_as(self.reading, X)
        return learner.space.scaled(X)

    def _is_read(self, X: Any) -> bool:
        """Whether what `fit` is given is read, or scaled, as files were."""
        return is_raw(self, X, reset=True) or (self.reading is not None and self.reading.scales(X))

    def _warn_of_columns(self, learner: Any, X: Any) -> bool:
        """Say where the columns of a matrix, or of dicts, are taken as they are and should not be; return whether."""
        if not self._takes_numbers(X):
            return False
        table = learner.space.table
        scaled = table is not None and table.scaling is not None
        return warn_of_columns(X, getattr(self, "feature_names_in_", None), scaled)

    def _warn_of_first(self, learner: Any, X: Any, first: bool) -> None:
        """Say the same of the first examples of `partial_fit`; if they are few, look at the next ones, too."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if first and (self._warn_of_columns(learner, X) or n >= ENOUGH):
            return
        if first or "_first" in self.__dict__:
            self._look_at(learner, X, first)

    def _takes_numbers(self, X: Any) -> bool:
        """Whether numbers of examples are taken as they are."""
        tags = self.__sklearn_tags__().input_tags  # type: ignore[attr-defined]
        if self._is_read(X) or tags.pairwise:
            return False
        return bool(tags.sparse) or not is_dicts(X)  # objects, of which a kernel knows more

    def _look_at(self, learner: Any, X: Any, first: bool = False) -> None:
        """Look at the first examples that come bit by bit, and warn once if their columns are unscaled."""
        if first and self._takes_numbers(X):
            self._first = FirstExamples(learner)
        watch = self.__dict__.get("_first")
        if watch is None:
            return
        if watch.learner is not learner or watch.look(X, getattr(self, "feature_names_in_", None)):
            self.__dict__.pop("_first", None)

    def new_learner(self) -> LearnerType:
        """Make an untrained learner with these parameters; raise if they are not possible."""
        learner: LearnerType = self._learner(**self._check_parameters()[0])
        return learner

    def _going_on(self) -> LearnerType:
        """The learner that goes on learning; a new one where there is none."""
        return self.learner_ if hasattr(self, "learner_") else self.new_learner()

    def _learn_all(
        self, learner: LearnerType, dataset: Dataset, known: Callable[[], dict[str, Any]] = dict[str, Any]
    ) -> None:
        """Play examples once, as they lie: a call of `partial_fit`, noted also where Ctrl-C or a timeout breaks in."""
        before, broken = learner.progress, None
        try:
            learn_all(dataset)
        except (KeyboardInterrupt, TimeoutError) as error:
            if not learner.rounds:
                raise
            broken = error
        history = self._history if hasattr(self, "learner_") else History()
        with learner.lock.changing():
            history.note(learner, before)
            history.converged = False
            self._take(learner, history, **known())
        if broken is not None:
            raise broken

    # ------------------------------------------------------------ state

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_lock", None)  # copies have their own
        state.pop("_first", None)
        if "_history" in state:
            with state["learner_"].lock.exclusive():
                state["_history"] = copy.deepcopy(state["_history"])
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_")

    def state(self) -> State:
        """Return the whole state, as plain values and arrays; raise ValueError if nothing was learned."""
        if not self.__sklearn_is_fitted__():
            raise ValueError(f"this {type(self).__name__} has not learned anything; fit it before it is saved")
        known = dict(self.__dict__)  # another thread may fit it anew
        learner, classes = known["learner_"], known.get("classes_")
        with learner.lock.exclusive():
            meta, arrays = learner.state()
            history = known["_history"].meta()
        meta = {**meta, **self._saved_parameters(arrays), "history": history}
        if isinstance(classes, np.ndarray):
            meta["class_kind"] = classes.dtype.str
        for name in ("feature_names_in_", "n_features_in_"):
            if hasattr(self, name):
                value = getattr(self, name)
                meta[name] = value.tolist() if isinstance(value, np.ndarray) else int(value)
        return State(meta, arrays)

    def _saved_parameters(self, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """The parameters as plain values, under "estimator"; what is large goes into the arrays."""
        return {"estimator": plain_values(self.get_params(deep=False))}  # type: ignore[attr-defined]

    @classmethod
    def _loaded_parameters(cls, state: State, learner: Any, functions: Any) -> dict[str, Any]:
        """What `_saved_parameters` gave."""
        parameters = dict(state.meta["estimator"])
        if isinstance(parameters.get("class_weight"), list):
            parameters["class_weight"] = dict(parameters["class_weight"])
        return parameters

    @classmethod
    def from_learner(cls, learner: Any) -> Self:
        """Make an estimator from a trained learner, for example one that the command line trained from files."""
        model: Any = cls(**cls._learned_parameters(learner))
        model.learner_, model._history = learner, History()
        return model  # type: ignore[no-any-return]

    @classmethod
    def _learned_parameters(cls, learner: Any) -> dict[str, Any]:
        """The parameters of an estimator whose learner is given; those of training are not known."""
        names = cls._get_param_names()  # type: ignore[attr-defined]
        own = {name: getattr(learner.parameters, name) for name in names if hasattr(learner.parameters, name)}
        if "probability" in names and learner.temperature is not None:
            own["probability"] = True
        return own

    @classmethod
    def from_state(cls, state: State, functions: Any = None) -> Self:
        """Make an estimator from what `state` returned; raise ValueError if the parts do not fit together."""
        learner = cls._learner.from_state(state, functions)
        parameters = cls._loaded_parameters(state, learner, functions)
        unknown = set(parameters) - set(cls._get_param_names())  # type: ignore[attr-defined]
        if unknown:
            raise ValueError(f"there is no parameter {min(unknown)!r}")
        model: Any = cls(**parameters)
        model._check_parameters()
        model.learner_ = learner
        meta = state.meta
        model._history = History.from_meta(meta["history"])
        if "class_kind" in meta:
            learner.sort_classes()
            model.classes_ = _array_of(learner.classes, meta["class_kind"])
        if "n_features_in_" in meta:
            model.n_features_in_ = meta["n_features_in_"]
        if "feature_names_in_" in meta:
            model.feature_names_in_ = np.array(meta["feature_names_in_"], dtype=object)
        return model  # type: ignore[no-any-return]


class PruneMixin(RunMixin[LearnerType]):
    """An estimator whose learner can be pruned."""

    def prune(self, threshold: float = 0.0, precision: str | None = None) -> Self:
        """Keep only the vector that predicts, and only its weights above a threshold in absolute value.

        Learning can continue; the average starts again. A model that keeps every update (``keep="all"``, best, voted,
        random) cannot be pruned.

        Parameters
        ----------
        threshold : float
        precision : "float16", "int8" or None
            Round the weights of classifiers and rankers to this type: a file then stores each in two bytes, or one.

        Examples
        --------
        >>> from perceptive import LinearClassifier
        >>> clf = LinearClassifier(epochs=5).fit([[2, 0.01], [-1, 0.02]], ["a", "b"])
        >>> clf.prune(0.1).coef_.round(2).tolist()
        [[-2.0, 0.0]]
        """
        self._learned.prune(threshold, precision=precision)
        vars(self).pop("certificate_", None)
        return self


def _array_of(labels: list[Any], text: str) -> NDArray[Any]:
    """Labels from a file as an array of the type that they had."""
    if re.fullmatch(r"[<>|=]?[A-Za-z][0-9]{0,12}", text) is None:  # NumPy would read any text as if it were code
        raise ValueError("labels of an unknown type")
    kind: np.dtype[Any] = np.dtype(text)
    if kind.kind not in KINDS or not kind.itemsize:  # NumPy would take the width of the longest for all
        raise ValueError("labels of an unknown type")
    array = np.array(labels, dtype=roomy(kind, len(labels)))
    if array.tolist() != labels:
        raise ValueError("labels of another type")
    return array
