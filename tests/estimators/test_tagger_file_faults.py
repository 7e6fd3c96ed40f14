"""Files of taggers that do not fit together."""

from itertools import compress

import numpy as np
import pytest
from sklearn.base import clone

import perceptive
from perceptive import SequenceTagger, certify, model_file
from perceptive.estimators.data import hold_out
from perceptive.features.templates import Templates
from perceptive.learners import SequenceLearner
from perceptive.model_file import ModelFileError
from test_tagger_faults import X, Y

pytestmark = pytest.mark.core


# ---------------------------------------------------------------- files


def changed(path, change):
    """Write a model file again, with its parts changed."""
    kind, meta, arrays = model_file.read(path)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    change(meta, arrays)
    model_file.write(path, kind, meta, arrays)
    return path


@pytest.fixture
def saved(tmp_path):
    tagger = SequenceTagger(template="word\n@label[-1]\n@label[-2]", hypothesis="voted", epochs=2).fit(X, Y)
    perceptive.save(tagger, tmp_path / "a.model")
    return tmp_path / "a.model"


@pytest.mark.parametrize("line", ["in(FILE)", "segment in(FILE)"])
def test_loading_opens_no_other_file(saved, tmp_path, line):
    (tmp_path / "words.txt").write_text("Ziv\n")
    line = line.replace("FILE", str(tmp_path / "words.txt"))
    changed(saved, lambda meta, _: meta.update(text=meta["text"] + "\n" + line))
    with pytest.raises(ModelFileError, match="its words are not given"):
        perceptive.load(saved)


@pytest.mark.parametrize(
    "name", ["model.state.weight", "model.state.sum", "model.edge.weight", "model.triple.weight", "model.log.step"]
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_of_files_are_finite(saved, name, value):
    changed(saved, lambda _, arrays: arrays[name].__setitem__(0, value))
    with pytest.raises(ModelFileError, match="a weight is not finite"):
        perceptive.load(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"temperature": 0.0}, "temperature must be a number > 0"),
        ({"temperature": float("inf")}, "temperature must be a number > 0"),
        ({"label_column": 0, "n_columns": None}, "label_column is 0, of None columns"),
        ({"label_column": 5, "n_columns": 3}, "label_column is 5, of 3 columns"),
        ({"label_column": 10**30, "n_columns": 3}, "label_column must be a whole number"),
        ({"label_column": 0.5, "n_columns": 3}, "label_column must be a whole number"),
        ({"text": "word[-15:15] & " * 2 + "word[-15:15]"}, "29,791 templates in a line"),
    ],
)
def test_what_does_not_fit_together_is_refused(saved, change, message):
    changed(saved, lambda meta, _: meta.update(change))
    with pytest.raises(ModelFileError, match=message):
        perceptive.load(saved)


def test_arrays_of_another_type_are_refused(saved, tmp_path):
    changed(saved, lambda _, arrays: arrays.update({"model.run": np.zeros(7, np.int16)}))
    with pytest.raises(ModelFileError, match="another type"):
        perceptive.load(saved)
    reranker = perceptive.Reranker(SequenceTagger(template="hmm", epochs=2), k=20, folds=2).fit(X * 3, Y * 3)
    perceptive.save(reranker, tmp_path / "b.model")
    changed(tmp_path / "b.model", lambda _, arrays: arrays.update({"tagger/model.run": np.zeros(7, np.int16)}))
    with pytest.raises(ModelFileError, match="another type"):
        perceptive.load(tmp_path / "b.model")


def test_a_file_that_asks_for_too_much_memory_is_refused(saved, monkeypatch):
    def scarce(*arguments, **named):
        raise MemoryError

    monkeypatch.setattr(SequenceLearner, "meet_labels", scarce)
    with pytest.raises(ModelFileError, match="more memory than there is"):
        perceptive.load(saved)


def test_what_was_trained_is_saved_whatever_became_of_the_file(tmp_path):
    template = tmp_path / "my.template"
    template.write_text("word\n")
    tagger = SequenceTagger(template=template).fit(X, Y)
    template.write_text("shape\npos\n")
    perceptive.save(tagger, tmp_path / "a.model")
    template.unlink()
    perceptive.save(tagger, tmp_path / "a.model")
    loaded = perceptive.load(tmp_path / "a.model")
    assert Templates.of(loaded.template).text == loaded.learner_.templates.text == "word\n"
    assert clone(loaded).fit(X, Y).predict(X) == tagger.predict(X)


def test_numpy_scalars_can_be_saved(tmp_path):
    tagger = SequenceTagger(template="hmm", epochs=np.int64(3), learning_rate=np.float32(1), random_state=np.int32(1))
    labels = [[np.int64(label != "O") for label in mine] for mine in Y]
    perceptive.save(tagger.fit(X, labels), tmp_path / "a.model")
    assert perceptive.load(tmp_path / "a.model").predict(X) == tagger.predict(X)


@pytest.mark.parametrize("parameters", [{}, {"validation_fraction": 0.5, "epochs": 6, "patience": 2}])
def test_the_fingerprint_outlives_pruning_and_early_stopping(parameters):
    X_more, y_more = X * 3, [Y[0], Y[1], [*Y[0][:-1], "B-P"], Y[1], Y[0], ["O"] * 7]
    tagger = SequenceTagger(template="hmm", random_state=1, **parameters).fit(X_more, y_more)
    learner = tagger.learner_
    taught = ~hold_out(len(X_more), parameters.get("validation_fraction", 0.0), seed=1)
    mine = list(compress(X_more, taught)), list(compress(y_more, taught))
    assert not certify(learner, *mine).hypothetical
    learner.prune()
    assert not certify(learner, *mine).hypothetical
