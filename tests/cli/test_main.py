"""The command line as a whole: help, wrong usage, completion, what it imports, and a process around it."""

import os
import subprocess
import sys

import pytest

from command_line import PERCEPTIVE, perceptive
from perceptive.cli import COMMANDS
from perceptive.cli.options import option_of
from perceptive.parameters import LinearParameters, TrainingParameters


def test_help_of_every_command():
    top = perceptive("--help").stdout
    for name in COMMANDS:
        assert name in top
        help = perceptive(name, "--help").stdout
        assert "example" in help
        assert f"perceptive {name}" in help
    assert "exit codes: 0 done, 1 failed" in " ".join(top.split())
    assert perceptive("--version").stdout.startswith("perceptive ")


def test_wrong_usage():
    perceptive(code=2)
    perceptive("fly", code=2)
    perceptive("train", "a.svm", code=2)
    perceptive("train", "a.svm", "-o", "b", "--rule", "sgd", code=2)
    perceptive("train", "a.svm", "-o", "b", "--every", "soon", code=2)
    perceptive("demo", "--seed", "-1", code=2)


def test_every_declared_parameter_is_an_option():
    help = perceptive("train", "--help").stdout
    for parameters, left_out in ((LinearParameters, {"cost"}), (TrainingParameters, {"progress", "n_jobs"})):
        for name in parameters.__dataclass_fields__:
            assert name in left_out or option_of(name) in help, name


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"]])
def test_help_imports_next_to_nothing(arguments):
    program = f"import sys, perceptive.cli\ntry: perceptive.cli.main({arguments})\nexcept SystemExit: pass\n" \
        "print({'numpy', 'scipy', 'sklearn', 'rich'} & set(sys.modules), file=sys.stderr)"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.strip() == "set()"


def test_commands_import_neither_scipy_nor_scikit_learn(data, model):
    commands = [
        ["train", "train.svm", "-o", "b.model"],
        ["predict", "a.model", "test.svm"],
        ["explain", "a.model", "test.svm", "-o", "why.txt"],
        ["eval", "a.model", "test.svm"],
        ["inspect", "a.model"],
        ["certify", "a.model", "test.svm"],
    ]
    program = f"import sys, perceptive.cli\nfor command in {commands}: perceptive.cli.main(command); " \
        "print(command[0], {'scipy', 'sklearn', 'rich'} & set(sys.modules), file=sys.stderr)"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=data)
    told = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert told == [f"{command[0]} set()" for command in commands], done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    script = perceptive("completion", shell).stdout
    for word in ("train", "-l hypothesis" if shell == "fish" else "--hypothesis", "averaged"):
        assert word in script
    if shell == "bash":
        typed = [(2, "train --rul"), (3, "train --rule pa")]
        for at, words in typed:
            script += f'\nCOMP_WORDS=(perceptive {words}); COMP_CWORD={at}; _perceptive; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == ["--rule", "pa pa1 pa2"]


def test_demo(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    done = perceptive("demo")
    assert "certificate:" in done.stdout
    for name in ("last", "best", "averaged", "voted"):
        assert name in done.stdout


def test_a_reader_that_goes_away(data, model):
    shell = f"{sys.executable} -m perceptive predict {model} {data}/test.svm | head -1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert done.stderr == ""


def test_special_files(data, model):
    os.mkfifo(data / "pipe")
    reader = subprocess.Popen(["cat", str(data / "pipe")], stdout=subprocess.PIPE)
    perceptive("predict", model, data / "test.svm", "-o", data / "pipe")
    assert len(reader.communicate()[0].splitlines()) == 300
    for wrong in (["-o", "pipe"], ["-o", "m", "--cache", "pipe"], ["-o", "m", "--checkpoint", "pipe"]):
        done = perceptive("train", "train.svm", *wrong, code=1, cwd=data)
        assert "pipe: is not a file that can be replaced; give another path" in done.stderr
    for command in ("predict", "eval"):
        done = subprocess.run(
            ["bash", "-c", f"{' '.join(PERCEPTIVE)} {command} {model} {data}/test.svm >&-"],
            capture_output=True,
            text=True,
        )
        assert "Traceback" not in done.stderr
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(PERCEPTIVE)} train - --format svmlight -o {data}/m <&-"],
        capture_output=True,
        text=True,
    )
    assert done.stderr.startswith("perceptive: standard input is closed"), done.stderr


@pytest.mark.parametrize("module", ["argparse", "perceptive.errors", "numpy", "datetime"])
def test_ctrl_c_while_modules_are_imported(module, tmp_path):
    """As a process, which interrupts itself at an import."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder)\n"
    )
    command = [sys.executable, "-m", "perceptive", "train", "a.svm", "-o", "m"]
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n")
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
