"""JSON has one shape for all tasks: that of docs/reference/json.md."""

import json

import pytest

from command_line import perceptive, write_lists, write_rows, write_sentences

NUMBER = (int, float)
COUNTS = {"examples": int, "skipped": int, "unanswered": int}
CERTIFICATE = {
    "mistakes": int, "updates": int, "rounds": int, "bound": (*NUMBER, None), "bounds": str, "theorem": str,
    "radius": NUMBER, "margin": (*NUMBER, None), "deviation": (*NUMBER, None), "witness": str, "separable": bool,
    "hypothetical": bool, "first_epoch_error": (*NUMBER, None), "holds": bool, "text": str,
}  # fmt: skip
HEAD = {"command": str, "task": str, "model": str}
LEARNER = {
    "rule": str, "hypothesis": str, "features": (int, None), "played": int, "rounds": int, "mistakes": int,
    "updates": int,
}  # fmt: skip
TRAINING = {
    "epochs": int, "mistakes": [int], "updates": [int], "loss": [NUMBER], "held_out": [NUMBER], "metric": (str, None),
    "converged": bool,
}  # fmt: skip
SECONDS = {"computing": float, "waiting": float, "mixing": float, "transferring": float}  # of an epoch of shards
WEIGHTED = {"weighted_updates": float, "weighted_mistakes": float, "weighted_rounds": float}
PRUNING = {"threshold": NUMBER, "precision": (str, None), "before": (float, None), "after": (float, None)}
SHAPES = {
    "train": {
        **HEAD, "data": COUNTS, "learner": LEARNER, "training": TRAINING,
        "tuning": ([{"choice": dict, "epochs": int, "score": NUMBER}], None), "certificate": (CERTIFICATE, None),
        "pruning": (PRUNING, None),
        "notes": [str], "seconds": float, "memory": int, "bytes": int,
    },
    "eval": {**HEAD, "data": COUNTS, "metrics": dict},
    "inspect": {
        **HEAD, "learner": LEARNER,
        "weights": [{"class": object, "features": [{"name": (str, None), "weight": NUMBER}]}],
    },
    "certify": {**HEAD, "certificate": CERTIFICATE},
}  # fmt: skip

SPACE = {"format", "bits", "names", "collisions"}
RERANK = ["--task", "rerank", "--base", "base.model", "--folds", "2", "--candidates", "3"]
KERNEL = {"kernel", "budget", "classes", "supports"} | SPACE
RANKER = {"pairs", "cost"} | SPACE
# The files, the options of train, the command that predicts, and what data and learner have besides.
TASKS = {
    "classify": ("rows.svm", [], "predict", set(), {"classes"} | SPACE),
    "classify-many": ("four.svm", ["--multiclass", "ovo"], "predict", set(), {"classes"} | SPACE),
    "kernel-classify": ("rows.svm", ["--kernel", "poly(2)"], "predict", set(), KERNEL),
    "objects": ("objects.jsonl", ["--kernel", "spectrum(2)@text"], "predict", set(), KERNEL),
    "rank": ("lists.svm", ["--task", "rank"], "rank", {"candidates"}, RANKER),
    "kernel-rank": (
        "lists.svm", ["--task", "rank", "--kernel", "poly(2)"], "rank", {"candidates"}, {"kernel", "supports"} | RANKER,
    ),
    "tag": ("sentences.conll", ["--task", "tag"], "tag", {"tokens"}, {"classes", "scheme", "label_column"}),
    "rerank": ("sentences.conll", RERANK, "tag", {"tokens", "lists"}, {"k", "lookback", "oracle", "classes"} | RANKER),
}  # fmt: skip
LINES = {
    "predict": [{"label"}, {"label", "score"}, {"label", "scores"}],
    "rank": [{"order", "scores"}, {"qid", "order", "scores"}],
    "tag": [{"tokens", "labels"}],
}
METRICS = {
    "predict": {"accuracy", "macro_f1", "auc", "log_loss"},
    "rank": {"top1", "mrr", "map", "ndcg", "ndcg@10"},
    "tag": {"accuracy", "precision", "recall", "f1", "phrases", "found", "correct"},
}
DETAILS = {"predict": {"classes", "confusion"}, "rank": set(), "tag": {"types"}}


