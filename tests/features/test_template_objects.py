"""Templates as Python objects."""

import functools
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from perceptive import SequenceTagger, load, load_learner, save
from perceptive.features import terms
from perceptive.features.template import KINDS
from perceptive.features.templates import Templates
from perceptive.learners import SequenceLearner

# ---------------------------------------------------------------- objects

offsets = st.integers(-15, 15)


columns_ = st.sampled_from([terms.word, terms.pos]) | st.integers(0, 5).map(terms.column)


@st.composite
def single_terms(draw):
    of = draw(st.none() | columns_)
    low, high = sorted((draw(st.integers(1, 15)), draw(st.integers(1, 15))))
    kinds = {
        "has": draw(st.lists(st.sampled_from(KINDS["has"]), min_size=1, max_size=3)),
        "is": draw(st.lists(st.sampled_from(KINDS["is"]), min_size=1, max_size=3)),
    }
    plain = draw(st.sampled_from([terms.lower, terms.norm, terms.shape, terms.pattern, terms.length]))
    term = draw(
        st.sampled_from(
            [
                draw(columns_),
                plain if of is None else plain(of),
                terms.prefix(low, high, of=of),
                terms.suffix(low, of=of),
                terms.suffix(low, of=draw(st.sampled_from([terms.lower, terms.norm]))),
                terms.has(*kinds["has"], of=of),
                terms.is_(*kinds["is"], of=of),
                terms.in_("some words.txt", of=of),
                terms.capitalised,
                terms.hyphenated,
            ]
        )
    )
    how = draw(st.sampled_from(["here", "there", "window", "joined"]))
    first, last = sorted((draw(offsets), draw(offsets)))
    if how == "here":
        return term
    return term[first] if how == "there" else term[first:last] if how == "window" else term[first:last].joined()


@st.composite
def objects(draw):
    labels = st.lists(st.sampled_from(["B", "I-NP", "O", "ö", "B-a-b", "$."]), min_size=1, max_size=3)
    made = draw(st.lists(single_terms(), min_size=1, max_size=3))
    if draw(st.booleans()):
        made.append(terms.y.is_in(*draw(labels)))
    if draw(st.booleans()):
        made.append(terms.y[-1].is_in(*draw(labels)))
    elif draw(st.booleans()):
        made.append(terms.label[-1])
    whole = functools.reduce(operator.and_, draw(st.permutations(made)))
    whole = terms.bag(whole) if draw(st.booleans()) else whole
    if not whole.pairs and not whole.before and draw(st.booleans()):
        whole = whole * draw(st.floats(1e-7, 1e5))
    return whole


@given(objects())
def test_objects_print_as_text_and_are_read_back(one):
    assert terms.template(str(one)) == one
    assert eval(repr(one), {"template": terms.template}) == one


WRITTEN = (
    "word pos [ ] ( ) & and or y== y[-1]== B -1 : .. 1 16 * 0.5 , suffix has in is digit | @label bag U00: %x[0,1]"
)


pieces = st.sampled_from([*WRITTEN.split(), " ", "columns ", "segment ", "col", "\n", "#"])


@given(st.lists(pieces, max_size=12).map("".join) | st.text(max_size=30))
def test_what_is_no_template_is_refused_as_such(text):
    try:
        templates = Templates(text)
    except ValueError:
        return
    again = Templates("\n".join(str(terms.template(line, templates.columns)) for line in lines_of(text)))
    assert again.arguments() == templates.arguments()


def lines_of(text):
    lines = (line.split("#")[0].strip() if line.lstrip()[:1] not in ("U", "B") else line for line in text.splitlines())
    return [line for line in lines if line.strip()]


def test_nested_and_long_lines_are_read_in_time():
    for depth in (10, 300):
        nested = "(" * depth + "word" + ")" * depth
        assert Templates(nested).state_names == ["word[0]"]
        assert len(Templates("(word & " * depth + "pos" + ")" * depth).state) == 1
    with pytest.raises(ValueError, match="at most 4096"):
        Templates("(" * 100_000)


SAME = [
    (terms.word[-2:2], "word[-2:2]"),
    (terms.pos[-1:1].joined(), "pos[-1..1]"),
    (terms.word[-1] & terms.pos, "word[-1] and pos[0]"),
    (terms.lower(terms.pos)[1], "lower(pos)[1]"),
    (terms.suffix(2, of=terms.column(3)), "suffix(2, col 3)"),
    (terms.prefix(1, 4), "prefix(1..4)"),
    (terms.prefix(1, 4, of=terms.norm)[1], "prefix(1..4, norm)[1]"),
    (terms.has("digit", "hyphen"), "has(digit|hyphen)"),
    (terms.is_("number", of="pos"), "is(number, pos)"),
    (terms.bag(terms.word[-3:3]), "bag(word[-3:3])"),
    (0.5 * terms.pos, "pos * 0.5"),
    (terms.label[-1], "@label[-1]"),
    (terms.label[-2], "@label[-2]"),
    (terms.shape & terms.label[-1], "shape & @label[-1]"),
    (terms.y.is_in("B", "I") & terms.capitalised, "(y==B or y==I) and capitalised"),
    (terms.y.is_in("B", "I") & terms.capitalised, "((y==B) or (y==I)) and (capitalised)"),
    (terms.y.is_in("I") & terms.y[-1].is_in("B") & terms.hyphenated, "(y==I and y[-1]==B) and hyphenated"),
    (terms.columns("w", "p", "Lemma2"), "columns w p Lemma2"),
]


