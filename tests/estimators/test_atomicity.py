"""Nothing is half-learned: what raises leaves learners and estimators as they were; and what a run says of itself."""

import json
import math
import warnings

import numpy as np
import pytest

import perceptive
from perceptive import KernelClassifier, KernelRanker, LinearClassifier, LinearRanker, SequenceTagger
from perceptive.cli import main
from perceptive.data.labels import Labels
from perceptive.errors import ScaleWarning
from perceptive.kernels import Custom, Linear, Quadratic
from perceptive.learners import KernelRankingLearner, RankingLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.holdout import HoldOut
from perceptive.training.loop import InMemory, Run, train

pytestmark = pytest.mark.core


def same(a, b):
    """A kernel that gives no number for "p" and "q"."""
    return math.nan if {a, b} == {"p", "q"} else float(a == b)


def state(learner):
    names = ("rounds", "mistakes", "updates", "played", "fingerprint", "seen", "ids", "loss", "n_features")
    return {name: getattr(learner, name) for name in names}, learner.dual and learner.dual.alpha.tolist()


def test_a_list_is_learned_wholly_or_not_at_all():
    model = KernelRanker(kernel=Custom(same))
    model.learn(["x", "y"], 0)
    before, scores = state(model.learner_), model.rank(["x", "y", "z"])
    with pytest.raises(ValueError, match="gives nan"):
        model.learn(["p", "q"], 0)
    assert (state(model.learner_), model.rank(["x", "y", "z"])) == (before, scores)
    assert model.learn(["z", "y"], 0) is False
    fresh = KernelRankingLearner(kernel=Custom(same))
    with pytest.raises(ValueError, match="gives nan"):
        fresh.learn(["p", "q"], 0)
    assert fresh.dual is None
    assert fresh.seen == fresh.played == 0
    assert fresh.learn(["x", "y"], 0)


def test_many_lists_are_learned_wholly_or_not_at_all():
    model = KernelRanker(kernel=Custom(same))
    model.partial_fit([["x", "y"], ["u", "w"]], [0, 1])
    before, scores, runs = state(model.learner_), model.rank(["x", "y", "v"]), model.mistakes_.tolist()
    with pytest.raises(ValueError, match="gives nan"):
        model.partial_fit([["v", "x"], ["p", "q"], ["y", "z"]], [0, 0, 0])
    assert (state(model.learner_), model.rank(["x", "y", "v"]), model.mistakes_.tolist()) == (before, scores, runs)
    model.partial_fit([["v", "x"]], [0])
    twin = KernelRanker(kernel=Custom(same))
    twin.partial_fit([["x", "y"], ["u", "w"]], [0, 1]).partial_fit([["v", "x"]], [0])
    assert model.rank(["x", "y", "v"]) == twin.rank(["x", "y", "v"])
    fresh = KernelRanker(kernel=Custom(same))
    with pytest.raises(ValueError, match="gives nan"):
        fresh.partial_fit([["p", "q"]], [0])
    assert not hasattr(fresh, "learner_")


def test_a_fit_that_fails_leaves_the_old_model():
    ranker = KernelRanker(kernel=Custom(same), shuffle=False).fit([["x", "y"]], [0])
    old, attributes = ranker.learner_, set(vars(ranker))
    with pytest.raises(ValueError, match="gives nan"):
        ranker.fit([["a", "b"], ["p", "q"]], [0, 0])
    assert ranker.learner_ is old
    assert set(vars(ranker)) == attributes
    assert ranker.find_best(["y", "x"]) == 1
    classifier = KernelClassifier(kernel=Custom(same), shuffle=False).fit(["x", "y"], [0, 1])
    old = classifier.learner_
    with pytest.raises(ValueError, match="gives nan"):
        classifier.fit(["a", "b", "p", "q"], [0, 1, 0, 1])
    assert classifier.learner_ is old
    assert classifier.predict(["x", "y"]).tolist() == [0, 1]
    fresh = KernelClassifier(kernel=Custom(same))
    with pytest.raises(ValueError, match="gives nan"):
        fresh.fit(["p", "q"], [0, 1])
    assert not hasattr(fresh, "learner_")


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (LinearClassifier(), [[0.0], [1.0], [2.0]], [0, 0, 1]),
        (KernelClassifier(kernel="linear"), [[0.0], [1.0], [2.0]], [0, 0, 1]),
        (LinearRanker(), [[[0.0], [1.0]], [[2.0], [1.0]]], [1, 0]),
        (SequenceTagger(template="word"), [["a"], ["b"]], [["x"], ["y"]]),
    ],
)
def test_ctrl_c_keeps_what_was_learned_and_errors_do_not(monkeypatch, model, X, y):
    model.fit(X, y)
    for error, kept in ((RuntimeError, True), (KeyboardInterrupt, False)):
        old = model.learner_

        def broken(*arguments, error=error, **options):
            raise error

        for name in ("linear.train", "run.train"):
            monkeypatch.setattr(f"perceptive.estimators.{name}", broken)
        with pytest.raises(error):
            model.fit(X, y)
        assert (model.learner_ is old) == kept


