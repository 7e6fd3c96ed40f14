"""Which roles can be combined: task × representation, with the rules and hypotheses that each pair takes.

This is the only declaration. The parameters take their choices from it, ``perceptive roles`` prints it, and
``docs/reference/roles.md`` shows it. Any rule and any hypothesis that a pair takes can be combined, so two tables are
enough.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from perceptive.hypotheses import HYPOTHESES
from perceptive.rules import RULES

TASKS = {
    "binary": "two classes, one vector",
    "joint": "many classes, one vector each, which compete",
    "ovr": "many classes, each against the rest",
    "ovo": "many classes, each against each",
    "ranking": "the best of a list, or its order",
    "sequence": "a label for every token",
}
REPRESENTATIONS = {
    "linear": "a weight per feature: dense, sparse or hashed",
    "kernel": "the list of mistakes (the dual)",
    "budget": "a kernel that keeps a limited number of mistakes",
}

_CLASSES = ("binary", "joint", "ovr", "ovo")
_DUAL = ("kernel", "budget")
_NOT_YET = "possible, but not implemented"


class _No(NamedTuple):
    """Something that does not go together; an empty tuple stands for all values of a role."""

    reason: str
    tasks: tuple[str, ...] = ()
    representations: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()  # rules or hypotheses


_NEVER = (
    _No(
        "Viterbi adds up the scores of neighbouring labels; a kernel of whole sequences has no such parts. "
        "A `Reranker` applies one to the k best sequences",
        ("sequence",),
        _DUAL,
    ),
    _No(
        f"{_NOT_YET}: an update is a difference of candidates, and dropping one of them leaves half of it",
        ("ranking",),
        ("budget",),
    ),
    _No(f"{_NOT_YET}: a support has a coefficient per class, not per pair of classes", ("ovo",), _DUAL),
    _No("AROW keeps a variance per feature; a kernel has no features", (), _DUAL, ("arow",)),
    _No(
        f"{_NOT_YET}: v ← a·v + τδ with a ≠ 1 rescales all earlier updates, and the dual keeps their sum as it is",
        (),
        _DUAL,
        ("romma", "aggressive-romma"),
    ),
    _No("MIRA is PA with a cost matrix; kernel classifiers take none", _CLASSES, _DUAL, ("mira",)),
    _No(
        f"{_NOT_YET}: every update is a difference δ, which these rules take",
        ("ranking", "sequence"),
        (),
        ("romma", "aggressive-romma", "arow"),
    ),
    _No("needs every v_k, and a budget drops mistakes", (), ("budget",), ("best", "voted", "random")),
)


_NOT_MIXED = {
    ("rule", "romma"): "its v is the shortest vector that meets its constraints, and a mean of such vectors is not",
    ("hypothesis", "voted"): "all v_k of all shards would vote, and the journal replays one sequence alone",
    ("hypothesis", "best"): "a mixed v has survived no example, and mixing ends the survival of those before",
    ("hypothesis", "random"): "one v_k of all shards would be drawn, and the journal replays one sequence alone",
    ("keep", "all"): "the journal replays one sequence of updates, and a mixed v is the mean of several",
    ("delta", None): f"{_NOT_YET}: an id feature is known to one shard only",
}  # fmt: skip
_NO_KERNELS = (
    "the theorem bounds the mean of the shards' updates, not their sum: S shards may keep S times the mistakes, "
    "each of which every prediction is compared with"
)


def why_not_mixed(representation: str, name: str | None = None, value: Any = None) -> str | None:
    """Say why a learner with this rule, hypothesis, ``keep`` or ``delta`` cannot be mixed from shards; None if it can.

    Whatever is linear in v can be mixed: its last and averaged vectors. AROW is mixed by precision; no bound is known.

    Examples
    --------
    >>> why_not_mixed("linear", "hypothesis", "best")
    'a mixed v has survived no example, and mixing ends the survival of those before'
    >>> why_not_mixed("linear", "rule", "arow") is None
    True
    """
    if representation != "linear":
        return _NO_KERNELS
    if name == "delta":
        return _NOT_MIXED[name, None] if value else None
    if name == "rule" and value == "aggressive-romma":
        value = "romma"
    return _NOT_MIXED.get((str(name), value))


def why_not(task: str, representation: str, role: str | None = None) -> str | None:
    """Say why a task, a representation and a rule or hypothesis cannot be combined; None if they can.

    Examples
    --------
    >>> why_not("joint", "kernel", "arow")
    'AROW keeps a variance per feature; a kernel has no features'
    >>> why_not("joint", "kernel", "voted") is None
    True
    """
    for no in _NEVER:
        if (
            (not no.tasks or task in no.tasks)
            and (not no.representations or representation in no.representations)
            and (not no.roles or role in no.roles)
        ):
            return no.reason
    return None


def rules(task: str, representation: str) -> tuple[str, ...]:
    """Return the rules that a task takes.

    Examples
    --------
    >>> rules("joint", "kernel")
    ('perceptron', 'pa', 'pa1', 'pa2')
    """
    return tuple(rule for rule in RULES if why_not(task, representation, rule) is None)


def hypotheses(task: str, representation: str) -> tuple[str, ...]:
    """Return the hypotheses that a task takes."""
    return tuple(name for name in HYPOTHESES if why_not(task, representation, name) is None)


def multiclass(representation: str) -> tuple[str, ...]:
    """Return the ways to learn many classes."""
    return tuple(task for task in ("joint", "ovr", "ovo") if why_not(task, representation) is None)


def as_dict() -> list[dict[str, Any]]:
    """Return every task with every representation: for each rule and hypothesis None, or why it is not possible."""
    return [
        {
            "task": task,
            "representation": representation,
            "why_not": why_not(task, representation),
            "rules": {rule: why_not(task, representation, rule) for rule in RULES},
            "hypotheses": {name: why_not(task, representation, name) for name in HYPOTHESES},
        }
        for task in TASKS
        for representation in REPRESENTATIONS
    ]


def as_text() -> str:
    """Return the tables of rules and of hypotheses; a number refers to the reason below."""
    columns = [(task, representation) for representation in REPRESENTATIONS for task in TASKS]
    reasons: list[str] = []

    def cell(task: str, representation: str, role: str) -> str:
        reason = why_not(task, representation, role)
        if reason is None:
            return "yes"
        if reason not in reasons:
            reasons.append(reason)
        return str(1 + reasons.index(reason))

    lines = []
    for title, roles in (("rule", RULES), ("hypothesis", HYPOTHESES)):
        lines.append(f"{title:<20}" + "".join(f"{task:<9}" for task in TASKS))
        for representation, meaning in REPRESENTATIONS.items():
            lines.append(f"{representation}: {meaning}")
            for role in roles:
                cells = [cell(*column, role) for column in columns if column[1] == representation]
                lines.append(f"  {role:<18}" + "".join(f"{text:<9}" for text in cells))
        lines.append("")
    lines += [f"{i}: {reason}." for i, reason in enumerate(reasons, 1)]
    return "\n".join(line.rstrip() for line in lines)
