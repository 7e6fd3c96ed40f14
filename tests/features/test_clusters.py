"""Clusters of words in templates: what they are learned from, when, and that they go with the model."""

import numpy as np
import pytest

from perceptive import SequenceTagger, load, save
from perceptive.cli import main
from perceptive.features.clusters import added, clusters, contexts_of
from perceptive.features.templates import Templates
from perceptive.features.terms import cluster, pos, template
from perceptive.learners import SequenceLearner

TEMPLATE = "columns word pos\ncluster(4)[-1:1]\npos\n@label[-1]"


def corpus(n, seed=0):
    """Determiners, nouns and verbs, with tags that do not tell nouns from verbs."""
    rng, X, y = np.random.default_rng(seed), [], []
    nouns, verbs = ([f"{kind}{letter}" for letter in "abcdefgh"] for kind in ("noun", "verb"))
    for _ in range(n):
        words = [rng.choice(["the", "a"]), rng.choice(nouns), rng.choice(verbs)]
        X.append([(str(word), "D" if i == 0 else "X") for i, word in enumerate(words)])
        y.append(["D", "N", "V"])
    return X, y


def test_words_in_the_same_places_are_one_cluster():
    X, _ = corpus(200)
    found = clusters(contexts_of(X, 0, 2), 0, 4)
    kinds = [{found[word] for word in found if word.startswith(kind)} for kind in ("noun", "verb")]
    assert not {found["the"], found["a"]} & (kinds[0] | kinds[1])
    assert not kinds[0] & kinds[1]


def test_words_are_read_in_lower_case_and_rare_ones_have_no_cluster():
    X = [["The", "1990s"], ["the", "1980s"], ["THE", "2000s"], ["rare"], ["rare"], ["a\tb"], ["a\tb"], ["a\tb"]]
    found = clusters(contexts_of(X, 0, 1), 0, 2)
    assert found.keys() == {"the", "0000s"}


def test_nothing_to_cluster():
    assert clusters(contexts_of([["one", "two"]], 0, 1), 0, 5) == {}
    learner = SequenceLearner(template=TEMPLATE)
    learner.dataset([[("a", "b")]], [["O"]], epochs=1)
    assert learner.templates.unlearned == []


def test_parts_add_up():
    X, _ = corpus(60)
    parts = [{0: contexts_of(X[:17], 0, 2)}, {0: contexts_of(X[17:], 0, 2)}]
    assert added(parts)[0] == contexts_of(X, 0, 2)
    assert clusters(added(parts)[0], 0, 4) == clusters(contexts_of(X, 0, 2), 0, 4)


def test_a_tagger_learns_clusters_first_and_keeps_them(tmp_path):
    X, y = corpus(100)
    tagger = SequenceTagger(template=TEMPLATE, hypothesis="last").fit(X, y)
    assert tagger.predict([[("the", "D"), ("nounc", "X"), ("verbb", "X")]]) == [["D", "N", "V"]]
    assert tagger.learner_.templates.unlearned == []
    save(tagger, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.predict(X) == tagger.predict(X)
    assert again.template == TEMPLATE  # to be learned anew from other sentences
    for one in (tagger, again):
        one.partial_fit(X[:5], y[:5])
    assert again.learner_.state().arrays.keys() == tagger.learner_.state().arrays.keys()
    assert again.predict_kbest(X[:3], 2) == tagger.predict_kbest(X[:3], 2)


def test_examples_one_by_one_have_no_clusters():
    X, y = corpus(30)
    one, many = SequenceLearner(template=TEMPLATE), SequenceLearner(template=TEMPLATE)
    for x, labels in zip(X, y, strict=True):
        one.learn(x, labels)
    many.learn_many(X, y)
    assert one.templates.unlearned == many.templates.unlearned == ["cluster(4)"]
    again = SequenceLearner.from_state(one.state())
    assert again.predict_many(X) == one.predict_many(X) == many.predict_many(X)


def test_shards_have_the_same_clusters():
    X, y = corpus(80)
    whole, shards = (SequenceTagger(template=TEMPLATE, shards=s, n_jobs=2).fit(X, y) for s in (1, 3))
    assert whole.learner_.templates.dictionaries == shards.learner_.templates.dictionaries


def test_files_as_in_memory(tmp_path, capsys):
    X, y = corpus(50)
    lines = (
        "".join(f"{w} {t} {label}\n" for (w, t), label in zip(*pair, strict=True)) for pair in zip(X, y, strict=True)
    )
    (tmp_path / "a.txt").write_text("\n".join(lines))
    (tmp_path / "t.template").write_text(TEMPLATE)
    command = ["train", str(tmp_path / "a.txt"), "--task", "tag", "--template", str(tmp_path / "t.template")]
    assert main([*command, "-o", str(tmp_path / "m"), "--quiet"]) == 0
    tagger = SequenceTagger(template=TEMPLATE).fit(X, y)
    loaded = load(tmp_path / "m")
    assert loaded.predict_kbest(X[:9], 2) == tagger.predict_kbest(X[:9], 2)
    assert main(["inspect", str(tmp_path / "m")]) == 0
    assert "cluster(4)" in capsys.readouterr().out


def test_the_language():
    assert template("cluster(100)[-1] and pos") == cluster(100)[-1] & pos
    assert str(cluster(20, of=pos)) == "cluster(20, pos)"
    templates = Templates("cluster(20)\ncluster(20, pos)[0] & word\ncluster(20)[1]")
    assert templates.clusters == {"cluster(20)": (20, 0), "cluster(20, pos)": (20, 1)}


@pytest.mark.parametrize("number", ["(1)", "(x)", "(20000)", "()", "", "(2..3)"])
def test_what_is_no_number_of_clusters(number):
    with pytest.raises(ValueError, match=r"line 1: cluster"):
        Templates(f"cluster{number}")


@pytest.mark.parametrize("n", [1, 2.5, "5", True])
def test_what_is_no_number_of_clusters_in_python(n):
    with pytest.raises(ValueError, match="from 2 to 10,000"):
        cluster(n)


@pytest.mark.parametrize("X", [[[{"a": 1.0}]], [["word"]], [[("word", 3)]], [[3]]])
def test_tokens_that_do_not_fit(X):
    tagger = SequenceTagger(template=TEMPLATE)
    with pytest.raises((TypeError, ValueError), match=r"column|token"):
        tagger.fit(X, [["O"]])


def test_values_in_a_dictionary(tmp_path):
    (tmp_path / "places.txt").write_text("Rome\tcity\nItaly\tcountry\nSea\n")
    (tmp_path / "t.template").write_text("in(places.txt)\n@label[-1]")
    X, y = [["to", "Rome"], ["to", "Italy"], ["to", "Sea"]], [["O", "CITY"], ["O", "LAND"], ["O", "SEA"]]
    tagger = SequenceTagger(template=str(tmp_path / "t.template"), hypothesis="last").fit(X, y)
    assert tagger.predict(X) == y
