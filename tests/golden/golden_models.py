"""One small model of every kind: how it is made, and what it is asked."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import golden_data as d
import numpy as np
from comparing import plain

import perceptive
from perceptive import kernels as k
from perceptive import learners

HYPOTHESES = ("last", "averaged", "best", "voted", "random")
FOLDER = Path(__file__).parent / "models"


@dataclass
class Case:
    """A model.

    Attributes
    ----------
    make : callable
        Trains it; gets a folder in which files may be written.
    ask : callable
        What it says of the inputs held apart, as a dict.
    exact : bool
        Whether every bit must be the same: no BLAS, exp or log is involved.
    holdout : bool
        Whether training holds out a part of the data, so that another way to draw it gives another model.
    functions : dict
        What `load` is told.
    saved : callable
        What of the model goes into the file.
    """

    make: Callable[[Path], Any]
    ask: Callable[[Any], dict[str, Any]]
    exact: bool = True
    holdout: bool = False
    functions: dict[str, Any] = field(default_factory=dict)
    saved: Callable[[Any], Any] = lambda model: model


CASES: dict[str, Case] = {}


def add(name, make, ask, **options):
    """Put a case into the table."""
    assert name not in CASES, name
    CASES[name] = Case(make if make.__code__.co_argcount else lambda folder: make(), ask, **options)


def counters(model):
    """What the run counted."""
    names = ("mistakes_", "updates_", "loss_", "rounds_", "n_iter_", "converged_", "held_out_")
    if not hasattr(model, "get_params"):
        names = ("mistakes", "updates", "rounds", "loss")
    found = {}
    for name in names:
        value = getattr(model, name, None)
        if value is not None:
            found[name] = plain(value)
    return found


# ------------------------------------------------------------ classifiers


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
    parameters = {"epochs": 3, **parameters}
    return lambda: perceptive.LinearClassifier(**parameters).fit(X, y, **(fit or {}))


ROWS = about_rows(d.X_TEST)
EVERY = about_rows(d.X_TEST, keep=True)
RULES = ("perceptron", "pa", "pa1", "pa2", "mira", "romma", "aggressive-romma", "arow")

for rule in RULES:
    chosen = {"rule": rule, "C": 0.25, "keep": "all"}
    add(f"linear-binary-{rule}", linear(**chosen), EVERY)
    for multiclass in ("joint", "ovr", "ovo"):
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


def partial(model, parts=3, X=d.ROWS, y=d.FOUR):
    """Several calls of `partial_fit`, classes and features as they come."""
    for part in range(parts):
        model.partial_fit(X[part::parts], y[part::parts])
    return model


def one_by_one(model, X=d.DICTS, y=d.FOUR):
    """An example at a time."""
    for x, label in zip(X, list(y), strict=True):
        model.learn_one(x, label)
    return model


add("linear-partial-fit", lambda: partial(perceptive.LinearClassifier(rule="pa1", keep="all")), EVERY)
add("linear-learn-one", lambda: one_by_one(perceptive.LinearClassifier()), about_rows(d.DICTS_TEST))
add("linear-learn-one-hashed", lambda: one_by_one(perceptive.LinearClassifier(bits=6)), about_rows(d.DICTS_TEST))


def from_file(name, **parameters):
    """A classifier that learned from a file."""

    def make(folder):
        (folder / name).write_text(d.files()[name])
        return perceptive.LinearClassifier(epochs=3, **parameters).fit_stream(folder / name)

    return make


add("linear-stream", from_file("two.svm", rule="pa1"), ROWS)
add("linear-stream-voted", from_file("two.svm", hypothesis="voted"), ROWS)
add("linear-stream-dicts", from_file("four.jsonl", bits=6), about_rows(d.DICTS_TEST))
add("linear-stream-proba", from_file("two.svm", probability=True), VOTED, holdout=True, exact=False)


# ------------------------------------------------------------ kernels


def kernel(kernel, X=d.X, y=d.TWO, **parameters):
    """A classifier with a kernel that has been fitted."""
    parameters = {"epochs": 3, **parameters}
    return lambda: perceptive.KernelClassifier(kernel=kernel, **parameters).fit(X, y)


def add_kernel(name, make, ask=EVERY, **options):
    add(f"kernel-{name}", make, ask, exact=False, **options)


def overlap(a, b):
    """A kernel of strings, as users write them: letters in common."""
    return float(len(set(a) & set(b)))


STRINGS, ABOUT_STRINGS = {"X": d.WORDS, "y": d.WORDS_Y}, about_rows(d.WORDS_TEST, keep=True)
ABOUT_TREES, ABOUT_OBJECTS = about_rows(d.TREES_TEST, keep=True), about_rows(d.OBJECTS_TEST, keep=True)
for rule in ("perceptron", "pa1", "pa2"):
    add_kernel(f"poly-{rule}", kernel(k.Polynomial(2), rule=rule, C=0.25))
    for multiclass in ("joint", "ovr"):
        add_kernel(f"{multiclass}-{rule}", kernel("poly(2)", y=d.FOUR, rule=rule, multiclass=multiclass, epochs=2))
for hypothesis in HYPOTHESES:
    add_kernel(hypothesis, kernel(k.Quadratic(), y=d.FOUR, hypothesis=hypothesis), ROWS)
add_kernel("linear", kernel(k.Linear(), bias=1.0))
add_kernel("gaussian", kernel("gaussian"))
add_kernel("gaussian-sigma", kernel(k.Gaussian(sigma=2.0), y=d.FOUR, dtype="float64"))
add_kernel("laplacian", kernel(k.Laplacian(0.5)))
add_kernel("normalized", kernel(k.Polynomial(3), normalized=True, hypothesis="voted"), ROWS)
add_kernel("sum-product", kernel(0.5 * k.Linear() + k.Gaussian(gamma=0.1) * k.Polynomial(2) + 1))
add_kernel("rescaled", kernel((k.Polynomial(2) + 1).normalized()))
add_kernel("sparse", kernel("poly(2)", X=d.SPARSE), about_rows(d.SPARSE_TEST, keep=True))
add_kernel("margin-ties", kernel("poly(2)", margin=0.5, learning_rate=0.5, ties="positive"))
add_kernel("delta", kernel("poly(2)", delta=2.0))
add_kernel("delta-joint", kernel("poly(2)", y=d.FOUR, delta=2.0))
add_kernel("weights", kernel("poly(2)", class_weight="balanced"))
add_kernel("no-shuffle", kernel("poly(3)", shuffle=False, epochs=30))
for forget in ("oldest", "random", "projectron"):
    add_kernel(f"budget-{forget}", kernel("poly(2)", budget=8, forget=forget, hypothesis="last"), ROWS)
add_kernel("budget-averaged", kernel("gaussian(gamma=0.2)", budget=8), ROWS)
add_kernel("budget-joint", kernel("poly(2)", y=d.FOUR, budget=8, hypothesis="last", forget="oldest"), ROWS)
add_kernel("spectrum", kernel(k.Spectrum(2), **STRINGS), ABOUT_STRINGS)
add_kernel("subsequence", kernel(k.Subsequence(2, 0.5).normalized(), **STRINGS), ABOUT_STRINGS)
add_kernel("all-subsequences", kernel(k.AllSubsequences().normalized(), **STRINGS), ABOUT_STRINGS)
add_kernel("subset-tree", kernel(k.SubsetTree(0.5), X=d.TREES, y=d.TREES_Y), ABOUT_TREES)
add_kernel("subtree", kernel(k.Subtree(), X=d.TREES, y=d.TREES_Y), ABOUT_TREES)
VIEWS = "poly(2)@size + 0.5*spectrum(2)@text"
add_kernel("views", kernel("0.5*spectrum(2)@text + subsequence(2)@text", X=d.OBJECTS, y=d.WORDS_Y), ABOUT_OBJECTS)
add_kernel(
    "columns",
    kernel(k.Polynomial(2).on([0, 1, 2]) + k.Linear().on([3, 4])),
)
add_kernel("custom", kernel(k.Custom(overlap), **STRINGS), ABOUT_STRINGS, functions={"overlap": overlap})
add_kernel("precomputed", kernel("precomputed", X=(d.X @ d.X.T + 1) ** 2), about_rows((d.X_TEST @ d.X.T + 1) ** 2))
add_kernel("partial-fit", lambda: partial(perceptive.KernelClassifier(kernel="poly(2)")))
add_kernel("learn-one", lambda: one_by_one(perceptive.KernelClassifier(kernel="spectrum(2)"), d.WORDS, d.WORDS_Y),
           ABOUT_STRINGS)  # fmt: skip


# ------------------------------------------------------------ rankers


def about_lists(X, keep=False):
    """Scores and the best of each list, and one list in order."""

    def ask(model):
        told = counters(model)
        for name in HYPOTHESES if keep else (None,):
            told[f"best {name}"] = model.predict(X, hypothesis=name)
            told[f"scores {name}"] = model.decision_function(X, hypothesis=name)
            told[f"rank {name}"] = model.rank(X[0], name)
        return plain(told)

    return ask


def ranker(X=d.LISTS, y=d.BEST, qid=None, **parameters):
    """A ranker that has been fitted."""
    parameters = {"epochs": 3, **parameters}
    cls = perceptive.KernelRanker if "kernel" in parameters else perceptive.LinearRanker
    return lambda: cls(**parameters).fit(X, y, qid=qid)


def named(lists):
    """Candidates as dicts."""
    return [[d.as_dict(row) for row in part] for part in lists]


LISTS, EVERY_LIST = about_lists(d.LISTS_TEST), about_lists(d.LISTS_TEST, keep=True)
RANKING_RULES = ("perceptron", "pa", "pa1", "pa2", "mira")
for rule in RANKING_RULES:
    for pairs in ("best", "worst", "all"):
        chosen = {"rule": rule, "pairs": pairs, "C": 0.25}
        add(f"ranker-{rule}-{pairs}", ranker(y=d.GRADES, keep="all", epochs=2, **chosen), EVERY_LIST)
        if pairs != "all" or rule in ("perceptron", "mira"):
            make = ranker(y=d.GRADES, kernel="poly(2)", epochs=2, **chosen)
            add(f"kernel-ranker-{rule}-{pairs}", make, EVERY_LIST, exact=False)
for hypothesis in HYPOTHESES:
    add(f"ranker-{hypothesis}", ranker(hypothesis=hypothesis), LISTS)
for cost in ("grade", "position"):
    add(f"ranker-cost-{cost}", ranker(y=d.GRADES, pairs="all", cost=cost, rule="pa1"), LISTS)
add("ranker-qid", ranker(d.FLAT, d.FLAT_GRADES, d.QID, pairs="worst"), LISTS)
add("ranker-delta", ranker(delta=1.0), LISTS)
add("ranker-margin", ranker(margin=0.5, normalize=True, average="mistakes"), LISTS)
add("ranker-dicts", ranker(named(d.LISTS)), about_lists(named(d.LISTS_TEST)))
add("ranker-dicts-hashed", ranker(named(d.LISTS), bits=6), about_lists(named(d.LISTS_TEST)))
add("ranker-early-stopping", ranker(validation_fraction=0.25, patience=1, epochs=8), LISTS, holdout=True)
add("ranker-partial-fit", lambda: partial(perceptive.LinearRanker(), 3, d.LISTS, d.BEST), LISTS)
add("ranker-learn-one", lambda: one_by_one(perceptive.LinearRanker(), named(d.LISTS), d.BEST),
    about_lists(named(d.LISTS_TEST)))  # fmt: skip
STRING_LISTS = about_lists(d.STRING_LISTS_TEST, keep=True)
for name, of in (("spectrum", k.Spectrum(2)), ("normalized", k.Subsequence(2).normalized())):
    add(f"kernel-ranker-{name}", ranker(d.STRING_LISTS, d.STRING_BEST, kernel=of), STRING_LISTS, exact=False)
add("kernel-ranker-gaussian", ranker(kernel="gaussian", delta=0.5), EVERY_LIST, exact=False)
add("kernel-ranker-cost", ranker(y=d.GRADES, kernel="poly(2)", pairs="all", cost="grade"), LISTS, exact=False)
add("kernel-ranker-early-stopping", ranker(kernel="poly(2)", validation_fraction=0.25, patience=1), LISTS,
    exact=False, holdout=True)  # fmt: skip
add("kernel-ranker-learn-one",
    lambda: one_by_one(perceptive.KernelRanker(kernel="spectrum(2)"), d.STRING_LISTS, d.STRING_BEST),
    STRING_LISTS, exact=False)  # fmt: skip


def phi(x, t):
    """A block of features for each answer."""
    return {f"{t}-{j}": value for j, value in enumerate(x) if value}


ANSWERS = sorted(set(d.FOUR.tolist()))


def about_answers(ranker):
    """What a `JointClassifier` says whose ranker was loaded."""
    model = ranker
    if not isinstance(ranker, perceptive.JointClassifier):
        model = perceptive.JointClassifier(phi, ANSWERS)
        model.ranker_ = ranker
    lists = [[phi(x, t) for t in ANSWERS] for x in d.ROWS_TEST]
    return plain({"answers": model.predict(d.ROWS_TEST), "scores": model.ranker_.decision_function(lists)})


add("joint-classifier", lambda: perceptive.JointClassifier(phi, ANSWERS).fit(d.ROWS, d.FOUR.tolist()), about_answers,
    saved=lambda model: model.ranker_)  # fmt: skip


# ------------------------------------------------------------ taggers


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
add("tagger-auto", tagger(template="auto"), TAGGED)
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


# ------------------------------------------------------------ plain learners


def about_learner(X, keep=False):
    """Scores and labels, one example at a time."""

    def ask(learner):
        told = counters(learner)
        for name in HYPOTHESES if keep else (None,):
            told[f"labels {name}"] = [learner.predict(x, name) for x in X]
            told[f"scores {name}"] = [learner.score(x, name) for x in X]
        return plain(told)

    return ask


def about_ranking_learner(X):
    """Each list in order."""

    def ask(learner):
        return plain({**counters(learner), "ranks": [learner.rank(x) for x in X]})

    return ask


def taught(learner, X, y):
    """A learner that was told one example after the other."""
    for x, label in zip(X, list(y), strict=True):
        learner.learn(x, label)
    return learner


add("learner-linear", lambda: taught(learners.LinearLearner(classes=[-1, 1]), d.ROWS, d.TWO.tolist()),
    about_learner(d.ROWS_TEST))  # fmt: skip
add("learner-linear-grown", lambda: taught(learners.LinearLearner(keep="all", rule="pa1"), d.DICTS, d.FOUR.tolist()),
    about_learner(d.DICTS_TEST, keep=True))  # fmt: skip
add("learner-kernel", lambda: taught(learners.KernelLearner(kernel="poly(2)"), d.ROWS, d.FOUR.tolist()),
    about_learner(d.ROWS_TEST, keep=True), exact=False)  # fmt: skip
add("learner-ranking", lambda: taught(learners.RankingLearner(rule="pa1"), d.LISTS, d.BEST),
    about_ranking_learner(d.LISTS_TEST))  # fmt: skip
add("learner-kernel-ranking",
    lambda: taught(learners.KernelRankingLearner(kernel="spectrum(2)"), d.STRING_LISTS, d.STRING_BEST),
    about_ranking_learner(d.STRING_LISTS_TEST), exact=False)  # fmt: skip
add("learner-sequence", lambda: taught(learners.SequenceLearner(template=TEMPLATE), d.SENTENCES, d.TAGS),
    lambda learner: plain({**counters(learner), "labels": [learner.predict(x) for x in d.SENTENCES_TEST]}))  # fmt: skip


def made(case, folder):
    """The model of a case, trained now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.make(folder)


def loaded(name):
    """The model of a case, from its golden file."""
    more = {"functions": CASES[name].functions} if CASES[name].functions else {}
    return perceptive.load(FOLDER / f"{name}.model", **more)
