"""What `train`, `eval`, `certify` and `inspect` do for taggers."""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from perceptive.cli.options import add_parameters, as_json, check_target, given, in_options, option_of
from perceptive.cli.refusals import refuse
from perceptive.parameters import SequenceParameters, TrainingParameters

if TYPE_CHECKING:
    from perceptive.certificate import Certificate
    from perceptive.conlleval import Evaluation
    from perceptive.learners.reranking import RerankingLearner
    from perceptive.learners.sequence import SequenceLearner
    from perceptive.streams.conll import Place

SHARED = {"rule", "learning_rate", "margin", "C", "hypothesis", "keep", "max_voters", "random_state"}


def add_tagging(parser: argparse.ArgumentParser) -> None:
    """Options of ``train --task tag``."""
    group = parser.add_argument_group("tagging (--task tag)")
    add_parameters(group, SequenceParameters, SHARED)
    group.add_argument("--dev", metavar="FILE", help="sentences to stop by, instead of --holdout")
    group.add_argument(
        "--label-column", type=int, help="that holds the label, from 0 (default: -1, the last); the model remembers it"
    )
    group.add_argument("--prune", type=float, metavar="W", help="keep only the final weights above W")


def train_tag(options: argparse.Namespace) -> int:
    """Learn a tagger from files in columns."""
    from perceptive.certificate import certify
    from perceptive.cli.train import NOT_ALL, certificate_json
    from perceptive.learners.sequence import SequenceLearner
    from perceptive.persistence import save
    from perceptive.streams import conll
    from perceptive.training import History, train_tagger

    began = time.monotonic()
    refuse(options, "--task tag")
    if options.dev and options.validation_fraction:
        raise ValueError("--dev and --holdout are both sentences to stop by; give one of them")
    if options.model and options.certify:
        raise ValueError(NOT_ALL)
    check_target(options.output, [*options.data, *filter(None, (options.dev, options.template))])
    if options.prune is not None and not options.prune >= 0:
        raise ValueError(f"--prune {options.prune}: give a number ≥ 0")
    training = TrainingParameters(**given(options, TrainingParameters, {"progress"}))
    if options.model:
        learner = load_base(options.model)
        if chosen := given(options, SequenceParameters, set()):
            changed = ", ".join(map(option_of, chosen))
            raise ValueError(f"{options.model}: goes on learning as it has begun; leave out {changed}")
    else:
        learner = SequenceLearner(**given(options, SequenceParameters, set()))
    if options.prune is not None and learner.parameters.keeps_log:
        raise ValueError(
            "--prune does not go with --keep all and the hypotheses best and voted: prune averaged or last"
        )
    places: list[Place] = []
    dev_places: list[Place] = []
    column = label_column(options, learner)
    X, y = conll.read(options.data, column, places)
    if not X:
        raise ValueError("there are no sentences to learn from; check the files")
    X_dev, y_dev = conll.read(options.dev, column, dev_places) if options.dev else ([], [])
    if options.dev and not X_dev:
        raise ValueError(f"{options.dev}: there are no sentences to stop by; check the file")
    if not X_dev and training.validation_fraction:
        cut = len(X) - round(len(X) * training.validation_fraction)
        if not 0 < cut < len(X):
            raise ValueError(
                f"{len(X)} sentences are too few to hold out a part of {training.validation_fraction}; give more"
            )
        X, y, X_dev, y_dev, dev_places = X[:cut], y[:cut], X[cut:], y[cut:], places[cut:]
    with located(places):
        lesson = learner.prepare(X, y, first=not options.model)
    with located(dev_places):
        learner.predict_many(X_dev, "last")  # what cannot be read is told before anything is learned
    learner.label_column, learner.n_columns = column, 1 + len(X[0][0])
    show = not (options.quiet or options.json)
    clock = time.monotonic()

    def held_out() -> float:
        return measure(learner, learner.compare(y_dev, learner.predict_many(X_dev)))

    def after_pass(history: History) -> None:
        nonlocal clock
        if show:
            speed = len(X) / max(1e-9, time.monotonic() - clock)
            score = f", held-out {measure_name(learner)} {history.held_out[-1]:.2f}" if history.held_out else ""
            said = f"{speed:,.0f} sentences/s, {history.mistakes[-1]:,} mistakes{score}"
            print(f"pass {history.epochs}: {said}", file=sys.stderr)
        clock = time.monotonic()

    history = train_tagger(learner, lesson, training, held_out if X_dev else None, after_pass=after_pass)
    certificate = certify(learner, X, y) if options.certify else None
    if options.prune is not None:
        learner.prune(options.prune)
    save(learner, options.output)
    told = {
        "model": options.output,
        "sentences": len(X),
        "tokens": sum(map(len, X)),
        "labels": learner.classes,
        "scheme": learner.given or learner.scheme,
        "features": learner.core.n_state_rows + learner.core.n_edge_rows,
        "mistakes": history.mistakes,
        "updates": history.updates,
        "converged": history.converged,
        "held_out": history.held_out,
        "certificate": None if certificate is None else certificate_json(certificate),
        "bytes": os.path.getsize(options.output),
        "seconds": time.monotonic() - began,
    }
    if options.json:
        print(as_json(told))
    elif not options.quiet:
        from perceptive.cli.console import of_passes, pairs, size

        labels = ", ".join(map(str, learner.classes[:10])) + (", …" if len(learner.classes) > 10 else "")
        told |= {"labels": labels, "bytes": size(os.path.getsize(options.output)), "seconds": f"{told['seconds']:.2f}"}
        told |= {"mistakes": of_passes(history.mistakes), "updates": of_passes(history.updates)}
        told |= {"held_out": of_passes(history.held_out, ".2f") or "—"}
        if certificate is None:
            told.pop("certificate")
        else:
            told["certificate"] = str(certificate)
        print(pairs([(name.replace("_", " "), value) for name, value in told.items()]))
    return 0


