"""What a tagger's files decide: its preset, its columns, and what is repaired; in every way that files may come."""

import pytest

from command_line import perceptive
from perceptive import load_learner

NAMES = "Ada N B-PER\nByron N I-PER\nmet V O\n\nin P O\nRome N B-LOC\n. . O\n\nshe P O\nleft V O\n\n" * 20


def train(*data, model, **more):
    done = perceptive("train", *data, "--task", "tag", "-o", model, "--quiet", **more)
    return load_learner(model), done.stderr


# ---------------------------------------------------------------- labels that break their scheme


@pytest.mark.parametrize("how", [(), ("--follow",)])
def test_labels_are_repaired_where_a_model_goes_on(tmp_path, how):
    files, model = tmp_path / "a.conll", tmp_path / "a.model"
    files.write_text(NAMES)
    train(files, model=model)
    files.write_text("met V O\nAda N I-PER\n\n")
    learner, said = train(files, "--continue", model, *how, model=model)
    assert f"warning: {files}:2: label 'I-PER' may not stand here in the scheme 'bio'; they are read as" in said
    assert learner.given == "bio"
    refused = ("train", files, "--task", "tag", "-o", model, "--quiet", "--continue", model, *how, "--repair", "error")
    assert f"{files}:2: label 'I-PER' may not stand here" in perceptive(*refused, code=1).stderr
