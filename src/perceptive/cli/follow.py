"""``perceptive train --follow``: learn from a pipe for ever, and say how it goes."""

from __future__ import annotations

import argparse
import time

from perceptive.cli.options import as_json, given, option_of
from perceptive.cli.train import NOT_OPTIONS, remember_names
from perceptive.parameters import LinearParameters
from perceptive.streams import Stream


def follow(options: argparse.Namespace, stream: Stream) -> int:
    """Learn from examples as they arrive.

    Progressive accuracy is told when their number has doubled, and each second in which some arrived. The model is
    written every ``--every`` seconds, and at the end.
    """
    from perceptive.learners.linear import LinearLearner
    from perceptive.persistence import save
    from perceptive.streams.examples import UNLABELLED
    from perceptive.training.source import MAX_FEATURES, as_batch

    ignored = ("epochs", "validation_fraction", "checkpoint", "cache", "certify", "patience", "shuffle")
    if given_too := [option_of(name) for name in ignored if getattr(options, name)]:
        raise ValueError(f"{', '.join(given_too)}: not with --follow, which plays each example once, as it comes")
    learner = getattr(options, "learner", None)
    if learner is None:
        parameters = given(options, LinearParameters, NOT_OPTIONS)
        if options.reference is not None:
            parameters["reference"] = options.reference
        parameters["n_features"] = stream.reading.width
        learner = LinearLearner(classes=options.classes, **parameters)
        learner.reading, learner.idf = stream.reading, stream.idf
    start = learner.rounds, learner.mistakes
    told, told_at, saved_at, window = 0, 0.0, time.monotonic(), (0, 0)

    def tell() -> None:
        nonlocal told, told_at, window
        seen, mistakes = learner.rounds - start[0], learner.mistakes - start[1]
        recent = 1 - (mistakes - window[1]) / max(1, seen - window[0])
        overall = 1 - mistakes / max(1, seen)
        if options.json:
            told_now = {"examples": seen, "mistakes": mistakes, "accuracy": overall, "recent": recent}
            print(as_json(told_now), flush=True)
        elif not options.quiet:
            print(f"{seen:>12,} examples  {overall:7.2%} right  {recent:7.2%} of the latest", flush=True)
        told, told_at, window = seen, time.monotonic(), (seen, mistakes)

    learner.temperature = None  # it was that of other weights
    broken: Exception | None = None
    try:
        for number, examples in enumerate(stream.blocks(live=True, limit=MAX_FEATURES)):
            labelled = examples.take((examples.which != UNLABELLED).nonzero()[0])
            if len(labelled):
                batch = as_batch(labelled, number, stream.reading.width)
                learner.prepare(batch.rows, batch.labels, batch.weights).play_as_they_come()
            now = time.monotonic()
            seen = learner.rounds - start[0]
            if seen >= max(1, 2 * told) or (seen > told and now - told_at >= 1.0):
                tell()
            if now - saved_at >= options.every and learner.problems:
                remember_names(learner, stream)
                save(learner, options.output)
                saved_at = now
    except KeyboardInterrupt:
        pass
    except (ValueError, OSError) as error:
        broken = error
    if not learner.problems:
        raise broken or ValueError("no labelled example has arrived; nothing was learned")
    remember_names(learner, stream)
    save(learner, options.output)
    if broken is not None:
        raise broken  # what was learned before is saved
    if learner.rounds - start[0] > told:
        tell()
    return 0