@pytest.mark.parametrize(("made", "text"), SAME, ids=[text for _, text in SAME])
def test_objects_are_what_the_text_says(made, text):
    assert terms.template(text) == made
    assert Templates.of(made).arguments() == Templates(text).arguments()
    assert Templates.of([made, "col(0)"]).state_names == Templates(text + "\ncol(0)").state_names


@pytest.mark.core
def test_objects_make_a_tagger(tmp_path):
    X, y = [["to", "Rome"], ["on", "New", "York", "Road"]], [["O", "B-LOC"], ["O", "B-LOC", "I-LOC", "O"]]
    lines = [
        terms.columns("form"),
        terms.column("form")[-1:1],
        terms.in_("cities", {"Rome", "Paris"}),
        terms.segment_in("places", ["New York"]),
        "U:%x[0,0]",
        terms.label[-1],
    ]
    tagger = SequenceTagger(template=lines, segments=True, hypothesis="last", epochs=30).fit(X, y)
    assert tagger.predict(X) == y
    names = {name for name, _, _ in tagger.learner_.heaviest(1000)}
    assert "segment in(places) = 1" in names
    assert tagger.learner_.templates.dictionaries == {"cities": ["Paris", "Rome"]}
    assert clone(tagger).fit(X, y).predict(X) == y
    save(tagger, tmp_path / "a.model")
    loaded = load(tmp_path / "a.model")  # the dictionaries come with it, also for learning anew
    assert loaded.predict(X) == y
    assert clone(loaded).fit(X, y).predict(X) == y
    grid = GridSearchCV(SequenceTagger(), {"template": [[terms.word], [terms.word, terms.shape]]}, cv=KFold(2))
    assert grid.fit(X * 3, y * 3).best_score_ >= 0
    assert SequenceTagger(template=terms.word).fit(X, y).predict(X) == y
    assert SequenceTagger(template=terms.lower).fit(X, y).learner_.features is None  # though it can be called


def test_an_empty_dictionary_is_empty(tmp_path):
    learner = SequenceLearner("ab", template=[terms.in_("none", set()), "word"], hypothesis="last")
    learner.learn(["", "x"], ["a", "b"])
    save(learner, tmp_path / "a.model")
    assert load_learner(tmp_path / "a.model").templates.dictionaries == {"none": []}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: terms.word[16], "offset 16 is too far"),
        (lambda: terms.word[2:-2], "run backwards"),
        (lambda: terms.word[:2], "two ends"),
        (lambda: terms.word[0:4:2], "no step"),
        (lambda: (terms.word & terms.pos)[1], "cannot be moved"),
        (lambda: terms.prefix(3)(terms.pos), "give the column as of="),
        (lambda: terms.lower(terms.shape), "is not a column"),
        (lambda: terms.lower(terms.word[1]), "is not a column"),
        (lambda: terms.prefix(0), "give a number of characters"),
        (lambda: terms.prefix(4, 2), "give a number of characters"),
        (lambda: terms.has("digit", of=terms.lower), "is not a column"),
        (lambda: terms.suffix(3, of=terms.lower[1]), "is not a column"),
        (lambda: terms.has(), "takes one argument"),
        (lambda: terms.has("digits"), "choose from digit"),
        (lambda: terms.word * 0, "cannot have the value 0"),
        (lambda: terms.label[-1] * 2, "cannot be scaled"),
        (lambda: terms.word & terms.label[-2], "must be alone"),
        (lambda: terms.label[-3], "only @label"),
        (lambda: terms.y[-2], "only y and"),
        (lambda: terms.y.is_in("rock and roll"), "cannot be written"),
        (lambda: terms.y.is_in(), "at least one label"),
        (lambda: terms.y.is_in("B") & terms.y.is_in("I"), "only once"),
        (lambda: (terms.word * 2) & terms.pos, "make bags and values last"),
        (lambda: terms.bag(terms.word * 2), "make a bag first"),
        (lambda: terms.in_("a(b)"), "rename it"),
        (lambda: terms.in_("a", ["x\ny"]), "is not an entry"),
        (lambda: terms.column("a b"), "cannot be named"),
        (lambda: terms.column(-1), "numbered from 0"),
        (lambda: terms.columns(), "names the columns"),
        (lambda: list(terms.word), "not a sequence"),
        (lambda: Templates.of([terms.in_("a", ["x"]), terms.in_("a", ["y"])]), "two dictionaries"),
        (lambda: Templates.of([terms.prefix]), "a template is a function"),
        (lambda: Templates.of([3]), "a template is a int"),
    ],
)
def test_objects_that_mean_nothing_are_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_whole_numbers_of_numpy_are_whole_numbers():
    one, two = np.int64(-1), np.int8(2)
    pairs = [
        (terms.word[one], terms.word[-1]),
        (terms.word[one:two], terms.word[-1:2]),
        (terms.suffix(two, np.uint8(4)), terms.suffix(2, 4)),
        (terms.column(two), terms.column(2)),
        (terms.word * two * np.float32(0.25), terms.word * 0.5),
        (terms.label[one], terms.label[-1]),
        (terms.y[one].is_in("B"), terms.y[-1].is_in("B")),
    ]
    for made, meant in pairs:
        assert (made, str(made)) == (meant, str(meant))
    for bad in (np.float64(1), np.bool_(True), True, "1"):
        with pytest.raises(TypeError, match="an offset is a whole number"):
            terms.word[bad]
