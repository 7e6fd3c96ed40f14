"""Rankers, with and without kernels."""

import golden_data as d
from comparing import plain
from golden_models import HYPOTHESES, add, counters, one_by_one, partial

import perceptive
from perceptive import kernels as k


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
