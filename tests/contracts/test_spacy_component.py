"""The contract of an estimator, over the component of spaCy."""

import pytest
from sklearn.exceptions import NotFittedError

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
from spacy.tokens import Doc  # noqa: E402
from spacy.training import Example  # noqa: E402

from perceptive.estimators.spacy import SpacyTagger  # noqa: E402
from zoo import SENTENCES, TAGS  # noqa: E402

NLP = spacy.blank("en")
PARAMETERS = {"template": "word[-1:1]\n@label[-1]", "epochs": 3}


def documents(annotates, n=None):
    """As the tags of tokens, or as entities of one type."""
    if annotates == "tags":
        return [Doc(NLP.vocab, words=x, tags=y) for x, y in zip(SENTENCES[:n], TAGS[:n], strict=True)]
    labels = [["O" if label == "O" else f"{label}-X" for label in y] for y in TAGS[:n]]
    return [Doc(NLP.vocab, words=x, ents=y) for x, y in zip(SENTENCES[:n], labels, strict=True)]


def component(annotates="tags"):
    return SpacyTagger(annotates=annotates, parameters=PARAMETERS)


def answers(tagger):
    docs = tagger.pipe(Doc(NLP.vocab, words=x) for x in SENTENCES)
    return [[(token.tag_, token.ent_iob_, token.ent_type_) for token in doc] for doc in docs]


@pytest.mark.parametrize("annotates", ["tags", "entities"])
class TestComponent:
    def test_the_same_data_and_seed_give_the_same_model(self, annotates):
        one, other = (component(annotates).fit(documents(annotates)) for _ in range(2))
        assert one.to_bytes() == other.to_bytes()
        assert answers(one) == answers(other)

    def test_prediction_changes_nothing(self, annotates):
        tagger = component(annotates).fit(documents(annotates))
        before = tagger.to_bytes()
        assert answers(tagger) == answers(tagger)
        assert tagger.to_bytes() == before

    def test_a_copy_goes_on_as_the_original(self, annotates, tmp_path):
        tagger = component(annotates).fit(documents(annotates))
        tagger.to_disk(tmp_path)
        copies = [component(annotates).from_disk(tmp_path), component(annotates).from_bytes(tagger.to_bytes())]
        more = [Example(Doc(NLP.vocab, words=[t.text for t in doc]), doc) for doc in documents(annotates, 5)]
        for one in (tagger, *copies):
            one.update(more)
        assert len({one.to_bytes() for one in (tagger, *copies)}) == 1
        assert answers(copies[0]) == answers(copies[1]) == answers(tagger)

    def test_a_fit_that_raises_changes_nothing(self, annotates):
        tagger = component(annotates).fit(documents(annotates))
        before = tagger.to_bytes()
        with pytest.raises(ValueError, match="sentences"):
            tagger.fit([])
        assert tagger.to_bytes() == before


def test_nothing_is_predicted_or_saved_before_it_has_learned(tmp_path):
    message = "the component 'perceptive_tagger' has not learned anything; fit it, train the pipeline, or give it a"
    with pytest.raises(NotFittedError, match=message):
        component()(documents("tags")[0])
    with pytest.raises(NotFittedError, match=message):
        component().to_disk(tmp_path / "model")
    assert not (tmp_path / "model").exists()
