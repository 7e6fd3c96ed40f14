"""Every parameter, declared once: name, type, default, what it may be, and a line of help.

The first part has each parameter once, in a group. The second part composes groups for each task, and says only what
differs there. Which rules and hypotheses a task takes stands in `perceptive.roles`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from perceptive import roles
from perceptive.declarations import (
    Check,
    Group,
    a_label,
    anything,
    boolean,
    jobs,
    not_negative,
    number,
    one_of,
    or_word,
    parameter,
    positive,
    seed,
    squarable,
    whole,
)


def _rule_of(task: str, representation: str) -> Check:
    """A rule that the task takes."""
    return one_of(*roles.rules(task, representation), why_not=partial(roles.why_not, task, representation))


# ---------------------------------------------------------------- groups: each parameter once


class RuleGroup(Group):
    """When and how far to move."""

    rule: str = parameter("perceptron", "when and how far to move on an example", _rule_of("joint", "linear"))
    learning_rate: float = parameter(1.0, "η of the perceptron", positive)
    margin: float = parameter(0.0, "β: the perceptron also updates on right answers with y·score ≤ β", not_negative)
    C: float = parameter(1.0, "aggressiveness of pa1 and pa2", positive)


class LinearRuleGroup(RuleGroup):
    """What only the rules of linear classifiers take."""

    r: float = parameter(1.0, "regularisation of arow", positive)
    cost: Any = parameter(
        None,
        "mira: the cost of answering ŷ (column) for y (row)",
        anything,
        kind="array of shape (n_classes, n_classes) or None",
    )


class PairGroup(Group):
    """What a ranker learns from a list."""

    pairs: str = parameter(
        "auto",
        "learn from the best against the rest, from the worst misordered pair, or from all misordered pairs; auto: the "
        "best if each list has one, else all",
        one_of("auto", "best", "worst", "all"),
        doc="Learn from the best candidate against the best of the rest, from the pair that is most in the wrong "
        'order, or from the mean of all pairs in the wrong order. "auto" is "best" if every list has one '
        'best candidate and the others are equal; else "all", with ``cost="grade"`` if there are more than two '
        "grades. The first training data decide.",
    )
    cost: str | None = parameter(
        None,
        "pairs count by the difference of their grades, or of their places",
        one_of(None, "grade", "position"),
        doc="How much a pair counts: all the same, by the difference of the grades, or of the discounts "
        "1/log₂(place + 1) of their places in the right order. A margin for rules with a hinge, a "
        "factor for the perceptron.",
    )


class HypothesisGroup(Group):
    """What predicts."""

    hypothesis: str = parameter("averaged", "which of v₀, v₁, … predicts", one_of(*roles.hypotheses("joint", "linear")))


class JournalGroup(Group):
    """How many of the vectors v₀, v₁, … are kept."""

    keep: str | None = parameter(
        None,
        "'all' keeps the journal of updates, so that every hypothesis is available",
        one_of(None, "all"),
        doc='"all" keeps the journal of updates, so that every hypothesis is available after one run. Implied by best, '
        "voted and random.",
    )
    max_voters: int | None = parameter(None, "how many of the longest-lived vectors the journal keeps", whole(1, "all"))


class AverageGroup(Group):
    """Which mean the averaged hypothesis is."""

    average: str = parameter("examples", "mean over the examples, or of v₀ … v_K", one_of("examples", "mistakes"))


class ClassGroup(Group):
    """How classes are told apart."""

    multiclass: str = parameter("joint", "how more than two classes are learned", one_of(*roles.multiclass("linear")))
    bias: float | str = parameter(1.0, "value of the constant feature; 0 for none", squarable)
    ties: str = parameter("mistake", "treat a score of 0 as a mistake, or as +1", one_of("mistake", "positive"))


class VectorGroup(Group):
    """What examples are trained as, and in which precision."""

    delta: float = parameter(0.0, "Δ-trick: train on [X | ΔI]", squarable)
    dtype: str = parameter(
        "float32",
        "type of the weights",
        one_of("float32", "float64"),
        doc="Type of the weights; ROMMA, and runs beyond 2²³ updates, always use float64.",
    )


class ColumnGroup(Group):
    """How rows become columns of weights."""

    normalize: bool = parameter(False, "scale rows to unit length", boolean)
    n_features: int | None = parameter(None, "number of features, if known before the data", whole(1, "from the data"))
    bits: int | None = parameter(
        None,
        "hash the names of dicts into 2^bits columns",
        whole(1, "give each name a column", maximum=30),
        doc="Hash the names of dicts into 2^bits columns, instead of giving each name a column of its own.",
    )


class KernelGroup(Group):
    """What compares examples in the dual."""

    kernel: Any = parameter(
        "gaussian",
        'a kernel of `perceptive.kernels`, its text as in ``"0.5*gaussian(sigma=2)+poly(4)"``, a function of two '
        'examples, or "precomputed" for Gram matrices (for lists: of all candidates, list by list)',
        anything,
        kind="Kernel, str or callable",
    )
    cache_size: float = parameter(
        200.0,
        "megabytes of kernel values of strings, trees and functions to keep for later epochs; the rest is "
        "computed again",
        not_negative,
    )


class BudgetGroup(Group):
    """How much a kernel learner may remember."""

    budget: int | None = parameter(None, "how many supports are kept at most", whole(1, "all"))
    forget: str = parameter(
        "projectron",
        "how to make room when the budget is full",
        one_of("oldest", "random", "projectron"),
        doc="How to make room when the budget is full: project the new example on the supports, which stay, or let it "
        'replace one of them. Replacing has no average, only ``hypothesis="last"``.',
    )


class TemplateGroup(Group):
    """Which features of tokens are read."""

    template: Any = parameter(
        "auto",
        "a preset, a file or lines of templates; 'auto' looks at tokens and labels",
        anything,
        doc='Which features are read: a preset ("chunking", "ner", "pos", "records", "hmm"), a file (ours or '
        "CRF++'s), lines (see `perceptive.features.templates`), objects (see `perceptive.features.terms`), or a "
        'function of a sentence and a position that returns a dict or the names of features. "auto" chooses a preset '
        "from tokens and labels.",
        kind="str, path, list of str or of templates, or callable",
    )
    min_count: int | str = parameter(
        1,
        "leave out features seen less often in training; 'auto': 2 from 5,000 tokens on, else 1",
        or_word("auto", whole(1)),
        doc='Features that are seen less often in training are left out. "auto": 2 where there are 5,000 tokens to '
        "learn from, else 1.",
    )


class DecodingGroup(Group):
    """Which label sequences are possible, and how the best is found."""

    constraints: str | None = parameter(
        "auto",
        "scheme that every prediction follows; 'auto' recognises it",
        one_of("auto", "bio", "iob2", "iob1", "bioes", "iobes", "bilou", "ioe2", "ioe1", "bmes", "bmewo", "none", None),
        doc='Scheme that every prediction follows; "auto" lets `fit` recognise it.',
    )
    repair: str = parameter(
        "warn",
        "labels that break their scheme in a few places: read them as conlleval does and warn, refuse, or leave them",
        one_of("warn", "error", "off"),
        doc='What to do with labels that break their scheme in a few places: "warn" reads them as conlleval does and '
        'reports it, "error" refuses them. "off" keeps them, and predictions then follow no scheme.',
    )
    encoding: str | None = parameter(
        None,
        "'bioes': internally, segment ends and one-token segments have their own labels; files keep their scheme",
        one_of(None, "bioes", "none"),
        doc='"bioes": internally, segment ends and one-token segments have their own labels, which helps to '
        "find chunks and names; input, output and templates use the scheme of your labels. Predicted segments "
        "of a type have one, two or more tokens only if training segments have.",
    )
    beam: int = parameter(
        0,
        "states kept at a token; 0 for all",
        whole(0),
        doc="States kept at a token; 0 for all. The k best, margins and probabilities use only these.",
    )
    segments: bool = parameter(
        False,
        "semi-Markov: whole segments have features too; labels are BIO tags",
        boolean,
        doc="Semi-Markov: segments have their own features too (length, text, capitalisation, "
        "dictionary membership). Labels are BIO tags. For records such as addresses and bibliographies.",
    )
    max_segment: int | None = parameter(
        None,
        "length of the longest segment in tokens",
        whole(1, "that of the training data", maximum=65535),
        doc="Tokens of the longest segment; None: as in the training data so far.",
    )


class SeedGroup(Group):
    """The seed of all that is random."""

    random_state: int = parameter(0, "seed of the shuffling and of the random hypothesis", seed)


class TrainingGroup(Group):
    """How the examples are played."""

    epochs: int = parameter(10, "maximum number of epochs; an epoch without an update ends the training", whole(1))
    tol: float = parameter(
        0.0,
        "after ten or more epochs, stop if the later half made mistakes on at most this part of examples; 0: never",
        number("in [0, 1)", lambda value: 0 <= value < 1),
    )
    shuffle: bool = parameter(True, "play each epoch in a new random order", boolean)
    validation_fraction: float = parameter(
        0.0,
        "part of the data held out for early stopping",
        number("in [0, 1)", lambda value: 0 <= value < 1),
        doc="Part of the data held out for early stopping; 0 for none.",
    )
    patience: int = parameter(3, "stop after this many epochs with a held-out score below the best", whole(1))
    shards: int = parameter(
        1,
        "number of parts that learn in parallel and are mixed after each epoch; 1: serial learning",
        whole(1),
        doc="Number of parts that learn in parallel and are mixed after each epoch (iterative "
        "parameter mixing, McDonald, Hall & Mann 2010). 1: serial learning.",
    )
    mixing: str = parameter(
        "uniform",
        "how much each shard counts: all the same, or by its updates",
        one_of("uniform", "mistakes"),
    )
    n_jobs: int | None = parameter(
        None,
        "threads; results do not depend on it. None: one; −1: as many as there are processors",
        jobs,
    )
    progress: bool = parameter(False, "show a progress bar if training takes longer than a second", boolean)


class CertifyGroup(Group):
    """A parameter that all estimators have."""

    certify: bool = parameter(False, "make ``certificate_`` at the end of `fit`", boolean)


class ProbabilityGroup(Group):
    """A parameter of the estimators that have `predict_proba`."""

    probability: bool = parameter(
        False,
        "hold out a tenth of the data (or ``validation_fraction``) and calibrate `predict_proba` on it",
        boolean,
    )


class ClassWeightGroup(Group):
    """A parameter that all classifiers have."""

    class_weight: Mapping[Any, float] | str | None = parameter(
        None, "weights of the classes", anything, kind='dict, "balanced" or None'
    )


class EstimatorGroup(ClassWeightGroup, ProbabilityGroup, CertifyGroup):
    """What the linear estimator knows beside its learner."""

    warm_start: bool = parameter(False, "let `fit` start from the existing weights", boolean)


# ---------------------------------------------------------------- tasks: what differs


class LinearGroup(
    LinearRuleGroup, HypothesisGroup, JournalGroup, AverageGroup, ClassGroup, ColumnGroup, VectorGroup, SeedGroup
):
    """The parameters of linear classifiers."""

    bias: float | str = parameter(
        help="value of the constant feature; 0 for none, 'auto' for the root mean square length of the first rows",
        check=or_word("auto", squarable),
        doc='Value of the constant feature; 0 for none. "auto" is the root mean square length of the rows, frozen '
        "before the first round: of all rows of a `fit`, of the first block of files, or of the first row that a "
        "learner sees one by one. A feature of value 1 learns slowly next to rows of length 20.",
    )
    reference: Any = parameter(
        None,
        "ovr: the class without its own problem, which wins if no other does",
        a_label,
        kind="label or None",
    )


class DualGroup(KernelGroup, RuleGroup, HypothesisGroup, ClassGroup, BudgetGroup, VectorGroup, SeedGroup):
    """The parameters of kernel classifiers."""

    normalized: bool = parameter(False, "divide each v_k by its length, as Freund & Schapire do", boolean)
    rule: str = parameter(check=_rule_of("joint", "kernel"))
    multiclass: str = parameter(
        check=one_of(*roles.multiclass("kernel"), why_not=partial(roles.why_not, representation="kernel"))
    )
    bias: float = parameter(0.0, "b: the kernel becomes K + b²")
    delta: float = parameter(help="Δ-trick: train with K + Δ²I")
    dtype: str = parameter(help="type of the kernel values")
    random_state: int = parameter(help="seed of the shuffling, of forgetting and of the random hypothesis")


class ListGroup(RuleGroup, PairGroup, HypothesisGroup, VectorGroup, SeedGroup):
    """The parameters that all rankers have."""

    rule: str = parameter(help="when and how far to move on a list", check=_rule_of("ranking", "linear"))
    margin: float = parameter(help="β: the perceptron also updates if the best leads by β or less")
    delta: float = parameter(help="Δ-trick: an id feature for each list")


class RankingGroup(ListGroup, JournalGroup, AverageGroup, ColumnGroup):
    """The parameters of linear rankers."""

    average: str = parameter(help="mean over the lists, or of v₀ … v_K")
    normalize: bool = parameter(help="scale candidates to unit length")


class DualRankingGroup(KernelGroup, ListGroup):
    """The parameters of kernel rankers."""

    rule: str = parameter(check=_rule_of("ranking", "kernel"))
    dtype: str = parameter(help="type of the kernel values")


class SequenceGroup(TemplateGroup, RuleGroup, HypothesisGroup, JournalGroup, DecodingGroup, SeedGroup):
    """The parameters of taggers."""

    rule: str = parameter(help="how far to move on a sentence", check=_rule_of("sequence", "linear"))
    learning_rate: float = parameter(
        check=number("a number from 1e-30 to 1e30", lambda value: 1e-30 <= value <= 1e30)  # weights are float32
    )
    margin: float = parameter(help="β: the perceptron also updates if the second best is this close")
    C: float = parameter(0.03, "aggressiveness of pa1, pa2 and mira")
    hypothesis: str = parameter(check=one_of(*roles.hypotheses("sequence", "linear")))
    cost: str | None = parameter(
        "auto",
        "'hamming': a wrong sequence must lose by its number of wrong labels; None: by 1; 'auto': the rule's own",
        one_of("auto", "hamming", "none", None),
        doc='"hamming": a wrong sequence must lose by the number of its wrong labels, and the competitor is chosen '
        'by score + cost; None: by 1. "auto" is None for the perceptron, else "hamming".',
    )
    k: int = parameter(5, "mira: number of competitors per update", whole(1))
    batch: int = parameter(
        1,
        "number of sentences decoded by the same weights, in several threads, before learning from them",
        whole(1),
        doc="Number of sentences decoded by the same weights, in several threads, before learning from them (Zhao & "
        "Huang 2013).",
    )
