"""What ``train`` chooses where its user says nothing, by the kind of the files."""

import json

import pytest

from command_line import perceptive
from perceptive import load_learner

TEXTS = "spam\tbuy buy now\nham\tsee you now\nspam\tbuy it\nham\tyou see\n"
FILES = {
    "texts.tsv": (TEXTS, ["--text"]),
    "texts.jsonl": ("".join(json.dumps(dict(zip(("label", "text"), line.split("\t"), strict=True))) + "\n"
                            for line in TEXTS.splitlines()), []),
    "texts.csv": ("label,body\n" + TEXTS.replace("\t", ","), ["--text-column", "body"]),
    "table.csv": ("label,a\nx,1\ny,2\nx,1\n", []),
    "table.jsonl": ('{"label": "x", "a": 1}\n{"label": "y", "a": 2}\n{"label": "y", "a": 5, "b": 1}\n', []),
    "rows.svm": ("1 1:1\n0 2:3\n", []),
    "rows.vw": ("1 |f a:1\n-1 |f b:3\n", []),
}  # fmt: skip


def trained(folder, name, *options, code=0):
    text, mine = FILES[name]
    (folder / name).write_text(text)
    perceptive("train", name, *mine, "-o", "m", "--quiet", *options, cwd=folder, code=code)
    return load_learner(folder / "m")


@pytest.mark.parametrize("name", ["texts.tsv", "texts.jsonl", "texts.csv"])
def test_texts(tmp_path, name):
    learner = trained(tmp_path, name)
    assert (learner.parameters.rule, learner.parameters.r) == ("arow", 0.1)
    reading = learner.space.format.text
    assert (reading["words"], reading["idf"]) == ((1, 2), True)
    learner = trained(tmp_path, name, "--rule", "perceptron", "--words", "1", "--no-idf")
    assert learner.parameters.rule == "perceptron"
    reading = learner.space.format.text
    assert (reading["words"], reading["idf"]) == ((1, 1), False)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("table.csv", "perceptron"), ("table.jsonl", "perceptron"), ("rows.svm", "arow"), ("rows.vw", "arow")],
)
def test_numbers(tmp_path, name, rule):
    learner = trained(tmp_path, name)
    assert learner.parameters.rule == rule
    assert learner.parameters.bias not in (1.0, "auto")  # the root mean square length of the rows
    assert trained(tmp_path, name, "--bias", 1).parameters.bias == 1.0


def test_other_learners_have_their_own_defaults(tmp_path):
    assert trained(tmp_path, "rows.svm", "--kernel", "poly(2)").parameters.rule == "perceptron"
    (tmp_path / "lists.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    perceptive("train", "lists.svm", "--task", "rank", "-o", "m", "--quiet", cwd=tmp_path)
    assert load_learner(tmp_path / "m").parameters.rule == "perceptron"


def test_a_model_that_goes_on_keeps_what_it_has(tmp_path):
    trained(tmp_path, "rows.svm", "--rule", "pa1", "--bias", 2)
    again = trained(tmp_path, "rows.svm", "--continue", "m")
    assert (again.parameters.rule, again.parameters.bias) == ("pa1", 2)


def test_idf_of_what_arrives_is_that_of_its_first_lines(tmp_path):
    for options in ([], ["--follow"]):
        command = ["train", "-", "--text", "-o", "m", "--bits", 10, *options]
        perceptive(*command, cwd=tmp_path, input=TEXTS)
        learner = load_learner(tmp_path / "m")
        assert len(set(learner.space.idf.tolist())) == 3  # of features that none, one, or two of the texts have
        before = learner.space.idf
        perceptive("train", "-", "--continue", "m", "-o", "n", *options, cwd=tmp_path, input="ham\tsee you later\n")
        assert (load_learner(tmp_path / "n").space.idf == before).all()


SENTENCES = "we O\nsaw O\nRome B-LOC\n\nAnn B-PER\nleft O\nit O\n\n" * 8


@pytest.mark.parametrize("options", [[], ["--template", "ner"], ["--template", "ner", "--margin", 0.5]])
def test_a_preset_brings_its_parameters(tmp_path, options):
    (tmp_path / "names.conll").write_text(SENTENCES)
    told = perceptive("train", "names.conll", "--task", "tag", "-o", "m", "--json", *options, cwd=tmp_path).stdout
    p = load_learner(tmp_path / "m").parameters
    assert (p.rule, p.encoding) == ("perceptron" if "--margin" in options else "pa1", "bioes")
    assert json.loads(told)["training"]["epochs"] <= 10  # few mistakes are left


def test_help_tells_what_presets_bring(tmp_path):
    said = " ".join(perceptive("train", "--help", cwd=tmp_path).stdout.split())
    assert "pa1 to rerank, and to tag with the presets chunking, ner and pos; else perceptron" in said
    assert "(default: 10; 40 to tag by a rule other than perceptron)" in said
    assert "(default: bioes with the presets chunking and ner, else none)" in said


def test_a_batch_that_keeps_away_the_rule_of_a_preset_is_told(tmp_path):
    (tmp_path / "a.conll").write_text("Ada B-PER\nleft O\n")
    train = ("train", tmp_path / "a.conll", "--task", "tag", "--batch", 8, "-o", tmp_path / "m", "--quiet")
    said = "note: --batch 8 is for the perceptron alone, so --rule pa1 is not taken"
    assert perceptive(*train).stderr.count(said) == 1
    assert said not in perceptive(*train, "--rule", "perceptron").stderr
