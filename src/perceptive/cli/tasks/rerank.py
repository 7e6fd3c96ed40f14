"""Reranking what a tagger proposes."""

from __future__ import annotations

import argparse
from typing import Any

from perceptive.cli.tasks import of_learner
from perceptive.cli.tasks.classify import weights_of
from perceptive.cli.tasks.explained import Explained
from perceptive.cli.tasks.memory import MemoryJob
from perceptive.cli.tasks.rank import ranking_parameters
from perceptive.cli.tasks.rows import count
from perceptive.cli.tasks.sentences import files_of, located, read
from perceptive.cli.tasks.tag import Tag
from perceptive.cli.tasks.tagged import words_of
from perceptive.errors import UsageError
from perceptive.inspection import heaviest
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.reranking import BITS, NOT_ON_CLUSTER, RANKER, RerankingLearner
from perceptive.models.registry import load_learner
from perceptive.parameters import TrainingParameters
from perceptive.streams.blocks import expand
from perceptive.streams.parsing import Log, default_threads
from perceptive.training.loop import InMemory
from perceptive.training.reranking import train_like


class Rerank(Tag):
    """The adapter."""

    tells_epochs = False

    def open(self, options: argparse.Namespace, training: TrainingParameters, learner: Any) -> MemoryJob:
        """Read the files, and let taggers like the base propose candidates for them."""
        if options.cluster:
            raise UsageError(f"{NOT_ON_CLUSTER}; train the base with --cluster, and leave it out here")
        if options.base is None:
            raise UsageError("--task rerank needs --base MODEL, a tagger of train --task tag")
        base = load_learner(options.base)
        if of_learner(base).name != "tag":
            raise UsageError(f"{options.base}: is not a tagger; give one of train --task tag")
        X, y, places, _ = read(options.data, files_of(options, base))
        epochs = options.base_epochs or max(1, round(base.rounds / len(X)))
        if learner is None:
            own = {"folds": options.folds, "target": options.target, "k": options.candidates}
            ranker = RankingLearner(bits=BITS, **{**RANKER, **ranking_parameters(options)})
            learner = RerankingLearner(base, ranker, **{name: n for name, n in own.items() if n is not None})
        learner.fit_tagger, learner.threads = train_like(base, epochs), options.threads or default_threads()
        with located(places):
            dataset = learner.dataset(X, y, epochs=training.epochs)
        counts = count(len(X), Log(), 0, tokens=sum(map(len, X)), lists=len(dataset))
        files = expand(options.data)
        source = InMemory(dataset, training.shuffle)
        return MemoryJob(learner, source, "top-1", files, Log(), counts, lambda learner: dataset)

    def explained(self, learner: Any, X: list[Any], options: argparse.Namespace) -> list[Explained]:
        """What the ranker saw in the labels that it chose."""
        from perceptive.explanation import explain_choice

        told = [explain_choice(learner, x, options.top, options.hypothesis) for x in X]
        return [Explained([one], beside={"tokens": words_of(x)}) for x, one in zip(X, told, strict=True)]

    def weights(self, learner: Any, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
        """The heaviest features of the ranker, where it is linear."""
        return weights_of(heaviest(learner.ranker, options.top, options.hypothesis))
