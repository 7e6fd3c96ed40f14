"""The core's model of a tagger: made from templates, told which labels there are, and the vectors it predicts by."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from perceptive import _core
from perceptive.data.dataset import Witness
from perceptive.data.sentences import Features
from perceptive.data.token_values import BOTH, kind_of, unmet
from perceptive.errors import ExampleError, Parameter, ParameterError, literal, warn_caller
from perceptive.features import bioes, schemes
from perceptive.features.label_repair import meant
from perceptive.features.presets import FURTHER, OF_THE_PERCEPTRON, brought, lines_for
from perceptive.features.template import Template, Values
from perceptive.features.templates import Column, Templates, matches
from perceptive.hypotheses import check_name, choose_voter
from perceptive.learners.labelling import Labelling
from perceptive.parameters import SequenceParameters

NO_FEATURES = "@label[-1]"  # templates that read nothing of tokens
ENOUGH = 100  # tokens; a few may be segments by themselves, and no others tags
FIRST = 10  # sentences that are looked at for attributes
ATTRIBUTE = re.compile(r"[^\s=]+=.")
SEGMENTS = Parameter("segments", True)
MOST_LABELS = 2**12  # tables of all pairs have 16 million entries then
MOST_LABELS_OF_TRIPLES = 2**9
MOST_NAMED = 2**22  # labels and pairs of labels in the sets of all templates together
Moment = tuple[_core.SequenceModel, int, int, bool]  # a model, its rounds and labels, and whether it is open


def attributes(sentence: Sequence[Any], t: int) -> Any:
    """The features of a token that is a list of their names, as python-crfsuite has them."""
    return sentence[t]


def opened_template(template: Any) -> tuple[Features | None, Templates | None]:
    """A function of tokens, if it is one, and the templates; None where sentences decide them: see `preset_for`."""
    if callable(template) and not isinstance(template, Template | Values):
        return template, Templates(NO_FEATURES)
    if isinstance(template, str) and (template in ("auto", "attributes") or template in FURTHER):
        return (attributes, Templates(NO_FEATURES)) if template == "attributes" else (None, None)
    return None, Templates.of(template)


def check_labels_fit(n: int, templates: Templates | None) -> None:
    """Raise ValueError where n labels are more than the tables of a model are to hold."""
    most, why = MOST_LABELS, "a tagger has tables of all pairs of labels"
    if templates is not None and templates.trigrams:
        most, why = MOST_LABELS_OF_TRIPLES, "with @label[-2] a tagger has tables of all triples of labels"
    if n > most:
        raise ValueError(f"there are {n:,} labels; {why} and takes {most:,} at most: merge labels that are rare")
    if templates is None:
        return
    one, two = (len(set(sets) - {None}) for sets in (templates.state_sets, templates.edge_sets))
    if one * n + two * n * n > MOST_NAMED:
        raise ValueError(
            f"there are {n:,} labels, and {one + two:,} sets of labels that templates name: too many together; leave "
            "out some"
        )


def guess_preset(X: Sequence[Any], y: Sequence[Sequence[Any]]) -> str:
    """The templates that fit the tokens and labels: chunks cover most tokens, names few.

    Where all are O, names are still to come. Where every token is a segment, labels are tags, whatever their prefix.
    """
    token = X[0][0]
    if isinstance(token, dict):
        return NO_FEATURES
    if isinstance(token, list) and (_mostly_named(token) or _attributes(X[:FIRST])):
        raise ExampleError('it looks like a list of attributes, not of columns; say template="attributes"', 0, 0)
    if set[Any]().union(*y) <= {"O", None}:
        return "ner"
    tokens, reading = sum(map(len, y)), meant(y)
    if reading is None or (tokens >= ENOUGH and _each_alone(y, reading.scheme)):
        return "pos"
    outside = sum(label == "O" for labels in y for label in labels)
    tags = isinstance(token, list | tuple) and len(token) > 1
    return "chunking" if tags and 2 * outside < tokens else "ner"


def _mostly_named(token: Sequence[Any]) -> bool:
    return sum(isinstance(one, str) and "=" in one for one in token) * 2 > len(token)


def _attributes(X: Sequence[Sequence[Any]]) -> bool:
    """Return whether tokens are lists of attributes, with flags between them of which most tokens have one, as bias."""
    tokens = [token for x in X for token in x if isinstance(token, list)]
    flags = [[one for one in token if not isinstance(one, str) or not ATTRIBUTE.match(one)] for token in tokens]
    every = [one for mine in flags for one in mine]
    if not all(isinstance(one, str) for one in every):
        return False
    named = [len(token) - len(mine) for token, mine in zip(tokens, flags, strict=True)]
    most = max(Counter(every).values(), default=0)
    return 0 not in named and len(every) <= sum(named) and 2 * most > len(tokens)


def _each_alone(y: Sequence[Sequence[Any]], scheme: str) -> bool:
    """Return whether every token is a segment of its own; labels that are None are skipped."""
    known = ([label for label in labels if label is not None] for labels in y)
    return all(len(schemes.spans(labels, scheme)) == len(labels) for labels in known)


def preset_for(template: str, X: Sequence[Any], n_labels: int) -> Templates:
    """The templates of a preset for the columns that tokens have, and the labels; those of other names as they are."""
    if template not in FURTHER:
        return Templates.of(template)
    token = X[0][0]
    n = len(token) - (kind_of(token) == BOTH) if isinstance(token, list | tuple) else 1  # others the core refuses
    return Templates(lines_for(template, n, n_labels), where=f"preset {template!r}")


def told_of_rule(template: Any, given: Mapping[str, Any], called: Callable[[Parameter], str] = str) -> str | None:
    """What to say where a parameter of the perceptron keeps away the rule that a preset brings; else None.

    Examples
    --------
    >>> print(told_of_rule("ner", {"batch": 8}))
    batch=8 is for the perceptron alone, so rule='pa1' is not taken, which does better with template='ner' (by 8 F1 on \
Dutch names); leave it out (shards train in parallel, too), or say rule='perceptron'
    """
    rule = brought(template, {}).get("rule")
    odd = (name for name, usual in OF_THE_PERCEPTRON.items() if given.get(name, usual) != usual)
    kept_away = [Parameter(one, given[one]) for one in odd]
    if rule is None or "rule" in given or not kept_away or "rule" in brought(template, given):
        return None
    this, better, usual = kept_away[-1], Parameter("rule", rule), Parameter("rule", "perceptron")
    preset, instead = called(Parameter("template", template)), called(Parameter("shards"))
    return (
        f"{called(this)} is for the perceptron alone, so {called(better)} is not taken, which does better with "
        f"{preset} (by 8 F1 on Dutch names); leave it out ({instead} train in parallel, too), or say {called(usual)}"
    )


def new_model(templates: Templates, parameters: SequenceParameters) -> _core.SequenceModel:
    """A model that knows no labels; where segments have features, the templates get their columns."""
    if templates.empty:
        raise ValueError(f"{templates.where}: there are no templates; write at least one, such as word or @label[-1]")
    columns = -1, -1
    if templates.phrases and not parameters.segments:
        said = literal(f"{templates.where}: 'segment in({next(iter(templates.phrases))})' needs ")
        raise ParameterError(said + "{}; set it, or leave out the line", SEGMENTS)
    if parameters.segments:
        if templates.trigrams:
            raise ParameterError("@label[-2] does not go with {}; leave out one of them", SEGMENTS)
        columns = templates.need(Column("norm", 0, 0)), templates.need(Column("shape", 0, 0))
    model = _core.SequenceModel(*templates.arguments())
    if parameters.segments:
        model.set_segment_features(*columns, list(templates.phrases.values()))
    if any(scale != 1.0 for scale in templates.scale):
        model.set_scale(templates.scale)
    if parameters.keeps_journal:
        model.keep_journal(parameters.max_voters or 0)
    return model


def tell_labels(model: _core.SequenceModel, templates: Templates, labels: Sequence[Any], labelling: Labelling) -> None:
    """Tell a model how many labels there are, which may follow which, and which share weights.

    Labels in templates are the user's.
    """
    model.set_labels(len(labels))
    model.set_constraints(*schemes.constraints(labelling.scheme, labels))
    given = labelling.given
    names = [(str(label),) if given is None else bioes.written(label, given) for label in labels]
    one, two = (list(dict.fromkeys(mine)) for mine in (templates.state_sets, templates.edge_sets))
    sets = {
        (pairs, some): _members(names, *some, pairs)
        for pairs, mine in ((False, one), (True, two))
        for some in mine
        if some
    }
    number: dict[tuple[bool, Any], int] = {which: i for i, which in enumerate(sets)}
    model.set_label_sets(
        [number.get((False, some), -1) for some in templates.state_sets],
        [number.get((True, some), -1) for some in templates.edge_sets],
        list(sets.values()),
    )
    if labelling.segments and labelling.longest:
        _tell_segments(model, labels, labelling.longest)


def warn_of_labels(templates: Templates, labels: Sequence[Any]) -> None:
    """Warn where a template names labels only that never occur, and so says nothing."""
    for named, line in templates.lines_of_labels.items():
        if not any(matches(str(label), named) for label in labels):
            said = " or ".join(map(repr, named))
            warnings.warn(
                f"{templates.where}, line {line}: no label is {said}, or begins with it and a hyphen; check the "
                "spelling",
                stacklevel=2,
            )


def warn_of_values(templates: Templates, X: Sequence[Any]) -> None:
    """Warn where a template reads values that no token has."""
    for line in unmet(X, templates.values):
        what = f"a value whose name begins with {line.prefix!r}" if line.prefix else "values"
        warn_caller(f"{templates.where}: '{line}' reads nothing, as no token has {what}; correct it")


def _tell_segments(model: _core.SequenceModel, labels: Sequence[Any], longest: int) -> None:
    find = {schemes.split(label): i for i, label in enumerate(labels)}
    kinds = [kind for prefix, kind in map(schemes.split, labels) if prefix == "B"]
    begin, inside = [find["B", kind] for kind in kinds], [find.get(("I", kind), -1) for kind in kinds]
    model.set_segments(longest, begin, inside, labels.index("O") if "O" in labels else -1)


def _members(names: Sequence[tuple[str, ...]], now: tuple[str, ...], before: tuple[str, ...], pairs: bool) -> list[int]:
    """The labels, or pairs of labels, that a template speaks of; ``names``: what the user may call each label."""
    mine, others = (
        [i for i, some in enumerate(names) if not wanted or any(matches(name, wanted) for name in some)]
        for wanted in (now, before)
    )
    return [p * len(names) + y for p in others for y in mine] if pairs else mine


# ---------------------------------------------------------------- vectors


class Vectors:
    """The last, averaged, best and drawn vector, each made once for the state that the model is in."""

    def __init__(self, parameters: SequenceParameters) -> None:
        self._parameters = parameters
        self._made: dict[str, tuple[Moment, _core.SequenceVector]] = {}

    def of(self, core: _core.SequenceModel, hypothesis: str) -> _core.SequenceVector | None:
        """The vector of a hypothesis; None is the last one."""
        check_name(hypothesis)
        if hypothesis == "last":
            return None
        if hypothesis == "voted":
            raise ValueError("a vote has no single vector, so no scores; choose another hypothesis")
        now = core, core.run.rounds, core.n_labels, core.run.open  # read first: others may learn while a vector is made
        made = self._made.get(hypothesis)
        if made is not None and made[0] == now:
            return made[1]
        if hypothesis == "averaged" and core.run.clock == 0:
            return None  # nothing was learned since the vector was loaded
        if hypothesis == "averaged":
            vector = core.average()
        else:
            need_journal(self._parameters, hypothesis)
            survival = np.array(core.survival, np.int64)
            vector = core.voter(choose_voter(hypothesis, survival, self._parameters.random_state))
        self._made[hypothesis] = now, vector
        return vector

    def witnesses(self, core: _core.SequenceModel) -> dict[str, Witness]:
        """The vectors that a theorem may call upon; those of length 0 say nothing."""
        names = ("last", "averaged", "best") if self._parameters.keeps_journal else ("last", "averaged")
        found = {name: self.of(core, name) for name in names}
        lengths = {name: math.sqrt(core.squared_norm(vector)) for name, vector in found.items()}
        return {name: Witness(found[name], length) for name, length in lengths.items() if length}

    def clear(self) -> None:
        """Forget them: the model has changed."""
        self._made.clear()


def need_journal(parameters: SequenceParameters, hypothesis: str) -> None:
    """Raise where not every update is kept."""
    if not parameters.keeps_journal:
        raise ParameterError(
            "{} needs every update; train with {}", Parameter("hypothesis", hypothesis), Parameter("keep", "all")
        )
