"""Reranking what a tagger proposes."""

from __future__ import annotations

import argparse
from typing import Any

from perceptive.cli.options import given_to_learner, option_of
from perceptive.cli.tasks import Opened, of_learner
from perceptive.cli.tasks.classify import weights_of
from perceptive.cli.tasks.explained import Explained
from perceptive.cli.tasks.files import connected
from perceptive.cli.tasks.memory import MemoryJob
from perceptive.cli.tasks.rows import changed_options, count, refuse_changed
from perceptive.cli.tasks.sentences import files_of, located, read
from perceptive.cli.tasks.tag import Tag, refuse_on_cluster
from perceptive.cli.tasks.tagged import words_of
from perceptive.data.dataset import Dataset
from perceptive.data.sentence_files import SentenceFiles
from perceptive.errors import UsageError
from perceptive.inspection import heaviest
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.reranking import BITS, RANKER, RerankingLearner
from perceptive.models.registry import load_learner
from perceptive.parameters import RankingParameters, TrainingParameters
from perceptive.processors import processors
from perceptive.streams.blocks import expand
from perceptive.streams.parsing import Log
from perceptive.training.loop import InMemory
from perceptive.training.reranking import epochs_made, train_like

# The parameters of a reranker beside those of its ranker, and their options.
OWN = {"k": "candidates", "folds": "folds", "target": "target", "lookback": "lookback"}


class Rerank(Tag):
    tells_epochs = False

    def open(self, options: argparse.Namespace, training: TrainingParameters, learner: Any) -> MemoryJob:
        """Read the files, and let taggers like the base propose candidates for them."""
        base = learner.tagger if options.model else _base(options)
        if options.model:
            _refuse_changes(options, learner)
        files, paths = files_of(options, base), expand(options.data)
        if options.cluster:
            return self._ranked_on_cluster(options, training, learner, base, files)
        X, y, places, _, weights, unanswered, _ = read(options.data, files)
        learner = self._begun_with(options, learner, base)
        with located(places):
            dataset = learner.dataset(X, y, weights, epochs=training.epochs)
        counts = count(len(X), Log(), unanswered, tokens=sum(map(len, X)), lists=len(dataset))
        source = InMemory(dataset, training.shuffle)
        return MemoryJob(learner, source, "top-1", paths, Log(), counts, lambda learner: dataset)

    def _begun_with(self, options: argparse.Namespace, learner: Any, base: Any) -> RerankingLearner:
        """A new learner, or the one that goes on."""
        if learner is None:
            ranker = RankingLearner(bits=BITS, **{**RANKER, **given_to_learner(options, RankingParameters)})
            own = {name: value for name, option in OWN.items() if (value := getattr(options, option)) is not None}
            learner = RerankingLearner(base, ranker, **own)
        learner.fold_epochs = options.base_epochs or learner.fold_epochs or epochs_made(base)
        learner.fit_tagger = train_like(base, learner.fold_epochs)
        learner.threads, learner.remembers_names = options.threads or processors(), options.invert_hash
        return learner  # type: ignore[no-any-return]

    def _ranked_on_cluster(
        self, options: argparse.Namespace, training: TrainingParameters, learner: Any, base: Any, files: SentenceFiles
    ) -> MemoryJob:
        """Let workers read the files, and propose."""
        refuse_on_cluster(options, "weight", "invert_hash", "certify")
        paths = expand(options.data)
        with connected(options, training.shards, paths) as cluster:
            from perceptive.training.cluster_lists import ClusterLists
            from perceptive.training.cluster_sentences import ClusterSentences

            with located([]):
                sentences = ClusterSentences.of_files(cluster, files, paths, training.shards)
            learner = self._begun_with(options, learner, base)
            with located(sentences.places):
                source = ClusterLists(sentences, learner)
        tokens = sum(map(len, sentences.y))
        counts = count(len(sentences.y), Log(), sentences.unanswered, tokens=tokens, lists=len(source.dataset))
        return MemoryJob(
            learner, source, "top-1", paths, Log(), counts, lambda learner: source.dataset, cluster=cluster
        )

    def looked_at(self, learner: Any, X: list[Any], y: list[Any], weights: list[float] | None) -> Dataset:
        """The candidates of taggers that have learned as those did whose candidates it learned from."""
        learner.fit_tagger = train_like(learner.tagger, learner.fold_epochs)
        return super().looked_at(learner, X, y, weights)

    def predict(self, learner: Any, options: argparse.Namespace) -> Opened:
        """As taggers do; a ranker looks at whole sequences."""
        for name, what in (("margin", "margins of tokens"), ("proba", "probabilities")):
            if getattr(options, name):
                raise UsageError(f"--{name}: a reranker has no {what}; ask its tagger, or for --kbest")
        return super().predict(learner, options)

    def explained(self, learner: Any, X: list[Any], options: argparse.Namespace) -> list[Explained]:
        from perceptive.explanation import explain_choice

        told = [explain_choice(learner, x, options.top, options.hypothesis) for x in X]
        return [Explained([one], beside={"tokens": words_of(x)}) for x, one in zip(X, told, strict=True)]

    def weights(self, learner: Any, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
        """The heaviest features of the ranker, where it is linear."""
        return weights_of(heaviest(learner.ranker, options.top, options.hypothesis), learner.ranker.space.hashed)


def _base(options: argparse.Namespace) -> Any:
    """Return the tagger that proposes the candidates."""
    if options.base is None:
        raise UsageError("--task rerank needs --base MODEL, a tagger of train --task tag")
    base = load_learner(options.base)
    if of_learner(base).name != "tag":
        raise UsageError(f"{options.base}: is not a tagger; give one of train --task tag")
    return base


def _refuse_changes(options: argparse.Namespace, learner: RerankingLearner) -> None:
    """Raise where options would make another reranker of one that goes on, which has its tagger in it."""
    if options.base is not None:
        raise UsageError(f"{options.model}: proposes with the tagger that it was trained with; leave out --base")
    told = {name: getattr(options, option) for name, option in OWN.items()}
    changed = [option_of(OWN[name]) for name, said in told.items() if said not in (None, getattr(learner, name))]
    refuse_changed(options, changed + changed_options(options, learner.ranker.parameters))
