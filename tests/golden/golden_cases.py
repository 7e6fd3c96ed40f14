"""All golden models: the estimators, plain learners, and certificates."""

import golden_data as d
from comparing import plain
from golden_classifiers import MULTICLASS, RULES, linear
from golden_kernels import STRINGS, kernel
from golden_models import CASES, FOLDER, HYPOTHESES, add, counters, loaded, made
from golden_rankers import RANKING_RULES, ranker
from golden_taggers import TEMPLATE, tagger

from perceptive import learners

__all__ = ["CASES", "FOLDER", "loaded", "made"]

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


AVERAGED = {"hypothesis": "averaged"}


def taught(learner, X, y):
    """A learner that was told one example after the other."""
    for x, label in zip(X, list(y), strict=True):
        learner.learn(x, label)
    return learner


add("learner-linear", lambda: taught(learners.LinearLearner(classes=[-1, 1], **AVERAGED), d.ROWS, d.TWO.tolist()),
    about_learner(d.ROWS_TEST))  # fmt: skip
add("learner-linear-grown",
    lambda: taught(learners.LinearLearner(keep="all", rule="pa1", **AVERAGED), d.DICTS, d.FOUR.tolist()),
    about_learner(d.DICTS_TEST, keep=True))  # fmt: skip
add("learner-kernel", lambda: taught(learners.KernelLearner(kernel="poly(2)", **AVERAGED), d.ROWS, d.FOUR.tolist()),
    about_learner(d.ROWS_TEST, keep=True), exact=False)  # fmt: skip
add("learner-ranking", lambda: taught(learners.RankingLearner(rule="pa1", **AVERAGED), d.LISTS, d.BEST),
    about_ranking_learner(d.LISTS_TEST))  # fmt: skip
add("learner-kernel-ranking",
    lambda: taught(learners.KernelRankingLearner(kernel="spectrum(2)", **AVERAGED), d.STRING_LISTS, d.STRING_BEST),
    about_ranking_learner(d.STRING_LISTS_TEST), exact=False)  # fmt: skip
add("learner-sequence", lambda: taught(learners.SequenceLearner(template=TEMPLATE, **AVERAGED), d.SENTENCES, d.TAGS),
    lambda learner: plain({**counters(learner), "labels": [learner.predict(x) for x in d.SENTENCES_TEST]}))  # fmt: skip


# ------------------------------------------------------------ certificates

FIELDS = ("mistakes", "updates", "rounds", "bound", "bounds", "radius", "margin", "deviation", "witness", "separable",
          "hypothetical", "first_pass_error", "holds")  # fmt: skip
RENAMED = {"first_pass_error": "first_epoch_error"}  # the golden files have the old names


def certified(name, make, *data):
    """What the theorem allows a run, on its own data and (hypothetically) on half of them."""
    half = [part[: len(part) // 2] for part in data]

    def ask(model):
        both = model.certificate(*data), model.certificate(*half)
        return plain([{f: getattr(one, RENAMED.get(f, f)) for f in FIELDS} for one in both])

    add(f"certificate-{name}", make, lambda model: {"certificates": ask(model)}, exact=False)


for rule in RULES:
    certified(f"binary-{rule}", linear(rule=rule, C=0.25), d.X, d.TWO)
    for multiclass in MULTICLASS[rule]:
        make = linear(d.FOUR, rule=rule, C=0.25, multiclass=multiclass)
        certified(f"{multiclass}-{rule}", make, d.X, d.FOUR)
certified("margin", linear(margin=0.5, learning_rate=0.5), d.X, d.TWO)
certified("delta", linear(delta=2.0), d.X, d.TWO)
for rule in ("perceptron", "pa1", "pa2"):
    certified(f"kernel-{rule}", kernel("poly(2)", rule=rule), d.X, d.TWO)
    certified(f"kernel-joint-{rule}", kernel("poly(2)", y=d.FOUR, rule=rule), d.X, d.FOUR)
certified("kernel-delta", kernel("poly(2)", delta=2.0), d.X, d.TWO)
certified("kernel-strings", kernel("spectrum(2)", **STRINGS), d.WORDS, d.WORDS_Y)
for rule in RANKING_RULES:
    certified(f"ranker-{rule}", ranker(rule=rule), d.LISTS, d.BEST)
    certified(f"kernel-ranker-{rule}", ranker(rule=rule, kernel="poly(2)"), d.LISTS, d.BEST)
    certified(f"tagger-{rule}", tagger(rule=rule), d.SENTENCES, d.TAGS)
