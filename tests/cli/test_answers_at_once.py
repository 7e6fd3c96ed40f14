"""What comes through a pipe is answered as it comes; and what train says of odd files."""

import subprocess
import sys

import pytest

from perceptive.cli import main

ROWS = {"csv": ("a,b\n", "1,x\n", "0,y\n"), "jsonl": ("", '{"a": 1, "b": "x"}\n', '{"a": 0, "b": "y"}\n')}


@pytest.mark.parametrize("kind", ROWS)
def test_predictions_come_while_the_pipe_is_open(kind, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,label\n" + "1,x,yes\n0,y,no\n" * 9)
    assert main(["train", str(tmp_path / "t.csv"), "-o", str(tmp_path / "m")]) == 0
    header, *lines = ROWS[kind]
    words = [sys.executable, "-m", "perceptive", "predict", str(tmp_path / "m"), "-"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        try:
            process.stdin.write(header)
            for line, answer in zip(lines * 2, ["yes", "no"] * 2, strict=True):
                process.stdin.write(line)
                process.stdin.flush()
                assert process.stdout.readline().split()[0] == answer
            process.stdin.close()
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()


def test_a_model_that_goes_on_refuses_text(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b,label\n" + "1,x,yes\n0,y,no\n" * 9)
    model = str(tmp_path / "m")
    assert main(["train", str(tmp_path / "t.csv"), "-o", model]) == 0
    assert main(["train", str(tmp_path / "t.csv"), "--continue", model, "--text", "-o", model]) == 2
    assert "leave out --text" in " ".join(capsys.readouterr().err.split())


def test_a_table_of_labels_alone_is_noted(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("label\n" + "yes\nno\n" * 9)
    assert main(["train", str(tmp_path / "t.csv"), "-o", str(tmp_path / "m")]) == 0
    assert "there are no features" in " ".join(capsys.readouterr().err.split())
