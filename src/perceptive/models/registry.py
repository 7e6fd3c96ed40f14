"""Which class each kind of model file contains; `save` and `load`.

Classes are named by strings: a command that loads a linear model imports neither kernels nor scikit-learn. Each class
knows its own state (``state()``, ``from_state()``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from perceptive import _core, model_file
from perceptive.data.feature_space import NAMES
from perceptive.features.text import TextFeatures
from perceptive.model_file import ModelFileError
from perceptive.models import fields
from perceptive.named_functions import Functions, MissingFunction
from perceptive.state import FileArrays, State, below
from perceptive.streams import idf
from perceptive.streams.file_format import TEXT, FileFormat

LEARNERS = {
    "LinearLearner": "perceptive.learners.linear",
    "KernelLearner": "perceptive.learners.kernel",
    "RankingLearner": "perceptive.learners.ranking",
    "KernelRankingLearner": "perceptive.learners.kernel_ranking",
    "SequenceLearner": "perceptive.learners.sequence",
    "RerankingLearner": "perceptive.learners.reranking",
}
# Estimators, and the learner that each is a skin of.
ESTIMATORS = {
    "LinearClassifier": "LinearLearner",
    "KernelClassifier": "KernelLearner",
    "LinearRanker": "RankingLearner",
    "KernelRanker": "KernelRankingLearner",
    "SequenceTagger": "SequenceLearner",
    "Reranker": "RerankingLearner",
}
OF_LEARNERS = {learner: estimator for estimator, learner in ESTIMATORS.items()}
FAULTS = (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError, RuntimeError, MemoryError)
PIPELINE = "Pipeline"


class TextPipeline(NamedTuple):
    """The parts of a pipeline of `HashedText` and an estimator: as one state, the features stand beside the model."""

    steps: Sequence[str]  # what the two steps are called
    features: TextFeatures
    kind: str  # of the estimator
    state: State  # of the estimator

    def joined(self) -> State:
        """Return both parts as one state."""
        meta = {"steps": list(self.steps), "text": self.features.options(), "kind": self.kind, "model": self.state.meta}
        arrays = dict(self.state.within("model.").arrays)
        if self.features.idf_ is not None:
            arrays |= idf.pack(self.features.idf_)
        if self.features.remember_names:
            arrays |= zip(NAMES, self.features.index.to_arrays(), strict=True)
        return State(meta, arrays)

    @classmethod
    def split(cls, state: State) -> TextPipeline:
        """What `joined` gave; raises ValueError where the parts do not fit together."""
        meta, arrays = state
        features = TextFeatures.from_options(meta["text"])
        if idf.IDF in arrays:
            features = TextFeatures.from_options(meta["text"], idf.unpack(arrays, features.width))
        if NAMES[0] in arrays:
            index = _core.InvertedIndex.from_arrays(*(np.ascontiguousarray(arrays[name]) for name in NAMES))
            features.remember([name for names in index.inverted(1).values() for name in names])
        return cls(meta["steps"], features, meta["kind"], State(meta["model"], below(arrays, "model.")))

    def teach_reading(self, learner: Any) -> None:
        """Let the learner of the estimator read texts, in files too, as the pipeline does."""
        text = self.features
        if not text.signed:  # those of files always are
            return
        options = {name: getattr(text, name) for name in TEXT}
        format = FileFormat(name="text", bits=text.bits, hash_seed=text.seed, text=options)
        learner.space.reads(format, text.idf_)
        learner.space.remember(text.index if text.remember_names else None)


def class_of(kind: str) -> Any:
    """Return the class for a kind of file."""
    module = LEARNERS.get(kind, "perceptive.estimators")
    return getattr(import_module(module), kind)


def from_state(kind: str, state: State, functions: Functions | None = None) -> Any:
    """Make an estimator or a learner from a state.

    Checks every field first; raises ValueError if one is impossible, or if they do not fit together.
    """
    return class_of(kind).from_state(_checked(kind, state), functions or {})


def _checked(kind: str, state: State) -> State:
    fields.check(fields.MODELS[kind], state.meta)
    return State(state.meta, FileArrays(state.arrays))


def _learner_of(kind: str, state: State, functions: Functions | None) -> Any:
    """The learner of a state, without scikit-learn."""
    if kind == PIPELINE:
        parts = TextPipeline.split(_checked(kind, state))
        learner = _learner_of(parts.kind, parts.state, functions)
        parts.teach_reading(learner)
        return learner
    return class_of(ESTIMATORS.get(kind, kind)).from_state(_checked(kind, state), functions or {})


def _estimator_of(kind: str, state: State, functions: Functions | None) -> Any:
    """The estimator of a state, also of that of a learner."""
    if kind == PIPELINE:
        parts = TextPipeline.split(_checked(kind, state))
        model = _estimator_of(parts.kind, parts.state, functions)
        return import_module("perceptive.estimators.hashing").from_parts(parts, model)
    model = from_state(kind, state, functions)
    return model if kind in ESTIMATORS else class_of(OF_LEARNERS[kind]).from_learner(model)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file: everything it needs to predict, to continue learning, and to be certified.

    The file appears under its name only when it is complete. Nothing is pickled; labels must be strings, numbers,
    booleans or None.

    Parameters
    ----------
    model : estimator or learner of perceptive, or a pipeline of `HashedText` and an estimator
    path : path

    Examples
    --------
    >>> import tempfile, os, perceptive
    >>> path = os.path.join(tempfile.mkdtemp(), "and.model")
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [False, False, False, True]
    >>> perceptive.save(perceptive.LinearClassifier(epochs=20).fit(X, y), path)
    >>> perceptive.load(path).predict(X).tolist()
    [False, False, False, True]
    """
    kind = type(model).__name__
    if kind == PIPELINE and hasattr(model, "steps"):
        return model_file.write(path, kind, *import_module("perceptive.estimators.hashing").state_of(model))
    if not hasattr(model, "state") or (kind not in (*LEARNERS, *ESTIMATORS) and kind != "JointClassifier"):
        raise TypeError(f"cannot save a {kind}; give an estimator or a learner of perceptive")
    model_file.write(path, kind, *model.state())


