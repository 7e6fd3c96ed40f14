"""``perceptive train``: from files to a model."""

from __future__ import annotations

import argparse
import math
import os
import resource
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from perceptive.cli import ranking
from perceptive.cli.options import (
    add_files,
    add_json,
    add_parameters,
    as_json,
    check_target,
    duration,
    given,
    label,
    option_of,
    whole,
    words,
)
from perceptive.cli.reading import add_reading, given_reading, reading_options, said_as_options
from perceptive.cli.refusals import refuse
from perceptive.cli.reranking import add_reranking, refuse_reranking, train_rerank
from perceptive.cli.tagging import SHARED, add_tagging, train_tag
from perceptive.parameters import LinearParameters, SequenceParameters, TrainingParameters

if TYPE_CHECKING:
    from perceptive.certificate import Certificate
    from perceptive.learners.linear import LinearLearner
    from perceptive.streams import Stream
    from perceptive.training.source import Source
    from perceptive.training.stream import Run

NOT_OPTIONS = {"bits", "cost", "n_features", "reference"}  # not declared parameters, or not as they are there
NOT_ALL = "--certify is about all examples of a run, and those before are not here; leave it out"
EXAMPLE = """\
examples:
  perceptive train train.svm -o a9a.model --rule pa1 --C 0.1 --epochs 5 --holdout 0.1
  perceptive train 'logs/*.vw.gz' -o clicks.model --bits 22 --epochs 1
  perceptive train train.svm -o a9a.model --kernel 'gaussian(gamma=0.05)' --budget 2000
  perceptive train more.svm --continue a9a.model -o a9a.model
  perceptive train SMSSpamCollection --text --words 1-2 --bits 18 -o spam.model
  perceptive train adult.csv --label income -o adult.model
  perceptive train letor.svm --task rank --pairs all -o letor.model
  perceptive train spelled.jsonl --task rank --kernel 'spectrum(3)' -o spelling.model
  perceptive train train.conll --task tag --template chunking --rule pa1 --min-count 2 --dev dev.conll -o chunk.model
  perceptive train train.conll --task rerank --base chunk.model -o rerank.model
  tail -f events.svm | perceptive train --follow - --bits 20 -o live.model
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = "Learn a classifier or a ranker from files, however large, and write it to a model file."
    parser.epilog = EXAMPLE
    parser.add_argument("-o", "--output", metavar="MODEL", required=True, help="where the model goes")
    add_files(parser, "examples to learn from")
    tasks = (
        "classify examples (default), tag the tokens of sentences in columns, rank the candidates of lists, or rerank "
        "what a tagger proposes"
    )
    parser.add_argument("--task", choices=["classify", "tag", "rank", "rerank"], default="classify", help=tasks)
    add_reading(parser)
    group = parser.add_argument_group("learner")
    add_parameters(group, LinearParameters, NOT_OPTIONS)
    group.add_argument("--reference", type=str, help="ovr: the class that has no problem of its own")
    group.add_argument("--classes", type=words, metavar="A,B,…", help="all classes, where they are known before")
    group = parser.add_argument_group("kernels")
    group.add_argument(
        "--kernel",
        metavar="TEXT",
        help="classify or rank in the dual: poly(4), gaussian(sigma=2), 0.5*gaussian+spectrum(3)@text (of JSON lines: "
        "the numbers of each, and its text), …",
    )
    group.add_argument("--budget", type=whole(1), help="kernels: how many supports are kept at most")
    group.add_argument("--forget", choices=["projectron", "oldest", "random"], help="kernels: what makes room then")
    group = parser.add_argument_group("training")
    add_parameters(group, TrainingParameters, {"progress"})
    group.add_argument("--continue", dest="model", metavar="MODEL", help="go on learning with a model")
    group.add_argument("--cache", metavar="FILE", help="keep the parsed examples, for this and later runs")
    group.add_argument("--checkpoint", metavar="FILE", help="write down the state now and then, and resume from it")
    group.add_argument(
        "--every", type=duration, default=60.0, metavar="TIME", help="between two checkpoints, e.g. 60s (default), 5m"
    )
    group.add_argument("--follow", action="store_true", help="learn as examples arrive, until the input ends or Ctrl-C")
    group.add_argument("--certify", action="store_true", help="make the certificate, which reads the files once more")
    group.add_argument("--quiet", action="store_true", help="no progress bar and no table")
    add_tagging(parser)
    ranking.add_ranking(parser)
    add_reranking(parser)
    add_json(parser)
    parser.set_defaults(default_of=parser.get_default)  # tells what was given


def run(options: argparse.Namespace) -> int:
    """Learn."""
    if options.task == "rerank":
        check_target(options.output, [*options.data, *([options.base] if options.base else [])])
        return train_rerank(options)
    refuse_reranking(options)
    if options.task != "rank" and (options.pairs or options.pair_cost):
        raise ValueError("--pairs and --pair-cost need --task rank")
    if options.task == "tag":
        return train_tag(options)
    own = [name for name in ("dev", "label_column", "prune") if getattr(options, name) is not None]
    if wrong := [*given(options, SequenceParameters, SHARED), *own]:
        raise ValueError(f"{', '.join(map(option_of, wrong))} needs --task tag")
    if options.model and options.certify:
        raise ValueError(NOT_ALL)
    if options.model and options.checkpoint:
        raise ValueError("--continue and --checkpoint do not go together; resume the checkpoint first")
    if options.kernel is not None or _goes_on_with_kernel(options):
        return _rank_by_kernel(options) if options.task == "rank" else _train_kernel(options)
    if options.task == "rank":
        refuse(options, "--task rank")
    if options.budget is not None or options.forget is not None:
        raise ValueError("--budget and --forget are about kernels; give --kernel too")
    began = time.monotonic()
    training = _training(options)
    if options.task != "rank":
        LinearParameters(**given(options, LinearParameters, NOT_OPTIONS))  # raises for what cannot be
    for path in (options.output, options.checkpoint, options.cache):
        check_target(path, options.data)
    stream = _stream(options)
    _read_labels(options, stream)
    if options.task == "rank":
        return ranking.train_rank(options, stream, training)
    if options.follow:
        from perceptive.cli.follow import follow

        return follow(options, stream)

    from perceptive.cli.console import progress
    from perceptive.persistence import save
    from perceptive.training.source import Source

    seed = options.random_state or 0
    holdout = training.validation_fraction
    with Source(stream, passes=training.epochs, cache=options.cache, holdout=holdout, seed=seed) as source:
        if options.certify and training.epochs == 1 and not source.repeatable:
            raise ValueError("--certify reads the examples twice, a pipe gives them once; write them to a file")
        run = _begin(options, training, source)
        with progress(stream.files, training.epochs, not (options.quiet or options.json)) as bar:
            _play(run, source, options, bar)
        certificate = _finish(run, source, options)
    remember_names(run.learner, stream)
    save(run.learner, options.output)
    if options.checkpoint:
        _remove(options.checkpoint)
    _tell(options, run, source, certificate, time.monotonic() - began)
    return 0


def _goes_on_with_kernel(options: argparse.Namespace) -> bool:
    from perceptive import model_file

    return bool(options.model) and model_file.read(options.model)[0].startswith("Kernel")


def _train_kernel(options: argparse.Namespace) -> int:
    from perceptive.cli.kernel import train
    from perceptive.kernels import as_kernel

    refuse(options, "kernels")
    check_target(options.output, options.data)
    if not options.model:
        kernel = as_kernel(options.kernel)
        if kernel.one_way:
            raise ValueError(f"--kernel {options.kernel}: files hold no Gram matrices; give them from Python")
        if not kernel.vectors:
            refuse(options, "kernels of strings and trees")
        rows = _stream(options) if kernel.vectors else None
        _read_labels(options, rows)
        return train(options, rows, None)
    from perceptive.cli.model import load_any, stream_for
    from perceptive.learners.kernel import KernelLearner

    learner = load_any(options.model)
    if not isinstance(learner, KernelLearner):
        raise ValueError(f"{options.model}: was not learned with a kernel; leave out --kernel")
    if wrong := given_reading(options):
        raise ValueError(_begun(options, wrong))
    if not learner.kernel.vectors:
        refuse(options, "kernels of strings and trees")
    return train(options, stream_for(learner, options, fixed=True) if learner.kernel.vectors else None, learner)


def _rank_by_kernel(options: argparse.Namespace) -> int:
    from perceptive.cli.kernel_ranking import train
    from perceptive.cli.model import stream_for
    from perceptive.kernels import as_kernel
    from perceptive.learners.kernel_ranking import KernelRankingLearner

    refuse(options, "kernel rankers")
    check_target(options.output, options.data)
    if options.model:
        learner = ranking.load_ranker(options.model)
        if not isinstance(learner, KernelRankingLearner):
            raise ValueError(f"{options.model}: was not learned with a kernel; leave out --kernel")
        if wrong := given_reading(options):
            raise ValueError(_begun(options, wrong))
        return train(options, None if learner.takes_objects else stream_for(learner, options, fixed=True), learner)
    kernel = as_kernel(options.kernel)
    if kernel.one_way:
        raise ValueError(f"--kernel {options.kernel}: files hold no Gram matrices; give them from Python")
    if not kernel.vectors:
        refuse(options, "kernel rankers of strings and trees")
    return train(options, _stream(options) if kernel.vectors else None, None)


def remember_names(learner: LinearLearner, stream: Stream) -> None:
    """Add the names that a stream has met to those that the learner knows."""
    met = stream.log.names
    if met is not None and learner.names is not None:
        learner.names.merge(met)
    elif met is not None:
        learner.names = met


def _read_labels(options: argparse.Namespace, stream: Stream | None) -> None:
    """Labels that were given, as the files have them; what is no stream of rows is JSON."""
    format = "json" if stream is None else stream.reading.format
    options.classes = None if options.classes is None else [label(word, format) for word in options.classes]
    options.reference = None if options.reference is None else label(options.reference, format)


def _training(options: argparse.Namespace) -> TrainingParameters:
    return TrainingParameters(**given(options, TrainingParameters, {"progress"}))


def _stream(options: argparse.Namespace) -> Stream:
    from perceptive import streams

    reading = reading_options(options)
    if options.text:
        if options.format not in (None, "text", "fasttext"):
            raise ValueError(
                f"--text and --format {options.format} do not go together; for a table, give --text-column"
            )
        options.format = "text"
    common: dict[str, Any] = {
        "dtype": options.dtype or "float32",  # of a model that goes on learning: its own
        "threads": options.threads,
        "on_error": options.on_error,
        "remember_names": options.invert_hash,
    }
    if not options.model:
        try:
            return streams.open(options.data, format=options.format, **common, **reading)
        except streams.Meaningless as error:
            raise said_as_options(error) from None
    from perceptive.cli.model import load_model, reading_of

    if options.task == "rank":
        ranker = ranking.linear_ranker(options.model)
        if reading:
            raise ValueError(_begun(options, given_reading(options)))
        return streams.open(options.data, reading=reading_of(ranker, options), idf=ranker.idf, **common)
    options.learner = learner = load_model(options.model)
    known = given(options, LinearParameters, NOT_OPTIONS)
    changed = [option_of(name) for name, value in known.items() if value != getattr(learner.parameters, name)]
    changed += given_reading(options)
    changed += [f"--{name}" for name in ("classes", "reference") if getattr(options, name)]
    if changed:
        raise ValueError(_begun(options, changed))
    common["dtype"] = learner.parameters.dtype
    return streams.open(options.data, reading=reading_of(learner, options), idf=learner.idf, **common)


def _begun(options: argparse.Namespace, changed: list[str]) -> str:
    return f"{options.model}: goes on learning as it has begun; leave out {', '.join(changed)}"


def _begin(options: argparse.Namespace, training: TrainingParameters, source: Source) -> Run:
    from perceptive.training.stream import Run

    if options.model:
        before = options.learner.mistakes, options.learner.updates, options.learner.loss
        options.learner.temperature = None  # it was that of other weights
        return Run(options.learner, training, before=before)
    if options.checkpoint and os.path.exists(options.checkpoint):
        from perceptive.persistence import load_checkpoint

        return load_checkpoint(options.checkpoint, _made_from(options, source))
    parameters = given(options, LinearParameters, NOT_OPTIONS)
    if options.reference is not None:
        parameters["reference"] = options.reference
    return Run.start(source, training, options.classes, **parameters)


def _made_from(options: argparse.Namespace, source: Source) -> dict[str, Any]:
    chosen = given(options, LinearParameters, NOT_OPTIONS)
    return {
        "data": source.signature,
        "learner": {**chosen, "classes": options.classes, "reference": options.reference},
        "training": asdict(_training(options)),
    }


def _play(run: Run, source: Source, options: argparse.Namespace, bar: Any) -> None:
    last = time.monotonic()
    total, passes = bar.total, run.training.epochs
    start = run.learner.rounds, run.learner.mistakes

    def after_block(run: Run) -> None:
        nonlocal last
        if run.epoch == 0:
            done = float(source.stream.log.bytes)
        else:
            done = (run.epoch + run.block / source.n_blocks) * (total or 0) / passes
        bar.update(done, run.learner.rounds - start[0], run.learner.mistakes - start[1])
        if options.checkpoint and time.monotonic() - last >= options.every:
            from perceptive.persistence import save_checkpoint

            save_checkpoint(run, options.checkpoint, _made_from(options, source))
            last = time.monotonic()

    run.play(source, after_block)


def _finish(run: Run, source: Source, options: argparse.Namespace) -> Certificate | None:
    """What remains when the last pass is over: probabilities from the held-out part, and the certificate."""
    learner = run.learner
    if source.holdout and learner.parameters.hypothesis != "voted":
        from perceptive.training.stream import calibrate

        calibrate(learner, source)
    if options.model or not (options.certify or source.cached):
        return None
    from perceptive.certificate import certify_lessons

    lessons = (learner.lesson(batch.rows, batch.labels, batch.weights) for batch in source.batches())
    return certify_lessons(learner, lessons)


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)


def _tell(
    options: argparse.Namespace, run: Run, source: Source, certificate: Certificate | None, seconds: float
) -> None:
    learner, history, log = run.learner, run.history, source.stream.log
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    for complaint in log.complaints:
        print(f"skipped: {complaint}", file=sys.stderr)
    if options.json:
        told = {
            "model": options.output,
            "examples": source.examples,
            "skipped": source.skipped,
            "unlabelled": source.unlabelled,
            "classes": learner.classes,
            "features": learner.n_features,
            "mistakes": history.mistakes,
            "updates": history.updates,
            "converged": history.converged,
            "held_out": history.held_out,
            "certificate": None if certificate is None else certificate_json(certificate),
            "seconds": seconds,
            "memory": memory,
        }
        print(as_json(told))
        return
    if options.quiet:
        return
    from perceptive.cli.console import of_passes, pairs, size

    classes = ", ".join(map(str, learner.classes[:10])) + (", …" if len(learner.classes) > 10 else "")
    rows: list[tuple[str, Any]] = [
        ("examples", f"{source.examples:,}"),
        ("classes", classes),
        ("features", f"{learner.n_features:,}"),
        ("mistakes", of_passes(history.mistakes, converged=history.converged)),
    ]
    for name, count in (("skipped lines", source.skipped), ("without label", source.unlabelled)):
        if count:
            rows.insert(1, (name, f"{count:,}"))
    if history.held_out:
        rows.append(("held-out accuracy", of_passes(history.held_out, ".2%")))
    if certificate is not None:
        rows.append(("certificate", str(certificate)))
    rows += [("time", f"{seconds:.2f} s"), ("memory", size(memory)), ("model", options.output)]
    print(pairs(rows))


def certificate_json(certificate: Certificate) -> dict[str, Any]:
    """A certificate as JSON has it: infinity and NaN are null."""
    values = asdict(certificate)
    values.pop("problems")
    plain = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
    return {**plain, "holds": certificate.holds, "text": str(certificate)}
