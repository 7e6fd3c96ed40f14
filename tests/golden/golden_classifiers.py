"""Linear classifiers."""

import golden_data as d
import numpy as np
from comparing import plain
from golden_models import HYPOTHESES, add, counters, one_by_one, partial

import perceptive

OF_OLD = {"bias": 1.0}  # defaults that were others when the models were made


def about_rows(X, hypotheses=(None,), proba=False, keep=False):
    """Scores, labels and probabilities of examples."""

    def ask(model):
        told = counters(model)
        for name in HYPOTHESES if keep else hypotheses:
            more = {} if name is None else {"hypothesis": name}
            told[f"labels {name}"] = model.predict(X, **more)
            told[f"scores {name}"] = model.decision_function(X, **more)
        if proba:
            told["probabilities"] = model.predict_proba(X)
        return plain(told)

    return ask


def linear(y=d.TWO, X=d.X, fit=None, **parameters):
    """A classifier of rows that has been fitted."""
    parameters = {"epochs": 3, **OF_OLD, **parameters}
    return lambda: perceptive.LinearClassifier(**parameters).fit(X, y, **(fit or {}))


ROWS = about_rows(d.X_TEST)
EVERY = about_rows(d.X_TEST, keep=True)
RULES = ("perceptron", "pa", "pa1", "pa2", "mira", "romma", "aggressive-romma", "arow")
# binary problems have one competitor: mira is pa there
MULTICLASS = {rule: ("joint",) if rule == "mira" else ("joint", "ovr", "ovo") for rule in RULES}

for rule in RULES:
    chosen = {"rule": rule, "C": 0.25, "keep": "all"}
    add(f"linear-binary-{rule}", linear(**chosen), EVERY)
    for multiclass in MULTICLASS[rule]:
        add(f"linear-{multiclass}-{rule}", linear(d.FOUR, **chosen, multiclass=multiclass, epochs=2), EVERY)
    add(f"linear-averaged-{rule}", linear(d.FOUR, rule=rule), ROWS)  # without a journal
    add(f"linear-last-{rule}", linear(rule=rule, hypothesis="last"), ROWS)
for hypothesis in ("best", "voted", "random"):
    add(f"linear-{hypothesis}", linear(d.FOUR, hypothesis=hypothesis), ROWS)
VOTED = about_rows(d.X_TEST, proba=True)
add("linear-voted-proba", linear(hypothesis="voted"), VOTED)
add("linear-max-voters", linear(d.FOUR, hypothesis="voted", max_voters=5), ROWS)
add("linear-average-mistakes", linear(d.FOUR, average="mistakes"), ROWS)
add("linear-margin-rate", linear(margin=0.5, learning_rate=0.25), ROWS)
add("linear-delta-binary", linear(delta=1.0, certify=True), ROWS)
add("linear-delta-joint", linear(d.FOUR, delta=0.5, rule="pa1"), ROWS)
add("linear-normalize", linear(d.FOUR, normalize=True, bias=0.0), ROWS)
add("linear-ties-positive", linear(ties="positive"), ROWS)
add("linear-float64", linear(d.FOUR, dtype="float64", rule="pa2"), ROWS)
add("linear-reference", linear(d.FOUR, multiclass="ovr", reference="oak"), ROWS)
COST = [[0 if i == j else 1 + abs(i - j) / 2 for j in range(4)] for i in range(4)]
add("linear-mira-cost", linear(d.FOUR, rule="mira", cost=COST), ROWS)
add("linear-sparse", linear(d.FOUR, X=d.SPARSE, rule="pa1"), about_rows(d.SPARSE_TEST))
add("linear-weights", linear(d.FOUR, fit={"sample_weight": d.WEIGHTS}, class_weight="balanced"), ROWS)
add("linear-no-shuffle", linear(d.FOUR, shuffle=False, epochs=100), ROWS)
add("linear-seed", linear(d.FOUR, random_state=7), ROWS)
add("linear-initial", linear(fit={"coef_init": np.ones((1, d.WIDTH)), "intercept_init": [0.5]}), ROWS)
add("linear-warm-start", lambda: linear(d.FOUR, warm_start=True)().fit(d.X, d.FOUR), ROWS)
add("linear-dicts", linear(d.FOUR, X=d.DICTS), about_rows(d.DICTS_TEST))
add("linear-dicts-hashed", linear(d.FOUR, X=d.DICTS, bits=6), about_rows(d.DICTS_TEST))
add("linear-early-stopping", linear(d.FOUR, validation_fraction=0.2, patience=1, epochs=8), ROWS, holdout=True)
for name, y in (("binary", d.TWO), ("joint", d.FOUR)):
    add(f"linear-proba-{name}", linear(y, probability=True), VOTED, holdout=True, exact=False)


