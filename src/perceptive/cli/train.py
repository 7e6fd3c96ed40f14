"""``perceptive train``: from files to a model."""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

from perceptive.cli import groups as g
from perceptive.cli.options import add_json, given, option_of
from perceptive.cli.paths import check_paths, same_file
from perceptive.cli.tasks import TASKS, Entry, of_learner, of_name, options_of
from perceptive.errors import UsageError, plural
from perceptive.hypotheses import HYPOTHESES
from perceptive.parameters import LinearParameters, TrainingParameters
from perceptive.rules import RULES

if TYPE_CHECKING:
    from perceptive.certificates import Certificate
    from perceptive.cli.tasks import Job, Task
    from perceptive.training.checkpoint import Checkpoint
    from perceptive.training.loop import History, Run

EXAMPLE = """\
examples:
  perceptive train train.svm -o a9a.model --rule pa1 --C 0.1 --epochs 5 --holdout 0.1
  perceptive train 'logs/*.vw.gz' -o clicks.model --bits 22 --epochs 1
  perceptive train train.svm -o a9a.model --kernel 'gaussian(gamma=0.05)' --budget 2000
  perceptive train more.svm --continue a9a.model -o a9a.model
  perceptive train SMSSpamCollection --text --words 1-2 --bits 18 -o spam.model
  perceptive train SMSSpamCollection --text --tune -o spam.model
  perceptive train SMSSpamCollection --text --holdout 0.1 --prune 0.01 --precision int8 -o small.model
  perceptive train adult.csv --label income -o adult.model
  perceptive train letor.svm --task rank --pairs all -o letor.model
  perceptive train spelled.jsonl --task rank --kernel 'spectrum(3)' -o spelling.model
  perceptive train train.conll --task tag --template chunking --rule pa1 --min-count 2 --dev dev.conll -o chunk.model
  perceptive train train.conll --task rerank --base chunk.model -o rerank.model
  tail -f events.svm | perceptive train --follow - --bits 20 -o live.model
"""
# Options that a run taken up again may have otherwise than the run before.
FREE = {
    "output", "checkpoint", "every", "cache", "threads", "certify", "quiet", "json", "default_of", "command", "cluster",
    "time_limit",
}  # fmt: skip


NEEDED = {
    "patience": ("validation_fraction", "dev", "tune"),
    "mixing": ("shards",),
    "forget": ("budget",),
    "every": ("checkpoint", "follow"),
    "time_limit": ("cluster",),
}  # one of these, for that to do something


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Train a model from files of any size, and write a model file."
    parser.add_argument("-o", "--output", metavar="MODEL", required=True, help="write the model to this file")
    data = "examples to learn from: files, globs, or - for standard input"
    parser.add_argument("data", nargs="+", metavar="DATA", help=data)
    tasks = (
        "classify examples (default), tag the tokens of sentences in columns, rank the candidates of lists, or rerank "
        "what a tagger proposes"
    )
    names = list(dict.fromkeys(entry.name for entry in TASKS))
    parser.add_argument("--task", choices=names, default="classify", help=tasks)
    g.add_groups(parser, options_of("train"))
    parser.add_argument("--quiet", action="store_true", help="show no progress bar and no table")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    with ExitStack() as opened:  # what was needed to choose options, even if training cannot begin
        return _run(options, opened)


