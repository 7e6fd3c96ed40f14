"""Fitting to collections of Dask: see `perceptive.training.dask`."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptive.errors import Parameter, ParameterError
from perceptive.learners.linear import LinearLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.class_weights import balanced, check_class_weight
from perceptive.training.loop import History, Run, train

REFUSED = {"validation_fraction": 0.0, "probability": False, "certify": False, "warm_start": False}


def fit_on_cluster(
    estimator: Any, X: Any, y: Any, sample_weight: Any, parameters: dict[str, Any], training: TrainingParameters
) -> None:
    """Let the workers of the present Dask client learn; the same bits as shards in one process."""
    from perceptive.training.cluster import Cluster, present_client
    from perceptive.training.cluster_rows import ClusterRows
    from perceptive.training.dask import release

    for name, default in REFUSED.items():
        value = getattr(estimator, name)
        if value != default:
            raise ParameterError(
                "{} does not go with Dask collections; leave it out, or train from files with --cluster",
                Parameter(name, value),
            )
    if training.shards == 1:
        raise ParameterError(
            "{}: Dask collections are learned from by shards; give about as many as the workers have threads",
            Parameter("shards", 1),
        )
    check_class_weight(estimator.class_weight)
    cluster = Cluster(present_client())
    source = ClusterRows(cluster, X, y, sample_weight, training.shards)
    if len(source.classes) < 2:
        raise ValueError(f"y has one class only, {source.classes[0]!r}: a classifier needs examples of at least 2")
    weights = estimator.class_weight
    if isinstance(weights, str):
        weights = balanced(source.counts())
    learner = LinearLearner(classes=source.classes, fixed=False, **parameters)
    dataset = source.begin(learner, None if weights is None else {c: weights.get(c, 1.0) for c in source.classes})
    history, width = History(), source.facts[0].width

    def keep() -> None:
        learner.finish()  # while the workers are there
        estimator._take(learner, history, classes_=np.array(source.classes))
        if width is not None:
            estimator.n_features_in_ = width

    try:
        train(Run.of(learner, training, history), source, player=dataset.play_block)
        keep()
    except KeyboardInterrupt:
        keep()
        raise
    finally:
        release(dataset)
