"""Windows of files that memory does not hold: samples of the whole, whatever its order."""

import numpy as np

from perceptive import LinearClassifier
from perceptive.training.blocks import RowBlocks


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
