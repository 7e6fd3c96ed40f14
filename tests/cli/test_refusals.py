"""Options that a task does not take are refused, from the declaration that adds them."""

import pytest

from command_line import perceptive
from perceptive import cli
from perceptive.cli.groups import names_of
from perceptive.cli.tasks import ALWAYS, TASKS

VALUES = {
    "interactions": "all",
    "words": "1-2",
    "chars": "3",
    "every": "5m",
    "class_weight": "balanced",
    "learning_rate": "0.5",
}
NEEDED = {"kernel_classify": ["--kernel", "poly(2)"], "kernel_rank": ["--kernel", "poly(2)"], "rerank": ["--base", "x"]}
OBJECTS = ["--kernel", "spectrum(2)@text"]


def options_of(command):
    """Every option of a command with a value it takes, by its name in the namespace."""
    made = cli.parser([command])
    [commands] = [action for action in made._actions if action.dest == "command"]
    found = {}
    for action in commands.choices[command]._actions:
        if action.option_strings and action.dest not in ("help", "task", "output"):
            value = VALUES.get(action.dest) or (str(list(action.choices)[-1]) if action.choices else "3")
            found[action.dest] = [action.option_strings[-1], *([] if action.nargs == 0 else [value])]
    return found


@pytest.mark.parametrize("entry", TASKS, ids=lambda entry: entry.module)
@pytest.mark.parametrize("objects", [False, True])
def test_what_a_task_does_not_take_is_refused(entry, objects, tmp_path):
    if objects and not entry.of_objects:
        return
    taken = ALWAYS | names_of(entry.of_objects["train"] if objects else entry.takes["train"])
    needed = ["--task", entry.name, *(OBJECTS if objects else NEEDED.get(entry.module, []))]
    refused = 0
    for name, option in options_of("train").items():
        if name in taken or option[0] == "--kernel":
            continue
        done = perceptive("train", tmp_path / "nothing", "-o", tmp_path / "m", *needed, *option, code=2)
        assert option[0].replace("--no-", "--") in done.stderr
        assert "does not go with" in done.stderr
        refused += 1
    assert refused > 5


def test_every_option_belongs_to_a_task():
    for command in ("train", "predict", "rank", "tag", "eval", "inspect", "certify"):
        declared = {name for entry in TASKS for name in names_of(entry.takes.get(command, ()))}
        assert options_of(command).keys() - ALWAYS == declared - ALWAYS


def test_options_of_commands_that_use_a_model(data, model):
    done = perceptive("eval", model, data / "test.svm", "--label-column", 1, code=2)
    assert "--label-column does not go with classifiers; it is for taggers, rerankers" in done.stderr


def test_what_would_be_passed_over_is_refused(chunks, data, model):
    train = chunks / "train.conll"
    learn = ("train", train, "--task", "tag", "-o", chunks / "a.model")
    done = perceptive(*learn, "--on-error", "skip", "--bits", 2, code=2)
    assert "--on-error, --bits do not go with --task tag; they are for --task classify" in done.stderr
    assert "give one of them" in perceptive(*learn, "--dev", train, "--holdout", 0.1, code=2).stderr
    (data / "lists.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n" * 3)
    rank = ("train", data / "lists.svm", "--task", "rank", "-o", data / "r.model", "--quiet")
    perceptive(*rank)
    told = perceptive(*rank, "--continue", data / "r.model", "--zero-based", code=2).stderr
    assert "keeps the parameters that it was trained with; leave out --zero-based" in told
    told = perceptive(*rank, "--continue", data / "r.model", "--certify", code=2).stderr
    assert "--certify needs all examples of a run" in told
    told = perceptive("train", data / "train.svm", "-o", data / "b.model", "--continue", model, "--certify", code=2)
    assert "--certify needs all examples of a run" in told.stderr
    assert "is a classifier; give --task classify" in perceptive(*rank, "--continue", model, code=2).stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--C", 0.1], "--C has no effect with --rule arow; it is for pa1, pa2, mira"),
        (["--rule", "pa1", "--r", 2], "--r has no effect with --rule pa1; it is for arow"),
        (["--rule", "arow", "--margin", 1], "--margin has no effect with --rule arow; it is for perceptron"),
        (["--rule", "pa", "--learning-rate", 1], "--learning-rate has no effect with --rule pa"),
    ],
)
def test_what_the_rule_does_not_heed_is_refused(data, options, told):
    assert told in perceptive("train", data / "train.svm", "-o", data / "x", *options, code=2).stderr
    assert not (data / "x").exists()


@pytest.mark.parametrize(
    ("option", "needed"), [(["--patience", "3"], ["--holdout", "0.5"]), (["--mixing", "mistakes"], ["--shards", "2"])]
)
def test_what_has_nothing_to_do_is_refused(option, needed, tmp_path):
    (tmp_path / "a.svm").write_text("0 1:1\n1 2:1\n" * 4)
    done = perceptive("train", "a.svm", *option, "-o", "m", cwd=tmp_path, code=2)
    assert f"{option[0]} has no effect without {needed[0]}" in done.stderr
    perceptive("train", "a.svm", *option, *needed, "-o", "m", "--quiet", cwd=tmp_path)


@pytest.mark.parametrize(
    ("command", "option", "told"),
    [
        (
            "predict",
            ["--unlabelled"],
            "--unlabelled is about lines of text, and these are svmlight files; leave it out",
        ),
        ("explain", ["--unlabelled"], "--unlabelled is about lines of text"),
        ("eval", ["--quote", "none"], "--quote: this means nothing in svmlight files; leave it out"),
    ],
)
def test_what_the_files_of_a_model_do_not_heed_is_refused(data, model, command, option, told):
    assert told in perceptive(command, model, data / "test.svm", *option, code=2).stderr


def test_what_kernels_of_objects_do_not_take_is_refused(tmp_path):
    path, model = tmp_path / "a.jsonl", tmp_path / "m"
    path.write_text('{"text": "aa", "label": 1}\n{"text": "bb", "label": 2}\n' * 4)
    perceptive("train", path, *OBJECTS, "-o", model, "--quiet")
    for command in ("predict", "explain", "eval", "certify"):
        for option in (["--threads", 2], ["--quote", "none"]):
            told = perceptive(command, model, path, *option, code=2).stderr
            assert f"{option[0]} does not go with kernel classifiers of strings and trees; leave it out" in told
        perceptive(command, model, path, "--on-error", "skip")
    lists, ranker = tmp_path / "b.jsonl", tmp_path / "r"
    lists.write_text('{"candidates": ["aa", "bb"], "best": 0}\n' * 4)
    perceptive("train", lists, "--task", "rank", "--kernel", "spectrum(2)", "-o", ranker, "--quiet")
    for command in ("rank", "explain", "eval", "certify"):
        assert "of strings and trees" in perceptive(command, ranker, lists, "--threads", 2, code=2).stderr
        perceptive(command, ranker, lists)
