"""Reranker: candidates by cross-fitting, features of whole segments, and what it must never do."""

import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_predict

import perceptive
import perceptive.model_file
from perceptive import KernelRanker, LinearRanker, Reranker, SequenceTagger
from perceptive.cli import main
from perceptive.evaluation.conlleval import evaluate, segments
from perceptive.kernels import Custom, Spectrum, SubsetTree, as_kernel
from perceptive.learners import SequenceLearner
from perceptive.learners.description import shape, structure_of, to_tree
from perceptive.learners.reranking import RerankingLearner
from perceptive.models.registry import load_learner
from tagger_data import ambiguous_names


@pytest.fixture(scope="module")
def sentences():
    return ambiguous_names(120)


BASE = SequenceTagger(template=["word", "@label[-1]"], epochs=5)


def test_features_of_segments_mend_what_the_tagger_cannot_see(sentences):
    X, y = sentences
    reranker = Reranker(BASE, k=10, folds=3).fit(X[:90], y[:90])
    base = evaluate(y[90:], reranker.tagger_.predict(X[90:])).f1 / 100
    assert reranker.score(X[90:], y[90:]) > base + 0.1
    assert reranker.score(X[90:], y[90:]) <= reranker.oracle(X[90:], y[90:]) + 1e-9
    assert 0 < reranker.oracle_ <= 1
    for x, labels in zip(X[90:], reranker.predict(X[90:]), strict=True):
        assert labels in [candidate for candidate, _ in reranker.candidates([x])[0]]


def test_predictions_of_a_cross_validation_are_put_together(sentences):
    X, y = sentences[0][:30], sentences[1][:30]
    found = cross_val_predict(Reranker(BASE, k=3, folds=2), X, y, cv=2)
    assert found.shape == (30,)
    assert list(map(len, found)) == list(map(len, y))


def test_candidates_are_cross_fitted(sentences, monkeypatch):
    """No tagger proposes candidates for a sentence that it has learned from, but for the last one, which is kept."""
    X, y = [[f"s{i}", *x] for i, x in enumerate(sentences[0][:30])], [["O", *labels] for labels in sentences[1][:30]]
    learned, asked = [], []
    fit, propose = SequenceTagger.fit, SequenceLearner.k_best
    monkeypatch.setattr(
        SequenceTagger, "fit", lambda self, X, y, weights: (learned.append({x[0] for x in X}), fit(self, X, y))[1]
    )
    monkeypatch.setattr(
        SequenceLearner, "k_best", lambda self, X, k: (asked.append({x[0] for x in X}), propose(self, X, k))[1]
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
    ).fit(X[:40], y[:40])
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
    with pytest.raises(ValueError, match="give one list of labels per sentence"):
        Reranker(BASE).fit(X[:10], y[:9])


def test_save_and_load(sentences, tmp_path):
    X, y = sentences
    reranker = Reranker(BASE, k=4, folds=2).fit(X[:40], y[:40])
    path = tmp_path / "re.model"
    perceptive.save(reranker, path)
    again = perceptive.load(path)
    assert isinstance(again, Reranker)
    assert again.predict(X) == reranker.predict(X)
    assert (again.k, again.folds, again.oracle_) == (4, 2, reranker.oracle_)
    assert again.fit(X[:40], y[:40]).predict(X) == reranker.predict(X)
    with pytest.raises(ValueError, match="not learned"):
        perceptive.save(Reranker(BASE), path)


# ---------------------------------------------------------------- kernels of whole candidates


def ends(sentence, labels):
    """What stands behind each segment, with the number of its words: all that matters here."""
    return tuple(f"{end - begin} {sentence[end] if end < len(sentence) else '$'}" for begin, end, _ in segments(labels))


@pytest.mark.parametrize(
    ("kernel", "structure"),
    [(SubsetTree(0.5).normalized(), "tree"), ("spectrum(2)", "tags"), (Spectrum(1), ends)],
)
@pytest.mark.slow
def test_kernels_of_candidates(sentences, kernel, structure, tmp_path):
    X, y = sentences
    reranker = Reranker(BASE, k=4, folds=2, kernel=kernel, structure=structure).fit(X[:60], y[:60])
    assert isinstance(reranker.ranker_, KernelRanker)
    base = evaluate(y[90:], reranker.tagger_.predict(X[90:])).f1 / 100
    assert reranker.score(X[90:], y[90:]) > base + 0.1  # the features alone do it here: the kernel must not harm
    path = tmp_path / "re.model"
    perceptive.save(reranker, path)
    again = perceptive.load(path, functions={"ends": ends})
    assert again.predict(X[:20]) == reranker.predict(X[:20])
    assert again.structure == structure
    assert again.kernel == as_kernel(kernel)
    assert again.fit(X[:60], y[:60]).predict(X[:20]) == reranker.predict(X[:20])
    if callable(structure):
        with pytest.raises(ValueError, match=r"structure is your function 'ends'.*functions="):
            load_learner(path)
        return
    learner = load_learner(path)
    assert isinstance(learner, RerankingLearner)
    assert learner.predict_many(X[:20]) == reranker.predict(X[:20])


