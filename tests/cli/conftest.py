"""Files and models that the tests of commands share."""

import pytest

from command_line import CHUNKS, perceptive, write_rows


@pytest.fixture
def data(tmp_path):
    """A folder with rows to learn from, and rows to test on."""
    write_rows(tmp_path / "train.svm")
    write_rows(tmp_path / "test.svm", seed=1)
    return tmp_path


@pytest.fixture
def model(data):
    """A classifier."""
    perceptive("train", data / "train.svm", "-o", data / "a.model", "--quiet", "--epochs", 5, "--holdout", 0.2)
    return data / "a.model"


@pytest.fixture
def chunks(tmp_path):
    """A folder with sentences."""
    (tmp_path / "train.conll").write_text(CHUNKS * 10)
    return tmp_path