def load_base(path: str) -> SequenceLearner:
    """The learner of a tagger's file."""
    from perceptive.cli.model import load_tagger_model
    from perceptive.learners.sequence import SequenceLearner

    learner = load_tagger_model(path)
    if not isinstance(learner, SequenceLearner):
        raise ValueError(f"{path}: is a reranker; give the tagger that it is made from")
    return learner


def label_column(options: argparse.Namespace, learner: SequenceLearner | RerankingLearner) -> int:
    """The column of the labels: as told, else as the model has learned, else the last."""
    if options.label_column is not None:
        return int(options.label_column)
    return -1 if learner.label_column is None else learner.label_column


@contextmanager
def located(places: list[Place]) -> Iterator[None]:
    """Let errors and warnings name file and line instead of the number of a sentence."""
    from perceptive.learners.sentence_names import renamed, sentences_named

    def name(i: int, t: int | None) -> str:
        path, line = places[i]
        return f"{path}:{line + (t or 0)}"

    with warnings.catch_warnings(record=True) as caught, sentences_named(name):
        warnings.simplefilter("always")
        yield
    for warning in caught:
        print(f"warning: {in_options(renamed(str(warning.message), name))}", file=sys.stderr)


def measure(learner: SequenceLearner | RerankingLearner, result: Evaluation) -> float:
    """F of segments, or accuracy of tokens where labels are of no scheme."""
    return result.f1 if learner.scheme is not None else result.accuracy


def measure_name(learner: SequenceLearner | RerankingLearner) -> str:
    """What `measure` gives."""
    return "F1" if learner.scheme is not None else "accuracy"


def _labelled(
    options: argparse.Namespace, learner: SequenceLearner | RerankingLearner
) -> tuple[list[Any], list[Any], list[Place]]:
    """The sentences of files, their labels, and where they stand."""
    from perceptive.streams import conll

    wrong = [option_of(name) for name in ("format", "threads") if getattr(options, name) is not None]
    if options.on_error != "stop":
        wrong.append("--on-error")
    if wrong:
        raise ValueError(f"{', '.join(wrong)} does not go with taggers, which read columns; leave it out")
    places: list[Place] = []
    X, y = conll.read(options.data, label_column(options, learner), places)
    if not X:
        raise ValueError("there are no sentences; check the files")
    return X, y, places


