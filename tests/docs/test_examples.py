"""The examples run, and the picture of a trellis can be drawn."""

import runpy
from pathlib import Path

import pytest

from perceptive import SequenceTagger

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_records(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["records.py", "--test", "100"])
    runpy.run_path(str(EXAMPLES / "records.py"), run_name="__main__")
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if " records " in line]
    assert len(rows) == 5
    assert all(float(score) > 97 for score in rows[-1][2:])


def test_the_trellis_is_drawn(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    from perceptive.plots import plot_trellis

    X, y = [["tell", "Ziv", "William"]], [["O", "B", "B"]]
    tagger = SequenceTagger(template="shape\n@label[-1]").fit(X, y)
    axes = plot_trellis(tagger.learner_, X[0])
    assert [label.get_text() for label in axes.get_xticklabels()] == X[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == tagger.classes_
    best = axes.get_lines()[-1]
    assert [tagger.classes_[int(i)] for i in best.get_ydata()] == tagger.predict(X)[0]
    with pytest.raises(ValueError, match="empty sentence"):
        plot_trellis(tagger.learner_, [])
