"""Tasks of the command line: what each takes, and which module does it.

A command is written once for all tasks and asks a task's adapter (`Task`). Everything that a parser must know stands
here, so that no adapter is imported before it is needed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from perceptive.cli import groups as g
from perceptive.cli.options import option_of
from perceptive.errors import UsageError

if TYPE_CHECKING:
    from perceptive.data.dataset import Dataset
    from perceptive.learners.learner import Learner
    from perceptive.parameters import TrainingParameters
    from perceptive.streams.file_format import FileFormat
    from perceptive.streams.parsing import Log
    from perceptive.training.loop import Run, Source

ALWAYS = {"command", "default_of", "data", "output", "task", "json", "quiet", "model", "top"}
Groups = tuple[g.OptionGroup, ...]


class Job(Protocol):
    """What training needs of a task: a learner, and the files of the command as a source."""

    learner: Any  # before training, after `prepare`: new, or the one that goes on
    source: Source
    metric: str  # what the held-out part is scored by
    files: Sequence[str]
    log: Log  # what was skipped, and what is odd

    @property
    def readings(self) -> int: ...  # how often the files are read before the first epoch, if that takes time
    @property
    def certifies(self) -> bool: ...  # whether the certificate costs so little that it is made unasked
    @property
    def counts(self) -> dict[str, int]: ...  # "examples", "skipped", "unanswered", and what else there is to count

    def prepare(self, report: Callable[[float], None]) -> None:
        """Read what must be known before the first round; ``report`` gets how much is done, in bytes."""

    def done(self, run: Run, played: int) -> float:
        """How much is done, in bytes of the files, where so many examples have been played."""

    def finished(self, learner: Any) -> Any:
        """What is saved of a learner that has been trained: with probabilities, names, pruned, …"""

    def datasets(self, learner: Any) -> Iterable[Dataset]:
        """What was learned from, once more, to be looked at."""

    def close(self) -> None:
        """Close the files."""


class Opened(NamedTuple):
    """Files that are read in parts, for a command that uses a model."""

    files: Sequence[str]
    log: Log
    parts: Iterator[tuple[int, Any]]  # how many examples a part has, and what is made of it
    format: FileFormat | None = None  # of rows


class Evaluation(NamedTuple):
    counts: dict[str, int]  # of the data, as `Job.counts`
    metrics: dict[str, float | None]  # by name; None where one is not defined
    details: dict[str, Any]  # by class or type, for machines
    text: str  # all of it, for people
    log: Log


class Task(Protocol):
    """What an adapter does for the commands; see `Entry` for what it takes."""

    unit: str  # what an example is called, in the plural
    tells_epochs: bool  # as each of them ends

    def open(self, options: argparse.Namespace, training: TrainingParameters, learner: Any) -> Job:
        """Open the files for training a new learner (None), or one that goes on."""

    def follow(self, options: argparse.Namespace, learner: Any) -> tuple[Any, Iterator[Dataset]]:
        """The learner, and datasets as examples arrive."""

    def check(self, learner: Any, path: str) -> None:
        """Raise where a model cannot serve files."""

    def predict(self, learner: Any, options: argparse.Namespace) -> Opened:
        """The lines of predictions, as bytes."""

    def explain(self, learner: Any, options: argparse.Namespace) -> Opened:
        """What made the predictions: `Explained`, in lists."""

    def evaluate(self, learner: Any, options: argparse.Namespace) -> Evaluation:
        """Compare predictions with the answers of files."""

    def examine(self, learner: Any, options: argparse.Namespace) -> Opened:
        """The examples of files as datasets, to be looked at."""

    def weights(self, learner: Any, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
        """The heaviest weights, for machines and for people."""


@dataclass(frozen=True)
class Entry:
    """What is known of a task before it is imported."""

    name: str  # as ``--task`` has it
    module: str  # where its adapter is; the class has the name of the module, in capitals
    learner: str  # the class of its learners
    what: str  # its models are called
    takes: Mapping[str, Groups]  # the options of each command
    kernel: bool = False  # whether ``--kernel`` goes with it
    of_objects: Mapping[str, Groups] | None = None  # the options of each command if it compares strings and trees

    def adapter(self) -> Task:
        name = "".join(part.capitalize() for part in self.module.split("_"))
        made: Task = getattr(import_module(f"{__name__}.{self.module}"), name)()
        return made

    def refuse(self, options: argparse.Namespace, only: Groups | None = None, title: str | None = None) -> None:
        """Raise where options were given that the task does not take."""
        command = options.command
        mine = ALWAYS | g.names_of(self.takes[command] if only is None else only)
        wrong = [
            name for name, value in vars(options).items() if name not in mine and value != options.default_of(name)
        ]
        if wrong:
            others = [one for one in TASKS if {*wrong} <= g.names_of(one.takes.get(command, ()))]
            titles = dict.fromkeys(one._called(command, wrong) for one in others if only is None)
            one = len(wrong) == 1
            said = f"{', '.join(map(option_of, wrong))} {'does' if one else 'do'} not go with "
            cure = f"{'it is' if one else 'they are'} for {', '.join(titles)}" if titles else ""
            cure = cure or f"leave {'it' if one else 'them'} out"
            raise UsageError(f"{said}{title or self._called(command)}; {cure}")

    def refuse_of_objects(self, options: argparse.Namespace, title: str) -> None:
        """Raise where options were given that the task does not take if its kernel compares strings and trees."""
        takes = self.of_objects or {}
        if options.command in takes:
            self.refuse(options, takes[options.command], f"{title} of strings and trees")

    @property
    def title(self) -> str:
        """The task as error messages name it."""
        return f"--task {self.name}" + " --kernel" * self.kernel

    def _called(self, command: str, given: Sequence[str] = ()) -> str:
        title = self.title if "kernel" not in given else f"--task {self.name}"
        return title if command == "train" else f"{self.what}s"


def of_model(options: argparse.Namespace) -> tuple[Any, Entry, Task]:
    """The learner, the entry and the adapter of a model; raises where the command or an option is not for it."""
    from perceptive.models.registry import load_learner

    learner = load_learner(options.model)
    entry = of_learner(learner)
    if options.command not in entry.takes:
        use = next(command for command in ("predict", "rank", "tag") if command in entry.takes)
        raise UsageError(f"{options.model}: is a {entry.what}; use perceptive {use}")
    if entry.kernel and not learner.kernel.vectors:
        entry.refuse_of_objects(options, f"{entry.what}s")
    entry.refuse(options)
    return learner, entry, entry.adapter()


_KEPT = (g.CONTINUE, g.CHECKPOINT, g.CERTIFY)
_EVAL = (g.FILES, g.HYPOTHESIS)
_WEIGHT = g.TABLES.only("weight")
_RANK = {
    "rank": (g.FILES, g.SCORES, g.HYPOTHESIS),
    "explain": (g.FILES, g.PARTS, g.HYPOTHESIS),
    "eval": _EVAL,
    "certify": (g.FILES, _WEIGHT),
    "inspect": (g.HYPOTHESIS,),
}
_FORMAT = g.FILES.only("format")
_THREADS = g.FILES.only("threads")
_TAG = {
    "tag": (g.PATHS, g.SENTENCES, _FORMAT, _THREADS, g.HYPOTHESIS),
    "explain": (g.PARTS, g.SENTENCES, _FORMAT, g.HYPOTHESIS),
    "eval": (g.SENTENCES, _FORMAT, g.HYPOTHESIS),
}
_TABLES = (g.FILES, g.TABLES.only("quote"))
_PREDICT = {
    "predict": (*_TABLES, g.SCORES, g.PROBABILITIES, g.CLASS_TABLE, g.HYPOTHESIS),
    "explain": (*_TABLES, g.PROBABILITIES.only("unlabelled"), g.PARTS, g.CLASS, g.HYPOTHESIS),
    "eval": (*_TABLES, g.HYPOTHESIS),
    "certify": _TABLES,
}
_KERNEL = (g.KERNEL_LEARNER, g.CLASSES.without("reference"), g.KERNEL, g.TRAINING, g.TUNE, *_KEPT)
_KERNEL_RANK = (g.KERNEL_RANKER, g.PAIR_COST, g.KERNEL.only("kernel"), g.TRAINING, g.TUNE, *_KEPT)
_OBJECTS = g.FILES.without("threads")
_EPOCHS = g.TRAINING.without("validation_fraction", "patience")
TASKS = [
    Entry(
        "classify", "classify", "LinearLearner", "classifier",
        {
            "train": (
                g.FILES, g.FEATURES, *g.ROWS, g.LEARNER, g.CLASSES, g.TRAINING, g.CLUSTER, *_KEPT, g.CACHE, g.FOLLOW,
                g.TUNE, g.PRUNE,
            ),
            **_PREDICT,
            "inspect": (g.HYPOTHESIS, g.CLASS),
        },
    ),
    Entry(
        "classify", "kernel_classify", "KernelLearner", "kernel classifier",
        {"train": (*_KERNEL, g.FILES, *g.ROWS), **_PREDICT, "inspect": (g.HYPOTHESIS,)},
        kernel=True,
        of_objects={
            "train": (*_KERNEL, _OBJECTS),
            "predict": (_OBJECTS, g.SCORES, g.PROBABILITIES.only("proba"), g.CLASS_TABLE, g.HYPOTHESIS),
            "explain": (_OBJECTS, g.PARTS, g.CLASS, g.HYPOTHESIS),
            "eval": (_OBJECTS, g.HYPOTHESIS),
            "certify": (_OBJECTS,),
        },
    ),
    Entry(
        "rank", "rank", "RankingLearner", "ranker",
        {
            "train": (
                g.RANKER, g.PAIR_COST, g.TRAINING, g.CLUSTER, g.FILES, g.FEATURES, *g.LISTS, *_KEPT, g.CACHE, g.FOLLOW,
                g.TUNE, g.PRUNE,
            ),
            **_RANK,
        },
    ),
    Entry(
        "rank", "kernel_rank", "KernelRankingLearner", "ranker",
        {"train": (*_KERNEL_RANK, g.FILES, *g.LISTS), **_RANK},
        kernel=True,
        of_objects={
            "train": (*_KERNEL_RANK, _OBJECTS, _WEIGHT),
            "rank": (_OBJECTS, g.SCORES, g.HYPOTHESIS),
            "explain": (_OBJECTS, g.PARTS, g.HYPOTHESIS),
            "eval": (_OBJECTS, g.HYPOTHESIS),
            "certify": (_OBJECTS, _WEIGHT),
        },
    ),
    Entry(
        "tag", "tag", "SequenceLearner", "tagger",
        {
            "train": (
                g.TAGGER, g.SENTENCES, _FORMAT, _WEIGHT, g.STOPPING, g.TRAINING, g.CLUSTER, _THREADS, *_KEPT, g.FOLLOW,
                g.TUNE,
                g.PRUNE.only("prune"),
            ),
            **_TAG,
            "certify": (g.SENTENCES, _FORMAT, _WEIGHT),
            "inspect": (g.HYPOTHESIS, g.CLASS),
        },
    ),
    Entry(
        "rerank", "rerank", "RerankingLearner", "reranker",
        {
            "train": (
                g.RANKER, g.PAIR_COST, _EPOCHS, _THREADS, g.RERANKER, g.SENTENCES, _FORMAT, _WEIGHT, g.CHECKPOINT,
                g.CERTIFY, g.CLUSTER, g.FEATURES.only("invert_hash"),
            ),
            **_TAG,
            "certify": (g.SENTENCES, _FORMAT, _WEIGHT),
            "inspect": (g.HYPOTHESIS,),
        },
    ),
]  # fmt: skip


def of_learner(learner: Learner) -> Entry:
    return next(entry for entry in TASKS if entry.learner == type(learner).__name__)


def of_name(name: str, kernel: bool) -> Entry:
    """The task that ``--task`` names, with a kernel or without."""
    found = [entry for entry in TASKS if entry.name == name]
    return next((entry for entry in found if entry.kernel == kernel), found[0])


def options_of(command: str) -> Iterator[g.OptionGroup]:
    for entry in TASKS:
        yield from entry.takes.get(command, ())
