"""The table of roles is what the parameters allow, and what the documentation and the command line show."""

import json
from dataclasses import fields

import pytest

from perceptive import cli, roles
from perceptive import parameters as p
from perceptive.errors import ParameterError
from perceptive.hypotheses import HYPOTHESES
from perceptive.rules import RULES

TAKEN_BY = {
    ("joint", "linear"): p.LinearParameters,
    ("joint", "kernel"): p.KernelParameters,
    ("ranking", "linear"): p.RankingParameters,
    ("ranking", "kernel"): p.KernelRankingParameters,
    ("sequence", "linear"): p.SequenceParameters,
}


@pytest.mark.parametrize(("task", "representation"), TAKEN_BY)
def test_parameters_allow_what_the_table_says(task, representation):
    cls = TAKEN_BY[task, representation]
    for name, values in (("rule", RULES), ("hypothesis", HYPOTHESES)):
        for value in values:
            if roles.why_not(task, representation, value) is None:
                assert getattr(cls(**{name: value}), name) == value
            else:
                with pytest.raises(ParameterError) as refused:
                    cls(**{name: value})
                assert str(refused.value).endswith(f"({roles.why_not(task, representation, value)})")
    choices = {f.name: f.metadata["choices"] for f in fields(cls)}
    if task == "joint":
        assert choices["multiclass"] == roles.multiclass(representation)
    else:
        assert "multiclass" not in choices


def test_a_reduction_is_refused_with_its_reason_and_other_words_without():
    with pytest.raises(ParameterError, match=r"'joint', 'ovr' \(possible, but not implemented: a support has"):
        p.KernelParameters(multiclass="ovo")
    for name in ("multiclass", "rule"):
        with pytest.raises(ParameterError, match=r"it must be one of '[^(]*$"):
            p.KernelParameters(**{name: "new"})


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_a_budget_takes_what_the_table_says(hypothesis):
    if roles.why_not("joint", "budget", hypothesis) is None:
        p.KernelParameters(budget=3, hypothesis=hypothesis)
    else:
        with pytest.raises(ParameterError, match="needs every v_k"):
            p.KernelParameters(budget=3, hypothesis=hypothesis)


def test_binary_and_reductions_take_the_rules_of_joint_learning():
    for representation in roles.REPRESENTATIONS:
        for task in ("binary", "ovr", "ovo"):
            if roles.why_not(task, representation) is None:
                assert roles.rules(task, representation) == roles.rules("joint", representation)
                assert roles.hypotheses(task, representation) == roles.hypotheses("joint", representation)


def test_every_no_has_a_reason():
    for row in roles.as_dict():
        for reason in (*row["rules"].values(), *row["hypotheses"].values()):
            assert reason is None or len(reason) > 20
        if row["why_not"] is not None:
            assert {*row["rules"].values(), *row["hypotheses"].values()} == {row["why_not"]}


def test_the_command_shows_the_table(capsys):
    assert cli.main(["roles"]) == 0
    assert capsys.readouterr().out == roles.as_text() + "\n"
    assert cli.main(["roles", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == {"roles": roles.as_dict()}
