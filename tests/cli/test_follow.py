"""``perceptive train --follow``: learning from what arrives."""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time

import pytest

from command_line import perceptive, start, write_lists, write_sentences
from perceptive import load_learner
from perceptive.cli.follow import Stopped, stoppable
from perceptive.learners import RankingLearner, SequenceLearner
from perceptive.streams import conll
from perceptive.streams import load as load_rows


def test_follow(data):
    text = (data / "train.svm").read_text().splitlines(keepends=True)
    command = ["train", "--follow", "-", "--bits", "10", "-o", data / "live.model", "--json"]
    process = start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write("".join(text[:3]))
    process.stdin.flush()
    first = json.loads(process.stdout.readline())  # it does not wait for more
    assert first["examples"] >= 1
    process.stdin.write("".join(text[3:]))
    process.stdin.close()
    last = json.loads(process.stdout.read().splitlines()[-1])
    assert process.wait() == 0
    learner = load_learner(data / "live.model")
    assert last["examples"] == learner.rounds == 300
    assert last["accuracy"] == pytest.approx(1 - learner.mistakes / 300)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_examples_of_several_binary_problems_are_counted_once(tmp_path, multiclass):
    text = "".join(f"{i % 4} {i % 4 + 1}:1 9:{i / 60}\n" for i in range(60))
    how = ["--multiclass", multiclass, "--bits", "8"]
    command = ["train", "--follow", "-", "-o", tmp_path / "live.model"]
    told = json.loads(perceptive(*command, *how, "--json", input=text).stdout.splitlines()[-1])
    learner = load_learner(tmp_path / "live.model")
    assert told["examples"] == learner.played == 60 < told["rounds"] == learner.rounds
    assert told["accuracy"] == pytest.approx(1 - learner.mistakes / learner.rounds)
    more = perceptive(*command, "--continue", tmp_path / "live.model", input=text).stdout.splitlines()[-1]
    assert more.startswith("          60 examples")
    assert "binary rounds" in more


ARRIVING = {
    "classify": (b"1 1:1\n0 2:1\n", [], 2),
    "rank": (b"1 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:2\n0 qid:2 2:1\n1 qid:3 1:1\n", [], 2),
    "rank-json": (b'{"candidates": [{"a": 1}, {"b": 1}], "best": 0}\n', ["--format", "json"], 1),
    "tag": (b"the D\ndog N\n\na D\n\nwaiting", [], 2),
}


