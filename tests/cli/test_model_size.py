"""A model file holds what was learned, not the width of the hash; classes that come unannounced cost their own size."""

import os
import time

import numpy as np
import pytest

from perceptive import load_learner
from perceptive.cli import main


@pytest.fixture
def table(tmp_path):
    rng, lines = np.random.default_rng(0), ["kind,island,length,depth"]
    for i in range(150):
        lines.append(f"{'abc'[i % 3]},{'xyz'[i % 3]},{rng.normal(40 + i % 3):.1f},{rng.normal(17 - i % 3):.1f}")
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "table.csv"


def test_ten_features_are_a_small_file(table, tmp_path):
    assert main(["train", str(table), "--label", "kind", "-o", str(tmp_path / "model")]) == 0
    assert os.path.getsize(tmp_path / "model") <= 50_000
    model = str(tmp_path / "model")
    assert main(["train", str(table), "--label", "kind", "--continue", model, "-o", model]) == 0
    assert os.path.getsize(tmp_path / "model") <= 50_000


def test_many_classes_that_nobody_announced(tmp_path):
    """Ninety classes, as they come, take as long as ninety that are known, and their model is small."""
    rng, lines = np.random.default_rng(0), []
    for _ in range(1800):
        k = int(rng.integers(90))
        words = [f"w{k}_{rng.integers(20)}" for _ in range(8)]
        lines.append(f"l{k:02}\t" + " ".join(words))
    (tmp_path / "texts.tsv").write_text("\n".join(lines) + "\n")
    classes = ",".join(f"l{k:02}" for k in range(90))

    def seconds(*options):
        begin = time.process_time()
        assert main(["train", str(tmp_path / "texts.tsv"), "--text", "-o", str(tmp_path / "model"), *options]) == 0
        return time.process_time() - begin

    seconds()
    unannounced = min(seconds() for _ in range(3))
    assert os.path.getsize(tmp_path / "model") <= 3_000_000
    model = load_learner(tmp_path / "model")
    assert model.classes == sorted(model.classes)
    announced = min(seconds("--classes", classes) for _ in range(3))
    assert unannounced < 2.0 * announced + 0.2