add(
    "linear-partial-fit",
    lambda: partial(perceptive.LinearClassifier(rule="pa1", keep="all", **OF_OLD), 3, d.ROWS, d.FOUR),
    EVERY,
)
add(
    "linear-learn-one",
    lambda: one_by_one(perceptive.LinearClassifier(**OF_OLD), d.DICTS, d.FOUR),
    about_rows(d.DICTS_TEST),
)
add(
    "linear-learn-one-hashed",
    lambda: one_by_one(perceptive.LinearClassifier(bits=6, **OF_OLD), d.DICTS, d.FOUR),
    about_rows(d.DICTS_TEST),
)


def from_file(name, **parameters):
    """A classifier that learned from a file."""

    def make(folder):
        (folder / name).write_text(d.files()[name])
        bits = parameters.get("bits")
        stream = perceptive.streams.open(folder / name, dtype="float32", bits=bits, scale=None)
        return perceptive.LinearClassifier(epochs=3, **OF_OLD, **parameters).fit_stream(stream)

    return make


def from_parts(folder):
    """Several files, each a block: from the second pass on they come in another order."""
    for name, text in d.parts("two.svm", 4).items():
        (folder / name).write_text(text)
    return perceptive.LinearClassifier(epochs=3, rule="pa1", **OF_OLD).fit_stream(str(folder / "two.*.svm"))


def from_blocks(folder):
    """A file of several blocks."""
    (folder / "large.svm").write_text(d.large_rows())
    return perceptive.LinearClassifier(epochs=2, rule="pa1", C=0.001, **OF_OLD).fit_stream(folder / "large.svm")


add("linear-stream-parts", from_parts, ROWS)
add("linear-stream-blocks", from_blocks, ROWS)
add("linear-stream", from_file("two.svm", rule="pa1"), ROWS)
add("linear-stream-voted", from_file("two.svm", hypothesis="voted"), ROWS)
add("linear-stream-dicts", from_file("four.jsonl", bits=6), about_rows(d.DICTS_TEST))
add("linear-stream-proba", from_file("two.svm", probability=True), VOTED, holdout=True, exact=False)


def about_text(model):
    """Texts, hashed here."""
    X = perceptive.HashedText(bits=6, chars=(2, 3)).fit_transform(d.WORDS_TEST)
    return {**about_rows(X)(model), "hashed": plain(X.toarray())}


def about_hashed(model):
    """Dicts, hashed here."""
    X = perceptive.HashedFeatures(bits=5).fit_transform(d.DICTS_TEST)
    return {**about_rows(X)(model), "hashed": plain(X.toarray())}


add("linear-hashed-text",
    lambda: linear(d.WORDS_Y, perceptive.HashedText(bits=6, chars=(2, 3)).fit_transform(d.WORDS))(),
    about_text)  # fmt: skip
add("linear-hashed-features",
    lambda: linear(d.FOUR, perceptive.HashedFeatures(bits=5).fit_transform(d.DICTS))(), about_hashed)  # fmt: skip
