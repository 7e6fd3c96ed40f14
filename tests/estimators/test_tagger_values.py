"""Taggers whose tokens have values beside their columns, lists of attributes, or features by a function."""

import pickle
import warnings

import numpy as np
import pytest

import perceptive
from perceptive import SequenceTagger, load, save
from perceptive.data.token_values import BOTH, COLUMNS, FEATURES, kind_of, plain, valued
from perceptive.errors import ExampleError, ScaleWarning
from perceptive.features.templates import Templates
from perceptive.features.terms import label, template, values, word
from perceptive.learners import SequenceLearner
from perceptive.named_functions import MissingFunction

pytestmark = pytest.mark.core

# The word says nothing, the value everything.
X = [[("a", {"emb1": 1.0}), ("a", {"emb1": -1.0})], [("a", {"emb1": -2.0}), ("a", {"emb1": 2.0})]] * 4
Y = [["P", "N"], ["N", "P"]] * 4


def test_templates_and_values_are_read_together():
    tagger = SequenceTagger(template=[word, label[-1]], hypothesis="last").fit(X, Y)
    assert tagger.predict(X) == Y
    assert {"emb1", "word[0] = a"} >= {name for name, *_ in tagger.learner_.heaviest(4) if "@" not in name} > set()


@pytest.mark.parametrize(
    ("read", "values", "lacks"),
    [
        ("values(emb)", True, None),
        ("values(amb)", True, "a value whose name begins with 'amb'"),
        ("values", False, "values"),
    ],
)
def test_templates_that_read_no_value_are_told(read, values, lacks):
    given = X if values else [[word for word, _ in x] for x in X]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SequenceTagger(template=["word", read]).fit(given, Y)
    said = [f"template: '{read}' reads nothing, as no token has {lacks}; correct it"]
    assert [str(one.message) for one in caught] == (said if lacks else [])


@pytest.mark.parametrize("vector", [np.float32, np.float64, list])
def test_vectors_beside_the_columns(vector):
    def given(x):
        numbers = [[token[1]["emb1"], 0.0] for token in x]
        return [("a", one if vector is list else np.array(one, vector)) for one in numbers]

    tagger = SequenceTagger(template="word", hypothesis="last").fit([given(x) for x in X], Y)
    assert tagger.predict([given(x) for x in X]) == Y
    assert "0" in {name for name, *_ in tagger.learner_.heaviest(5)}


@pytest.mark.parametrize("number", [np.float32, np.float64, np.int64, np.int8])
def test_numbers_of_numpy_are_numbers(number):
    one = [[{"x": number(1)}, {"x": number(-1), "on": np.bool_(True)}]]
    two = [[{"x": 1.0}, {"x": -1.0, "on": 1.0}]]
    learners = [SequenceLearner(template="@label[-1]") for _ in range(2)]
    for learner, x in zip(learners, (one, two), strict=True):
        learner.learn_many(x, [["P", "N"]])
    assert learners[0].heaviest() == learners[1].heaviest()


@pytest.mark.parametrize("value", [np.inf, float("nan"), 1j, None, b"x", [1.0]])
def test_other_values_are_refused(value):
    with pytest.raises(
        ValueError, match="sentence 0, token 0: the feature 'x' is neither a finite number nor a string"
    ):
        SequenceTagger(template="word").fit([[("a", {"x": value})]], [["P"]])


def test_what_lies_beside_columns_is_a_dict_or_a_vector():
    for beside in (np.zeros((2, 2)), ["x"], np.array(["x"]), (1.0, None)):
        with pytest.raises(TypeError, match="sentence 0, token 0: what comes after its columns is not a vector"):
            SequenceTagger(template="word").fit([[("a", beside)]], [["P"]])
    with pytest.raises(TypeError, match="sentence 0, token 0: a column is of type 'float'"):
        SequenceTagger(template="word\npos").fit([[("a", 3.5)]], [["P"]])


# ---------------------------------------------------------------- values(prefix)