def test_weights_that_have_overflowed_are_told():
    X = [[3e38, 0], [-3e38, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ScaleWarning)
        for model in (LinearRanker(), RankingLearner(), LinearRanker(hypothesis="last")):
            with pytest.raises(ValueError, match="the weights have overflowed"):
                model.learn(X, 0)
            for ask in (model.rank, model.find_best) if isinstance(model, RankingLearner) else ():
                with pytest.raises(ValueError, match="the scores have overflowed"):
                    ask(X)
        with pytest.raises(ValueError, match="the weights have overflowed"):
            LinearRanker().fit([X, X], [0, 1])
        with pytest.raises(ValueError, match="the weights have overflowed"):
            LinearRanker().partial_fit([X, X], [0, 1])
    wide = LinearRanker(dtype="float64")
    wide.learn(X, 0)
    assert wide.find_best(X) == 0


# ---------------------------------------------------------------- what is held out


@pytest.mark.parametrize("ranker", [LinearRanker, KernelRanker])
def test_held_out_lists_that_tell_nothing(ranker):
    X = [[[0.0], [1.0]]] * 6
    model = ranker(validation_fraction=0.2)
    held = HoldOut(0.2, seed=0).choose(Labels([None], np.zeros(6, np.int64)))
    y = [{0, 1} if out else 1 for out in held]
    with pytest.raises(ValueError, match=r"no held-out list has a candidate that is better.*hold out more, or none"):
        model.fit(X, y)


def file_of(tmp_path, lines, name="a.svm"):
    path = tmp_path / name
    path.write_text("".join(line + "\n" for line in lines))
    return str(path)


def test_held_out_lists_that_tell_nothing_on_the_command_line(tmp_path, capsys):
    told = [f"{g} qid:{q} {g + 1}:1" for q in range(1, 8) for g in (0, 1)]
    mute = [f"1 qid:{q} 1:{q}" for q in range(8, 150) for _ in range(2)]
    data, out = file_of(tmp_path, [*told, *mute]), str(tmp_path / "m")
    for more in ([], ["--kernel", "linear"]):
        found = [main(["train", data, "--task", "rank", "-o", out, "--holdout", "0.02", "--seed", str(seed),
                       *more]) for seed in range(6)]  # fmt: skip
        said = capsys.readouterr().err
        assert "no held-out list has a candidate that is better" in said
        assert found.count(1) == said.count("no held-out list has a candidate that is better")
        assert found.count(2) == said.count("holds out none")
        few = file_of(tmp_path, told)
        assert main(["train", few, "--task", "rank", "-o", out, "--holdout", "1e-9", *more]) == 2
        assert "holds out none of 7 lists" in capsys.readouterr().err
        file_of(tmp_path, [*told, *mute])


# ---------------------------------------------------------------- what a run says


def test_the_first_epoch_is_the_first():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4, 3)), rng.integers(4, size=30)
    for kind in (RankingLearner, KernelRankingLearner):
        learner = kind(**({} if kind is RankingLearner else {"kernel": Linear()}))
        grades = np.eye(4)[y].ravel()
        first = None
        for _ in range(2):
            rows, sizes = X.reshape(-1, 3), [4] * 30
            source = InMemory(learner.dataset(rows, grades, sizes=sizes, epochs=2), shuffle=True)
            history = train(Run.of(learner, TrainingParameters(epochs=2)), source)
            first = first or (30, history.mistakes[0])
            assert learner.first_epoch == first


def test_a_run_goes_on_and_keeps_its_first_epoch(tmp_path, capsys):
    rng = np.random.default_rng(1)
    ranked = [f"{int(g == 0)} qid:{q} 1:{a:.3f} 2:{b:.3f}" for q in range(40) for g, (a, b) in
              enumerate(rng.normal(size=(3, 2)))]  # fmt: skip
    data, model = file_of(tmp_path, ranked), str(tmp_path / "m")
    for more in ([], ["--kernel", "linear"]):
        assert main(["train", data, "--task", "rank", "-o", model, "--epochs", "2", "--quiet", *more]) == 0
        first = perceptive.load_learner(model).first_epoch
        assert main(["train", data, "--task", "rank", "--continue", model, "-o", model, "--epochs", "2"]) == 0
        assert perceptive.load_learner(model).first_epoch == first
        assert first[0] == 40
    tagged = file_of(tmp_path, [line for _ in range(9) for line in ("a x", "b y", "a y", "")], "t.conll")
    args = ["--task", "tag", "--template", "word", "-o", model, "--epochs", "2", "--quiet"]
    assert main(["train", tagged, *args]) == 0
    first = perceptive.load_learner(model).first_epoch
    assert first[0] == 9
    assert main(["train", tagged, "--task", "tag", "--continue", model, "-o", model, "--epochs", "2"]) == 0
    assert perceptive.load_learner(model).first_epoch == first


def test_a_mistake_that_nobody_learns_from_is_no_convergence(tmp_path, capsys):
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [1, 0, 0, 1]
    model = KernelClassifier(kernel=Quadratic(0), hypothesis="last", epochs=200).fit(X, y)
    assert model.n_iter_ < 200
    assert model.updates_[-1] == 0
    assert model.mistakes_[-1] > 0
    assert not model.converged_
    twins = LinearRanker().fit([[[1.0], [1.0]], [[0.0], [1.0]]], [0, 1])
    assert (twins.updates_[-1], twins.mistakes_[-1], twins.converged_) == (0, 1, False)
    assert twins.n_iter_ < 10
    data = file_of(tmp_path, ["1 qid:1 1:1", "0 qid:1 1:1", "1 qid:2 1:1", "0 qid:2 1:0"])
    assert main(["train", data, "--task", "rank", "-o", str(tmp_path / "m"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["training"]["converged"] is False
    assert LinearRanker().fit([[[0.0], [1.0]]], [1]).converged_
    zero = file_of(tmp_path, ["1 1:1", "-1 1:-1", "1", "-1"], "z.svm")
    args = ["train", zero, "-o", str(tmp_path / "m"), "--rule", "perceptron", "--bias", "0", "--epochs", "50", "--json"]
    assert main(args) == 0
    told = json.loads(capsys.readouterr().out)["training"]
    assert (told["converged"], told["updates"][-1]) == (False, 0)
    assert len(told["mistakes"]) < 50
