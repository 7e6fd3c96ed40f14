"""The learners of the page are the library's: the same seeded games, played in JavaScript and in Python."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from perceptive.games import (
    Greedy,
    Halving,
    PerceptronGame,
    Planar,
    PredictionGame,
    RandomNumbers,
    RandomPlayer,
    thresholds,
)
from perceptive.kernels import Gaussian, Polynomial
from perceptive.learners import KernelLearner, LinearLearner, RankingLearner, SequenceLearner
from perceptive.playground.page import STATIC

GAMES = 1000


def node():
    """A JavaScript engine: the machine's, or the one that Playwright brings along."""
    found = shutil.which("node")
    if found:
        return found
    driver = pytest.importorskip("playwright._impl._driver", reason="needs node, or Playwright, which has one")
    return driver.compute_driver_executable()[0]


def play_there(folder):
    """What the page's learners did."""
    for file in STATIC.iterdir():
        if file.name.endswith(".js"):
            (folder / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}')
    shutil.copy(Path(__file__).with_name("games.mjs"), folder)
    done = subprocess.run([node(), "games.mjs", str(GAMES)], cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def play_here(seed):
    """The same here: of a seed a game, rows, lists, sentences and thresholds, as the random numbers come."""
    random = RandomNumbers(seed)
    game = PerceptronGame(random.direction(2 + random.below(3)), random.uniform(0.1, 0.6), 1)
    game.play([RandomPlayer(seed), Planar(), Greedy(seed)][random.below(3)], 30)
    rows = [[random.uniform(-1, 1), random.uniform(-1, 1), 1.0] for _ in range(20)]
    y = [random.sign() for _ in rows]
    lists = []
    for _ in range(12):
        xs = [[random.uniform(-1, 1), random.uniform(-1, 1)] for _ in range(2 + random.below(4))]
        lists.append((xs, random.below(len(xs))))
    sentences = []
    for _ in range(6):
        words = ["abcd"[random.below(4)] for _ in range(1 + random.below(5))]
        sentences.append((words, ["XYZ"[random.below(3)] for _ in words]))
    n, fair = [3, 7, 15, 31][random.below(4)], random.below(2)
    return game, rows, y, lists, sentences, (n, bool(fair), [random.below(2) for _ in range(10)])


def check_that_all_are_close(pairs):
    ours, theirs = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def check_perceptron_games_bit_for_bit(told, played):
    for theirs, (game, *_) in zip(told["perceptron"], played, strict=True):
        assert theirs["x"] == [one.x for one in game.rounds]
        assert theirs["mistakes"] == [one.mistake for one in game.rounds]
        assert theirs["v"] == [one.v for one in game.rounds]


def check_perceptron_games_are_the_core_learners(told, played):
    pairs = []
    for theirs, (game, *_) in zip(told["perceptron"], played, strict=True):
        learner = LinearLearner(classes=[-1, 1], bias=0.0, dtype="float64")
        learner.learn_many(np.array(theirs["x"]), [one.y for one in game.rounds])
        assert learner.mistakes == sum(theirs["mistakes"])
        pairs.append((learner.scores(np.eye(len(game.u)), "last"), theirs["v"][-1]))
    check_that_all_are_close(pairs)


def check_after_the_stream(told, played):
    pairs = []
    for theirs, (_, rows, y, *_) in zip(told["stream"], played, strict=True):
        learner = LinearLearner(classes=[-1, 1], bias=0.0, dtype="float64", keep="all", hypothesis="averaged")
        learner.learn_many(np.array(rows), y)
        learner.open = False
        assert learner.mistakes == theirs["mistakes"]
        probes = [[b, -a, 1.0] for a, b, _ in rows[:5]]
        pairs += [(learner.scores(probes, name), theirs[name]) for name in ("last", "averaged", "best")]
        assert np.sign(learner.scores(probes, "voted")).tolist() == theirs["voted"]
    check_that_all_are_close(pairs)


def check_kernels(told, played):
    a, b = Gaussian(sigma=0.5), Polynomial(2, c=1)
    kernels, pairs = [a, b, a + b, a * b], []
    for seed, (theirs, (_, rows, y, *_)) in enumerate(zip(told["kernel"], played, strict=True)):
        X = np.array(rows)[:, :2]
        learner = KernelLearner(classes=[-1, 1], kernel=kernels[seed % 4], dtype="float64")
        dataset = learner.dataset(X, y, epochs=2)
        mistakes = []
        for _ in range(2):
            for _ in dataset.epoch():
                pass
            mistakes.append(learner.mistakes)
        assert mistakes == [sum(theirs["mistakes"][:20]), sum(theirs["mistakes"])]
        dual = learner.learned()
        ours = sorted([number, alpha] for number, alpha in zip(dual.ids, dual.alpha[:, 0].tolist(), strict=True))
        assert ours == sorted(theirs["alpha"])
        probes = np.array([[b, -a] for a, b, _ in rows[:5]])
        pairs.append((learner.scores(probes, "last"), theirs["scores"]))
    check_that_all_are_close(pairs)


def check_ranking(told, played):
    for theirs, (_, _, _, lists, *_) in zip(told["ranking"], played, strict=True):
        learner = RankingLearner(dtype="float64")
        learner.learn_many([xs for xs, _ in lists], [best for _, best in lists])
        assert learner.mistakes == sum(theirs["mistakes"])
        assert learner.vector.vector("last")[0][:, 0].tolist() == theirs["v"]


def check_sequences(told, played):
    for theirs, (_, _, _, _, sentences, _) in zip(told["tagger"], played, strict=True):
        learner = SequenceLearner(labels=list("XYZ"), template="word\n@label[-1]")
        learner.learn_many([words for words, _ in sentences], [labels for _, labels in sentences])
        assert learner.mistakes == sum(theirs["mistakes"])
        assert learner.predict(list("abcda")) == ["XYZ"[label] for label in theirs["path"]]
        ours = sorted(w for _, _, w in learner.heaviest(1000, "last") if w)
        assert ours == sorted(w for _, w in theirs["weights"])


def check_halving(told, played):
    games = {n: PredictionGame(thresholds(n), range(n)) for n in (3, 7, 15, 31)}
    for theirs, (*_, (n, fair, said)) in zip(told["halving"], played, strict=True):
        assert (theirs["n"], theirs["mode"]) == (n, "fair" if fair else "cruel")
        game, halving = games[n], Halving()
        state, mistakes, yours = halving.start(game, game.all), 0, 0
        for (x, mine, they, truth), guess in zip(theirs["rounds"], said, strict=False):
            assert mine == bool(guess)
            assert they == halving.predict(game, state, x)
            mistakes += they != truth
            yours += mine != truth
            state = halving.learn(game, state, x, truth)
            assert state  # A has some concept in mind
        assert (theirs["halving"], theirs["you"]) == (mistakes, yours)
        assert theirs["left"] == state.bit_count()
        assert mistakes <= game.halving_bound


def test_the_page_learns_as_the_library_does(tmp_path):
    told, played = play_there(tmp_path), [play_here(seed) for seed in range(GAMES)]
    check_perceptron_games_bit_for_bit(told, played)
    check_perceptron_games_are_the_core_learners(told, played)
    check_after_the_stream(told, played)
    check_kernels(told, played)
    check_ranking(told, played)
    check_sequences(told, played)
    check_halving(told, played)
