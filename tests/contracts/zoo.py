"""Every learner in its main forms, with examples to learn from: the contract checks run over all of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from perceptive import learners
from perceptive.kernels import Gaussian, Spectrum
from perceptive.learners.reranking import RerankingLearner

# Whose averaged vector predicts, unless another hypothesis is given.
LinearLearner, RankingLearner, KernelLearner, KernelRankingLearner, SequenceLearner = (
    partial(getattr(learners, f"{kind}Learner"), hypothesis="averaged")
    for kind in ("Linear", "Ranking", "Kernel", "KernelRanking", "Sequence")
)


@dataclass(frozen=True)
class Case:
    """A learner, and a stream of examples for it."""

    name: str
    make: Callable[[], Any]
    X: list[Any]
    y: list[Any]
    bad: list[tuple[Any, Any]] = field(default_factory=list)  # examples that cannot be learned from
    takes_weights: bool = True
    theorem: bool = True  # whether a bound is known

    def part(self, begin: int, end: int) -> tuple[list[Any], list[Any]]:
        return self.X[begin:end], self.y[begin:end]


N = 24
rng = np.random.default_rng(0)
ROWS = rng.integers(-3, 4, size=(N, 5)).astype(float)
TWO = [int(row @ [1, -2, 1, 0, 1] > 0) for row in ROWS]
THREE = [int(np.argmax([row[0] + 1, row[1] + row[2], row[3]])) for row in ROWS]
DICTS = [{f"f{j}": value for j, value in enumerate(row) if value} or {"none": 1.0} for row in ROWS]
WORDS = ["".join(chr(97 + int(abs(v))) for v in row) for row in ROWS]
LISTS = [rng.integers(-2, 3, size=(3, 4)).astype(float) for _ in range(N)]
BEST = [int(np.argmax(xs @ [1, -1, 2, 0.5])) for xs in LISTS]
WORD_LISTS = [[WORDS[(i + k) % N] for k in range(3)] for i in range(N)]
SENTENCES = [[f"w{int(abs(v))}" for v in row] for row in ROWS]
TAGS = [["B" if v > 1 else "I" if i and row[i - 1] > 1 and v > 0 else "O" for i, v in enumerate(row)] for row in ROWS]

NAN_ROW, WIDE_ROW = [np.nan] * 5, [1.0] * 7
BAD_ROWS = [(NAN_ROW, 1), (WIDE_ROW, 1), ([1.0, 2.0, "x", 0.0, 0.0], 1), (ROWS[0].tolist(), float("nan"))]
BAD_LISTS = [([[np.nan] * 4, [0.0] * 4], 0), ([[1.0] * 9, [0.0] * 9], 0), (LISTS[0], 7), ([], 0)]
BAD_WORDS = [(3.5, 1), ("abc", float("nan"))]
BAD_SENTENCES = [(["w1", "w2"], ["O"]), ([], []), (["w1"], [float("nan")]), ("w1", ["O"])]


def reranking(**parameters: Any) -> Any:
    tagger = SequenceLearner(template="word\n@label[-1]")
    tagger.learn_many(SENTENCES, TAGS)
    return RerankingLearner(tagger, RankingLearner(**parameters), k=4, folds=2)


def linear(name: str, X: Any = ROWS, y: Any = TWO, **parameters: Any) -> Case:
    classes = parameters.pop("classes", sorted(set(y)))
    rule = parameters.get("rule", "perceptron")
    bad = BAD_ROWS if isinstance(X, np.ndarray) else [({"f0": np.nan}, 1), ({"f0": [1, 2]}, 1), ([1.0, 2.0], 1)]
    return Case(
        f"linear-{name}",
        lambda: LinearLearner(classes=classes if classes is None else list(classes), **parameters),
        list(X),
        list(y),
        bad,
        rule not in ("pa", "mira", "romma", "aggressive-romma"),
        rule != "arow",
    )


CASES = [
    *(linear(rule, rule=rule) for rule in ("perceptron", "pa", "pa1", "pa2", "romma", "aggressive-romma", "arow")),
    *(linear(f"joint-{rule}", y=THREE, rule=rule) for rule in ("perceptron", "pa1", "mira", "arow")),
    *(linear(f"many-classes-{rule}", y=THREE, rule=rule, classes=range(70)) for rule in ("perceptron", "arow")),
    linear("ovr", y=THREE, multiclass="ovr"),
    linear("ovo", y=THREE, multiclass="ovo"),
    linear("voted", keep="all", hypothesis="voted"),
    linear("thinned", y=THREE, hypothesis="voted", max_voters=4),
    linear("random", hypothesis="random"),
    linear("best", y=THREE, hypothesis="best"),
    linear("delta", delta=0.5),
    linear("unannounced", y=THREE, classes=None),
    linear("unannounced-ovr", y=THREE, classes=None, multiclass="ovr"),
    linear("dicts", X=DICTS),
    linear("dicts-unannounced", X=DICTS, y=THREE, classes=None),
    linear("hashed", X=DICTS, bits=6),
    linear("float64", dtype="float64", hypothesis="last"),
    *(
        Case(f"ranking-{rule}-{pairs}", lambda rule=rule, pairs=pairs: RankingLearner(rule=rule, pairs=pairs),
             LISTS, BEST, BAD_LISTS, rule not in ("pa", "mira"), (rule, pairs) != ("pa", "all"))
        for rule in ("perceptron", "pa", "pa1")
        for pairs in ("best", "worst", "all")
    ),
    Case("ranking-voted", lambda: RankingLearner(hypothesis="voted"), LISTS, BEST, BAD_LISTS),
    Case("kernel-gaussian", lambda: KernelLearner(classes=[0, 1], kernel=Gaussian(sigma=2.0)),
         list(ROWS), TWO, BAD_ROWS[:1] + BAD_ROWS[3:]),
    Case("kernel-unannounced", lambda: KernelLearner(kernel="poly(2)"), list(ROWS), THREE, BAD_ROWS[:1]),
    Case("kernel-ovr", lambda: KernelLearner(classes=[0, 1, 2], kernel="poly(2)", multiclass="ovr"),
         list(ROWS), THREE, BAD_ROWS[:1]),
    *(
        Case(f"kernel-strings-{rule}",
             lambda rule=rule: KernelLearner(classes=[0, 1], kernel=Spectrum(2), rule=rule),
             WORDS, TWO, BAD_WORDS, rule != "pa")
        for rule in ("perceptron", "pa", "pa1", "pa2")
    ),
    Case("kernel-budget", lambda: KernelLearner(classes=[0, 1], kernel="poly(2)", budget=5), list(ROWS), TWO,
         BAD_ROWS[:1], theorem=False),
    Case("kernel-delta", lambda: KernelLearner(classes=[0, 1], kernel="linear", delta=0.5), list(ROWS), TWO,
         BAD_ROWS[:1]),
    Case("kernel-ranking", lambda: KernelRankingLearner(kernel="poly(2)"), LISTS, BEST, BAD_LISTS[:1]),
    Case("kernel-ranking-strings", lambda: KernelRankingLearner(kernel=Spectrum(1)), WORD_LISTS,
         [i % 3 for i in range(N)], [("abc", 0), (["ab", 3], 0)]),
    *(
        Case(f"sequence-{name}", lambda how=how: SequenceLearner(template="word[-1:1]\n@label[-1]", **how),
             SENTENCES, TAGS, BAD_SENTENCES, how.get("rule") != "mira", how.get("rule", "perceptron") == "perceptron")
        for name, how in {
            "perceptron": {},
            "pa1": {"rule": "pa1"},
            "mira": {"rule": "mira", "k": 2},
            "voted": {"hypothesis": "voted"},
            "random": {"hypothesis": "random"},
            "bioes": {"encoding": "bioes"},
            "last": {"hypothesis": "last"},
        }.items()
    ),
    Case("sequence-clusters", lambda: SequenceLearner(template="cluster(3)[-1:1]\nword\n@label[-1]"),
         [[*word] for word in WORDS], TAGS, BAD_SENTENCES),
    Case("sequence-many-labels",
         lambda: SequenceLearner(template="word[-1:1]\n@label[-1]\nword & @label[-1]"),
         [14 * SENTENCES[0], *SENTENCES[1:]],
         [[f"t{(5 * i + t) % 70}" for t in range(5 if i else 70)] for i in range(N)], BAD_SENTENCES),
    Case("reranking", lambda: reranking(bits=8), SENTENCES[1:] + SENTENCES[:1], TAGS[1:] + TAGS[:1], BAD_SENTENCES),
    Case("reranking-voted", lambda: reranking(bits=8, hypothesis="voted", rule="pa1"), SENTENCES[1:] + SENTENCES[:1],
         TAGS[1:] + TAGS[:1], BAD_SENTENCES),
]  # fmt: skip