def test_a_line_says_which_values_are_read_and_where():
    x = [("a", {"emb1": 1.0, "emb2": 2.0, "freq": 5, "tag": "N"}), ("b", {"emb1": 3.0})]
    assert valued([x], Templates("values(emb)").values) == [[("a", {"emb1": 1.0, "emb2": 2.0}), ("b", {"emb1": 3.0})]]
    assert valued([x], Templates("values(emb)[-1:1] * 0.5\nvalues(tag)").values) == [
        [
            ("a", {"emb1": 0.5, "emb2": 1.0, "emb1[1]": 1.5, "tag=N": 1.0}),
            ("b", {"emb1[-1]": 0.5, "emb2[-1]": 1.0, "emb1": 1.5}),
        ]
    ]
    assert valued([x], Templates("word").values) == [[(*one[:-1], dict(one[-1])) for one in x]]
    assert valued([["a", "b"]], Templates("values").values) == [["a", "b"]]


def test_neighbours_values_teach():
    x = [[("a", {"emb": 1.0}), ("a", {})], [("a", {"emb": -1.0}), ("a", {})]] * 4
    y = [["O", "P"], ["O", "N"]] * 4
    tagger = SequenceTagger(template="values(emb)[-1]\n@label[-1]", hypothesis="last", epochs=20).fit(x, y)
    assert tagger.predict(x) == y


def test_lines_of_values_print_as_they_are_written():
    for line in ("values", "values(emb)", "values(emb)[-1:1] * 0.5", "values[2]"):
        assert str(template(line)) == line
    assert template("values(emb)[-1:1] * 0.5") == values("emb")[-1:1] * 0.5
    assert str(template("values", ["word", "values"])) == "values"  # a column
    for line, message in (
        ("values(a b)", "the beginning of a name has no spaces"),
        ("values[20]", "too far away"),
        ("values[1:-1]", "run backwards"),
        ("word & values(x)", "write values"),
        ("values * 0", "cannot have the value"),
    ):
        with pytest.raises(ValueError, match=message):
            Templates(line)


def test_saved_with_its_lines(tmp_path):
    tagger = SequenceTagger(template="word\nvalues(emb)\n@label[-1]", hypothesis="last").fit(X, Y)
    perceptive.save(tagger, tmp_path / "m")
    loaded = perceptive.load(tmp_path / "m")
    assert loaded.predict(X) == Y
    with pytest.raises(ValueError, match="sentence 0: its tokens have columns, but the tagger learned from columns"):
        loaded.predict([["a"]])


# ---------------------------------------------------------------- kinds of tokens

KINDS = {COLUMNS: ["a", "b"], FEATURES: [{"a": 1.0}, {"b": 1.0}], BOTH: [("a", {"x": 1.0}), ("b", {"x": 2.0})]}


@pytest.mark.parametrize("learned", KINDS)
@pytest.mark.parametrize("asked", KINDS)
def test_other_tokens_than_were_learned_from_are_refused(learned, asked):
    tagger = SequenceTagger(template="word\n@label[-1]").fit([KINDS[learned]], [["P", "N"]])
    if learned == asked:
        tagger.predict([KINDS[asked]])
        return
    for ask in (tagger.predict, tagger.decision_margin, lambda X: tagger.score(X, [["P", "N"]])):
        with pytest.raises(ValueError, match=f"its tokens have {asked}, but the tagger learned from {learned}"):
            ask([KINDS[asked]])
    with pytest.raises(ValueError, match="learned from"):
        tagger.partial_fit([KINDS[asked]], [["P", "N"]])


def test_kinds():
    for kind, tokens in KINDS.items():
        assert {kind_of(token) for token in tokens} == {kind}


# ---------------------------------------------------------------- attributes and functions

ATTRIBUTES = [[["bias", "word=the", "cap"], ["bias", "word=dog"]], [["bias", "word=a"], ["bias", "word=dog", "end"]]]
TAGS = [["D", "N"], ["D", "N"]]


def test_lists_of_attributes(tmp_path):
    tagger = SequenceTagger(template="attributes", hypothesis="last").fit(ATTRIBUTES, TAGS)
    assert tagger.predict(ATTRIBUTES) == TAGS
    assert "word=dog" in {name for name, *_ in tagger.learner_.heaviest(9)}
    perceptive.save(tagger, tmp_path / "m")
    loaded = perceptive.load(tmp_path / "m")
    assert loaded.predict(ATTRIBUTES) == TAGS
    assert loaded.template == "attributes"


