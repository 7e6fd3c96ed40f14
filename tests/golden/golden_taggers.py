"""Taggers and rerankers."""

import golden_data as d
from comparing import plain
from golden_models import add, counters, one_by_one, partial
from golden_rankers import RANKING_RULES

import perceptive
from perceptive import kernels as k


def about_sentences(hypotheses=(None,), X=d.SENTENCES_TEST, proba=False, paths=True, margins=True):
    """Labels, the three best paths and the margins of sentences."""

    def ask(model):
        told = counters(model)
        for name in hypotheses:
            told[f"labels {name}"] = model.predict(X, hypothesis=name)
        if paths:
            told["paths"] = model.predict_kbest(X, 3)
        if margins:
            told["margins"] = model.decision_margin(X)
        if proba:
            told["probabilities"] = model.predict_proba(X)
        return plain(told)

    return ask


def tagger(X=d.SENTENCES, y=d.TAGS, **parameters):
    """A tagger that has been fitted."""
    parameters = {"template": TEMPLATE, "epochs": 3, **parameters}
    return lambda: perceptive.SequenceTagger(**parameters).fit(X, y)


TEMPLATE = ["word", "word[-1]", "shape", "suffix(2)", "@label[-1]"]
TAGGED = about_sentences()
OF_ALL = about_sentences(("last", "averaged", "best", "voted"))
for rule in RANKING_RULES:
    add(f"tagger-{rule}", tagger(rule=rule, keep="all", epochs=2), OF_ALL)
    add(f"tagger-segments-{rule}", tagger(rule=rule, segments=True, template=["word", "@label[-1]"]), TAGGED)
for hypothesis in ("last", "best"):
    add(f"tagger-{hypothesis}", tagger(hypothesis=hypothesis), TAGGED)
WITHOUT_PATHS = about_sentences(paths=False, margins=False)
add("tagger-voted", tagger(hypothesis="voted"), WITHOUT_PATHS)
add("tagger-max-voters", tagger(hypothesis="voted", max_voters=4), WITHOUT_PATHS)
SAID = {"rule": "perceptron", "C": 0.03, "min_count": 1, "encoding": None, "tol": 0.0}  # what a preset would bring
add("tagger-auto", tagger(template="auto", **SAID), TAGGED)
add("tagger-bioes", tagger(encoding="bioes"), TAGGED)
add("tagger-bioes-mira", tagger(encoding="bioes", rule="mira", k=3), TAGGED)
add("tagger-cost", tagger(cost="hamming"), TAGGED)
add("tagger-margin", tagger(margin=0.5, learning_rate=0.5), TAGGED)
add("tagger-free", tagger(constraints=None), TAGGED)
add("tagger-beam", tagger(beam=2), about_sentences(paths=False, margins=False))
add("tagger-min-count", tagger(min_count=2), TAGGED)
add("tagger-max-segment", tagger(segments=True, max_segment=3, template=["word", "@label[-1]"]), TAGGED)
add("tagger-pruned", lambda: tagger()().prune(0.2), TAGGED)
add("tagger-partial-fit", lambda: partial(perceptive.SequenceTagger(template=TEMPLATE), 3, d.SENTENCES, d.TAGS), TAGGED)
add("tagger-learn-one", lambda: one_by_one(perceptive.SequenceTagger(template=TEMPLATE), d.SENTENCES, d.TAGS), TAGGED)
add("tagger-early-stopping", tagger(validation_fraction=0.2, patience=1, epochs=8), TAGGED, holdout=True)
add("tagger-proba", tagger(probability=True), about_sentences(proba=True), holdout=True, exact=False)


def columns(found):
    """Tokens of two columns."""
    return [[(token, "up" if token[0].isupper() else "low") for token in x] for x in found]


add("tagger-columns", tagger(columns(d.SENTENCES)), about_sentences(X=columns(d.SENTENCES_TEST)))


def reranker(**parameters):
    """A reranker that has been fitted."""
    base = perceptive.SequenceTagger(template=["shape", "word", "@label[-1]"], epochs=2)
    return lambda: perceptive.Reranker(base, k=3, folds=2, **parameters).fit(d.SENTENCES, d.TAGS)


def about_rerankers(model):
    """Labels, and what was to choose from."""
    X = d.SENTENCES_TEST
    return plain({"labels": model.predict(X), "candidates": model.candidates(X), "oracle": model.oracle_})


def length(sentence, labels):
    """A feature of a candidate."""
    return {"segments": float(sum(label.startswith("B") for label in labels))}


SMALL = perceptive.LinearRanker(rule="pa1", C=0.01, bits=8)
add("reranker", reranker(ranker=SMALL), about_rerankers)
add("reranker-exact", reranker(ranker=SMALL, target="exact"), about_rerankers)
add("reranker-features", reranker(ranker=SMALL, features=length), about_rerankers, functions={"length": length})
for structure in ("tree", "tags"):
    of = k.SubsetTree(0.5).normalized() if structure == "tree" else k.Spectrum(2).normalized()
    add(f"reranker-{structure}", reranker(kernel=of, structure=structure), about_rerankers, exact=False)
