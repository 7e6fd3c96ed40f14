"""The README's examples run, one after the other."""

import gzip
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file, load_breast_cancer

README = Path(__file__).parents[2] / "README.md"


def test_commands_run(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    for name in ("train.svm", "test.svm", "events.svm"):
        dump_svmlight_file(X, 2 * y - 1, str(tmp_path / name), zero_based=False)
    (tmp_path / "SMSSpamCollection").write_text("ham\thello you\nspam\twin a prize\n" * 9)
    (tmp_path / "inbox.txt").write_text("win\nhello\n")
    sentence = "When WRB O\nwill MD O\nprof NN B-NP\nCohen NNP I-NP\npost VB O\n\n"
    (tmp_path / "train.conll").write_text(sentence * 5)
    (tmp_path / "new.conll").write_text("prof NN\nCohen NNP\n\n")
    (tmp_path / "letor.svm").write_text("2 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:2 2:1\n0 qid:2 2:2\n")
    (tmp_path / "movies.csv").write_text("one,A,B,profit\n1,1,1,-\n1,3,2,+\n")
    (tmp_path / "spelled.jsonl").write_text('{"candidates": ["recieve", "receive"], "best": 1}\n')
    found = re.findall(r"```sh\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    commands = [line.split(" #")[0].replace("tail -f", "cat") for block in found for line in block.splitlines()]
    assert len(commands) >= 8
    program = f'"{sys.executable}" -m perceptive'
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", re.sub(r"\bperceptive\b", program, command)], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, (command, done.stderr)


def test_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = load_breast_cancer(return_X_y=True)
    dump_svmlight_file(X, 2 * y - 1, "train.svm", zero_based=False)
    with gzip.open("train.svm.gz", "wb") as file:
        file.write(Path("train.svm").read_bytes())
    dicts = [{f"f{j}": value for j, value in enumerate(row)} for row in X]
    names = {"X": X, "y": y, "X_new": X[:5], "dicts": dicts}
    names |= {"sentences": [[("prof", "NN"), ("Cohen", "NNP"), ("post", "VB")]] * 4, "tags": [["B", "I", "O"]] * 4}
    names |= {"X_batch": dicts[:9], "y_batch": np.array(["spam", "ham", "eggs"] * 3)}
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= 5
    for block in blocks:
        if "streams.open" in block:
            names["clf"] = names["LinearClassifier"]()
        exec(block, names)
    assert Path("digits.model").exists()
