"""The tagger in pipelines of spaCy. Blank pipelines are enough: no model is downloaded."""

import pytest

import perceptive
from perceptive import SequenceTagger
from perceptive.errors import ParameterError

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
from spacy.tokens import Doc, Span  # noqa: E402
from spacy.training import Example  # noqa: E402

from perceptive.estimators.spacy import SpacyTagger  # noqa: E402

TEXTS = ["prof Cohen posts the notes .", "tell Ziv the way .", "Cohen knows Ziv .", "the notes are here ."]
NAMES = [[(0, 2, "PERSON")], [(1, 2, "PERSON")], [(0, 1, "PERSON"), (2, 3, "PERSON")], []]
TAGS = ["N N V D N P", "V N D N P", "N V N P", "D N V A P"]
PARAMETERS = {"template": "word[-1:1]\nshape\n@label[-1]", "epochs": 10}


def with_names(nlp):
    docs = [nlp.make_doc(text) for text in TEXTS]
    for doc, names in zip(docs, NAMES, strict=True):
        doc.set_ents([Span(doc, *name) for name in names])
    return docs


def with_tags(nlp):
    return [Doc(nlp.vocab, words=text.split(), tags=tags.split()) for text, tags in zip(TEXTS, TAGS, strict=True)]


def names_in(doc):
    return [(ent.start, ent.end, ent.label_) for ent in doc.ents]


@pytest.fixture
def nlp():
    return spacy.blank("en")


def test_entities(nlp):
    tagger = nlp.add_pipe("perceptive_tagger", config={"parameters": PARAMETERS})
    assert tagger.labels == ()
    assert tagger.annotates is None
    tagger.fit(with_names(nlp))
    assert tagger.annotates == "entities"
    assert tagger.labels == ("B-PERSON", "I-PERSON", "O")
    assert [names_in(doc) for doc in nlp.pipe(TEXTS)] == NAMES
    assert [names_in(nlp(text)) for text in TEXTS] == NAMES


def test_tags(nlp):
    nlp.add_pipe("perceptive_tagger", config={"parameters": PARAMETERS}).fit(with_tags(nlp))
    assert [" ".join(token.tag_ for token in nlp(text)) for text in TEXTS] == TAGS
    assert not nlp(TEXTS[0]).ents


def test_the_training_of_spacy(nlp):
    """``nlp.initialize`` and ``nlp.update``, example by example."""
    tagger = nlp.add_pipe("perceptive_tagger", config={"parameters": PARAMETERS})
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in with_names(nlp)]
    nlp.initialize(lambda: examples)
    losses = [nlp.update(examples)["perceptive_tagger"] for _ in range(8)]
    assert losses[0] > losses[-1] == 0
    assert [names_in(nlp(text)) for text in TEXTS] == NAMES
    assert nlp.evaluate(examples)["ents_f"] == 1.0
    assert tagger.tagger.learner_.rounds == 8 * len(examples)
    nlp.initialize(lambda: examples)
    assert tagger.labels == ()


@pytest.mark.parametrize("learn", [with_names, with_tags])
def test_pipelines_come_back_from_disk_and_bytes(nlp, tmp_path, learn):
    nlp.add_pipe("perceptive_tagger", config={"parameters": PARAMETERS}).fit(learn(nlp))
    nlp.to_disk(tmp_path)
    assert isinstance(perceptive.load(tmp_path / "perceptive_tagger" / "tagger.model"), SequenceTagger)
    bytes_again = spacy.blank("en")
    bytes_again.add_pipe("perceptive_tagger")
    for other in (spacy.load(tmp_path), bytes_again.from_bytes(nlp.to_bytes())):
        for text in TEXTS:
            doc, expected = other(text), nlp(text)
            assert names_in(doc) == names_in(expected)
            assert [token.tag_ for token in doc] == [token.tag_ for token in expected]


def test_a_model_of_ours(nlp, tmp_path):
    words = [text.split() for text in TEXTS]
    perceptive.save(SequenceTagger(**PARAMETERS).fit(words, [tags.split() for tags in TAGS]), tmp_path / "a.model")
    nlp.add_pipe("perceptive_tagger", config={"model": str(tmp_path / "a.model")})
    assert [token.tag_ for token in nlp(TEXTS[1])] == TAGS[1].split()
    perceptive.save(perceptive.LinearClassifier().fit([[1.0], [-1.0]], [1, 0]), tmp_path / "b.model")
    with pytest.raises(ValueError, match="holds a LinearClassifier; give the model of a tagger"):
        SpacyTagger(model=tmp_path / "b.model")


def test_sentences_and_white_space(nlp):
    """A sentence at a time; white space has no label and does not come between words."""
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("perceptive_tagger", config={"parameters": PARAMETERS}).fit(with_tags(nlp))
    doc = nlp("tell Ziv  the way . Cohen knows Ziv .")
    assert [token.tag_ for token in doc] == ["V", "N", "", "D", "N", "P", "N", "V", "N", "P"]
    assert [token.tag_ for token in nlp(" ")] == [""]


def test_columns(nlp):
    """Attributes of tokens beside the word."""
    config = {
        "columns": ["text", "tag_"],
        "annotates": "entities",
        "parameters": {**PARAMETERS, "template": "pos\n@label[-1]"},
    }
    docs = with_tags(nlp)
    for doc, names in zip(docs, NAMES, strict=True):
        doc.set_ents([Span(doc, *name) for name in names])
    tagger = nlp.add_pipe("perceptive_tagger", config=config).fit(docs)
    assert tagger.annotates == "entities"
    assert {name for name, _, _ in tagger.tagger.learner_.heaviest(3)} & {"pos[0] = N", "pos[0] = V", "pos[0] = P"}


def test_what_is_not_said_is_free(nlp):
    doc = Doc(nlp.vocab, words=["prof", "Cohen", "posts"], ents=["B-PERSON", "I-PERSON", ""])
    tagger = SpacyTagger(parameters=PARAMETERS).fit([doc])
    assert tagger.labels == ("B-PERSON", "I-PERSON")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"annotates": "pos"}, "choose 'tags' or 'entities'"), ({"columns": ["colour"]}, "attributes of spaCy's tokens")],
)
def test_refusals(wrong, message):
    with pytest.raises(ParameterError, match=message):
        SpacyTagger(**wrong)


def test_entities_that_are_there_stay(nlp):
    tagger = nlp.add_pipe("perceptive_tagger")
    doc = nlp.make_doc("Ada met Bob")
    doc.ents = [Span(doc, 0, 1, "PER"), Span(doc, 2, 3, "PER")]
    tagger.fit([doc])
    doc = nlp.make_doc("Ada met Bob")
    doc.ents = [Span(doc, 0, 2, "EVENT")]
    assert [(one.text, one.label_) for one in tagger(doc).ents] == [("Ada met", "EVENT"), ("Bob", "PER")]


@pytest.mark.parametrize(("annotates", "cure"), [(None, "set doc.ents or token.tag_"), ("entities", "set doc.ents of")])
def test_documents_without_annotations_are_refused_with_the_cure(annotates, cure):
    nlp = spacy.blank("en")
    component = nlp.add_pipe("perceptive_tagger", config={"annotates": annotates})
    with pytest.raises(ValueError, match=f"the documents have no .* to learn from; {cure}"):
        component.fit([nlp.make_doc("Ada left")])
