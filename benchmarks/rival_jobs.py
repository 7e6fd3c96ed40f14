"""Every learner of the table of rivals: a function that trains it and gives CPU seconds and its score."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import data
from perceptive.datasets import fetch

Score = float  # per cent on the test part
Learner = Callable[[], tuple[float, Score]]
JOBS: dict[str, dict[str, Learner]] = {}
EPOCHS = 5


def job(task: str, name: str) -> Callable[[Learner], Learner]:
    """Enter a learner into the table."""

    def enter(learner: Learner) -> Learner:
        JOBS.setdefault(task, {})[name] = learner
        return learner

    return enter


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of some work, and its result."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def accuracy(truth: Any, predicted: Any) -> Score:
    """Share that is right, in per cent."""
    return 100 * float(np.mean(np.asarray(predicted) == np.asarray(truth)))


# ---------------------------------------------------------------- rows: a9a

ROWS = "rows: Adult (a9a), accuracy"


def _rows(make: Callable[[], Any]) -> tuple[float, Score]:
    a9a = data.a9a()[0]
    seconds, model = timed(lambda: make().fit(a9a.X, a9a.y))
    return seconds, accuracy(a9a.y_test, model.predict(a9a.X_test))


@job(ROWS, "perceptive")
def _ours_rows() -> tuple[float, Score]:
    from perceptive import LinearClassifier

    return _rows(lambda: LinearClassifier(epochs=EPOCHS))


@job(ROWS, "perceptive, arow")
def _arow_rows() -> tuple[float, Score]:
    from perceptive import LinearClassifier

    return _rows(lambda: LinearClassifier(rule="arow", epochs=EPOCHS))


@job(ROWS, "scikit-learn Perceptron")
def _perceptron_rows() -> tuple[float, Score]:
    from sklearn.linear_model import Perceptron

    return _rows(lambda: Perceptron(max_iter=EPOCHS, tol=None))


@job(ROWS, "scikit-learn LogisticRegression")
def _logistic_rows() -> tuple[float, Score]:
    from sklearn.linear_model import LogisticRegression

    return _rows(lambda: LogisticRegression(max_iter=1000))


@job(ROWS, "LIBLINEAR")
def _liblinear_rows() -> tuple[float, Score]:
    import scipy.sparse as sp
    from liblinear.liblinearutil import predict, problem, train

    a9a = data.a9a()[0]
    seconds, model = timed(lambda: train(problem(a9a.y, sp.csr_matrix(a9a.X)), "-B 1 -q"))
    return seconds, accuracy(a9a.y_test, predict(a9a.y_test, sp.csr_matrix(a9a.X_test), model, "-q")[0])


@job(ROWS, "River Perceptron")
def _river_rows() -> tuple[float, Score]:
    from river.linear_model import Perceptron

    from rivals.river import dicts

    a9a = data.a9a()[0]
    rows, labels = dicts(a9a.X), (a9a.y > 0).tolist()
    model = Perceptron()

    def learn() -> None:
        for _ in range(EPOCHS):
            for x, y in zip(rows, labels, strict=True):
                model.learn_one(x, y)

    seconds, _ = timed(learn)
    return seconds, accuracy(a9a.y_test > 0, [model.predict_one(x) for x in dicts(a9a.X_test)])


@job(ROWS, "Vowpal Wabbit")
def _vw_rows() -> tuple[float, Score]:
    a9a = data.a9a()[0]

    def lines(X: Any, y: Any) -> list[str]:
        ends = zip(X.indptr, X.indptr[1:], strict=False)
        return [f"{label:+g} | {' '.join(map(str, X.indices[a:b]))}" for label, (a, b) in zip(y, ends, strict=True)]

    return _vw(lines(a9a.X, a9a.y), lines(a9a.X_test, a9a.y_test), a9a.y_test, "--loss_function hinge")


def _vw(train: list[str], test: list[str], truth: Any, options: str) -> tuple[float, Score]:
    """Train from a file and a cache, as its users do."""
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.vw")
        path.write_text("\n".join(train) + "\n")
        passes = f"--passes {EPOCHS} --holdout_off --cache_file {folder}/cache --quiet {options} -d {path}"
        seconds, model = timed(lambda: Workspace(passes))
        predicted = [model.predict(line) for line in test]
    binary = "--oaa" not in options
    return seconds, accuracy(truth, np.sign(predicted) if binary else predicted)


# ---------------------------------------------------------------- texts: subjectivity, from the file

TEXTS = "texts: subjectivity, accuracy"


def _texts(part: str) -> tuple[list[str], list[str]]:
    rows = [line.split("\t", 1) for line in fetch(f"subjectivity/{part}.tsv").read_text("utf-8").splitlines()]
    return [text for _, text in rows], [label for label, _ in rows]


@job(TEXTS, "perceptive train")
def _ours_texts() -> tuple[float, Score]:
    from perceptive import load
    from perceptive.cli import main

    with tempfile.TemporaryDirectory() as folder:
        command = ["train", str(fetch("subjectivity/train.tsv")), "--text", "-o", f"{folder}/m", "--quiet"]
        seconds, _ = timed(lambda: main([*command, "--threads", "1"]))
        X, y = _texts("test")
        return seconds, accuracy(y, load(f"{folder}/m").predict(X))


@job(TEXTS, "scikit-learn TfidfVectorizer + LinearSVC")
def _svc_texts() -> tuple[float, Score]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LinearSVC())
    seconds, _ = timed(lambda: model.fit(*_texts("train")))
    X, y = _texts("test")
    return seconds, accuracy(y, model.predict(X))


@job(TEXTS, "fastText, pairs of words")
def _fasttext_texts() -> tuple[float, Score]:
    import fasttext

    with tempfile.TemporaryDirectory() as folder:
        X, y = _texts("train")
        path = Path(folder, "train.txt")
        path.write_text("".join(f"__label__{label} {text}\n" for text, label in zip(X, y, strict=True)))
        seconds, model = timed(
            lambda: fasttext.train_supervised(str(path), wordNgrams=2, epoch=EPOCHS, thread=1, verbose=0)
        )
    X, y = _texts("test")
    return seconds, accuracy(y, [label[0].removeprefix("__label__") for label in model.predict(X)[0]])


@job(TEXTS, "Vowpal Wabbit, pairs of words")
def _vw_texts() -> tuple[float, Score]:
    def lines(part: str) -> tuple[list[str], list[int]]:
        X, y = _texts(part)
        signs = [1 if label == "subjective" else -1 for label in y]
        return [f"{s} | {text.replace(':', ' ').replace('|', ' ')}" for text, s in zip(X, signs, strict=True)], signs

    (train, _), (test, truth) = lines("train"), lines("test")
    return _vw(train, test, truth, "--loss_function logistic --ngram 2 -b 22")


# ---------------------------------------------------------------- tokens: CoNLL-2000 and EWT

CHUNKS, TAGS = "tokens: CoNLL-2000 chunks, F1", "tokens: English tags (EWT), accuracy"


def _corpus(name: str, label: int = -1) -> tuple[list[Any], list[list[str]]]:
    from perceptive.streams import conll

    return conll.read(fetch(name), label)


def _command(train: str, test: str, *options: str) -> tuple[float, Any]:
    """`perceptive train --task tag` on one core, and the labels of the test file."""
    from perceptive import load
    from perceptive.cli import main

    with tempfile.TemporaryDirectory() as folder:
        command = [
            "train",
            str(fetch(train)),
            "--task",
            "tag",
            "-o",
            f"{folder}/m",
            "--quiet",
            "--threads",
            "1",
            *options,
        ]
        seconds, _ = timed(lambda: main(command))
        return seconds, load(f"{folder}/m")


@job(CHUNKS, "perceptive train")
def _ours_chunks() -> tuple[float, Score]:
    from perceptive.evaluation.conlleval import evaluate

    seconds, tagger = _command("conll2000/train.txt", "conll2000/test.txt")
    X, y = _corpus("conll2000/test.txt")
    return seconds, evaluate(y, tagger.predict(X)).f1


@job(CHUNKS, "perceptive, CRF++'s template")
def _template_chunks() -> tuple[float, Score]:
    from perceptive import SequenceTagger
    from perceptive.evaluation.conlleval import evaluate

    X, y = _corpus("conll2000/train.txt")
    seconds, tagger = timed(lambda: SequenceTagger(template="crf++", rule="perceptron", epochs=10).fit(X, y))
    X, y = _corpus("conll2000/test.txt")
    return seconds, evaluate(y, tagger.predict(X)).f1


@job(CHUNKS, "python-crfsuite ap, CRF++'s template")
def _ap_chunks() -> tuple[float, Score]:
    return _crfsuite("ap", 10)


@job(CHUNKS, "python-crfsuite lbfgs, CRF++'s template")
def _lbfgs_chunks() -> tuple[float, Score]:
    return _crfsuite("lbfgs", 100)


def _crfsuite(algorithm: str, iterations: int) -> tuple[float, Score]:
    from perceptive.evaluation.conlleval import evaluate
    from rivals import crfsuite, token_features

    X, y = _corpus("conll2000/train.txt")

    def learn() -> crfsuite.Crfsuite:
        model = crfsuite.Crfsuite(algorithm, iterations)
        model.append(crfsuite.extract(X, token_features.chunking), y)
        model.train()
        return model

    seconds, model = timed(learn)
    X_test, y_test = _corpus("conll2000/test.txt")
    return seconds, evaluate(y_test, model.predict(crfsuite.extract(X_test, token_features.chunking))).f1


@job(TAGS, "perceptive train")
def _ours_tags() -> tuple[float, Score]:
    options = "--label-column", "1", "--columns", "0"
    seconds, tagger = _command("ud_ewt/train.tsv", "ud_ewt/test.tsv", *options)
    X, y = _corpus("ud_ewt/test.tsv", 1)
    return seconds, _tokens(y, tagger.predict([[token[:1] for token in sentence] for sentence in X]))


@job(TAGS, "NLTK PerceptronTagger")
def _nltk_tags() -> tuple[float, Score]:
    from rivals.nltk_tagger import Nltk

    X, y = _corpus("ud_ewt/train.tsv", 1)
    seconds, model = timed(lambda: Nltk(EPOCHS).fit([[token[0] for token in s] for s in X], y))
    X, y = _corpus("ud_ewt/test.tsv", 1)
    return seconds, _tokens(y, model.predict([[token[0] for token in s] for s in X]))


def _tokens(truth: list[list[str]], predicted: list[list[str]]) -> Score:
    return accuracy([label for one in truth for label in one], [label for one in predicted for label in one])


# ---------------------------------------------------------------- kernels: digits

KERNELS = "kernels: 10,000 digits (MNIST), polynomial of degree 4, accuracy"


def _digits() -> data.Dataset:
    digits = data.digits()
    return digits.map(digits.name, data.scaled).head(10_000)


@job(KERNELS, "perceptive KernelClassifier")
def _ours_digits() -> tuple[float, Score]:
    from perceptive import KernelClassifier
    from perceptive.kernels import Polynomial

    digits = _digits()
    seconds, model = timed(lambda: KernelClassifier(kernel=Polynomial(4), epochs=EPOCHS).fit(digits.X, digits.y))
    return seconds, accuracy(digits.y_test, model.predict(digits.X_test))


@job(KERNELS, "scikit-learn SVC (LIBSVM)")
def _svc_digits() -> tuple[float, Score]:
    from sklearn.svm import SVC

    digits = _digits()
    seconds, model = timed(lambda: SVC(kernel="poly", degree=4, coef0=1.0).fit(digits.X, digits.y))
    return seconds, accuracy(digits.y_test, model.predict(digits.X_test))


@job(KERNELS, "LIBSVM")
def _libsvm_digits() -> tuple[float, Score]:
    import scipy.sparse as sp
    from libsvm.svmutil import svm_predict, svm_train

    digits = _digits()
    options = f"-q -t 1 -d 4 -r 1 -g {1 / (digits.X.shape[1] * digits.X.var()):.6g} -m 200"
    seconds, model = timed(lambda: svm_train(digits.y.astype(float), sp.csr_matrix(digits.X), options))
    test = digits.y_test.astype(float)
    return seconds, accuracy(test, svm_predict(test, sp.csr_matrix(digits.X_test), model, "-q")[0])


# ---------------------------------------------------------------- lists

LISTS = "lists: 3,200 of 20 candidates, noisy linear teacher, best on top"


def _lists() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    teacher = rng.normal(size=50)
    X = rng.normal(size=(4200, 20, 50))
    best = np.argmax(X @ teacher + rng.normal(scale=2, size=(4200, 20)), axis=1)
    return X[:3200], best[:3200], X[3200:], best[3200:]


@job(LISTS, "perceptive LinearRanker")
def _ours_lists() -> tuple[float, Score]:
    from perceptive import LinearRanker

    X, best, X_test, truth = _lists()
    seconds, model = timed(lambda: LinearRanker(epochs=EPOCHS).fit(list(X), best))
    return seconds, 100 * float(model.score(list(X_test), truth))


@job(LISTS, "XGBoost rank:ndcg")
def _xgboost_lists() -> tuple[float, Score]:
    from xgboost import XGBRanker

    X, best, X_test, truth = _lists()
    relevant = (np.arange(20) == best[:, None]).ravel().astype(int)
    groups = np.repeat(np.arange(len(X)), 20)
    seconds, model = timed(lambda: XGBRanker(n_jobs=1).fit(X.reshape(-1, 50), relevant, qid=groups))
    return seconds, accuracy(truth, model.predict(X_test.reshape(-1, 50)).reshape(-1, 20).argmax(axis=1))
