"""Reranker: candidates by cross-fitting, features of whole segments, and what it must never do."""

import numpy as np
import pytest
from sklearn.base import clone

import perceptive
import perceptive.model_file
from perceptive import LinearRanker, Reranker, SequenceTagger
from perceptive.conlleval import evaluate, segments
from perceptive.estimators.reranker import _shape


@pytest.fixture(scope="module")
def sentences():
    """Names are of one or two words; whether a name goes on can be told from the word behind it alone."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(240):
        words, labels = ["so"], ["O"]
        for _ in range(rng.integers(1, 4)):
            if rng.random() < 0.5:
                words += [f"N{rng.integers(6)}", f"N{rng.integers(6)}", "together"]
                labels += ["B-P", "I-P", "O"]
            else:
                words += [f"N{rng.integers(6)}", f"N{rng.integers(6)}", "apart"]
                labels += ["B-P", "B-P", "O"]
        X.append(words)
        y.append(labels)
    return X, y


BASE = SequenceTagger(template=["word", "@label[-1]"], epochs=5)


def test_features_of_segments_mend_what_the_tagger_cannot_see(sentences):
    X, y = sentences
    reranker = Reranker(BASE, k=10, folds=3).fit(X[:200], y[:200])
    base = evaluate(y[200:], reranker.tagger_.predict(X[200:])).f1 / 100
    assert reranker.score(X[200:], y[200:]) > base + 0.1
    assert reranker.score(X[200:], y[200:]) <= reranker.oracle(X[200:], y[200:]) + 1e-9
    assert 0 < reranker.oracle_ <= 1
    for x, labels in zip(X[200:], reranker.predict(X[200:]), strict=True):
        assert labels in [candidate for candidate, _ in reranker.candidates([x])[0]]


def test_candidates_are_cross_fitted(sentences, monkeypatch):
    """No tagger proposes candidates for a sentence that it has learned from, but for the last one, which is kept."""
    X, y = [[f"s{i}", *x] for i, x in enumerate(sentences[0][:30])], [["O", *labels] for labels in sentences[1][:30]]
    learned, asked = [], []
    fit, propose = SequenceTagger.fit, SequenceTagger.predict_kbest
    monkeypatch.setattr(
        SequenceTagger, "fit", lambda self, X, y: (learned.append({x[0] for x in X}), fit(self, X, y))[1]
    )
    monkeypatch.setattr(
        SequenceTagger, "predict_kbest", lambda self, X, k: (asked.append({x[0] for x in X}), propose(self, X, k))[1]
    )
    Reranker(BASE, k=5, folds=3).fit(X, y)
    assert len(learned) == 4
    assert len(learned[3]) == 30
    assert all(not a & b for a, b in zip(learned, asked, strict=False))
    assert set.union(*asked) == learned[3]


def test_options(sentences):
    X, y = sentences
    seen = []

    def length(sentence, labels):
        seen.append(len(labels))
        return {"segments": float(len(segments(labels)))}

    reranker = Reranker(
        BASE, k=4, folds=2, target="exact", features=length, ranker=LinearRanker(keep="all", bits=16)
    ).fit(X[:60], y[:60])
    assert seen
    assert clone(reranker).get_params()["k"] == 4
    for hypothesis in ("last", "voted", "averaged"):
        assert len(reranker.predict(X[:5], hypothesis)) == 5


@pytest.mark.parametrize(
    ("options", "n", "message"),
    [
        ({"k": 1}, 10, "at least 2"),
        ({"folds": 1}, 10, "at least 2"),
        ({"target": "bleu"}, 10, "choose 'f1' or 'exact'"),
        ({"folds": 20}, 10, "too few for 20 folds"),
    ],
)
def test_bad_options(sentences, options, n, message):
    X, y = sentences
    with pytest.raises(ValueError, match=message):
        Reranker(BASE, **options).fit(X[:n], y[:n])
    with pytest.raises(ValueError, match="one per sentence"):
        Reranker(BASE).fit(X[:10], y[:9])


def test_save_and_load(sentences, tmp_path):
    X, y = sentences
    reranker = Reranker(BASE, k=4, folds=2).fit(X[:60], y[:60])
    path = tmp_path / "re.model"
    perceptive.save(reranker, path)
    again = perceptive.load(path)
    assert isinstance(again, Reranker)
    assert again.predict(X) == reranker.predict(X)
    assert (again.k, again.folds, again.oracle_) == (4, 2, reranker.oracle_)
    assert again.fit(X[:60], y[:60]).predict(X) == reranker.predict(X)
    with pytest.raises(perceptive.model_file.ModelFileError, match="function"):
        perceptive.save(Reranker(BASE, k=4, folds=2, features=lambda x, t: {}).fit(X[:20], y[:20]), path)
    with pytest.raises(ValueError, match="not learned"):
        perceptive.save(Reranker(BASE), path)


def test_shapes():
    assert [_shape(word) for word in ("New-York", "U.S.", "1,200", "of", "IBM", "Ärzte")] == [
        "X-X", "X.X.", "0,0", "x", "X", "X",
    ]  # fmt: skip