def _run(options: argparse.Namespace, opened: ExitStack) -> int:
    from perceptive import _core
    from perceptive.cli import pruning
    from perceptive.cli.console import tell_log
    from perceptive.cli.defaults import fill
    from perceptive.models.registry import from_state, load_learner, save

    began = time.monotonic()
    _core.free_by_megabytes()  # else the windows that were played would stay, in pieces
    learner = load_learner(options.model) if options.model else None
    entry = _task_of(options, learner)
    check_paths(
        [options.output, options.cache, options.checkpoint],
        [*options.data, options.dev, options.base, *_templates(options)],
        may_replace=options.model,
    )
    trials, open_rule = None, options.tune and options.rule is None
    if options.tune and not options.follow:
        from perceptive.cli.tuning import tune

        trials = tune(options, entry)
    _refuse_alone(options)
    TrainingParameters(**given(options, TrainingParameters))  # wrong values are refused before files are read
    task = entry.adapter()
    fill(options, entry, task, opened)
    if learner is None and not open_rule:
        _refuse_unheeded(options)
    if options.follow:
        from perceptive.cli.follow import follow

        return follow(options, task, learner)
    training = TrainingParameters(**given(options, TrainingParameters))
    checkpoint = _checkpoint(options)
    with checkpoint or nullcontext():
        resumed = checkpoint.resume() if checkpoint else None
        job = task.open(options, training, learner if resumed is None else resumed.learner)
        try:
            run = _played(options, task, job, training, resumed, checkpoint)
            certified, pruned = run.learner, None
            if pruning.is_wanted(options):
                if _certifies(options, job):  # that is about what was learned
                    certified = from_state(type(run.learner).__name__, run.learner.state())
                pruned = pruning.prune(options, run.learner, job.source)
            made = job.finished(run.learner)
            if checkpoint is not None and checkpoint.differs:
                _check_replaced(made, learner, options.model)
            save(made, options.output)
            if checkpoint is not None:
                checkpoint.remove()
            certificate, broken = _certificate(options, job, certified)
            counts = job.counts
        finally:
            job.close()
    tell_log(job.log)
    if options.json or not options.quiet:
        from perceptive.cli.report import tell_training

        seconds = time.monotonic() - began
        notes = [*job.log.remarks.values()]
        history = run.history
        tell_training(options, entry, made, history, counts, notes, job.metric, trials, pruned, certificate, seconds)
    if broken is not None:
        print(f"{options.output}: the model is saved, but its certificate could not be made", file=sys.stderr)
        raise broken
    return 0


def _templates(options: argparse.Namespace) -> list[str]:
    """The files that a tagger's templates are read from, its dictionaries among them."""
    if not options.template:
        return []
    from perceptive.features.templates import Templates

    return Templates.files(options.template)


def _task_of(options: argparse.Namespace, learner: Any) -> Entry:
    """The task that is asked for, or that of the model that goes on; raises for options that it does not take."""
    entry = of_name(options.task, options.kernel is not None)
    if learner is not None:
        entry = of_learner(learner)
        if entry.name != options.task:
            raise UsageError(f"{options.model}: is a {entry.what}; give --task {entry.name}, or another model")
        if options.kernel is not None and not entry.kernel:
            raise UsageError(f"{options.model}: was not learned with a kernel; leave out --kernel")
        if options.certify:
            raise UsageError("--certify needs all examples of a run, also those of earlier training; leave it out")
    entry.refuse(options)
    return entry


def _refuse_alone(options: argparse.Namespace) -> None:
    """Raise where a parameter was given without those that give it something to do."""
    for name, needed in NEEDED.items():
        if getattr(options, name) is not None and not any(getattr(options, one) for one in needed):
            raise UsageError(f"{option_of(name)} has no effect without {option_of(needed[0])}")
    journal = options.keep is not None or (options.hypothesis and HYPOTHESES[options.hypothesis].needs_journal)
    if options.max_voters is not None and not journal and options.model is None:
        raise UsageError("--max-voters has no effect without --keep all, or --hypothesis best, voted or random")


def _refuse_unheeded(options: argparse.Namespace) -> None:
    """Raise where a parameter was given that the rule does not heed."""
    rule = options.rule or LinearParameters.rule
    for name in dict.fromkeys(name for known in RULES.values() for name in known.heeds):
        if getattr(options, name) is not None and name not in RULES[rule].heeds:
            others = ", ".join(other for other, known in RULES.items() if name in known.heeds)
            raise UsageError(f"{option_of(name)} has no effect with --rule {rule}; it is for {others}")


