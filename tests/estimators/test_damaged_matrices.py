"""Damaged sparse matrices, to every method of every estimator: refused, in a process of their own that must not die."""

import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp

from perceptive import (
    HashedFeatures,
    KernelClassifier,
    KernelRanker,
    LinearClassifier,
    LinearRanker,
)

N = 40
WHOLE = sp.csr_array(sp.random(N, 12, 0.4, rng=np.random.default_rng(0), format="csr") + sp.eye(N, 12, format="csr"))
Y = np.arange(N) % 2
TOGETHER, INTERLEAVED = np.arange(N) // 4, np.arange(N) % 10


def far(indptr):
    indptr[1:-1], indptr[-1] = 50_000_000, 0


def wrapping(indptr):
    indptr[1], indptr[2] = 2**31 - 1, -(2**31)


def beyond(indptr):
    indptr[-1] = 50_000_000


def outside(places):
    places[3] = 50_000_000


def negative(places):
    places[3] = -50_000_000


def damaged():
    """A name, and a matrix of which some part was overwritten."""
    for format in ("csr", "csc", "bsr"):
        for forge in (far, wrapping, beyond, outside, negative):
            X = WHOLE.asformat(format).copy()
            forge(X.indptr if forge in (far, wrapping, beyond) else X.indices)
            yield f"{format} {forge.__name__}", X
        X = WHOLE.asformat(format).copy()
        X.data = X.data[:5]
        yield f"{format} with few values", X
        X = WHOLE.asformat(format).copy()
        X.indptr = X.indptr[:4]
        yield f"{format} with few rows", X
    X = WHOLE.tobsr(blocksize=(5, 6)).copy()
    X.data = np.ascontiguousarray(X.data[:, :, :5])
    yield "bsr with other blocks", X
    for forge in (outside, negative):
        for part in ("row", "col"):
            X = WHOLE.tocoo().copy()
            forge(getattr(X, part))
            yield f"coo {forge.__name__} {part}", X
        X = WHOLE.tolil()
        forge(X.rows[5])
        yield f"lil {forge.__name__}", X
        X = WHOLE.todok()
        X._dict[(3, 50_000_000 if forge is outside else -50_000_000)] = 1.0
        yield f"dok {forge.__name__}", X
    X = WHOLE.tolil()
    X.data[2] = X.data[2] * 10
    yield "lil with many values", X
    X = WHOLE.todia()
    X.offsets = X.offsets[:2]
    yield "dia with few offsets", X
    X = WHOLE.todia()
    X.offsets[0] = -(2**31)
    yield "dia far away", X


def uses():
    """Whatever can be done with a matrix, as a name and a call."""
    for model in (LinearClassifier(), KernelClassifier(kernel="poly(2)")):
        fitted = type(model)(**model.get_params()).fit(WHOLE, Y)
        held = type(model)(**model.get_params()).set_params(validation_fraction=0.2)
        yield f"{model} fit", lambda X, m=model: m.fit(X, Y)
        yield f"{model} fit with a hold-out", lambda X, m=held: m.fit(X, Y)
        for name in ("predict", "decision_function"):
            yield f"{model} {name}", lambda X, m=fitted, name=name: getattr(m, name)(X)
        for name in ("partial_fit", "score", "certificate"):
            yield f"{model} {name}", lambda X, m=fitted, name=name: getattr(m, name)(X, Y)
        yield f"{model} learner", lambda X, m=fitted: m.learner_.predict_many(X)
        yield f"{model} learner learning", lambda X, m=fitted: m.learner_.learn_many(X, Y)
    for model in (LinearRanker(), KernelRanker(kernel="poly(2)")):
        held = type(model)(**model.get_params()).set_params(validation_fraction=0.2)
        fitted = type(model)(**model.get_params()).fit(WHOLE, Y, qid=TOGETHER)
        for qid in (TOGETHER, INTERLEAVED):
            yield f"{model} fit", lambda X, m=model, q=qid: m.fit(X, Y, qid=q)
            yield f"{model} fit with a hold-out", lambda X, m=held, q=qid: m.fit(X, Y, qid=q)
            for name in ("predict", "decision_function"):
                yield f"{model} {name}", lambda X, m=fitted, name=name, q=qid: getattr(m, name)(X, qid=q)
            for name in ("partial_fit", "score", "certificate"):
                yield f"{model} {name}", lambda X, m=fitted, name=name, q=qid: getattr(m, name)(X, Y, qid=q)
        yield f"{model} predict one list", lambda X, m=fitted: m.predict(X)
        yield f"{model} rank", lambda X, m=fitted: m.rank(X)
        for lists in (
            lambda X: [X, X],
            lambda X: [WHOLE, X],
            lambda X: [WHOLE.toarray(), X],
            lambda X: [[WHOLE[[0]], X], X],
            lambda X: [X, WHOLE.tocsc()],
        ):
            yield f"{model} fit lists", lambda X, m=held, lists=lists: m.fit(lists(X), [0] * len(lists(X)))
            yield f"{model} predict lists", lambda X, m=fitted, lists=lists: m.predict(lists(X))
    words = KernelRanker(kernel="spectrum(2)").fit([["ab", "cd"]], [0])
    yield "a ranker of words", lambda X: words.predict(X)
    yield "a ranker of lists of words", lambda X: words.predict([X])
    yield "a classifier of words", lambda X: KernelClassifier(kernel="spectrum(2)").fit(X, Y)
    hashed = HashedFeatures(bits=8).fit(WHOLE)
    yield "hashing fit", lambda X: HashedFeatures(bits=8).fit_transform(X)
    yield "hashing transform", lambda X: hashed.transform(X)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_use_of_a_damaged_matrix_ends_the_process(tmp_path):
    path = tmp_path / "said"
    child = os.fork()
    if child == 0:
        signal.alarm(300)  # ends it where it goes on for ever
        try:
            with path.open("w") as said:
                use_all(said)
            os._exit(7)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = path.read_text()
    assert code == 7, said[-2000:]
    refused, wrong = said.split("\n")[-3:-1]
    assert int(refused.split()[0]) > 2000
    assert wrong == "0 not refused", [line for line in said.splitlines() if line.startswith("no")]


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
def test_whole_matrices_of_every_format_are_taken(format):
    X = WHOLE.asformat(format)
    for model in (LinearClassifier(), KernelClassifier(kernel="poly(2)")):
        assert (model.fit(X, Y).predict(X) == model.fit(WHOLE, Y).predict(WHOLE)).all()
    assert (HashedFeatures(bits=8).fit_transform(X) != HashedFeatures(bits=8).fit_transform(WHOLE)).nnz == 0


def test_a_format_that_is_not_known_is_refused():
    class Other:
        shape, ndim, format = (2, 2), 2, "other"

        def tocsr(self):
            raise AssertionError("this must not be called")

    with pytest.raises(ValueError, match="in a format that is not known here, 'other'; give scipy"):
        LinearClassifier().fit(Other(), [0, 1])


def use_all(said):
    refused = taken = 0
    known = list(uses())  # what is refused changes nothing
    for what, X in damaged():
        for use, call in known:
            print(what, "|", use, file=said, flush=True)  # the last line says where a process died
            try:
                call(X)
            except ValueError:
                refused += 1
            except Exception as error:
                taken += 1
                print("not a ValueError:", repr(error)[:200], file=said)
            else:
                taken += 1
                print("nothing raised:", what, "|", use, file=said)
    print(f"{refused} refused\n{taken} not refused", file=said)
