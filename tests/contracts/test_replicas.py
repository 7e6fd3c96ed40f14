"""What mixing from shards keeps, for every learner: the same bits on any number of threads, and the bound."""

from dataclasses import replace

import numpy as np
import pytest

from perceptive.certificates import certify
from perceptive.errors import ParameterError
from perceptive.learners import LinearLearner
from perceptive.model_file import ModelFileError
from perceptive.parameters import TrainingParameters
from perceptive.roles import why_not_mixed
from perceptive.training.checkpoint import Checkpoint
from perceptive.training.loop import History, InMemory, Run, train
from zoo import CASES, N

pytestmark = pytest.mark.core
SHARDS = 3
REFUSED = ("romma", "voted", "random", "linear-best", "delta", "thinned", "kernel")


def refused(case):
    return any(word in case.name for word in REFUSED)


MIXED = [case for case in CASES if not refused(case)]
NOT_MIXED = [case for case in CASES if refused(case)]


def names(case):
    return case.name


def trained(case, threads=1, epochs=3, **training):
    learner = case.make()
    training = TrainingParameters(**{"epochs": epochs, "shards": SHARDS, **training})
    run = Run.of(learner, training, History())
    dataset = learner.dataset(case.X, case.y, epochs=epochs)
    train(run, InMemory(dataset, training.shuffle), threads=threads)
    return learner, run.history


def bits(learner):
    meta, arrays = learner.state()
    return meta, {name: array.tobytes() for name, array in arrays.items()}


@pytest.mark.parametrize("case", MIXED, ids=names)
@pytest.mark.parametrize("mixing", ["uniform", "mistakes"])
def test_the_same_bits_on_any_number_of_threads(case, mixing):
    one, history = trained(case, mixing=mixing)
    many, other = trained(case, threads=4, mixing=mixing)
    assert bits(one) == bits(many)
    assert history == other
    assert len(history.seconds) == history.epochs
    assert one.rounds == history.epochs * one.rounds // history.epochs > 0
    assert one.mistakes == sum(history.mistakes)
    assert one.updates == sum(history.updates)


@pytest.mark.parametrize("case", MIXED, ids=names)
def test_shards_differ_from_serial_learning(case):
    mixed, _ = trained(case, shuffle=False)
    serial, _ = trained(case, shards=1, shuffle=False)
    assert mixed.played == mixed.fingerprint == 0 or mixed.played >= N - 1  # lists without a preference are no rounds
    assert bits(mixed) != bits(serial)


@pytest.mark.parametrize("case", [case for case in MIXED if case.theorem], ids=names)
def test_the_certificate_holds(case):
    learner, _ = trained(case, epochs=5)
    certificate = certify(learner, case.X, case.y)
    assert not certificate.hypothetical
    if certificate.theorem:
        assert (certificate.holds and certificate.weighted_updates < certificate.updates) or certificate.updates == 0
        assert "McDonald" in certificate.theorem or certificate.vacuous
        assert "Σμk" in str(certificate)


def test_a_bound_is_vacuous_where_it_allows_what_all_rounds_weigh():
    case = next(case for case in CASES if case.name == "linear-perceptron")
    learner, _ = trained(case, epochs=2)
    found = certify(learner, case.X, case.y)
    assert found.weighted_rounds == pytest.approx(found.rounds / SHARDS)
    assert replace(found, bound=found.weighted_rounds).vacuous
    assert not replace(found, bound=0.99 * found.weighted_rounds).vacuous


@pytest.mark.parametrize("rule", ["pa", "pa1", "pa2"])
def test_the_bounds_of_passive_aggressive_rules(rule):
    case = next(case for case in CASES if case.name == "linear-perceptron")
    learner = LinearLearner([*dict.fromkeys(case.y)], rule=rule, hypothesis="averaged")
    training = TrainingParameters(epochs=5, shards=SHARDS)
    train(Run.of(learner, training), InMemory(learner.dataset(case.X, case.y, epochs=5), True))
    found = certify(learner, case.X, case.y)
    assert found.bounds == "mistakes"
    assert found.weighted_mistakes == pytest.approx(found.mistakes / SHARDS)
    assert found.holds
    assert found.vacuous or "Σμk ≤" in str(found)
    assert "‖v − u‖² is convex" in found.theorem


@pytest.mark.parametrize("case", NOT_MIXED, ids=names)
def test_a_reason_is_given(case):
    learner = case.make()
    dataset = learner.dataset(case.X, case.y, epochs=2)
    with pytest.raises(ParameterError, match=r"^shards=3 does not go with .*: .+"):
        train(Run.of(learner, TrainingParameters(epochs=2, shards=3)), InMemory(dataset, True))
    assert learner.rounds == 0


@pytest.mark.parametrize("case", MIXED, ids=names)
def test_a_run_is_resumed_between_two_epochs(case, tmp_path):
    whole, history = trained(case, epochs=4)
    path, training = tmp_path / "run.checkpoint", TrainingParameters(epochs=4, shards=SHARDS)

    class Enough(Exception):
        pass

    class Stopping(Checkpoint):
        def after_chunk(self, run, dataset):
            self.save(run, dataset)
            if run.epoch == 1:
                raise Enough

    learner = case.make()
    try:
        with Stopping(path, {}) as checkpoint:
            train(
                Run.of(learner, training),
                InMemory(learner.dataset(case.X, case.y, epochs=4), True),
                checkpoint=checkpoint,
            )
        assert history.epochs == 1  # it converged at once
    except Enough:
        with Checkpoint(path, {}) as checkpoint:
            run = checkpoint.resume()
            train(run, InMemory(run.learner.dataset(case.X, case.y, epochs=4, **again(case)), True))
        assert bits(run.learner) == bits(whole)
        assert run.history == history
    except ModelFileError:
        assert "reranking" in case.name


def again(case):
    return {"resumed": True} if "sequence" in case.name else {}


def test_more_shards_than_examples():
    case = MIXED[0]
    with pytest.raises(ParameterError, match=r"shards=25 is more than there are examples: 24; give at most so many"):
        trained(case, shards=25)
    learner, _ = trained(case, shards=24)
    assert learner.rounds % 24 == 0


def test_a_shard_of_one_class_and_one_that_errs_not():
    case = next(case for case in CASES if case.name == "linear-perceptron")
    order = np.argsort(case.y, kind="stable")
    half = len(order) // 2
    interleaved = np.empty(len(order), int)
    interleaved[::2], interleaved[1::2] = order[:half], order[half:]
    learner = case.make()
    dataset = learner.dataset([case.X[i] for i in interleaved], [case.y[i] for i in interleaved], epochs=5)
    train(Run.of(learner, TrainingParameters(epochs=5, shards=2, mixing="mistakes")), InMemory(dataset, True))
    assert learner.rounds % 24 == 0
    assert learner.updates > 0


def test_every_reason_is_declared():
    assert "journal" in why_not_mixed("linear", "keep", "all")
    assert why_not_mixed("linear", "delta", 0.0) is None
    assert why_not_mixed("linear", "delta", 0.5)
    assert why_not_mixed("linear", "rule", "aggressive-romma") == why_not_mixed("linear", "rule", "romma")
    assert "S times the mistakes" in why_not_mixed("kernel")
