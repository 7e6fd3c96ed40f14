"""Every field of a file has a type and a range: whatever else stands there is a ModelFileError."""

import numpy as np
import pytest

import perceptive
from perceptive import KernelClassifier, LinearClassifier, SequenceTagger, model_file
from perceptive.estimators.data import label_array
from perceptive.learners import LinearLearner, RankingLearner
from perceptive.model_file import ModelFileError
from perceptive.models import fields, registry
from perceptive.parameters import TrainingParameters
from perceptive.training.checkpoint import Checkpoint
from perceptive.training.loop import Run
from zoo import CASES

X, Y = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 2.0]], ["a", "b", "b", "a"]
NAN, HUGE = float("nan"), 2**63
LINEAR = [
    ("temperature", -1.0), ("temperature", NAN), ("temperature", "1"), ("temperature", True), ("first_pass", [1]),
    ("first_pass", [1, -1]), ("first_pass", [1.5, 2]), ("played", HUGE), ("played", -1), ("ids", 2**53 + 1),
    ("fingerprint", 3), ("fingerprint", str(2**64)), ("n_features", 2**31), ("classes", "ab"),
    ("classes", [["a"], "b"]), ("classes", [NAN, 1.0]), ("announced", 1),
    ("reading", {"format": "svmlight", "zero_based": 2}),
    ("reading", {"format": "text", "text": {"words": [1, 2, 3]}}), ("reading", {"format": "vw", "bits": 2**40}),
    ("problems", [{}]), ("problems", {}), ("history", {"mistakes": [HUGE], "updates": [1], "loss": [1.0]}),
    ("history", {"mistakes": [1, 2], "updates": [1], "loss": [1.0]}), ("class_kind", "<U0"), ("class_kind", "<U"),
    ("class_kind", "<i8"), ("class_kind", "<U1000000000000"), ("class_kind", "V8"), ("class_kind", 3),
    ("class_kind", "1" * 5000), ("class_kind", "(" * 300), ("class_kind", "<U1,<U1"),
    ("n_features_in_", 1.5), ("feature_names_in_", [1]), ("parameters", []), ("parameters", {"reference": [1]}),
    ("estimator", {"colour": 1}),
]  # fmt: skip
KERNEL = [
    ("asked", 3), ("asked", {"kernel": "Linear"}), ("kernel", {"kernel": "Sum", "parameters": {"k1": 3, "k2": None}}),
    ("kernel", {"kernel": 3, "parameters": {}}), ("seen", -1), ("dual", {}), ("takes_objects", 0), ("n_features", -1),
]  # fmt: skip


def rewritten(path, change):
    """A file with other plain values; its checksum is sound."""
    kind, meta, arrays = model_file.read(path)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    change(meta, arrays)
    model_file.write(path, kind, meta, arrays)
    return path


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [(LinearClassifier, *one) for one in LINEAR] + [(KernelClassifier, *one) for one in KERNEL],
    ids=str,
)
def test_a_field_that_cannot_be_is_refused(make, name, value, tmp_path):
    perceptive.save(make().fit(X, Y), tmp_path / "model")
    path = rewritten(tmp_path / "model", lambda meta, arrays: meta.update({name: value}))
    with pytest.raises(ModelFileError, match="does not fit together"):
        perceptive.load(path)


@pytest.mark.parametrize("n_features", [15, 2**31 - 1])
def test_hashed_features_are_as_many_as_their_bits_say(n_features, tmp_path):
    perceptive.save(LinearClassifier(bits=4).fit([{"a": 1.0}, {"b": 1.0}], [0, 1]), tmp_path / "model")
    path = rewritten(tmp_path / "model", lambda meta, arrays: meta.update(n_features=n_features))
    with pytest.raises(ModelFileError, match="names are hashed to 16 columns"):
        perceptive.load(path)


@pytest.mark.parametrize("survived", [2**53, 2**63 - 2])
def test_voters_that_survive_longer_than_anyone_can_play_are_refused(survived, tmp_path):
    classifier = LinearClassifier(hypothesis="voted").fit(X, Y)
    tagger = SequenceTagger(hypothesis="voted").fit([["a", "b"], ["b"]], [["x", "y"], ["y"]])

    def change(meta, arrays):
        [name] = [name for name in arrays if name.endswith("survival")]
        arrays[name][-1] = survived

    for model in (classifier, tagger):
        perceptive.save(model, tmp_path / "model")
        with pytest.raises(ModelFileError, match="survived more rounds"):
            perceptive.load(rewritten(tmp_path / "model", change))


