"""Fit estimators to Dask collections: see `perceptive.training.dask`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from perceptive.errors import Parameter, ParameterError
from perceptive.learners.linear import LinearLearner
from perceptive.learners.reranking import RerankingLearner
from perceptive.learners.sequence import SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.class_weights import balanced, check_class_weight
from perceptive.training.loop import History, Run, train

REFUSED = {"validation_fraction": 0.0, "probability": False, "certify": False, "warm_start": False}


def is_on_cluster(X: Any) -> bool:
    """Return whether the examples are a Dask collection."""
    return hasattr(X, "__dask_graph__")


def fit_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, parameters: dict[str, Any], training: TrainingParameters
) -> None:
    """Learn from rows on the workers of the current Dask client; same bits as shards in one process."""
    from perceptive.training.cluster_rows import ClusterRows

    cluster = _cluster_for(estimator, training.shards)
    check_class_weight(estimator.class_weight)
    source = ClusterRows(cluster, X, y, sample_weight, training.shards)
    if len(source.classes) < 2:
        raise ValueError(f"y has one class only, {source.classes[0]!r}: a classifier needs examples of at least 2")
    weights = estimator.class_weight
    if isinstance(weights, str):
        weights = balanced(source.counts())
    learner = LinearLearner(classes=source.classes, fixed=False, **parameters)
    source.begin(learner, None if weights is None else {c: weights.get(c, 1.0) for c in source.classes})
    width = source.facts[0].width
    known = {} if width is None else {"n_features_in_": width}
    _train(estimator, learner, training, source, classes_=np.array(source.classes), **known)


def fit_sentences(estimator: Any, X: Any, y: Any, sample_weight: Any, shards: int) -> None:
    """Learn from sentences on the workers of the current Dask client; same bits as shards in one process."""
    from perceptive.training.cluster_sentences import ClusterSentences

    cluster = _cluster_for(estimator, shards)
    source = ClusterSentences.of_bags(cluster, X, y, sample_weight, shards)
    parameters, training = estimator._check_parameters([source.first], source.y)
    learner = SequenceLearner(**parameters)
    source.begin(learner, np.ones(len(source.y), bool), whole=True)
    _train(estimator, learner, training, source)


def fit_lists(
    ranker: Any, learner: RerankingLearner, X: Any, y: Any, sample_weight: Any, fit_tagger: Callable[[], Any]
) -> Any:
    """Propose label sequences for sentences on the workers of the current Dask client, and learn their order.

    ``fit_tagger()`` is called after all checks; its tagger is returned.
    """
    from perceptive.training.cluster_lists import ClusterLists, check_ranker
    from perceptive.training.cluster_sentences import ClusterSentences

    training = ranker._check_parameters()[1]
    cluster = _cluster_for(ranker, training.shards)
    check_ranker(learner, training.shards)
    tagger = fit_tagger()
    learner.tagger = tagger.learner_
    source = ClusterLists(ClusterSentences.of_bags(cluster, X, y, sample_weight, training.shards), learner)
    _train(ranker, learner.ranker, training, source, n_features_in_=learner.ranker.n_features)
    return tagger


def _cluster_for(estimator: Any, shards: int) -> Any:
    """The present cluster; raises for parameters that do not go with one."""
    from perceptive.training.cluster import Cluster, present_client

    for name, default in REFUSED.items():
        value = getattr(estimator, name, default)
        if value != default:
            raise ParameterError(
                "{} does not go with Dask collections; leave it out, or train from files with --cluster",
                Parameter(name, value),
            )
    if shards == 1:
        raise ParameterError(
            "{}: Dask collections are learned from by shards; give about as many as the workers have threads",
            Parameter("shards", 1),
        )
    return Cluster(present_client())


def _train(estimator: Any, learner: Any, training: TrainingParameters, source: Any, **known: Any) -> None:
    """Let a learner play what the workers have, and have it from then on; also what Ctrl-C breaks off."""
    history = History()

    def keep() -> None:
        learner.finish()  # while the workers are there
        estimator._take(learner, history, **known)

    try:
        train(Run.of(learner, training, history), source)
        keep()
    except KeyboardInterrupt:
        keep()
        raise
    finally:
        source.close()
