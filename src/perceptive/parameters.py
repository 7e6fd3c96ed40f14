"""Every parameter, declared once: name, type, default, what it may be, and a line of help.

The learners take these as they are, the estimators repeat them in their signature (a test holds the two together),
and the command line makes its options from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, ClassVar

from perceptive.hypotheses import HYPOTHESES
from perceptive.rules import RULES

Check = Callable[[Any], str | None]  # what a wrong value should have been, or None


def _one_of(*choices: object) -> Check:
    def check(value: Any) -> str | None:
        if any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
            return None
        return "one of " + ", ".join(repr(choice) for choice in choices)

    check.choices = choices  # type: ignore[attr-defined]
    return check


def _number(what: str, test: Callable[[float], bool]) -> Check:
    def check(value: Any) -> str | None:
        try:
            good = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        except OverflowError:
            good = False
        return None if good and test(float(value)) else what

    return check


def _whole(minimum: int, none: str | None = None, maximum: int = 2**31 - 1) -> Check:
    what = f"a whole number from {minimum} to {'2³¹ − 1' if maximum == 2**31 - 1 else maximum}" + (
        f", or None ({none})" if none else ""
    )

    def check(value: Any) -> str | None:
        if value is None and none:
            return None
        good = isinstance(value, Integral) and not isinstance(value, bool)
        return None if good and minimum <= value <= maximum else what

    return check


def _anything(value: Any) -> str | None:
    return None


_positive = _number("a number > 0", lambda value: value > 0)
_not_negative = _number("a number ≥ 0", lambda value: value >= 0)
_squarable = _number("a number from 0 to 1e150", lambda value: 0 <= value <= 1e150)
_boolean = _one_of(True, False)


def _parameter(default: Any, help: str, check: Check) -> Any:
    return field(default=default, metadata={"help": help, "check": check, "choices": getattr(check, "choices", None)})


class _Checked:
    """A dataclass whose fields carry their checks."""

    def __post_init__(self) -> None:
        for f in fields(self):  # type: ignore[arg-type]
            wanted = f.metadata["check"](getattr(self, f.name))
            if wanted:
                raise ValueError(f"{f.name}={getattr(self, f.name)!r}: {f.name} must be {wanted}")


@dataclass(frozen=True, kw_only=True)
class LinearParameters(_Checked):
    """What a linear learner is: task, rule, hypothesis, and the conventions of the game."""

    rule: str = _parameter("perceptron", "when and how far to move on an example", _one_of(*RULES))
    learning_rate: float = _parameter(1.0, "η of the perceptron", _positive)
    margin: float = _parameter(0.0, "β: the perceptron also updates on right answers with y·score ≤ β", _not_negative)
    C: float = _parameter(1.0, "aggressiveness of pa1 and pa2", _positive)
    r: float = _parameter(1.0, "regularisation of arow", _positive)
    cost: Any = _parameter(None, "mira: K × K matrix of what it costs to answer ŷ for y", _anything)
    hypothesis: str = _parameter("averaged", "what of v₀, v₁, … predicts", _one_of(*HYPOTHESES))
    keep: str | None = _parameter(
        None, "'all' keeps the journal, so that every hypothesis is at hand", _one_of(None, "all")
    )
    max_voters: int | None = _parameter(None, "how many of the longest survivors the journal keeps", _whole(1, "all"))
    average: str = _parameter("examples", "mean over the examples, or of v₀ … v_K", _one_of("examples", "mistakes"))
    multiclass: str = _parameter("joint", "how more than two classes are learned", _one_of("joint", "ovr", "ovo"))
    reference: Any = _parameter(None, "ovr: the class that has no problem of its own", _anything)
    bias: float = _parameter(1.0, "value of the constant feature; 0 for none", _squarable)
    normalize: bool = _parameter(False, "scale rows to unit length", _boolean)
    delta: float = _parameter(0.0, "Δ-trick: train on [X | ΔI]", _squarable)
    ties: str = _parameter("mistake", "a score of 0 is a mistake, or predicts +1", _one_of("mistake", "positive"))
    dtype: str = _parameter("float32", "of the weights", _one_of("float32", "float64"))
    n_features: int | None = _parameter(
        None, "number of features, if known before the data", _whole(1, "from the data")
    )
    bits: int | None = _parameter(
        None, "hash the names of dicts into 2^bits columns", _whole(1, "give each name a column", maximum=30)
    )
    random_state: int = _parameter(0, "seed of the shuffling and of the random hypothesis", _whole(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        rule = RULES[self.rule]
        if self.delta and not rule.takes_delta:
            raise ValueError(f"delta does not go with rule={self.rule!r}; choose another rule, or delta=0")
        if self.cost is not None and self.rule != "mira":
            raise ValueError(f"cost does not go with rule={self.rule!r}; choose rule='mira', or cost=None")
        if self.cost is not None and self.multiclass != "joint":
            raise ValueError("cost needs multiclass='joint'")
        if self.margin and self.rule != "perceptron":
            raise ValueError(f"margin does not go with rule={self.rule!r}, which has a margin of its own")
        if self.bits is not None and self.n_features not in (None, 1 << self.bits):
            raise ValueError(f"n_features={self.n_features} does not go with bits={self.bits}; leave it out")
        if self.reference is not None and self.multiclass != "ovr":
            raise ValueError("reference needs multiclass='ovr'")

    @property
    def keeps_journal(self) -> bool:
        """Whether every update is written down."""
        return self.keep == "all" or HYPOTHESES[self.hypothesis].needs_journal

    @property
    def averages(self) -> bool:
        """Whether the average is maintained."""
        return self.hypothesis == "averaged" or self.keeps_journal


DUAL_RULES = ("perceptron", "pa1", "pa2")  # those whose step the dual can take without looking at v


@dataclass(frozen=True, kw_only=True)
class KernelParameters(_Checked):
    """What a kernel learner is: kernel, task, rule, hypothesis, and how much it may remember."""

    kernel: Any = _parameter("gaussian", "a kernel, its name as in 'poly(4)', a function, or 'precomputed'", _anything)
    rule: str = _parameter("perceptron", "when and how far to move on an example", _one_of(*DUAL_RULES))
    learning_rate: float = _parameter(1.0, "η of the perceptron", _positive)
    margin: float = _parameter(0.0, "β: the perceptron also updates on right answers with y·score ≤ β", _not_negative)
    C: float = _parameter(1.0, "aggressiveness of pa1 and pa2", _positive)
    hypothesis: str = _parameter("averaged", "what of v₀, v₁, … predicts", _one_of(*HYPOTHESES))
    normalized: bool = _parameter(False, "divide each v_k by its length, as Freund & Schapire do", _boolean)
    multiclass: str = _parameter("joint", "how more than two classes are learned", _one_of("joint", "ovr"))
    bias: float = _parameter(0.0, "b: the kernel becomes K + b²", _squarable)
    delta: float = _parameter(0.0, "Δ-trick: train with K + Δ²I", _squarable)
    ties: str = _parameter("mistake", "a score of 0 is a mistake, or predicts +1", _one_of("mistake", "positive"))
    budget: int | None = _parameter(None, "how many supports are kept at most", _whole(1, "all"))
    forget: str = _parameter(
        "projectron", "what makes room when the budget is used up", _one_of("oldest", "random", "projectron")
    )
    cache_size: float = _parameter(200.0, "megabytes for kernel values that later passes use again", _not_negative)
    dtype: str = _parameter("float32", "of the kernel values", _one_of("float32", "float64"))
    random_state: int = _parameter(0, "seed of the shuffling, of forgetting and of the random hypothesis", _whole(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margin and self.rule != "perceptron":
            raise ValueError(f"margin does not go with rule={self.rule!r}, which has a margin of its own")
        if self.budget is not None:
            if HYPOTHESES[self.hypothesis].needs_journal or self.normalized:
                what = "normalized=True" if self.normalized else f"hypothesis={self.hypothesis!r}"
                raise ValueError(
                    f"{what} needs every v_k, which a budget forgets; take 'last' or 'averaged', or budget=None"
                )
            if self.hypothesis == "averaged" and self.forget != "projectron":
                raise ValueError(
                    f"hypothesis='averaged' needs the supports that forget={self.forget!r} gives away; take "
                    "hypothesis='last', or forget='projectron', whose supports stay"
                )
            if self.delta:
                raise ValueError("delta needs every example to be remembered; it does not go with a budget")


RANKING_RULES = ("perceptron", "pa", "pa1", "pa2", "mira")


@dataclass(frozen=True, kw_only=True)
class RankingParameters(_Checked):
    """What a linear ranker is: which pairs it sets right, rule, hypothesis, and the conventions of the game."""

    rule: str = _parameter("perceptron", "when and how far to move on a list", _one_of(*RANKING_RULES))
    learning_rate: float = _parameter(1.0, "η of the perceptron", _positive)
    margin: float = _parameter(0.0, "β: the perceptron also updates where the best leads by β or less", _not_negative)
    C: float = _parameter(1.0, "aggressiveness of pa1 and pa2", _positive)
    pairs: str = _parameter(
        "best",
        "learn from the best against the rest, from the pair most in the wrong order, or from all that are",
        _one_of("best", "worst", "all"),
    )
    cost: str | None = _parameter(
        None, "pairs count by the difference of their grades, or of their places", _one_of(None, "grade", "position")
    )
    hypothesis: str = _parameter("averaged", "what of v₀, v₁, … predicts", _one_of(*HYPOTHESES))
    keep: str | None = _parameter(
        None, "'all' keeps the journal, so that every hypothesis is at hand", _one_of(None, "all")
    )
    max_voters: int | None = _parameter(None, "how many of the longest survivors the journal keeps", _whole(1, "all"))
    average: str = _parameter("examples", "mean over the lists, or of v₀ … v_K", _one_of("examples", "mistakes"))
    normalize: bool = _parameter(False, "scale candidates to unit length", _boolean)
    delta: float = _parameter(0.0, "Δ-trick: an id feature for each list", _squarable)
    dtype: str = _parameter("float32", "of the weights", _one_of("float32", "float64"))
    n_features: int | None = _parameter(
        None, "number of features, if known before the data", _whole(1, "from the data")
    )
    bits: int | None = _parameter(
        None, "hash the names of dicts into 2^bits columns", _whole(1, "give each name a column", maximum=30)
    )
    random_state: int = _parameter(0, "seed of the shuffling and of the random hypothesis", _whole(0))

    # What a problem asks for beside: a constant feature would cancel out in every difference.
    bias: ClassVar[float] = 0.0
    r: ClassVar[float] = 1.0
    ties: ClassVar[str] = "mistake"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margin and self.rule != "perceptron":
            raise ValueError(f"margin does not go with rule={self.rule!r}, which has a margin of its own")
        if self.delta and self.cost is not None:
            raise ValueError("delta does not go with cost; leave one of them out")
        if self.bits is not None and self.n_features not in (None, 1 << self.bits):
            raise ValueError(f"n_features={self.n_features} does not go with bits={self.bits}; leave it out")

    @property
    def keeps_journal(self) -> bool:
        """Whether every update is written down."""
        return self.keep == "all" or HYPOTHESES[self.hypothesis].needs_journal

    @property
    def averages(self) -> bool:
        """Whether the average is maintained."""
        return self.hypothesis == "averaged" or self.keeps_journal


@dataclass(frozen=True, kw_only=True)
class KernelRankingParameters(_Checked):
    """What a kernel ranker is: kernel, which pairs it sets right, rule and hypothesis."""

    kernel: Any = _parameter("gaussian", "a kernel, its name as in 'poly(4)', a function, or 'precomputed'", _anything)
    rule: str = _parameter("perceptron", "when and how far to move on a list", _one_of(*RANKING_RULES))
    learning_rate: float = _parameter(1.0, "η of the perceptron", _positive)
    margin: float = _parameter(0.0, "β: the perceptron also updates where the best leads by β or less", _not_negative)
    C: float = _parameter(1.0, "aggressiveness of pa1 and pa2", _positive)
    pairs: str = _parameter(
        "best",
        "learn from the best against the rest, from the pair most in the wrong order, or from all that are",
        _one_of("best", "worst", "all"),
    )
    cost: str | None = _parameter(
        None, "pairs count by the difference of their grades, or of their places", _one_of(None, "grade", "position")
    )
    hypothesis: str = _parameter("averaged", "what of v₀, v₁, … predicts", _one_of(*HYPOTHESES))
    delta: float = _parameter(0.0, "Δ-trick: an id feature for each list", _squarable)
    cache_size: float = _parameter(200.0, "megabytes for kernel values that later passes use again", _not_negative)
    dtype: str = _parameter("float32", "of the kernel values", _one_of("float32", "float64"))
    random_state: int = _parameter(0, "seed of the shuffling and of the random hypothesis", _whole(0))

    # What a dual asks for beside: a constant added to the kernel would cancel out in every difference.
    bias: ClassVar[float] = 0.0
    ties: ClassVar[str] = "mistake"
    budget: ClassVar[int | None] = None
    forget: ClassVar[str] = "oldest"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margin and self.rule != "perceptron":
            raise ValueError(f"margin does not go with rule={self.rule!r}, which has a margin of its own")
        if self.delta and self.cost is not None:
            raise ValueError("delta does not go with cost; leave one of them out")


@dataclass(frozen=True, kw_only=True)
class TrainingParameters(_Checked):
    """How the examples are played: passes, order, when to stop."""

    epochs: int = _parameter(10, "passes at most; a pass without an update ends the training", _whole(1))
    shuffle: bool = _parameter(True, "play each pass in a new random order", _boolean)
    validation_fraction: float = _parameter(
        0.0,
        "part of the data held out for early stopping",
        _number("in [0, 1)", lambda value: 0 <= value < 1),
    )
    patience: int = _parameter(3, "passes without a better held-out score before stopping", _whole(1))
    progress: bool = _parameter(False, "show a progress bar", _boolean)


@dataclass(frozen=True, kw_only=True)
class KernelTrainingParameters(_Checked):
    """How a kernel learner plays its examples, and what its estimator knows beside."""

    epochs: int = _parameter(10, "passes at most; a pass without an update ends the training", _whole(1))
    shuffle: bool = _parameter(True, "play each pass in a new random order", _boolean)
    progress: bool = _parameter(False, "show a progress bar", _boolean)
    class_weight: Any = _parameter(None, "weights of the classes: a dict, 'balanced', or None", _anything)
    certify: bool = _parameter(False, "make certificate_ at the end of fit", _boolean)


@dataclass(frozen=True, kw_only=True)
class EstimatorParameters(_Checked):
    """What only the scikit-learn estimators know of."""

    class_weight: Any = _parameter(None, "weights of the classes: a dict, 'balanced', or None", _anything)
    probability: bool = _parameter(False, "calibrate predict_proba on held-out data", _boolean)
    certify: bool = _parameter(False, "make certificate_ at the end of fit", _boolean)
    warm_start: bool = _parameter(False, "let fit start from the weights that are there", _boolean)


@dataclass(frozen=True, kw_only=True)
class SequenceParameters(_Checked):
    """What a sequence learner is: templates, rule, hypothesis, and how it decodes."""

    template: Any = _parameter("auto", "a preset, a file or lines of templates; 'auto' looks at the tokens", _anything)
    rule: str = _parameter(
        "perceptron", "how far to move on a sentence", _one_of("perceptron", "pa", "pa1", "pa2", "mira")
    )
    learning_rate: float = _parameter(
        1.0, "η of the perceptron", _number("a number from 1e-30 to 1e30", lambda value: 1e-30 <= value <= 1e30)
    )  # weights are of single precision
    margin: float = _parameter(0.0, "β: the perceptron also updates where the second best is this close", _not_negative)
    C: float = _parameter(0.03, "aggressiveness of pa1, pa2 and mira", _positive)
    cost: str | None = _parameter(
        "auto",
        "'hamming': a wrong sequence must lose by its number of wrong labels; None: by 1; 'auto': the rule's own",
        _one_of("auto", "hamming", "none", None),
    )
    k: int = _parameter(5, "mira: competitors at once", _whole(1))
    hypothesis: str = _parameter("averaged", "what of v₀, v₁, … predicts", _one_of("last", "averaged", "best", "voted"))
    keep: str | None = _parameter(None, "'all' keeps every update: all hypotheses at hand", _one_of(None, "all"))
    max_voters: int | None = _parameter(None, "how many of the longest survivors vote", _whole(1, "all"))
    min_count: int = _parameter(1, "features seen less often in `fit` are left out", _whole(1))
    constraints: str | None = _parameter(
        "auto",
        "scheme that every prediction keeps to; 'auto' recognises it",
        _one_of("auto", "bio", "iob1", "bioes", "none", None),
    )
    encoding: str | None = _parameter(
        None, "'bioes': within, ends and single tokens have labels of their own; BIO or IOB1 go in and come out",
        _one_of(None, "bioes"),
    )  # fmt: skip
    beam: int = _parameter(0, "states kept at a token; 0 for all", _whole(0))
    segments: bool = _parameter(False, "semi-Markov: whole segments have features too; labels are BIO tags", _boolean)
    max_segment: int | None = _parameter(
        None, "tokens of the longest segment", _whole(1, "that of the training data", maximum=65535)
    )
    random_state: int = _parameter(0, "seed of the shuffling", _whole(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margin and (self.rule != "perceptron" or self.cost == "hamming"):
            raise ValueError("margin goes with rule='perceptron' and no cost; the others have a margin of their own")
        if self.segments and self.beam:
            raise ValueError("beam does not go with segments=True; max_segment bounds its work")
        if self.segments and self.constraints not in ("auto", "bio"):
            raise ValueError(f"constraints={self.constraints!r} does not go with segments=True: labels are BIO tags")
        if self.segments and self.encoding:
            raise ValueError("encoding does not go with segments=True, which knows where segments end")
        if self.max_segment is not None and not self.segments:
            raise ValueError("max_segment needs segments=True")
        if self.rule == "mira" and self.cost in ("none", None):
            raise ValueError("rule='mira' needs cost='hamming'")

    @property
    def hamming(self) -> bool:
        """Whether competitors are sought under score + cost."""
        return self.cost == "hamming" or (self.cost == "auto" and self.rule != "perceptron")

    @property
    def keeps_log(self) -> bool:
        """Whether every update is written down."""
        return self.keep == "all" or self.hypothesis in ("best", "voted")
