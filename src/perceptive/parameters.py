"""The values of parameters, checked one by one and in combination.

The parameters are declared in `perceptive.parameter_groups`. Learners hold these values, and the command line makes its
options from the classes.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from perceptive.declarations import Checked
from perceptive.errors import Parameter, ParameterError
from perceptive.hypotheses import HYPOTHESES
from perceptive.parameter_groups import (
    DualGroup,
    DualRankingGroup,
    EstimatorGroup,
    LinearGroup,
    RankingGroup,
    SequenceGroup,
    TrainingGroup,
)
from perceptive.rules import RULES

DISTINCTIVE = ("rule", "hypothesis", "pairs", "budget")  # that tell learners apart
PRECISIONS = ("float16", "int8")  # what weights may be rounded to


def _check_margin(p: Any) -> None:
    if p.margin and p.rule != "perceptron":
        raise ParameterError(
            "{} does not go with {}, which has a margin of its own", "margin", Parameter("rule", p.rule)
        )


def _check_bits(p: Any) -> None:
    if p.bits is not None and p.n_features not in (None, 1 << p.bits):
        raise ParameterError(
            "{} does not go with {}; leave it out", Parameter("n_features", p.n_features), Parameter("bits", p.bits)
        )


def _check_delta(p: Any) -> None:
    if p.delta and p.cost is not None:
        raise ParameterError("{} does not go with {}; leave one of them out", "delta", "cost")


class _OfLearner:
    """What the parameters of a learner have in common."""

    of_notes: ClassVar[dict[str, Any]] = {"hypothesis": "last"}

    @classmethod
    def of_learner(cls, given: dict[str, Any]) -> Self:
        """Those of a learner, which plays and predicts as the notes' L does, unless something else is given.

        Examples
        --------
        >>> LinearParameters.of_learner({}).hypothesis, LinearParameters().hypothesis
        ('last', 'averaged')
        """
        return cls(**{**cls.of_notes, **given})

    def facts(self) -> dict[str, Any]:
        """Those that tell learners apart; for rankers also the cost."""
        names = (*DISTINCTIVE, "cost") if hasattr(self, "pairs") else DISTINCTIVE
        return {name: getattr(self, name) for name in names if name in vars(self)}

    def rule_facts(self) -> dict[str, Any]:
        """Those of the rule, which theorems need."""
        return {name: getattr(self, name) for name in ("rule", "learning_rate", "margin", "C")}


class _Journal(_OfLearner):
    """What the parameters say of the journal."""

    hypothesis: Any
    keep: Any

    @property
    def keeps_journal(self) -> bool:
        """Whether every update is written down."""
        return self.keep == "all" or HYPOTHESES[self.hypothesis].needs_journal

    @property
    def averages(self) -> bool:
        """Whether the average is maintained."""
        return self.hypothesis == "averaged" or self.keeps_journal


class LinearParameters(Checked, LinearGroup, _Journal):
    """The parameters of a linear learner: task, rule, hypothesis, and the conventions of the game."""

    def __post_init__(self) -> None:
        rule, mira, none = Parameter("rule", self.rule), Parameter("rule", "mira"), Parameter("cost", None)
        if self.delta and not RULES[self.rule].takes_delta:
            raise ParameterError(
                "{} does not go with {}; choose another rule, or {}", "delta", rule, Parameter("delta", 0)
            )
        if self.cost is not None and self.rule != "mira":
            raise ParameterError("{} does not go with {}; choose {}, or {}", "cost", rule, mira, none)
        if self.cost is not None and self.multiclass != "joint":
            raise ParameterError("{} needs {}", "cost", Parameter("multiclass", "joint"))
        _check_margin(self)
        _check_bits(self)
        if self.reference is not None and self.multiclass != "ovr":
            raise ParameterError("{} needs {}", "reference", Parameter("multiclass", "ovr"))


class KernelParameters(Checked, DualGroup, _OfLearner):
    """The parameters of a kernel learner: kernel, task, rule, hypothesis, and how much it may remember."""

    def __post_init__(self) -> None:
        _check_margin(self)
        if self.budget is None:
            return
        hypothesis, forget = Parameter("hypothesis", self.hypothesis), Parameter("forget", self.forget)
        last, averaged = (Parameter("hypothesis", name) for name in ("last", "averaged"))
        projectron, none = Parameter("forget", "projectron"), Parameter("budget", None)
        if HYPOTHESES[self.hypothesis].needs_journal or self.normalized:
            wrong = Parameter("normalized", True) if self.normalized else hypothesis
            raise ParameterError(
                "{} needs every v_k, which a budget forgets; choose {} or {}, or {}", wrong, last, averaged, none
            )
        if self.hypothesis == "averaged" and self.forget != "projectron":
            raise ParameterError(
                "{} needs the supports that {} gives away; choose {}, or {}, whose supports stay",
                hypothesis, forget, last, projectron,
            )  # fmt: skip
        if self.delta:
            raise ParameterError("{} needs every example to be remembered; it does not go with {}", "delta", "budget")


class RankingParameters(Checked, RankingGroup, _Journal):
    """The parameters of a linear ranker: pairs to correct, rule, hypothesis, and the conventions of the game."""

    of_notes: ClassVar[dict[str, Any]] = {"hypothesis": "last", "pairs": "best"}
    # What a problem asks for beside: a constant feature would cancel out in every difference.
    bias: ClassVar[float] = 0.0
    r: ClassVar[float] = 1.0
    ties: ClassVar[str] = "mistake"

    def __post_init__(self) -> None:
        _check_margin(self)
        _check_delta(self)
        _check_bits(self)


class KernelRankingParameters(Checked, DualRankingGroup, _OfLearner):
    """The parameters of a kernel ranker: kernel, pairs to correct, rule and hypothesis."""

    of_notes: ClassVar[dict[str, Any]] = {"hypothesis": "last", "pairs": "best"}
    # What a dual asks for beside: a constant added to the kernel would cancel out in every difference.
    bias: ClassVar[float] = 0.0
    ties: ClassVar[str] = "mistake"
    budget: ClassVar[int | None] = None
    forget: ClassVar[str] = "oldest"

    def __post_init__(self) -> None:
        _check_margin(self)
        _check_delta(self)


class TrainingParameters(Checked, TrainingGroup):
    """The parameters of training: epochs, order, when to stop."""


class EstimatorParameters(Checked, EstimatorGroup):
    """The parameters that only the scikit-learn estimators have."""


class SequenceParameters(Checked, SequenceGroup, _Journal):
    """The parameters of a sequence learner: templates, rule, hypothesis, and decoding."""

    def __post_init__(self) -> None:
        segments = Parameter("segments", True)
        if self.margin and (self.rule != "perceptron" or self.cost == "hamming"):
            raise ParameterError(
                "{} goes with {} and no {}; the others have a margin of their own",
                "margin", Parameter("rule", "perceptron"), "cost",
            )  # fmt: skip
        if self.segments and self.beam:
            raise ParameterError("{} does not go with {}; {} bounds its work", "beam", segments, "max_segment")
        if self.segments and self.constraints not in ("auto", "bio", "iob2"):
            raise ParameterError(
                "{} does not go with {}: labels are BIO tags", Parameter("constraints", self.constraints), segments
            )
        if self.segments and self.encoding == "bioes":
            raise ParameterError("{} does not go with {}, which knows where segments end", "encoding", segments)
        if self.max_segment is not None and not self.segments:
            raise ParameterError("{} needs {}", "max_segment", segments)
        if self.batch > 1 and self.rule != "perceptron":
            raise ParameterError(
                "{} goes with {}; the steps of other rules depend on a single sentence",
                Parameter("batch", self.batch), Parameter("rule", "perceptron"),
            )  # fmt: skip
        if self.rule == "mira" and self.cost in ("none", None):
            raise ParameterError("{} needs {}", Parameter("rule", "mira"), Parameter("cost", "hamming"))

    @property
    def hamming(self) -> bool:
        """Whether competitors are chosen by score + cost."""
        return self.cost == "hamming" or (self.cost == "auto" and self.rule != "perceptron")