@pytest.mark.parametrize("kind", ["<U536870911", "<U257", "|O"])
def test_labels_that_would_take_much_room_are_objects(kind, tmp_path):
    perceptive.save(LinearClassifier().fit(X, Y), tmp_path / "model")
    model = perceptive.load(rewritten(tmp_path / "model", lambda meta, arrays: meta.update(class_kind=kind)))
    assert model.classes_.dtype == object
    assert model.predict(X).tolist() == Y


def test_labels_are_not_cut(tmp_path):
    perceptive.save(LinearClassifier().fit(X, ["ab", "ac", "ac", "ab"]), tmp_path / "model")
    path = rewritten(tmp_path / "model", lambda meta, arrays: meta.update(class_kind="<U1"))
    with pytest.raises(ModelFileError, match="labels of another type"):
        perceptive.load(path)


def test_one_long_label_among_many_costs_its_own_length(tmp_path):
    labels = [*(f"c{i:04}" for i in range(3000)), "y" * 2_000_000]
    model = LinearClassifier()
    for label in (labels[0], labels[-1]):
        model.learn_one({"a": 1.0}, label)
    perceptive.save(model, tmp_path / "model")
    assert perceptive.load(tmp_path / "model").classes_.dtype == object
    array = label_array(labels, None)
    assert array.dtype == object
    assert array.tolist() == labels
    assert label_array(labels[:-1], None).dtype == "<U5"


def test_a_field_is_named_with_its_place(tmp_path):
    perceptive.save(LinearClassifier().fit(X, Y), tmp_path / "model")
    path = rewritten(tmp_path / "model", lambda meta, arrays: meta["problems"][0]["run"].update(rounds=HUGE))
    with pytest.raises(ModelFileError, match=r"problems\[0\]\.run\.rounds must be a whole number from 0 to"):
        perceptive.load(path)
    path = rewritten(path, lambda meta, arrays: meta["problems"][0]["run"].pop("rounds"))
    with pytest.raises(ModelFileError, match=r"problems\[0\]\.run\.rounds is missing"):
        perceptive.load(path)


def test_a_model_without_problems_predicts_with_v0(tmp_path):
    perceptive.save(LinearClassifier().fit(X, Y), tmp_path / "model")
    path = rewritten(tmp_path / "model", lambda meta, arrays: meta.update(problems=[]))
    model = perceptive.load(path)
    assert set(model.predict(X)) == {model.classes_[0]}


@pytest.mark.parametrize("name", ["0.initial", "0.initial_bias"])
def test_a_vector_to_start_from_has_its_shape(name, tmp_path):
    model = LinearClassifier().fit(X, Y, coef_init=np.ones((1, 2)), intercept_init=[1.0])
    perceptive.save(model, tmp_path / "model")
    for wrong in (np.ones((7, 7)), np.array(NAN), np.ones(0)):
        path = rewritten(tmp_path / "model", lambda meta, arrays, wrong=wrong: arrays.update({name: wrong}))
        with pytest.raises(ModelFileError, match="must hold"):
            perceptive.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("before", [1, 2]), ("before", [1.5, 2, 0.0]), ("before", [HUGE, 0, 0.0]), ("epoch", -1),
        ("kind", "Checkpoint"), ("kind", []), ("learner", None), ("dataset", {"first_id": 0}), ("dataset", 3),
        ("training", None), ("best", {}),
    ],
)  # fmt: skip
def test_a_field_of_a_checkpoint_that_cannot_be_is_refused(name, value, tmp_path):
    case = next(case for case in CASES if case.name == "kernel-gaussian")
    learner = case.make()
    learner.learn_many(case.X, case.y)
    checkpoint = Checkpoint(tmp_path / "checkpoint", {})
    checkpoint.save(Run.of(learner, TrainingParameters()))
    assert checkpoint.resume().learner.mistakes == learner.mistakes
    rewritten(tmp_path / "checkpoint", lambda meta, arrays: meta.update({name: value}))
    with pytest.raises(ModelFileError, match="does not fit together"):
        checkpoint.resume()


def test_every_kind_of_model_is_declared():
    assert fields.LEARNERS.keys() == registry.LEARNERS.keys()
    assert fields.ESTIMATORS.keys() == registry.ESTIMATORS.keys()


@pytest.mark.parametrize("make", [LinearLearner, RankingLearner])
def test_a_learner_that_has_learned_nothing_is_loaded(make, tmp_path):
    perceptive.save(make(), tmp_path / "model")
    assert perceptive.load_learner(tmp_path / "model").rounds == 0