def faults(shape, value, where="", more=()):
    """Where a value is not of a shape; keys beyond it are allowed where ``more`` names them."""
    if isinstance(shape, tuple):
        return [] if any(not faults(one, value) for one in shape) else [f"{where}: {value!r}"]
    if shape is None:
        return [] if value is None else [f"{where}: {value!r}"]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{where}: {value!r}"]
        return [said for i, one in enumerate(value) for said in faults(shape[0], one, f"{where}/{i}", more)]
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f"{where}: {value!r}"]
        lost = [f"{where}/{key} is missing" for key in shape if key not in value]
        both = [faults(shape[key], value[key], f"{where}/{key}", more) for key in shape if key in value]
        return lost + [said for part in both for said in part]
    good = isinstance(value, shape) and not (isinstance(value, bool) and shape in (int, float))
    return [] if good else [f"{where}: {value!r}"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    write_rows(folder / "rows.svm")
    write_rows(folder / "four.svm", classes=4)
    write_lists(folder / "lists.svm")
    write_sentences(folder / "sentences.conll")
    rows = [{"text": "abab" if i % 2 else "cdcd", "label": i % 2} for i in range(12)]
    (folder / "objects.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    perceptive("train", "sentences.conll", "--task", "tag", "-o", "base.model", "--quiet", cwd=folder)
    return folder


@pytest.mark.parametrize("task", TASKS)
def test_every_command_has_its_shape(folder, task):
    data, options, command, counts, facts = TASKS[task]
    name = options[options.index("--task") + 1] if "--task" in options else "classify"
    certify, holdout = ["--certify"], [] if task == "rerank" else ["--holdout", "0.2"]

    def told(*arguments):
        [line] = perceptive(*arguments, "--json", cwd=folder).stdout.splitlines()
        value = json.loads(line)
        assert faults(SHAPES[arguments[0]], value) == []
        assert (value["command"], value["task"]) == (arguments[0], name)
        return value

    tune = [] if task == "rerank" else ["--tune"]
    for more in ([], certify, holdout, tune):
        value = told("train", data, "-o", "m", "--epochs", "3", *options, *more)
        assert value.keys() == SHAPES["train"].keys()
        assert value["data"].keys() == COUNTS.keys() | counts
        assert value["learner"].keys() == LEARNER.keys() | facts
        assert value["training"].keys() == TRAINING.keys()
        assert len(value["training"]["mistakes"]) == value["training"]["epochs"]
        assert (value["training"]["metric"] is not None) == bool(more and more == holdout)
        assert value["certificate"] is not None or more != certify
        assert (value["tuning"] is not None) == bool(more and more == tune)
    evaluated = told("eval", "m", data)
    assert evaluated.keys() == SHAPES["eval"].keys() | DETAILS[command]
    assert evaluated["metrics"].keys() == METRICS[command]
    inspected = told("inspect", "m", "--top", "2")
    assert inspected["learner"].keys() == LEARNER.keys() | facts
    assert inspected["model"] == "m"
    assert told("certify", "m", data).keys() == SHAPES["certify"].keys()
    lines = [json.loads(line) for line in perceptive(command, "m", data, "--json", cwd=folder).stdout.splitlines()]
    assert len(lines) == evaluated["data"]["examples"]
    assert all(line.keys() in LINES[command] for line in lines)


@pytest.mark.parametrize("task", ["classify", "classify-many", "rank", "tag", "rerank"])
def test_shards_have_times_and_weighted_counts(folder, task):
    data, options, _, _, _ = TASKS[task]
    how = ["--epochs", "3", "--shards", "2", "--certify", "--json", *options]
    value = json.loads(perceptive("train", data, "-o", "shards", *how, cwd=folder).stdout)
    assert faults({**SHAPES["train"], "training": {**TRAINING, "seconds": [SECONDS]}}, value) == []
    assert value["training"].keys() == TRAINING.keys() | {"seconds"}
    assert all(epoch.keys() == SECONDS.keys() for epoch in value["training"]["seconds"])
    assert len(value["training"]["seconds"]) == value["training"]["epochs"]
    assert value["certificate"].keys() - CERTIFICATE.keys() <= WEIGHTED.keys()
    known = {name: kind for name, kind in WEIGHTED.items() if name in value["certificate"]}
    assert "weighted_updates" in known
    assert faults(known, value["certificate"]) == []
