"""Time grows with the size of the input, not with its square: namespaces, columns, classes, labels, nesting."""

import json

import numpy as np
import pytest

from growth import assert_nearly_linear, growth
from perceptive import kernels, streams
from perceptive.features import schemes
from perceptive.kernels.grammar import as_kernel
from perceptive.learners import KernelLearner, LinearLearner, SequenceLearner
from perceptive.learners.learner import learn_all
from perceptive.models import fields
from perceptive.models.registry import from_state
from perceptive.state import State


@pytest.mark.parametrize("pairs", [lambda n: ("n1:n2",), lambda n: tuple(f"n{i}:n{i + 1}" for i in range(0, n, 2))])
def test_namespaces_that_interact(pairs, tmp_path):
    path = tmp_path / "line.vw"

    def make(n):
        path.write_text("1 " + " ".join(f"|n{i} f{i}:2" for i in range(n)) + "\n")
        return pairs(n)

    assert_nearly_linear(make, lambda given: streams.load(path, threads=1, interactions=given), 4000)


def test_too_many_interactions_are_refused_at_once(tmp_path):
    (tmp_path / "line.vw").write_text("1 | " + " ".join(f"f{i}" for i in range(50_000)) + "\n")
    with pytest.raises(ValueError, match="too many interactions in one example"):
        streams.load(tmp_path / "line.vw", interactions=("all",))
    (tmp_path / "line.vw").write_text("1 |a " + "x " * 3000 + "|b " + "y " * 3000 + "\n")
    with pytest.raises(ValueError, match="too many interactions in one example"):
        streams.load(tmp_path / "line.vw", interactions=("b:a",))


@pytest.mark.parametrize("option", [None, "ignore", "categorical"])
def test_columns(option, tmp_path):
    path = tmp_path / "table.csv"

    def make(n):
        names = [f"c{i}" for i in range(n)]
        path.write_text(",".join(["label", *names]) + "\n" + ",".join(["1"] * (n + 1)) + "\n")
        return {} if option is None else {option: tuple(names[::2])}

    assert_nearly_linear(make, lambda given: streams.load(path, threads=1, **given), 2000)


def test_classes_that_come_one_by_one():
    """A class that joins costs its own size: its examples have weights of other classes to look at, and no more."""

    def make(n):
        return np.random.default_rng(0).normal(size=(n, 2)), [f"c{i:05}" for i in range(n)]

    assert_nearly_linear(make, lambda given: LinearLearner().learn_many(*given), 100)


def test_classes_that_are_announced():
    def make(n):
        learner = LinearLearner(classes=list(range(n)))
        learner.learn_many([[1.0, 2.0]], [0])
        return learner.state()

    assert_nearly_linear(make, lambda given: from_state("LinearLearner", given), 1000)


def test_labels():
    """There is a byte for each pair of labels, to be copied; all else is linear."""

    def make(n):
        return ["O", *(f"{prefix}-t{i}" for i in range(n) for prefix in "BI")]

    assert_nearly_linear(make, lambda labels: schemes.constraints("bio", labels), 100)

    def make_state(n):
        learner = SequenceLearner(template="word\n@label[-1]")
        learner.learn_many([["w", "v"]] * n, [[f"B-t{i}", f"I-t{i}"] for i in range(n)])
        return learner.state()

    assert_nearly_linear(make_state, lambda given: from_state("SequenceLearner", given), 50)


def test_labels_that_come_with_their_sentences():
    """A sentence of one token looks at every label, and at no pair of them: 16 times as long, not 64."""

    def make(n):
        learner = SequenceLearner(template="word\n@label[-1]", labels=[f"t{i}" for i in range(n)])
        return learner.dataset([[f"w{i}"] for i in range(n)], [[f"t{i}"] for i in range(n)])

    assert growth(make, learn_all, 200) < 32


@pytest.mark.parametrize(
    ("template", "n", "wrong"),
    [
        (
            "word\n@label[-1]",
            4097,
            "there are 4,097 labels; a tagger has tables of all pairs of labels and takes 4,096",
        ),
        ("word\n@label[-2]", 513, "there are 513 labels; with @label.-2. a tagger has tables of all triples"),
        (
            "word\n@label[-1]\ny==t1 & y[-1]==t2 & word",
            3000,
            "3,000 labels, and 1 sets of labels that templates name",
        ),
    ],
)
def test_more_labels_than_tables_hold_are_refused(template, n, wrong):
    learner = SequenceLearner(template=template)
    learner.learn(["w"], ["t0"])
    labels = [f"t{i}" for i in range(n)]
    for refused in (
        lambda: learner.meet_labels(labels),
        lambda: learner.learn_many([["w"]] * n, [[label] for label in labels]),
        lambda: SequenceLearner(template=template, labels=labels),
    ):
        with pytest.raises(ValueError, match=wrong):
            refused()
    assert learner.labels == ["t0"]
    assert learner.predict(["w"]) == ["t0"]
    meta, arrays = learner.state()
    with pytest.raises(ValueError, match=wrong):
        from_state("SequenceLearner", State({**meta, "labels": labels}, arrays))


def nested(n, inner="Exponential"):
    """A kernel within a kernel within …, as a file has it."""
    plain = {"kernel": "Linear", "parameters": {"A": {"value": None}}}
    for _ in range(n):
        plain = {"kernel": inner, "parameters": {"k": plain}}
    return plain


def test_nesting():
    assert_nearly_linear(nested, lambda plain: fields.check({"kernel": fields.KERNEL}, {"kernel": plain}), 20)
    with pytest.raises(ValueError, match="is nested more than 210 levels deep"):
        fields.check({"kernel": fields.KERNEL}, {"kernel": nested(10_000)})


def test_kernels_that_are_nested_too_deep_are_refused(tmp_path):
    def tower(n):
        kernel = kernels.Linear()
        for _ in range(n):
            kernel = kernel + kernels.Linear()
        return kernel

    learner = KernelLearner(classes=[0, 1], kernel=tower(100))
    learner.learn_many([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    assert from_state("KernelLearner", learner.state()).predict_many([[1.0, 2.0]]) == [0]
    for n in (101, 5000):
        with pytest.raises(ValueError, match="nested more than 100 levels deep; add many in pairs"):
            KernelLearner(classes=[0, 1], kernel=tower(n))
    twice = kernels.Linear()
    for _ in range(90):
        twice = twice + twice
    assert as_kernel(twice) is twice


def test_objects_that_are_nested_deep_are_told_plainly():
    def deep(n):
        return json.loads("[" * n + "]" * n)

    def alike(x, z):
        return 1.0

    learner = KernelLearner(classes=[0, 1], kernel=kernels.Custom(alike))
    learner.learn_many([deep(250), deep(3)], [0, 1])
    assert len(learner.predict_many([deep(250)])) == 1
    assert from_state("KernelLearner", learner.state(), {"alike": alike}).mistakes == learner.mistakes