@pytest.mark.parametrize(
    ("task", "sent"),
    [("classify", signal.SIGINT), ("tag", signal.SIGINT), ("classify", signal.SIGTERM), ("tag", signal.SIGHUP)],
)
def test_signals_save_what_was_learned(tmp_path, task, sent):
    text, options, rounds = ARRIVING[task]
    command = ["train", "--follow", "-", "--task", task, *options, "-o", tmp_path / "live.model"]
    process = start(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(text)
    process.stdin.flush()
    seen = b""
    while f"{rounds} ".encode() not in seen:  # it does not wait for more
        seen = process.stdout.readline()
    process.send_signal(sent)
    assert process.wait(timeout=20) == 0
    assert load_learner(tmp_path / "live.model").rounds == rounds
    process.stdin.close()
    process.stdout.close()


@pytest.mark.parametrize("task", ARRIVING)
def test_all_that_has_arrived_is_learned(tmp_path, task):
    text, options, rounds = ARRIVING[task]
    command = ["train", "--follow", "-", "--task", task.partition("-")[0], *options, "-o", tmp_path / "live.model"]
    end = {"tag": b" N\n"}.get(task, b"")
    last = {"rank": 0, "tag": 1}.get(task, 0)
    perceptive(*command, input=text + end)
    assert load_learner(tmp_path / "live.model").rounds == rounds + last


def test_following_is_learning_one_by_one(tmp_path):
    lists, sentences, model = tmp_path / "lists.svm", tmp_path / "sentences.conll", tmp_path / "live.model"
    write_lists(lists)
    write_sentences(sentences)
    perceptive("train", lists, "--task", "rank", "--follow", "--features", 5, "-o", model)
    X, grades, qid = load_rows(lists, query_id=True, dtype="float32")
    ranker = RankingLearner(n_features=5, hypothesis="averaged")
    for query in sorted(set(qid.tolist())):
        ranker.learn_graded(X[qid == query], grades[qid == query])
    live = load_learner(model)
    assert (live.mistakes, live.fingerprint) == (ranker.mistakes, ranker.fingerprint)
    assert live.vector.vector("averaged")[0].tobytes() == ranker.vector.vector("averaged")[0].tobytes()
    perceptive("train", sentences, "--task", "tag", "--follow", "-o", model)
    tagger = SequenceLearner(hypothesis="averaged")
    X, y = conll.read(sentences)
    for x, labels in zip(X, y, strict=True):
        tagger.learn(x, labels)
    live = load_learner(model)
    assert (live.mistakes, live.updates, live.fingerprint) == (tagger.mistakes, tagger.updates, tagger.fingerprint)
    assert live.predict_many(X) == tagger.predict_many(X)
    perceptive("train", sentences, "--task", "tag", "--follow", "--continue", model, "-o", model)
    assert load_learner(model).rounds == 2 * len(X)


def test_what_was_learned_before_a_broken_line_is_saved(tmp_path):
    broken = "1 1:1\n0 2:1\n1 x\n"
    model = tmp_path / "other.model"
    done = perceptive("train", "--follow", "-", "--format", "svmlight", "-o", model, input=broken, code=1)
    assert "<stdin>:3:3: 'x' is not an entry" in done.stderr
    assert load_learner(model).rounds == 2
    broken = "the D\n\nthe D extra\n"
    done = perceptive("train", "--follow", "-", "--task", "tag", "-o", model, input=broken, code=1)
    assert "<stdin>:3: 3 columns where line 1 has 2" in done.stderr
    assert load_learner(model).rounds == 1
    model.unlink()
    done = perceptive("train", "--follow", "-", "--task", "tag", "-o", model, input="", code=1)
    assert "no sentences with answers have arrived" in done.stderr
    assert not model.exists()


def test_follow_saves_when_its_reader_has_gone(data):
    text, pipes = (data / "train.svm").read_text(), {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = start("train", "--follow", "-", "-o", data / "live", "--json", **pipes, text=True)
    process.stdin.write(text)
    process.stdin.flush()
    first = json.loads(process.stdout.readline())
    process.stdout.close()
    process.stdin.write(2 * text)
    with contextlib.suppress(BrokenPipeError):  # it ends as soon as nobody listens
        process.stdin.close()
    process.wait()
    assert load_learner(data / "live").rounds > first["examples"]


def test_options_of_many_epochs_are_refused(data):
    command = ["train", "--follow", "-", "-o", data / "x"]
    done = perceptive(*command, "--epochs", 3, "--cache", data / "c", input="1 1:1\n", code=2)
    assert "--epochs, --cache: not with --follow" in done.stderr
    done = perceptive(*command, "--shards", 2, "--mixing", "mistakes", input="1 1:1\n", code=2)
    assert "--shards, --mixing: not with --follow" in done.stderr
    done = perceptive(*command, "--cluster", "local", "--time-limit", "5m", input="1 1:1\n", code=2)
    assert "--cluster, --time-limit: not with --follow" in done.stderr
    perceptive(*command, "--no-shuffle", input="1 1:1\n-1 2:1\n")  # as it is anyhow
    done = perceptive(*command, "--kernel", "poly(2)", input="1 1:1\n", code=2)
    assert (
        "--follow does not go with --task classify --kernel; it is for --task classify, --task rank, --task tag"
        in done.stderr
    )


def test_the_model_is_written_while_nothing_arrives(tmp_path):
    path = tmp_path / "live.model"
    process = start(
        "train", "--follow", "-", "--every", "0.1s", "-o", path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdin.write(b"1 1:1\n0 2:1\n")
    process.stdin.flush()
    end = time.monotonic() + 20
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert load_learner(path).rounds == 2
    process.stdin.close()
    assert process.wait(timeout=20) == 0
    process.stdout.close()


def test_a_signal_that_does_not_interrupt_a_read_is_heard():
    reads, writes = os.pipe()

    def send():  # to another thread than the one that reads: its read goes on
        time.sleep(0.2)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    threading.Thread(target=send).start()
    too_late = threading.Timer(10, os.write, (writes, b"."))
    too_late.start()
    with pytest.raises(Stopped), stoppable():
        os.read(reads, 1)
    too_late.cancel()
    os.close(reads)
    os.close(writes)
