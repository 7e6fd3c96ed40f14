"""Windows of files that memory does not hold: samples of the whole, whatever its order."""

import numpy as np

from perceptive import LinearClassifier
from perceptive.training.blocks import RowBlocks
from perceptive.training.windows import block_sizes, come_in_runs


def test_a_window_of_a_sorted_file_has_each_class_in_its_share(tmp_path, monkeypatch):
    """Of 2 MB only: a class of 3 % is missing from no window, and no window has twice as much of it."""
    shares = {0: 0.5, 1: 0.3, 2: 0.17, 3: 0.03}
    lines = [
        f"{c} 1:{i % 7}.25 2:{i % 11}.5 3:{c}.75 {4 + i % 90}:1\n"
        for c, share in shares.items()
        for i in range(int(60_000 * share))
    ]
    (tmp_path / "sorted.svm").write_text("".join(lines))
    found = []
    dataset = RowBlocks.dataset

    def noted(self, learner, ready, grow=True):
        found.append(np.bincount(ready[1].which, minlength=4) / len(ready[1].which))
        return dataset(self, learner, ready, grow)

    monkeypatch.setattr(RowBlocks, "dataset", noted)
    LinearClassifier(epochs=2).fit_stream(str(tmp_path / "sorted.svm"), memory=2 << 20)
    assert len(found) >= 4
    assert np.allclose(found, [*shares.values()], atol=0.025)


def test_a_window_has_almost_all_of_many_labels_that_come_in_runs(tmp_path, monkeypatch):
    """One epoch and several."""
    labels = np.arange(60_000) // 600
    found, dataset = [], RowBlocks.dataset

    def noted(self, learner, ready, grow=True):
        found.append(len(np.unique(ready[1].which)))
        return dataset(self, learner, ready, grow)

    monkeypatch.setattr(RowBlocks, "dataset", noted)
    for name, order in (("sorted", labels), ("shuffled", np.random.default_rng(0).permutation(labels))):
        rows = (f"{c} 1:{i % 7}.25 2:{i % 11}.5 {3 + c}:0.75 {200 + i % 90}:1\n" for i, c in enumerate(order.tolist()))
        (tmp_path / f"{name}.svm").write_text("".join(rows))
        for epochs in (1, 2):
            found.clear()
            LinearClassifier(epochs=epochs).fit_stream(str(tmp_path / f"{name}.svm"), memory=4 << 20)
            assert len(found) >= 2
            assert min(found) >= 90


def test_sizes_of_blocks():
    assert block_sizes(32 << 20, 1 << 20) == (1 << 20, 32 << 20, 32 << 20)  # surely one window
    assert block_sizes(32 << 20, 1 << 30) == (1 << 20, 1 << 18, 1 << 15)
    assert block_sizes(32 << 20, 1 << 33) == (1 << 20, 1 << 18, 1 << 17)  # places of blocks take memory, too
    assert block_sizes(32 << 20, 1 << 40) == (1 << 20, 1 << 18, 1 << 18)
    assert block_sizes(60_000, 1 << 20) == (1875, 1 << 14, 1 << 14)


def test_labels_that_come_in_runs():
    rng = np.random.default_rng(0)
    rare = (rng.random(10_000) < 0.001).astype(int)
    assert not come_in_runs(rare)
    assert come_in_runs(np.sort(rare))
    assert not come_in_runs(rng.permutation(5000))
    assert come_in_runs(np.repeat(rng.permutation(500), 10))
    assert come_in_runs(np.zeros(9, int))
