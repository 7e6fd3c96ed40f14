"""How the steps of commands are run in this process, and compared with their recordings."""

import contextlib
import io
import json
import os
import re
import shlex
import signal
import sys
import warnings
from pathlib import Path

import golden_data
from comparing import differing_text, leaves, numbers_of, same, same_numbers, shape_of

from perceptive.cli import main

VOLATILE = {"seconds", "memory", "bytes"}  # keys of JSON that say how long and how much


def write_files(folder, steps=()):
    """The data of all cases, and the larger files that these steps name."""
    large = {"large-lists.svm": golden_data.large_lists()} if any("large" in step for step in steps) else {}
    for name, text in {**golden_data.files(), **golden_data.parts("two.svm", 4), **large}.items():
        (folder / name).write_text(text)


def run(line, folder):
    """One command within a folder: its exit code, and what it wrote to standard output and error.

    Standard output is a real file, since the command line asks for its number where it fails.
    """
    before, streams, handler = os.getcwd(), (sys.stdout, sys.stderr), signal.getsignal(signal.SIGTERM)
    environment = dict(os.environ)
    os.chdir(folder)
    os.environ.update(COLUMNS="120", LINES="50", NO_COLOR="1", OPENBLAS_NUM_THREADS="1")
    try:
        with open(".stdout", "w+", encoding="utf-8") as out, open(".stderr", "w+", encoding="utf-8") as err:
            sys.stdout, sys.stderr = out, err
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    code = main(shlex.split(line))
                except SystemExit as stop:
                    code = stop.code
            for stream in (out, err):
                with contextlib.suppress(ValueError, io.UnsupportedOperation):
                    stream.flush()
        return code, Path(".stdout").read_text("utf-8"), Path(".stderr").read_text("utf-8")
    finally:
        sys.stdout, sys.stderr = streams
        signal.signal(signal.SIGTERM, handler)
        for name in set(os.environ) - set(environment):
            del os.environ[name]
        os.environ.update(environment)
        os.chdir(before)


def uses_model(step):
    """Whether a step shows what a model says: those of "bad" do not."""
    return not step.startswith("!") and step.split()[0] in OUTPUT


def models_of(steps):
    """The model files that steps use."""
    return sorted({step["step"].split()[1] for step in steps})


def masked(text):
    """A text without times, sizes and speeds."""
    text = re.sub(r"^(time|seconds|memory|bytes)(\s+).*$", r"\1\2…", text, flags=re.MULTILINE)
    text = re.sub(r"[\d,]+ sentences/s", "… sentences/s", text)
    return re.sub(r"[\d.]+ s\b", "… s", text)


def played(step, folder):
    """What is recorded of a step."""
    fails, line = step.startswith("!"), step.lstrip("!")
    code, out, err = run(line, folder)
    told = {"step": step, "code": code}
    if fails:
        return {**told, "traceback": "Traceback" in err, "silent": not err.strip()}
    told["stderr"] = masked(err)
    if "--json" not in line.split():
        return {**told, "text": masked(out)}
    lines = [json.loads(one) for one in out.splitlines()]
    value = lines[0] if len(lines) == 1 else lines
    values = {path: one for path, one in leaves(value).items() if path.rpartition("/")[2] not in VOLATILE}
    return {**told, "values": values, "shape": shape_of(value)}


# ------------------------------------------------------------ comparing

# Keys of JSON that were renamed on purpose since the recording, old to new. A value that only moved to another object
# is found by its name without being told here.
RENAMED = {"scores": "score"}  # of objects that a kernel classifies in two classes: they were a list of one
OUTPUT = ("predict", "tag", "rank")  # commands whose text is data, and no prose


def faults(expected, found, exact):
    """Where a step differs from its recording in exit code or values, as text."""
    line = expected["step"]
    if expected["code"] != found["code"]:
        return [f"{line}: exit code {found['code']}, recorded {expected['code']}; {found.get('stderr', '')}"]
    if "text" in expected:
        exact = exact and "certif" not in line + expected["text"]
        if line.split()[0] in OUTPUT:
            return [f"{line}: {said}" for said in differing_text(expected["text"], found["text"], exact)]
        numbers = numbers_of(expected["text"]), numbers_of(found["text"])
        return [] if same_numbers(*numbers, exact) else [f"{line}: {numbers[1]}, recorded {numbers[0]}"]
    if "values" in expected:
        return [f"{line}: {said}" for said in _differing_values(expected["values"], found["values"], exact)]
    return [f"{line}: {key}" for key in ("traceback", "silent") if expected.get(key) != found.get(key)]


def _differing_values(expected, found, exact):
    moved = {_place(path): value for path, value in found.items()}
    said = []
    for path, value in expected.items():
        wanted = path if path in found else "/".join(RENAMED.get(part, part) for part in path.split("/"))
        precisely = exact and "certificate" not in path and "/bound" not in expected
        if wanted not in found and _place(wanted) not in moved:
            said.append(f"{path} is missing; if it was renamed on purpose, RENAMED is to say so")
            continue
        got = found.get(wanted, moved.get(_place(wanted)))
        if not same(value, got, precisely) and not same(value, [got], precisely):
            said.append(f"{path}: {got!r}, recorded {value!r}")
    return said


def _place(path):
    """The numbers within a path and its last key: what stays when values move to another object."""
    parts = path.split("/")
    return tuple(part for part in parts[:-1] if part.isdigit()), parts[-1]


def rewordings(expected, found, exact):
    """Where a step differs from its recording in its text or in the keys of its JSON."""
    said = []
    for key in ("text", "stderr"):
        if key in expected:
            precisely = exact and "certif" not in expected["step"] + expected[key]
            said += [f"{expected['step']}: {one}" for one in differing_text(expected[key], found[key], precisely)]
    if expected.get("shape") != found.get("shape"):
        said.append(f"{expected['step']}: the shape of JSON is {found.get('shape')}, recorded {expected.get('shape')}")
    return said
