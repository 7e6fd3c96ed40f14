"""What is wrong with parameters is told in options that exist."""

import ast
import inspect
import re
from dataclasses import fields
from itertools import combinations

import pytest

from command_line import perceptive
from perceptive import cli
from perceptive import parameters as p
from perceptive.cli.options import as_option, option_of
from perceptive.errors import Parameter, ParameterError

# Values that the command line can give; an option that is not given is None, or the parameter's default.
VALUES = (-1, 0, 1, 2.5, 40, 2**40, float("nan"), "x", None)
WITHOUT_OPTION = {"cache_size", "normalized", "n_jobs", "progress", "probability", "warm_start"}


def options_of_train():
    made = cli.parser(["train"])
    [commands] = [action for action in made._actions if action.dest == "command"]
    return {word for action in commands.choices["train"]._actions for word in action.option_strings}


def refusals(cls):
    """Every error that one value or two can raise, with the values."""
    tried = {}
    for f in fields(cls):
        if f.name in WITHOUT_OPTION or (cls in (p.LinearParameters, p.KernelParameters) and f.name == "cost"):
            continue
        tried[f.name] = [True, False] if f.type == "bool" else [*(f.metadata["choices"] or ()), *VALUES]
    single = [{name: value} for name, values in tried.items() for value in values]
    sound = []
    for given in single:
        try:
            cls(**given)
            sound.append(given)
        except ParameterError as error:
            yield error
    for one, other in combinations(sound, 2):
        if one.keys() != other.keys():
            try:
                cls(**one, **other)
            except ParameterError as error:
                yield error


@pytest.mark.parametrize(
    ("name", "text", "arguments"),
    [
        ("a.txt", "no label here\n", ["--text"]),
        ("a.svm", "1 0:1\n", []),
        ("a.svm", "1 9:1\n", ["--features", "8"]),
        ("a.svm", "1 1:1e300\n-1 1:-1e300\n", ["--kernel", "poly(3)"]),
        ("a.conll", "a B\nb O\n\n", ["--task", "tag", "--template", "t"]),
        ("a.conll", "a B\nb O\n\n", ["--task", "tag", "--segments", "--template", "u"]),
    ],
)
def test_what_is_wrong_with_files_is_told_without_arguments_of_python(tmp_path, name, text, arguments):
    (tmp_path / name).write_text(text)
    (tmp_path / "t").write_text("segment in(places)\n@label[-1]\n")
    (tmp_path / "u").write_text("word\n@label[-2]\n")
    done = perceptive("train", name, *arguments, "-o", "m", cwd=tmp_path, code=None)
    assert done.returncode in (1, 2)
    assert not re.search(r"\b[a-z_]+=|True|False|None", done.stderr), done.stderr


TASKS = {
    p.LinearParameters: "classify",
    p.KernelParameters: "classify",
    p.RankingParameters: "rank",
    p.KernelRankingParameters: "rank",
    p.SequenceParameters: "tag",
    p.TrainingParameters: "classify",
}


@pytest.mark.parametrize("cls", TASKS)
def test_only_options_that_exist_are_named(cls):
    known = options_of_train()
    for error in refusals(cls):
        worded = error.worded(lambda parameter: as_option(parameter, TASKS[cls]))
        named = set(re.findall(r"(?<!\S)--[\w-]+", worded))
        assert named, worded
        assert named <= known, worded
        for parameter in error.parameters:
            assert f"{parameter.name}=" not in worded


def test_every_message_was_tried():
    """The errors above are all that parameters.py can raise, but for those about a matrix of costs."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(p))) if isinstance(node, ast.Call)]
    raised = {call.args[0].value for call in calls if getattr(call.func, "id", "") == "ParameterError"}
    tried = {error.message for cls in TASKS for error in refusals(cls)}
    assert raised - tried == {"{} does not go with {}; choose {}, or {}"}
    assert {one.split("must be")[0] for one in tried - raised} == {"{}: it "}


def test_parameters_without_an_option_have_none():
    known = options_of_train()
    for name in WITHOUT_OPTION:
        assert option_of(name) not in known


@pytest.mark.parametrize(
    ("parameter", "task", "words"),
    [
        (Parameter("rule", "arow"), None, "--rule arow"),
        (Parameter("segments", True), "tag", "--segments"),
        (Parameter("shuffle", False), None, "--no-shuffle"),
        (Parameter("budget", None), None, "no --budget"),
        (Parameter("constraints", None), "tag", "--constraints none"),
        (Parameter("cost"), "rank", "--pair-cost"),
        (Parameter("cost", None), "rerank", "no --pair-cost"),
        (Parameter("cost", None), "tag", "--cost none"),
        (Parameter("validation_fraction", 1.5), None, "--holdout 1.5"),
    ],
)
def test_words(parameter, task, words):
    assert as_option(parameter, task) == words


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--rule", "pa", "--margin", "1"], "--margin has no effect with --rule pa; it is for perceptron"),
        (["--delta", "1", "--rule", "arow"], "--delta does not go with --rule arow; choose another rule, or --delta 0"),
        (["--holdout", "2"], "--holdout 2.0: it must be in [0, 1)"),
        (["--task", "rank", "--delta", "1", "--pair-cost", "grade"], "--delta does not go with --pair-cost"),
        (["--task", "tag", "--max-segment", "3"], "--max-segment needs --segments"),
        (["--task", "tag", "--segments", "--constraints", "none"], "--constraints none does not go with --segments"),
        (["--kernel", "linear", "--budget", "3", "--hypothesis", "voted"], "or no --budget"),
    ],
)
def test_the_command_line_words_errors(options, told, tmp_path, capsys):
    data = tmp_path / "a.svm"
    data.write_text("1 1:1\n-1 2:1\n" if "tag" not in options else "a B-X\n\n")
    if "rank" in options:
        data.write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    assert cli.main(["train", str(data), "-o", str(tmp_path / "m"), *options]) == 2
    assert told in capsys.readouterr().err


def test_a_value_may_hold_braces():
    with pytest.raises(ParameterError, match=r"rule='\{\}': it must be one of"):
        p.LinearParameters(rule="{}")