def test_lists_of_attributes_are_not_taken_for_columns():
    alike = [[["w=the", "s=x"], ["w=dog", "s=x"]]]
    with pytest.raises(ValueError, match=r"token 0: it looks like a list of attributes.*say template"):
        SequenceTagger().fit(alike, [["D", "N"]])
    with pytest.raises(ValueError, match='lists of attributes need template="attributes"'):
        SequenceTagger(template="word").fit(ATTRIBUTES, TAGS)
    with pytest.raises(ValueError, match=r"token 0: it looks like a list of attributes.*say template"):
        SequenceTagger().fit([[["w=a", "bias"], ["w=b", "bias"]]], [["D", "N"]])


@pytest.mark.parametrize(
    "rows",
    [
        [["=", "SYM"], ["b", "NN"]],
        [["a", "Number=Sing"], ["b", "Number=Plur"]],
        [["a", "N", "k=v"], ["b", "N", "k=v"]],
        [["a", "_"], ["b=c", "_"]],
    ],
)
def test_rows_as_lists_are_columns(rows):
    assert SequenceTagger(epochs=1).fit([rows] * 3, [["D", "N"]] * 3).classes_ == ["D", "N"]


def last_letter(sentence, t):
    return {"last": sentence[t][-1], "first": t == 0}


def test_a_function_is_saved_by_its_name(tmp_path):
    x, y = [["dogs", "ran"], ["cats", "run"]] * 3, [["N", "V"], ["N", "V"]] * 3
    tagger = SequenceTagger(template=last_letter, hypothesis="last").fit(x, y)
    perceptive.save(tagger, tmp_path / "m")
    with pytest.raises(MissingFunction, match=r"the model's template is your function 'last_letter'.*functions=\{"):
        perceptive.load(tmp_path / "m")
    given = {"last_letter": last_letter}
    loaded = perceptive.load(tmp_path / "m", functions=given)
    assert loaded.predict(x) == tagger.predict(x)
    assert loaded.template is last_letter
    assert perceptive.load_learner(tmp_path / "m", functions=given).predict_many(x) == y


def test_a_tagger_of_the_command_line_is_a_tagger(tmp_path):
    from perceptive.cli import main

    (tmp_path / "t.conll").write_text("the D\ndog N\n\na D\ncat N\n\n" * 5)
    assert main(["train", str(tmp_path / "t.conll"), "--task", "tag", "-o", str(tmp_path / "m"), "--quiet"]) == 0
    loaded = perceptive.load(tmp_path / "m")
    assert isinstance(loaded, SequenceTagger)
    assert loaded.predict([["the", "cat"], ["a", "dog"]]) == [["D", "N"]] * 2


# ---------------------------------------------------------------- columns that look like CRF++


def test_a_column_called_upos_is_a_column():
    templates = Templates("columns word UPOS B\nUPOS[-1:1]  # tags\nUPOS & word\nB\nB[0] & UPOS")
    assert templates.state_names == ["UPOS[-1]", "UPOS[0]", "UPOS[1]", "UPOS[0] & word[0]", "B[0]", "B[0] & UPOS[0]"]
    assert not templates.bigrams
    with pytest.raises(ValueError, match="unknown directive 'UPOS'"):
        Templates("UPOS")
    assert Templates("U01:%x[0,0]\nB").bigrams


def test_lists_sets_and_dicts_within_are_features_of_their_own():
    nested = {"w": np.str_("Ada"), "shapes": ["Xx"], "kinds": {"b", "a"}, "next": {"len": 2.0, "pos": ("VB",)}}
    flat = {"w": "Ada", "shapes:Xx": 1.0, "kinds:a": 1.0, "kinds:b": 1.0, "next:len": 2.0, "next:pos:VB": 1.0}
    assert plain(nested) == flat
    for how, x in (("auto", [nested, {"w": "x"}]), (lambda x, t: nested if t == 0 else {"w": "x"}, ["a", "b"])):
        tagger = SequenceTagger(template=how).fit([x], [["O", "B-P"]])
        names = {part.name for one in tagger.explain(x) for part in one.parts}
        assert "shapes:Xx" in names
    with pytest.raises(ValueError, match=r"the feature 'w' is neither a finite number nor a string .*'NoneType'"):
        SequenceTagger().fit([[{"w": None}]], [["B-P"]])


def test_vectors_have_one_length():
    refused = (
        "sentence 1, token 0: its vector has 2 numbers, but the first one that the tagger saw has 3; give all as many"
    )
    with pytest.raises(ValueError, match=refused):
        SequenceTagger(template="word").fit([[("a", [1.0, 2.0, 3.0])], [("b", [1.0, 2.0])]], [["O"], ["B-P"]])


