"""Ctrl-C at any moment leaves every learner and estimator whole: it predicts, goes on learning, and its file loads.

An interrupt comes where the interpreter looks for one: when a function begins, after a call, when a loop turns back.
Here it comes at the n-th of these moments, for n all over the call.
"""

import _thread
import dis
import inspect
import os
import signal
import sys
import threading
import time
from functools import cache
from itertools import count

import numpy as np
import pytest

import perceptive
from perceptive import load, load_learner, save
from perceptive.kernels import Spectrum
from zoo import CASES, LISTS, ROWS, TWO, WORDS, Case, N

HALF = N // 2
OURS = os.path.dirname(perceptive.__file__)
ROUNDS = int(os.environ.get("PERCEPTIVE_INTERRUPTS", "200"))  # interrupts in all; 1,000 as a long target
SLOW = pytest.mark.skipif(ROUNDS <= 200, reason="set PERCEPTIVE_INTERRUPTS")

# Forms that grow while they learn: names, classes, budgets, kernels of lists.
GROWING = [
    Case("grows-names", lambda: perceptive.learners.LinearLearner(classes=[0, 1]),
         [{f"{i}": 1.0, f"{i + 1}": 2.0, f"{i * i}": 1.0} for i in range(N)], TWO),
    Case("grows-classes", lambda: perceptive.learners.LinearLearner(), list(ROWS), [i // 2 for i in range(N)]),
    Case("grows-classes-and-names", lambda: perceptive.learners.LinearLearner(keep="all"),
         [{f"{i}": 1.0, f"{i * i}": 1.0} for i in range(N)], [f"c{i % 7}" for i in range(N)]),
    Case("grows-ovo", lambda: perceptive.learners.LinearLearner(multiclass="ovo"), list(ROWS),
         [i // 3 for i in range(N)]),
    Case("grows-kernel-classes", lambda: perceptive.learners.KernelLearner(kernel="poly(2)"), list(ROWS),
         [i // 2 for i in range(N)]),
    *(Case(f"grows-budget-{how}", lambda how=how: perceptive.learners.KernelLearner(
        classes=[0, 1], kernel=Spectrum(2), budget=4, forget=how, hypothesis="last"), WORDS, TWO)
      for how in ("oldest", "random", "projectron")),
    Case("grows-lists", lambda: perceptive.learners.RankingLearner(),
         [[{f"{i}": 1.0}, {f"{i + 1}": 1.0}, {f"{2 * i}": -1.0}] for i in range(N)], [i % 3 for i in range(N)]),
    Case("grows-kernel-lists", lambda: perceptive.learners.KernelRankingLearner(kernel=Spectrum(2), delta=0.5),
         [[WORDS[(i + k) % N] for k in range(3)] for i in range(N)], [i % 3 for i in range(N)]),
    Case("grows-labels", lambda: perceptive.learners.SequenceLearner(template="word\n@label[-1]"),
         [[f"w{i}", f"w{i + 1}"] for i in range(N)], [[f"t{i // 2}", "O"] for i in range(N)]),
]  # fmt: skip
ALL = [*GROWING, *CASES]

ESTIMATORS = {
    "linear": (lambda: perceptive.LinearClassifier(epochs=2), ROWS, TWO),
    "linear-stream": (lambda: perceptive.LinearClassifier(), ROWS, [i // 4 for i in range(N)]),
    "kernel": (lambda: perceptive.KernelClassifier(kernel="poly(2)", epochs=2), ROWS, TWO),
    "ranker": (lambda: perceptive.LinearRanker(epochs=2), LISTS, [i % 3 for i in range(N)]),
    "kernel-ranker": (lambda: perceptive.KernelRanker(kernel="poly(2)", epochs=2), LISTS, [i % 3 for i in range(N)]),
    "tagger": (lambda: perceptive.SequenceTagger(template="word\n@label[-1]", epochs=2),
               [[f"w{i}", f"w{i + 1}"] for i in range(N)], [[f"t{i // 4}", "O"] for i in range(N)]),
}  # fmt: skip


@cache
def handlers(code):
    """Of each instruction, whether the interpreter looks for signals after it, and where an exception leads to."""
    names, covered = ("RESUME", "CALL", "CALL_KW", "CALL_FUNCTION_EX"), dis.Bytecode(code).exception_entries
    return {
        i.offset: (i.opname in names or "JUMP_BACKWARD" in i.opname, _handler(covered, i.offset))
        for i in dis.get_instructions(code)
    }


def _handler(covered, offset):
    return next((entry.target for entry in covered if entry.start <= offset < entry.end), None)


def press(n, do):
    """Do something; Ctrl-C comes at its n-th moment. Returns whether it came, and how many moments there were."""
    moments = count()

    def trace(frame, event, argument):
        if not frame.f_code.co_filename.startswith(OURS):
            return None  # what comes within others' code comes to ours after the call
        frame.f_trace_opcodes = True
        looked, handler = False, None
        known = handlers(frame.f_code)

        def step(frame, event, argument):
            nonlocal looked, handler
            if event == "opcode":
                before, (will_look, now) = handler, known[frame.f_lasti]
                # The tracer is called at the next instruction: as good as after this one where they have one handler.
                if looked and before == now and next(moments) == n:
                    signal.raise_signal(signal.SIGINT)
                looked, handler = will_look, now
            return step

        return step

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        do()
    except KeyboardInterrupt:
        return True, next(moments)
    finally:
        sys.settrace(before)
    return False, next(moments)


def check_whole(learner, case, path):
    """Whether it is one model: what it counts fits together, its file loads and answers alike, and it learns on."""
    assert len(learner.predict_many(case.X)) == N
    assert learner.rounds >= learner.mistakes >= 0
    problems = len(learner.problems())
    assert learner.played * problems >= learner.rounds  # what was recorded is at least what was played
    learner.finish()  # vectors are written out, as in a file
    save(learner, path)
    twin = load_learner(path)
    assert (twin.rounds, twin.mistakes, twin.updates) == (learner.rounds, learner.mistakes, learner.updates)
    assert [str(a) for a in twin.predict_many(case.X)] == [str(a) for a in learner.predict_many(case.X)]
    twin.learn_many(case.X, case.y)
    rounds = learner.rounds
    for x, y in zip(case.X[:3], case.y[:3], strict=True):
        learner.learn(x, y)
    learner.learn_many(case.X, case.y)
    assert learner.rounds > rounds
    learner.predict_many(case.X)
    save(learner, path)
    load_learner(path).predict_many(case.X)


def teach(learner, case):
    for x, y in zip(case.X[HALF : HALF + 4], case.y[HALF : HALF + 4], strict=True):
        learner.learn(x, y)
    learner.learn_many(case.X[HALF + 4 :], case.y[HALF + 4 :])


def begun(case):
    learner = case.make()
    learner.learn_many(*case.part(0, HALF))
    return learner


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_ctrl_c_leaves_a_learner_whole(case, tmp_path):
    rng = np.random.default_rng(len(case.name))
    learner = begun(case)
    came, moments = press(-1, lambda: teach(learner, case))
    assert not came
    for n in rng.integers(0, moments, size=max(2, ROUNDS // len(ALL))).tolist():
        learner = begun(case)
        press(n, lambda learner=learner: teach(learner, case))
        try:
            check_whole(learner, case, tmp_path / "model")
        except Exception as error:
            raise AssertionError(f"Ctrl-C at moment {n} of {moments} broke it: {error!r}") from error


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("how", ["fit", "partial_fit", "learn_one"])
def test_ctrl_c_leaves_an_estimator_whole(name, how, tmp_path):
    make, X, y = ESTIMATORS[name]

    def learn(model):
        if how == "learn_one":
            for one, answer in zip(X[HALF:], y[HALF:], strict=True):
                item = {f"f{j}": float(v) for j, v in enumerate(one)} if name == "linear-stream" else one
                model.learn_one(item, answer)
        else:
            getattr(model, how)(X, y)

    def fresh():
        model = make()
        if how == "partial_fit" and name != "linear-stream":
            model.partial_fit(X[:HALF], y[:HALF], **({"classes": [0, 1]} if "classes" in _names(model) else {}))
        return model

    if how == "learn_one" and name == "linear":
        pytest.skip("is that of linear-stream")
    rng = np.random.default_rng(len(name))
    came, moments = press(-1, lambda: learn(fresh()))
    assert not came
    for n in rng.integers(0, moments, size=max(2, ROUNDS // 60)).tolist():
        model = fresh()
        press(n, lambda model=model: learn(model))
        learn(model)  # goes on, or begins anew
        path = tmp_path / "model"
        save(model, path)
        if how != "learn_one":
            assert str(load(path).predict(X)) == str(model.predict(X))
        assert len(model.mistakes_) == len(model.updates_) == len(model.loss_) == model.n_iter_


def _names(model):
    return inspect.signature(model.partial_fit).parameters if isinstance(model, perceptive.LinearClassifier) else ()


@SLOW
def test_a_thread_presses_ctrl_c(tmp_path):
    """The same without a tracer: interrupts come when they come."""
    rng, broken, pressed = np.random.default_rng(0), [], 0
    for trial in range(ROUNDS):
        case = ALL[trial % len(ALL)]
        learner = begun(case)
        began = time.perf_counter()
        teach(begun(case), case)
        wait = float(rng.uniform(0, time.perf_counter() - began))
        done = threading.Event()

        def ring(wait=wait, done=done):
            time.sleep(wait)
            if not done.is_set():
                _thread.interrupt_main()

        ringer = threading.Thread(target=ring)
        try:
            ringer.start()
            teach(learner, case)
            done.set()
            ringer.join()
        except KeyboardInterrupt:
            pressed += 1
        try:
            ringer.join()
            check_whole(learner, case, tmp_path / "model")
        except (Exception, KeyboardInterrupt) as error:
            broken.append((case.name, repr(error)))
    assert not broken
    assert pressed > ROUNDS // 10