def load(
    path: str | os.PathLike[str], *, verify: bool = True, mmap: bool = False, functions: Functions | None = None
) -> Any:
    """Read any model file, and return a scikit-learn estimator that is ready to predict.

    A model of the command line takes raw input in the form of its files: texts, dicts, data frames (pandas, pyarrow),
    rows with a value for each column of its tables, and arrays if its features are numbered.

    Parameters
    ----------
    path : path
    verify : bool
        Whether to check the data against their checksum.
    mmap : bool
        Whether read-only data stay in the file and are loaded when used. Replace such a file only by renaming, as
        `save` does: writing into it changes the model, and shortening it ends the process.
    functions : mapping of names to functions, or None
        The functions of a saved model's kernel (see `kernels.Custom`), or a reranker's features and structure: files do
        not contain them.

    Raises
    ------
    ModelFileError
        If the file is damaged, not a model, or newer than this version of perceptive.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from perceptive.cli import main
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "mail.tsv").write_text("spam\\twin money\\nham\\tsee you\\nspam\\tmoney now\\n")
    >>> main(["train", str(folder / "mail.tsv"), "--text", "-o", str(folder / "m"), "--quiet"])
    0
    >>> load(folder / "m").predict(["win money", "see you"]).tolist()
    ['spam', 'ham']
    """
    return _load(path, _estimator_of, functions, verify=verify, mmap=mmap)


def load_learner(
    path: str | os.PathLike[str], *, verify: bool = True, mmap: bool = False, functions: Functions | None = None
) -> Any:
    """Read the learner of a model, without scikit-learn; the parameters are those of `load`."""
    return _load(path, _learner_of, functions, verify=verify, mmap=mmap)


def _load(
    path: str | os.PathLike[str],
    made: Callable[[str, State, Functions | None], Any],
    functions: Functions | None,
    **how: bool,
) -> Any:
    where = os.fspath(path)
    kind, meta, arrays = model_file.read(path, **how)
    if kind == "Checkpoint":
        raise ModelFileError(f"{where}: is a checkpoint of a run; let the run end: perceptive train --checkpoint")
    if kind not in (*LEARNERS, *ESTIMATORS, PIPELINE):
        raise ModelFileError(f"{where}: holds a {kind!r}, which this version does not know; upgrade perceptive")
    try:
        return made(kind, State(meta, arrays), functions)
    except FAULTS as error:
        if isinstance(error, ModelFileError | MissingFunction):
            raise
        said = "it needs more memory than there is" if isinstance(error, MemoryError) else error
        raise ModelFileError(f"{where}: the model does not fit together ({said}); save it again") from None