@pytest.mark.parametrize("first", [[1.0, 2.0, 3.0], {}])  # the first token may lack a vector
def test_vectors_are_as_long_as_those_of_fit(first, tmp_path):
    X, y = [[("a", first), ("b", [0.0, 1.0, 0.5])]], [["O", "B-P"]]
    tagger = SequenceTagger(template="word").fit(X, y)
    save(tagger, tmp_path / "m.model")
    good, bad = [("a", [1.0, 2.0, 3.0])], [("a", {}), ("b", np.ones(4))]
    for model in (tagger, load(tmp_path / "m.model"), pickle.loads(pickle.dumps(tagger))):
        learner = model.learner_
        for ask in (
            model.predict,
            learner.margins,
            lambda X, model=model: model.predict_kbest(X, 2),
            lambda X, model=model: model.partial_fit(X, [["O"], ["O", "B-P"]]),
            lambda X, learner=learner: learner.dataset(X, [["O"], ["O", "B-P"]], grow=False),
        ):
            with pytest.raises(ExampleError, match=r"its vector has 4 numbers, but the first .* has 3") as caught:
                ask([good, bad])
            assert (caught.value.example, caught.value.token) == (1, 1)
        assert model.predict([good]) == model.predict([good])


@pytest.mark.parametrize(
    "token",
    [
        lambda word, year: {"w": word, "year": year},
        lambda word, year: (word, {"year": year}),
        lambda word, year: (word, {"year": np.float32(year)}),
        lambda word, year: {"w": word, "year": np.int64(year)},
    ],
)
def test_values_much_larger_than_the_others_are_told_of(token):
    y = [["X", "Y"]] * 10
    with pytest.warns(ScaleWarning, match="column 'year' is .* times as large as column .* and drowns it; divide it"):
        SequenceTagger(epochs=1).fit([[token("a", 1990), token("b", 2010)]] * 10, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequenceTagger(epochs=1).fit([[token("a", 0.2), token("b", 3)]] * 10, y)


@pytest.mark.parametrize("kind", [list, np.array])
def test_vectors_much_larger_than_words_are_told_of(kind):
    with pytest.warns(
        ScaleWarning, match="column 'vector' is .* times as large as column 'word' and drowns it; divide"
    ):
        SequenceTagger(epochs=1).fit([[("a", kind([1e3, 2e3])), ("b", kind([5e3, 0]))]] * 10, [["X", "Y"]] * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequenceTagger(epochs=1).fit([[("a", kind([1.0, 2.0])), ("b", kind([5.0, 0]))]] * 10, [["X", "Y"]] * 10)
        SequenceTagger(epochs=1).fit([[("a", kind([])), ("b", kind([]))]] * 10, [["X", "Y"]] * 10)


@pytest.mark.parametrize("vector", [False, True])
def test_names_and_vectors_beside_columns_are_told_apart(vector, tmp_path):
    names, numbers = [("a", {"f": 1.0}), ("b", {})], [("a", [1.0, 2.0]), ("b", [0.0, 1.0])]
    good, bad = (numbers, names) if vector else (names, numbers)
    tagger = SequenceTagger(template="word").fit([good], [["O", "B-P"]])
    save(tagger, tmp_path / "m.model")
    found, cure = ("features by name", "a vector") if vector else ("a vector", "a dict of features")
    for model in (tagger, load(tmp_path / "m.model"), pickle.loads(pickle.dumps(tagger))):
        assert len(model.predict([good, [("a", {})]])) == 2  # a token may lack them
        for ask in (model.predict, lambda X, model=model: model.partial_fit(X, [["O", "B-P"]] * len(X))):
            with pytest.raises(ExampleError, match=f"^sentence 1, token 0: beside its columns it has {found}.*{cure}$"):
                ask([good, bad])


def test_names_and_vectors_may_both_lie_beside_columns(tmp_path):
    x = [("a", {"f": 1.0}), ("b", [0.0, 1.0])]
    tagger = SequenceTagger(template="word").fit([x], [["O", "B-P"]])
    save(tagger, tmp_path / "m.model")
    for model in (tagger, load(tmp_path / "m.model")):
        assert len(model.predict([x, x[:1], x[1:]])) == 3
