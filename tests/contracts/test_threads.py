"""Several threads may use one model: they learn in turn, predict meanwhile, and what they save always loads."""

import copy
import os
import pickle
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import perceptive
from perceptive import _core, learners, load, load_learner, save
from zoo import CASES, DICTS, LISTS, ROWS, SENTENCES, TAGS, TWO, WORD_LISTS, WORDS, Case, N

pytestmark = pytest.mark.core
SECONDS = float(os.environ.get("PERCEPTIVE_STRESS", "0.4"))  # 5 in `make races`; 60 as a long target
THREADS = 8

# Ten models, each of another form; those that meet names, classes and supports as they go first.
NAMED = [{f"{i % 9}": 1.0, f"{i * i % 31}": 2.0, f"n{i}": 1.0} for i in range(N)]
MODELS = [
    Case("names", lambda: learners.LinearLearner(classes=[0, 1]), NAMED, TWO),
    Case("names-and-classes", lambda: learners.LinearLearner(), NAMED, [i // 3 for i in range(N)]),
    Case("ovr", lambda: learners.LinearLearner(multiclass="ovr"), list(ROWS), [i // 3 for i in range(N)]),
    Case("voted", lambda: learners.LinearLearner(classes=[0, 1], hypothesis="voted", max_voters=50), list(ROWS), TWO),
    Case("hashed-arow", lambda: learners.LinearLearner(classes=[0, 1], bits=8, rule="arow"), DICTS, TWO),
    Case("ranking", lambda: learners.RankingLearner(), LISTS, [i % 3 for i in range(N)]),
    Case("kernel", lambda: learners.KernelLearner(kernel="poly(2)", budget=9, hypothesis="last"), list(ROWS),
         [i // 6 for i in range(N)]),
    Case("kernel-strings", lambda: learners.KernelLearner(classes=[0, 1], kernel="spectrum(2)"), WORDS, TWO),
    Case("kernel-ranking", lambda: learners.KernelRankingLearner(kernel="spectrum(2)"), WORD_LISTS,
         [i % 3 for i in range(N)]),
    Case("tagger", lambda: learners.SequenceLearner(template="word[-1:1]\n@label[-1]", hypothesis="averaged"),
         SENTENCES, [[f"{tag}{i // 8}" for tag in tags] for i, tags in enumerate(TAGS)]),
]  # fmt: skip


def begun(case):
    learner = case.make()
    learner.learn_many(case.X[:4], case.y[:4])
    return learner


def in_threads(*works):
    """Run functions at once; raises what one of them raised."""
    failed = []

    def run(work):
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def until(end, step):
    def work():
        n = 0
        while n == 0 or time.monotonic() < end:
            step(n)
            n += 1

    return work


def test_many_models_in_many_threads(tmp_path):
    """Each thread goes from model to model: learns one example or many, predicts, saves, copies, pickles."""
    models = [(case, begun(case)) for case in MODELS]
    end = time.monotonic() + SECONDS
    saved = [0]

    def worker(number):
        rng = np.random.default_rng(number)
        path = tmp_path / f"model{number}"

        def step(n):
            case, learner = models[(n + number) % len(models)]
            i, action = int(rng.integers(N)), int(rng.integers(8))
            if action == 0:
                learner.learn(case.X[i], case.y[i])
            elif action == 1:
                learner.learn_many(case.X[i : i + 6], case.y[i : i + 6])
            elif action in (2, 3):
                assert learner.predict(case.X[i]) is not None
            elif action in (4, 5):
                assert len(learner.predict_many(case.X)) == N
            elif action == 6:
                save(learner, path)
                load_learner(path).predict(case.X[i])
                saved[0] += 1
            else:
                twin = copy.deepcopy(learner) if n % 2 else pickle.loads(pickle.dumps(learner))
                twin.learn(case.X[i], case.y[i])

        return until(end, step)

    in_threads(*(worker(number) for number in range(THREADS)))
    assert saved[0] > 0
    for case, learner in models:
        save(learner, tmp_path / "model")
        assert len(load_learner(tmp_path / "model").predict_many(case.X)) == N
        assert learner.rounds == learner.played or case.name == "ovr"


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_learning_is_one_after_the_other(case):
    """Nothing is lost and nothing counted twice, whoever learns at the same time."""
    learner, alone = begun(case), begun(case)
    for _ in range(4):
        for x, y in zip(case.X, case.y, strict=True):
            alone.learn(x, y)

    def teach():
        for x, y in zip(case.X, case.y, strict=True):
            learner.learn(x, y)

    in_threads(*[teach] * 4)
    assert (learner.rounds, learner.played) == (alone.rounds, alone.played) or case.name == "ovr"
    assert learner.fingerprint == alone.fingerprint


def test_estimators_in_many_threads(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 3, size=300)
    models = [
        perceptive.LinearClassifier(),
        perceptive.KernelClassifier(kernel="poly(2)", budget=30, hypothesis="last"),
    ]
    for model in models:
        model.partial_fit(X[:20], y[:20])
    labels, end = {0, 1, 2, 3, 4}, time.monotonic() + SECONDS / 2

    def teach(model):
        return until(end, lambda n: model.partial_fit(X[n % 250 :][:40], y[n % 250 :][:40] + (n > 9) + (n > 19)))

    def fit(model):
        return until(end, lambda n: model.fit(X[: 60 + n % 9], y[: 60 + n % 9] + n % 3))

    def ask(model):
        return until(end, lambda n: labels.issuperset(model.predict(X).tolist()) or pytest.fail("a label of nobody"))

    def keep(model, number):
        path = tmp_path / f"kept{number}"

        def step(n):
            save(model, path)
            twin = load(path)
            assert len(twin.mistakes_) == len(twin.updates_)
            twin.predict(X[:5])
            assert pickle.loads(pickle.dumps(model)).predict(X[:5]).shape == (5,)

        return until(end, step)

    works = [
        work for i, model in enumerate(models) for work in (teach(model), teach(model), ask(model), keep(model, i))
    ]
    again = perceptive.LinearClassifier(epochs=3).fit(X[:60], y[:60])
    in_threads(*works, fit(again), ask(again), keep(again, len(models)))


def test_two_threads_begin_an_estimator():
    for _ in range(8):
        model = perceptive.LinearClassifier()
        in_threads(*[lambda model=model: [model.learn_one(DICTS[i], TWO[i]) for i in range(N)]] * 3)
        assert model.learner_.rounds == 3 * N
        ranker = perceptive.LinearRanker()
        in_threads(*[lambda ranker=ranker: ranker.partial_fit(LISTS, [i % 3 for i in range(N)])] * 3)
        assert (ranker.n_iter_, ranker.rounds_) == (3, 3 * N)


# ---------------------------------------------------------------- the lock


def test_predicting_does_not_wait_for_a_lesson_but_for_a_change():
    learner = begun(MODELS[0])
    answered, changed = threading.Event(), threading.Event()

    def ask():
        learner.predict_many(MODELS[0].X)
        answered.set()

    with learner.lock.learning():
        in_threads(ask)
        assert answered.is_set()
        answered.clear()
        with learner.lock.changing():
            thread = threading.Thread(target=ask)
            thread.start()
            assert not answered.wait(0.1)
        changed.set()
        thread.join()
        assert answered.is_set()


def test_a_thread_that_waits_lets_others_run_and_answers_ctrl_c():
    lock, release, held = _core.Lock(), threading.Event(), threading.Event()

    def hold():
        with lock.exclusive():
            held.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt), lock.shared():
        pass
    release.set()
    thread.join()
    with lock.exclusive():
        pass


def test_who_reads_cannot_change():
    lock = _core.Lock()
    with lock.changing(), lock.shared(), lock.exclusive(), lock.learning():
        pass
    with lock.shared(), pytest.raises(RuntimeError, match="cannot change it meanwhile"), lock.exclusive():
        pass
    with lock.exclusive():
        pass


def test_readers_and_writers_take_turns():
    lock, end, counts = _core.Lock(), time.monotonic() + 60, [0] * 5

    def use(number):
        def work():
            while min(counts) < 3 and time.monotonic() < end:
                with (
                    lock.shared() if number < 3 else lock.learning(),
                    lock.shared() if number < 3 else lock.exclusive(),
                ):
                    time.sleep(0.001)
                    counts[number] += 1

        return work

    in_threads(*map(use, range(5)))
    assert min(counts) >= 3


@pytest.mark.parametrize("way", ["copy", "deepcopy", "pickle"])
def test_a_lock_stays_with_its_model(way):
    how = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda one: pickle.loads(pickle.dumps(one))}[way]
    for case in (MODELS[0], MODELS[6], MODELS[9]):
        learner = begun(case)
        with learner.lock.learning(), learner.lock.changing():
            twin = how(learner)
            in_threads(lambda twin=twin, case=case: twin.learn_many(case.X, case.y))
        assert twin.rounds > learner.rounds


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_has_locks_of_its_own():
    case = MODELS[9]
    learner = begun(case)
    release, held = threading.Event(), threading.Event()

    def hold():
        with learner.lock.learning(), learner.lock.changing():
            held.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        try:
            learner.predict_many(case.X[:2])
            learner.learn_many(case.X[:4], case.y[:4])
            os._exit(7)
        finally:
            os._exit(1)
    release.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_signals_wait_for_a_change():
    def raise_timeout(*_):
        raise TimeoutError

    def change(number):
        with lock.changing():
            with lock.changing():
                signal.raise_signal(number)
                seen.append(number)
            seen.append(number)

    lock, seen = _core.Lock(), []
    before = signal.signal(signal.SIGALRM, raise_timeout)
    try:
        for number, error in ((signal.SIGINT, KeyboardInterrupt), (signal.SIGALRM, TimeoutError)):
            with pytest.raises(error):
                change(number)
        assert len(seen) == 4
        assert signal.getsignal(signal.SIGALRM) is raise_timeout
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGALRM, before)


def test_the_zoo_is_guarded():
    assert all(isinstance(case.make().lock, _core.Lock) for case in CASES)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forks_while_threads_learn():
    """A child, forked at any moment of a thread that learns, learns and predicts with a model of its own."""
    stop = threading.Event()

    def learn_on(case):
        while not stop.is_set():
            case.make().learn_many(case.X, case.y)

    cases = [MODELS[0], MODELS[6], MODELS[9]]
    threads = [threading.Thread(target=learn_on, args=(case,)) for case in cases]
    for thread in threads:
        thread.start()
    children = []
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                signal.alarm(60)  # ends it where it waits for ever
                try:
                    for case in cases:
                        learner = case.make()
                        learner.learn_many(case.X, case.y)
                        learner.predict_many(case.X)
                    os._exit(7)
                finally:
                    os._exit(1)
            children.append(child)
    finally:
        ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        stop.set()
        for thread in threads:
            thread.join()
    assert ends == [7] * 10


def test_nothing_is_cached_behind_a_lock():
    """A lock that a thread has at the moment of a fork is never free in the child."""
    files = Path(perceptive.__file__).parent.rglob("*.py")
    assert not [path for path in files if "import cached_property" in path.read_text(encoding="utf-8")]