def test_the_structure_alone_can_do_it(sentences):
    """Without a feature, the kernel of what stands behind segments finds what the tagger cannot see."""
    X, y = sentences
    found = {}
    for name, structure in (("tags", "tags"), ("ends", ends)):
        reranker = Reranker(BASE, k=4, folds=2, kernel=Spectrum(1), structure=structure).fit(X[:30], y[:30])
        proposed = reranker.candidates(X[90:])
        view = structure_of(structure)
        lists = [[({}, view(x, labels)) for labels, _ in one] for x, one in zip(X[90:], proposed, strict=True)]
        chosen = reranker.ranker_.predict(lists)
        found[name] = evaluate(y[90:], [one[j][0] for one, j in zip(proposed, chosen, strict=True)]).f1
    assert found["ends"] > found["tags"] + 10


def test_kernel_options(sentences):
    X, y = sentences[0][:20], sentences[1][:20]
    with pytest.raises(ValueError, match="does not go with a LinearRanker"):
        Reranker(BASE, kernel="spectrum(1)", ranker=LinearRanker()).fit(X, y)
    with pytest.raises(ValueError, match="needs a kernel"):
        Reranker(BASE, ranker=KernelRanker()).fit(X, y)
    with pytest.raises(ValueError, match="choose 'tree', 'tags'"):
        Reranker(BASE, structure="graph").fit(X, y)


def test_a_fitted_tagger_is_kept(sentences):
    X, y = sentences
    tagger = clone(BASE).fit(X[:40], y[:40])
    given = Reranker(BASE, k=4, folds=2).fit(X[:40], y[:40], fitted=tagger)
    assert given.tagger_ is tagger
    assert given.predict(X[40:]) == Reranker(BASE, k=4, folds=2).fit(X[:40], y[:40]).predict(X[40:])


def test_trees_of_sentences():
    tokens = [("The", "DT"), ("(", "("), ("cat", "NN"), (".", ".")]
    tree = to_tree(tokens, ["B-NP", "I-NP", "I-NP", "O"])
    assert tree == ("S", ("NP", ("DT", "The"), ("(", "("), ("NN", "cat")), (".", "."))
    assert SubsetTree(1.0)([tree], [tree])[0, 0] > 0
    assert to_tree(["New", "York"], ["B", "I"]) == ("S", ("segment", ("X", "New"), ("X", "York")))
    assert to_tree(["so"], ["O"]) == ("S", ("x", "so"))


# ---------------------------------------------------------------- the command line


