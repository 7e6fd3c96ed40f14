"""What a model is made of, by its learner or by its estimator."""

import re

import numpy as np
import pandas as pd
import pytest

from perceptive import KernelClassifier, LinearClassifier, LinearRanker, Reranker, SequenceTagger
from perceptive.inspection import describe, heaviest

X, Y = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [0.0, 1.0]]), [0, 1, 0, 1]
SENTENCES, TAGS = [["Ada", "left"], ["Bob", "came"]] * 3, [["N", "V"]] * 6


@pytest.mark.parametrize("model", [LinearClassifier(), LinearClassifier(multiclass="joint"), KernelClassifier()])
def test_estimators_are_inspected_as_their_learners_are(model):
    model.fit(X, Y)
    assert describe(model) == describe(model.learner_)
    assert heaviest(model, 2) == heaviest(model.learner_, 2)


def test_rankers_taggers_and_rerankers():
    ranker = LinearRanker().fit([X[:2], X[2:]], [0, 0])
    assert heaviest(ranker, 1)["score"] == heaviest(ranker.learner_, 1)["score"] != []
    tagger = SequenceTagger().fit(SENTENCES, TAGS)
    reranker = Reranker(tagger, k=2, folds=2)
    with pytest.warns(UserWarning, match="few for a reranker"):
        reranker.fit(SENTENCES, TAGS)
    for model, cure in ((tagger, "heaviest(1)"), (reranker, "ranker")):
        assert describe(model) == describe(model.learner_)
        for one, place in ((model, ".learner_."), (model.learner_, ".")):
            with pytest.raises(TypeError, match=re.escape(f" {place}{cure}") + "$"):
                heaviest(one, 1)
    assert len(tagger.learner_.heaviest(1)) == 1
    assert isinstance(heaviest(reranker.learner_.ranker, 1), dict)
    assert isinstance(heaviest(reranker.ranker_, 1), dict)


@pytest.mark.parametrize("model", [LinearClassifier(), Reranker(SequenceTagger()), "a.model"])
def test_what_has_no_learner_is_refused(model):
    for inspect in (describe, lambda one: heaviest(one, 1)):
        with pytest.raises(
            TypeError,
            match=f"a {type(model).__name__} is neither a learner nor a fitted estimator; fit or load it first",
        ):
            inspect(model)


def test_columns_of_a_frame_have_names():
    frame = pd.DataFrame({"size": [3.0, 1.0], "age": [0.0, 2.0]})
    model = LinearClassifier(bias=0.0).fit(frame, ["b", "a"])
    assert {one.name for one in heaviest(model, 2)["b"]} == {"size", "age"}