def _checkpoint(options: argparse.Namespace) -> Checkpoint | None:
    """Return what saves the checkpoints, if they are wanted."""
    if not options.checkpoint:
        return None
    from perceptive.streams.blocks import content_signature, expand, repeatable
    from perceptive.training.checkpoint import Checkpoint

    chosen = {name: value for name, value in vars(options).items() if name not in FREE}
    read = [*expand(options.data), *filter(None, (options.dev, options.base))]
    # a pipe has to be given again, from its start
    files = [content_signature(path) if repeatable(path) else path for path in read]
    made_from = {"options": chosen, "files": files, "model": None}
    replaced = None
    if options.model:
        made_from["model"] = content_signature(options.model)
        replaced = "model" if same_file(options.model, options.output) else None
    # on a cluster after each epoch: it may be gone in the next
    every = 0.0 if options.cluster else g.EVERY if options.every is None else options.every
    return Checkpoint(options.checkpoint, made_from, every, replaced)


def _check_replaced(made: Any, learner: Any, path: str) -> None:
    """Raise where a model that goes on is neither what it was nor what the run makes of it.

    A run that was killed after it had saved its model, and before its checkpoint went, is played to its end again.
    """
    (meta, arrays), (other, others) = made.state(), learner.state()
    same = json.dumps(meta, sort_keys=True) == json.dumps(other, sort_keys=True) and arrays.keys() == others.keys()
    if not same or any(array.tobytes() != others[name].tobytes() for name, array in arrays.items()):
        raise ValueError(
            f"{path}: has been replaced since the checkpoint was made; delete the checkpoint to start again"
        )


def _played(
    options: argparse.Namespace,
    task: Task,
    job: Job,
    training: TrainingParameters,
    resumed: Run | None,
    checkpoint: Checkpoint | None,
) -> Run:
    """Train, and show how it goes."""
    from perceptive.cli import pruning
    from perceptive.cli.console import Bar
    from perceptive.processors import processors
    from perceptive.training.loop import Run, train

    show = not (options.quiet or options.json)
    with Bar(job.files, job.readings + training.epochs, show) as bar:
        job.prepare(lambda done: bar.update(done, job.counts["examples"]))
        bar.expect(job.readings + training.epochs)
        run = Run.of(job.learner, training) if resumed is None else resumed
        pruning.check(options, run.learner)
        start, played, clock = (run.learner.rounds, run.learner.mistakes), 0, time.monotonic()

        def report(n: int) -> None:
            nonlocal played
            played += n
            learner = run.learner
            bar.update(job.done(run, played), learner.rounds - start[0], learner.mistakes - start[1])

        def after_epoch(history: History) -> None:
            nonlocal clock, played
            speed = played / (run.epoch + 1) / max(1e-9, time.monotonic() - clock)
            mistakes = history.mistakes[-1]
            score = f", held-out {job.metric} {history.held_out[-1]:.2%}" if history.held_out else ""
            said = f"{speed:,.0f} {task.unit}/s, {mistakes:,} {plural(mistakes, 'mistake')}{score}"
            print(f"epoch {history.epochs}: {said}", file=sys.stderr)
            clock = time.monotonic()

        tells = after_epoch if show and task.tells_epochs else None
        threads = options.threads or processors()
        train(run, job.source, report=report, after_epoch=tells, checkpoint=checkpoint, threads=threads)
    return run


def _certifies(options: argparse.Namespace, job: Job) -> bool:
    """Whether a certificate is made: where it is asked for or costs little."""
    return not options.model and bool(options.certify or job.certifies)


def _certificate(
    options: argparse.Namespace, job: Job, learner: Any
) -> tuple[Certificate | None, BaseException | None]:
    """The certificate of what was learned, or why it could not be made: the model is saved."""
    if not _certifies(options, job):
        return None, None
    try:
        from perceptive.certificates import certify_datasets

        return certify_datasets(learner, job.datasets(learner)), None
    except (KeyboardInterrupt, OSError, ValueError, MemoryError) as error:
        return None, error
