"""``perceptive train --task rerank``: learn to choose among what a tagger proposes."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from perceptive.cli.options import as_json, given, option_of, whole
from perceptive.cli.ranking import LEAVE_OUT
from perceptive.cli.refusals import refuse
from perceptive.cli.tagging import label_column, load_base, located
from perceptive.parameters import RankingParameters, TrainingParameters

OWN = ("base", "folds", "target", "base_epochs", "candidates")


def add_reranking(parser: argparse.ArgumentParser) -> None:
    """Options of the task."""
    group = parser.add_argument_group("reranking (--task rerank): sentences in columns, and a tagger that proposes")
    group.add_argument("--base", metavar="MODEL", help="the tagger, which has learned from the same files")
    group.add_argument("--candidates", type=whole(2), metavar="K", help="label sequences it proposes (default: 20)")
    group.add_argument("--folds", type=whole(2), help="of the cross-fitting (default: 5)")
    group.add_argument("--base-epochs", type=whole(1), help="passes of its taggers (default: as many as the base made)")
    group.add_argument("--target", choices=["f1", "exact"], help="candidates are graded by F, or the truth is best")


def refuse_reranking(options: argparse.Namespace) -> None:
    """Raise where options of reranking were given to another task."""
    if wrong := [option_of(name) for name in OWN if getattr(options, name) is not None]:
        raise ValueError(f"{', '.join(wrong)} needs --task rerank")


def train_rerank(options: argparse.Namespace) -> int:
    """Learn a reranker from files in columns."""
    from perceptive.cli.console import progress
    from perceptive.learners.ranking import RankingLearner
    from perceptive.learners.reranking import BITS, RANKER
    from perceptive.persistence import save
    from perceptive.streams import conll
    from perceptive.streams.blocks import expand
    from perceptive.training.reranking import train_reranker

    began = time.monotonic()
    if options.base is None:
        raise ValueError("--task rerank needs --base MODEL, a tagger of train --task tag")
    refuse(options, "--task rerank")
    training = TrainingParameters(**given(options, TrainingParameters, {"progress"}))
    chosen = {**RANKER, **given(options, RankingParameters, LEAVE_OUT | {"cost"})}
    if options.pair_cost is not None:
        chosen["cost"] = options.pair_cost
    ranker = RankingLearner(bits=BITS, **chosen)
    base = load_base(options.base)
    files = expand(options.data)
    places: list[conll.Place] = []
    X, y = conll.read(files, label_column(options, base), places)
    if not X:
        raise ValueError("there are no sentences; check the files")
    own: dict[str, Any] = {name: value for name in ("folds", "target") if (value := getattr(options, name)) is not None}
    if options.candidates is not None:
        own["k"] = options.candidates
    with located(places), progress(files, 1, not (options.quiet or options.json)) as bar:

        def report(done: float, played: int, mistakes: int) -> None:
            bar.update(done * (bar.total or 0), played)

        learner, history = train_reranker(
            base, X, y, ranker, training, base_epochs=options.base_epochs, report=report, **own
        )
    save(learner, options.output)
    told = {
        "model": options.output,
        "sentences": len(X),
        "lists": ranker.played // max(1, history.epochs),
        "oracle": learner.oracle,
        "mistakes": history.mistakes,
        "updates": history.updates,
        "converged": history.converged,
        "bytes": os.path.getsize(options.output),
        "seconds": time.monotonic() - began,
    }
    if options.json:
        print(as_json(told))
    elif not options.quiet:
        from perceptive.cli.console import of_passes, pairs, size

        told |= {"oracle": f"F1 {learner.oracle:.2%}", "bytes": size(os.path.getsize(options.output))}
        told |= {"mistakes": of_passes(history.mistakes), "updates": of_passes(history.updates)}
        told["seconds"] = f"{told['seconds']:.2f}"
        print(pairs(list(told.items())))
    return 0