def certify_tagger(options: argparse.Namespace, learner: SequenceLearner) -> Certificate:
    """The certificate of a tagger on the sentences of files."""
    from perceptive.certificate import certify

    X, y, places = _labelled(options, learner)
    with located(places):
        return certify(learner, X, y)


def evaluate_tagger(options: argparse.Namespace, learner: SequenceLearner | RerankingLearner) -> None:
    """Print conlleval's table."""
    X, y, places = _labelled(options, learner)
    with located(places):
        predicted = learner.predict_many(X, options.hypothesis)
    result = learner.compare(y, predicted)
    if not options.json:
        print(result)
        return
    names = ("precision", "recall", "f1")
    counts = {"phrases": result.there, "found": result.found, "correct": result.right}
    kinds = {
        kind: dict(zip(names, result.measures(kind), strict=True)) | {name: n[kind] for name, n in counts.items()}
        for kind in sorted({*result.there, *result.found})
    }
    precision, recall, f1 = result.measures()
    told = {"sentences": len(X), "tokens": result.tokens, "accuracy": result.accuracy, "precision": precision}
    told |= {"recall": recall, "f1": f1, **{name: n.total() for name, n in counts.items()}}
    print(as_json({**told, "types": kinds}))


def inspect_tagger(options: argparse.Namespace, learner: SequenceLearner) -> None:
    """Weights by template, by pair of labels, and by feature."""
    about = {
        "rule": learner.parameters.rule,
        "hypothesis": learner.parameters.hypothesis,
        "labels": learner.classes,
        "scheme": learner.given or learner.scheme,
        "label column": learner.label_column,
        "rounds": learner.rounds,
        "mistakes": learner.mistakes,
        "updates": learner.updates,
        "rows": learner.core.n_state_rows + learner.core.n_edge_rows,
    }
    everything = learner.heaviest(-1, options.hypothesis)
    if options.label is not None:
        pairs_of_names = zip(learner.labels, learner.labelling.names(learner.labels), strict=True)
        within = {str(label) for label, name in pairs_of_names if options.label in (str(label), str(name))}
        if not within:
            raise ValueError(f"no class {options.label!r}; there are {', '.join(map(str, learner.classes))}")
        everything = [one for one in everything if not within.isdisjoint(one[1].split(" → "))]
    templates: dict[str, tuple[int, float]] = {}
    for name, _, weight in everything:
        template = name.partition(" = ")[0]
        n, total = templates.get(template, (0, 0.0))
        templates[template] = n + 1, total + abs(weight)
    by_template = sorted(templates.items(), key=lambda one: -one[1][1])
    pairs_of_labels = [one for one in everything if one[0] == "@label[-1]"][: options.top]
    features = [one for one in everything if one[0] != "@label[-1]"][: options.top]
    if options.json:
        told = {
            **about,
            "templates": [{"template": name, "weights": n, "sum": total} for name, (n, total) in by_template],
            "pairs": [{"labels": labels, "weight": weight} for _, labels, weight in pairs_of_labels],
            "features": [{"feature": name, "label": label, "weight": weight} for name, label, weight in features],
        }
        print(as_json(told))
        return
    from perceptive.cli.console import pairs, table

    print(pairs([*about.items()]))
    rows = [[name, n, f"{total:.5g}"] for name, (n, total) in by_template[: options.top]]
    print("\n" + table(rows, ["template", "weights", "Σ|weight|"]))
    print("\n" + table([[labels, f"{w:+.5g}"] for _, labels, w in pairs_of_labels], ["pair of labels", "weight"]))
    print("\n" + table([[name, label, f"{w:+.5g}"] for name, label, w in features], ["feature", "label", "weight"]))