def run(capsys, *arguments):
    code = main([str(a) for a in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def write_conll(path, X, y):
    blocks = [map(" ".join, zip(x, labels, strict=True)) for x, labels in zip(X, y, strict=True)]
    path.write_text("".join("\n".join(lines) + "\n\n" for lines in blocks))


@pytest.fixture
def files(sentences, tmp_path, capsys):
    X, y = sentences
    write_conll(tmp_path / "train.conll", X[:90], y[:90])
    write_conll(tmp_path / "test.conll", X[90:], y[90:])
    (tmp_path / "template").write_text("word\n@label[-1]\n")
    code, _, err = run(
        capsys, "train", tmp_path / "train.conll", "--task", "tag", "--template", tmp_path / "template", "--epochs", 5,
        "-o", tmp_path / "ner.model", "--quiet",
    )  # fmt: skip
    assert code == 0, err
    return tmp_path


def test_shapes():
    assert [shape(word) for word in ("New-York", "U.S.", "1,200", "of", "IBM", "Ärzte")] == [
        "X-X", "X.X.", "0,0", "x", "X", "X",
    ]  # fmt: skip


def test_the_oracle_is_the_best_f_whatever_the_target(sentences):
    from perceptive.learners.candidates import graded_lists

    X, y = sentences
    x, truth = X[0], y[0]
    worse, nearly = ["O"] * len(truth), [*truth[:-1], "B-P"]
    proposed = [[(worse, 2.0), (truth, 1.0)], [(worse, 2.0), (nearly, 1.0)]]
    for target in ("f1", "exact"):
        *_, oracle = graded_lists([x, x], [truth, truth], proposed, target)
        assert oracle == evaluate([truth, truth], [truth, nearly]).f1 / 100


def test_hashed_candidates_are_what_dicts_would_be(sentences):
    from perceptive.features.hashing import HashKernel
    from perceptive.learners.candidates import graded_lists

    X, y = sentences[0][:80], sentences[1][:80]
    proposed = SequenceTagger(template=["word", "@label[-1]"], epochs=1).fit(X, y).predict_kbest(X, 4)
    dicts, grades, sizes, *_ = graded_lists(X, y, proposed, "f1")
    rows, same_grades, same_sizes, *_ = graded_lists(X, y, proposed, "f1", hashing=HashKernel(12))
    assert len(sizes) > 64  # more than a batch
    assert (grades == same_grades).all()
    assert (sizes == same_sizes).all()
    for one, other in zip(rows, HashKernel(12).encode(dicts), strict=True):
        assert (one == other).all()


@pytest.mark.parametrize("option", [("--on-error", "skip"), ("--bits", "2")])
def test_options_that_mean_nothing_are_refused(files, capsys, option):
    told = ("--task", "rerank", "--base", files / "ner.model", "-o", files / "m")
    code, _, err = run(capsys, "train", files / "train.conll", *told, *option)
    assert code != 0
    assert f"{option[0]} does not go with --task rerank" in err


def test_labels_that_the_base_does_not_know_are_named(files, capsys):
    (files / "other.conll").write_text((files / "train.conll").read_text().replace("B-P", "B-Q"))
    told = ("--task", "rerank", "--base", files / "ner.model", "-o", files / "m")
    code, _, err = run(capsys, "train", files / "other.conll", *told)
    assert code != 0
    assert "the tagger does not know the labels 'B-Q'" in err


# ---------------------------------------------------------------- bad input


def length(sentence, labels):
    return {"segments": float(len(segments(labels)))}


def test_functions_are_saved_by_name(sentences, tmp_path):
    X, y = sentences
    path = tmp_path / "re.model"
    reranker = Reranker(BASE, k=4, folds=2, features=length).fit(X[:40], y[:40])
    perceptive.save(reranker, path)
    with pytest.raises(ValueError, match=r"features is your function 'length'.*functions="):
        perceptive.load(path)
    again = perceptive.load(path, functions={"length": length})
    assert again.features is length
    assert again.predict(X) == reranker.predict(X)
    perceptive.save(reranker.learner_, path)
    assert perceptive.load_learner(path, functions={"length": length}).predict_many(X) == reranker.predict(X)
    kernel = Custom(lambda a, b: float(a == b), name="length")
    both = Reranker(BASE, k=2, folds=2, features=length, kernel=kernel, structure="tags").fit(X[:8], y[:8])
    with pytest.raises(perceptive.model_file.ModelFileError, match="two functions of the model are called 'length'"):
        perceptive.save(both, path)


def test_bad_functions_and_kernels(sentences):
    X, y = sentences[0][:20], sentences[1][:20]
    with pytest.raises(ValueError, match="features gave a NoneType"):
        Reranker(BASE, folds=2, features=lambda s, labels: None).fit(X, y)
    with pytest.raises(ValueError, match="structure gave None"):
        Reranker(BASE, folds=2, kernel="spectrum(1)", structure=lambda s, labels: None).fit(X, y)
    with pytest.raises(ValueError, match="Gram matrix"):
        Reranker(BASE, kernel="precomputed").fit(X, y)
    with pytest.raises(NotFittedError):
        Reranker(BASE).fit(X, y, fitted=SequenceTagger())
    with pytest.raises(ValueError, match="give a SequenceTagger"):
        Reranker(BASE).fit(X, y, fitted="ner")
    reranker = Reranker(BASE, k=3, folds=2).fit(X, y)
    for measure in (reranker.score, reranker.oracle):
        with pytest.raises(ValueError, match="X has 20 sentences, but y has 3"):
            measure(X, y[:3])


@pytest.mark.parametrize("bad", [1, 7])
def test_a_bad_sentence_is_named_before_anything_is_learned(sentences, monkeypatch, bad):
    X, y = sentences[0][:20], [list(labels) for labels in sentences[1][:20]]
    y[bad] = ["O", "I-P", *y[bad][2:]]
    monkeypatch.setattr(SequenceTagger, "fit", None)
    tagger = SequenceTagger(template=["word", "@label[-1]"], constraints="bio", repair="error")
    with pytest.raises(ValueError, match=f"^sentence {bad}, token 1"):
        Reranker(tagger, folds=3).fit(X, y)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=f"^sentence {bad}: it has"):
        Reranker(BASE, folds=3).fit(X, [*y[:bad], ["O"], *y[bad + 1 :]])
    with pytest.warns(UserWarning, match=f"^sentence {bad}, token 1") as caught:
        Reranker(BASE, k=2, folds=3).fit(X, y, fitted=clone(BASE).fit(*(part[:20] for part in sentences)))
    assert len([one for one in caught if "few for a reranker" not in str(one.message)]) == 1


def test_a_bad_line_is_named(files, capsys):
    lines = (files / "train.conll").read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if i > 40 and line.endswith("B-P") and lines[i - 1].endswith(" O"))
    lines[at] = lines[at].replace("B-P", "I-P")
    (files / "bad.conll").write_text("\n".join(lines) + "\n")
    told = ("--task", "tag", "--constraints", "bio", "--repair", "error", "--template", files / "template", "--quiet")
    assert run(capsys, "train", files / "train.conll", *told, "-o", files / "bio.model")[0] == 0
    told = ("--task", "rerank", "--base", files / "bio.model", "-o", files / "m")
    code, _, err = run(capsys, "train", files / "bad.conll", *told)
    assert code == 1
    assert f"bad.conll:{at + 1}: label 'I-P'" in err


def test_labels_without_a_type_are_labels(files, capsys):
    (files / "other.conll").write_text((files / "train.conll").read_text().replace("-P", ""))
    told = ("--task", "rerank", "--base", files / "ner.model", "-o", files / "m")
    assert "does not know the labels 'B', 'I'" in run(capsys, "train", files / "other.conll", *told)[2]
