"""The tables of the notes to the digit, and the lemmas in every row of random runs."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_line import perceptive
from perceptive import trace
from perceptive.cli import main
from perceptive.learners import KernelLearner, LinearLearner
from perceptive.parameters import KernelParameters, LinearParameters, RankingParameters, SequenceParameters
from perceptive.tracing import COLUMNS

pytestmark = pytest.mark.core

MOVIES = [[1, 1, 1], [1, 3, 2], [1, 2, 4], [1, 3, 4], [1, 2, 3]]
PROFIT = [-1, 1, 1, 1, -1]
X4 = [[1, 1], [0, 3], [1, -1], [3, 0], [-1, 1], [0, -3], [-1, -1], [-3, 0]]
Y4 = [1, -1, 1, -1, 1, -1, 1, -1]
NOTES_001 = [
    ["step", "weights", "score", "correct?"],
    ["1", "[-1, 0, 0]", "-1·1 + 0·1 + 0·1 = -1", "yes"],
    ["2", "[-1, 0, 0]", "-1·1 + 0·3 + 0·2 = -1", "no"],
    ["3", "[0, 3, 2]", "0·1 + 3·2 + 2·4 = 14", "yes"],
    ["4", "[0, 3, 2]", "0·1 + 3·3 + 2·4 = 17", "yes"],
    ["5", "[0, 3, 2]", "0·1 + 3·2 + 2·3 = 12", "no"],
]
NOTES_000 = [
    ["step", "guess", "input", "result"],
    *([str(i), guess, f"x{i}", result] for i, (guess, result) in enumerate(
        [("v0", "X"), ("v1", "✓"), ("v1", "✓"), ("v1", "X"), ("v2", "✓"), ("v2", "✓"), ("v2", "✓"), ("v2", "X"),
         ("v3", "✓"), ("v3", "X")], 1,
    )),
]  # fmt: skip
# Ten examples on which the perceptron errs where the table of 000 does: 1, 4, 8 and 10.
TEN = [[-1, -1], [-1, -1], [-2, 0], [-1, 1], [2, 1], [0, -1], [0, -2], [1, -2], [2, 1], [1, 0]]
TEN_Y = [1, 1, 1, -1, -1, 1, 1, -1, -1, 1]


def movies():
    return trace(LinearParameters(bias=0.0, ties="positive"), MOVIES, PROFIT, initial=[-1, 0, 0])


def test_the_table_of_001():
    table = movies()
    assert table.cells(["step", "weights", "score", "correct"]) == NOTES_001
    assert table.weights == [-1, 1, -1]
    assert table.text().endswith("final weights: [-1, 1, -1]")


def test_the_table_of_000():
    table = trace(LinearParameters(bias=0.0), TEN, TEN_Y)
    assert table.cells(["step", "guess", "input", "result"]) == NOTES_000
    assert table.k == 4
    survivals = np.bincount([row.k for row in table.rounds], minlength=5)
    assert survivals.tolist() == [1, 3, 4, 2, 0]


def test_question_4_of_001_primal_and_dual():
    primal = trace(LinearParameters(bias=0.0), X4, Y4, initial=[1, 1])
    dual = trace(KernelParameters(kernel="linear"), X4, Y4, initial=[1] + [0] * 7)
    wrong = [row.step for row in dual.rounds if not row.correct]
    assert wrong[:2] == [2, 4]
    assert wrong == [row.step for row in primal.rounds if not row.correct]
    assert primal.rounds[2].weights == [1, -2]
    assert primal.rounds[4].weights == [-2, -2]
    assert dual.rounds[2].weights == [1, -1, 0, 0, 0, 0, 0, 0]
    assert dual.rounds[4].weights == [1, -1, 0, -1, 0, 0, 0, 0]
    assert [row.score for row in dual.rounds] == [row.score for row in primal.rounds]
    assert [row.length2 for row in dual.rounds] == [row.length2 for row in primal.rounds]
    assert dual.rounds[4].spelled == "1·0 + -1·3 + -1·-3"


def test_joint_is_spelled_by_class():
    table = trace(LinearParameters(bias=1.0), X4, list("abcabcab"), u=[[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    last = table.rounds[-1]
    assert last.example == [-3, 0, 1]
    assert last.score == [-6, 3, 3]
    assert np.shape(last.weights) == (3, 3)
    assert last.length2 <= last.length2_most
    assert last.along >= last.along_least
    kernel = trace(KernelParameters(kernel="linear", bias=1.0), X4, list("abcabcab"))
    assert [row.score for row in kernel.rounds] == [row.score for row in table.rounds]


def test_lists():
    table = trace(RankingParameters(), [[[1, 0], [0, 1]], [[2, 0], [0, 1], [1, 1]]], [1, 1], u=[0, 2])
    assert [(row.prediction, row.correct) for row in table.rounds] == [(0, False), (1, True)]
    assert table.weights == [-1, 1]
    assert table.margin == 0
    assert [row.along for row in table.rounds] == [0, 1]
    assert table.radius == pytest.approx(np.sqrt(2))


def test_one_tagged_sentence():
    parameters = SequenceParameters(template="word\n@label[-1]")
    table = trace(parameters, [["tell", "Ziv"]], [["O", "B"]], epochs=2)
    first, second = table.rounds
    assert first.weights == {}
    assert first.prediction == ["O", "O"]
    assert second.weights == {
        "@label[-1]|O → B": 1, "@label[-1]|O → O": -1, "word[0] = Ziv|B": 1, "word[0] = Ziv|O": -1,
    }  # fmt: skip
    assert second.correct
    assert (second.length2, second.length2_most) == (4, 4)


def test_a_target_for_every_kind():
    words = {"word[0] = tell|O": 1.0, "word[0] = Ziv|B": 1.0}
    sentences = [["tell", "Ziv"], ["Ziv", "tell"]]
    table = trace(
        SequenceParameters(template="word\n@label[-1]"), sentences, [["O", "B"], ["B", "O"]], u=words, epochs=4
    )
    assert table.k == 1
    assert table.margin == pytest.approx(np.sqrt(0.5))
    dual = trace(KernelParameters(kernel="linear", bias=1.0), X4, list("abcabcab"), u=np.eye(8, 3), epochs=2)
    joint = trace(LinearParameters(bias=1.0), X4, list("abcabcab"), u=np.column_stack([X4, np.ones(8)])[:3], epochs=2)
    for row in [*table.rounds, *dual.rounds, *joint.rounds]:
        assert row.along >= row.along_least - 1e-9
        assert row.length2 <= row.length2_most + 1e-9
    assert [row.along for row in dual.rounds] == pytest.approx([row.along for row in joint.rounds])
    assert dual.margin == pytest.approx(joint.margin)


@st.composite
def separable(draw):
    d, n = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    u = rng.integers(-3, 4, d).astype(float)
    u[0] = u[0] or 1.0
    X = rng.integers(-5, 6, (n, d)).astype(float)
    X[X @ u == 0, 0] += 1
    return X, np.where(X @ u > 0, 1, -1), u


@settings(max_examples=40)
@given(separable(), st.integers(1, 3))
def test_the_lemmas_hold_in_every_row(game, epochs):
    X, y, u = game
    if len(set(y)) < 2:
        X, y = np.vstack([X, -X[:1]]), np.append(y, -y[0])
    rows = trace(LinearParameters(bias=0.0), X, y, u=u, epochs=epochs).rounds
    assert len(rows) == epochs * len(X)
    for row in rows:
        assert row.along >= row.along_least - 1e-9
        assert row.length2 <= row.length2_most + 1e-9
        assert row.score == pytest.approx(float(np.dot(row.weights, row.example)))
        assert row.correct == (row.answer * row.score > 0)
    dual = trace(KernelParameters(kernel="linear"), X.tolist(), y, epochs=epochs).rounds
    assert [row.score for row in dual] == pytest.approx([row.score for row in rows])
    assert [row.length2 for row in dual] == pytest.approx([row.length2 for row in rows])


def test_a_learner_goes_on_and_stays_as_it_is():
    learner = LinearLearner(classes=[-1, 1], bias=0.0)
    learner.learn([1, 2], 1)
    table = trace(learner, [[1, 1], [-2, 0]], [-1, 1], u=[0, 1])
    assert [row.weights for row in table.rounds] == [[1, 2], [0, 1]]
    assert [row.k for row in table.rounds] == [0, 1]  # v₀ is what it begins with
    assert table.k == 2
    assert [row.along_least for row in table.rounds] == [2, 1]
    assert learner.rounds == 1


def test_other_rules_have_no_lemmas_here():
    table = trace(LinearParameters(bias=0.0, rule="pa1"), X4, Y4, u=[1, 0])
    assert {row.length2_most for row in table.rounds} == {None}
    assert table.margin is None
    assert "kR²" not in table.text()


def test_html_is_escaped():
    table = trace(LinearParameters(bias=0.0), [[1.0], [2.0]], ["<b>", "a"])
    assert "&lt;b&gt;" in table.html()
    assert "<b>" not in table._repr_html_()
    assert table.html().count("<tr>") == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: trace(LinearParameters(), [[1, 2], [1]], [1, -1]), "all of one length"),
        (lambda: trace(LinearParameters(), [[1, np.nan], [0, 1]], [1, -1]), "NaN"),
        (lambda: trace(LinearParameters(bias=0.0), X4, Y4, initial=[1]), "initial has 1 numbers; give 1 × 2"),
        (lambda: trace(LinearParameters(bias=0.0), X4, Y4, u=[0, 0]), "not all of them 0"),
        (lambda: trace(LinearParameters(), X4, Y4, epochs=0), "once at least"),
        (lambda: trace(LinearParameters(), X4, [1] * 8), "all examples have the label 1"),
        (lambda: trace(LinearParameters(multiclass="ovr"), X4, list("abcabcab")), "one problem"),
        (lambda: trace(RankingParameters(), [[[1, 0], [0, 1]]], [1], initial=[1, 1]), "starts from 0"),
        (lambda: trace(SequenceParameters(template="word"), [["a"]], [["B"]], u=[1]), "a dict of weights"),
        (lambda: trace(SequenceParameters(template="word"), [["a"]], [["B"]], u={"a|B": 0.0}), "no weight"),
        (lambda: trace(KernelParameters(kernel="linear"), X4, Y4, u=[1]), "give 8 × 1, one row for each example"),
        (lambda: movies().text(["wieghts"]), "no column 'wieghts'; choose from step"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_cannot_be_traced_is_named():
    with pytest.raises(TypeError, match="dict cannot be traced; give one of LinearLearner"):
        trace({}, [], [])
    used = KernelLearner(classes=[-1, 1], kernel="linear")
    used.learn([1.0], 1)
    with pytest.raises(ValueError, match="give a new one"):
        trace(used, [[1.0]], [1])


class TestCommand:
    """``perceptive trace``."""

    @pytest.fixture
    def table(self, tmp_path):
        path = tmp_path / "movies.csv"
        path.write_text("one,A,B,profit\n1,1,1,-\n1,3,2,+\n1,2,4,+\n1,3,4,+\n1,2,3,-\n")
        return str(path)

    def test_the_table_of_001(self, table):
        options = ["--label", "profit", "--ties", "positive", "--bias", "0", "--initial=-1,0,0"]
        done = perceptive("trace", table, *options)
        for line, row in zip(done.stdout.splitlines()[2:7], NOTES_001[1:], strict=True):
            assert line.split()[0] == row[0]
            assert all(cell in line for cell in row)
        assert done.stdout.endswith("final weights: [-1, 1, -1]\n")
        told = json.loads(perceptive("trace", table, *options, "--json").stdout)["trace"]
        assert told["features"] == ["one", "A", "B"]
        assert [row["weights"] for row in told["rounds"]] == [[-1, 0, 0]] * 2 + [[0, 3, 2]] * 3
        assert perceptive("trace", table, *options, "--html").stdout.startswith("<table>")

    def test_kernel_and_columns(self, table):
        done = perceptive("trace", table, "--label", "profit", "--kernel", "poly(2)", "--columns", "step,k")
        assert done.stdout.split()[:2] == ["step", "k"]

    @pytest.mark.parametrize(
        ("options", "code", "message"),
        [
            (["--label", "gain"], 2, "has the columns one, A, B, profit"),
            (["--label", "profit", "--initial=1,x"], 2, "numbers with commas"),
            (["--label", "A"], 1, "could not convert string to float: '-'; trace takes columns of numbers"),
            (["--label", "profit", "--columns", "z"], 2, "no column 'z'"),
            (["--label", "profit", "--rule", "svm"], 2, "invalid choice"),
        ],
    )
    def test_wrong_usage(self, table, options, code, message):
        done = perceptive("trace", table, *options, code=code)
        assert message in done.stderr

    def test_broken_tables(self, tmp_path):
        for text, message in [("", "is empty"), ("a,b\n1\n", "line 2: has 1 fields, the header 2")]:
            (tmp_path / "t.csv").write_text(text)
            done = perceptive("trace", str(tmp_path / "t.csv"), "--label", "b", code=1)
            assert message in done.stderr


def test_every_column_can_be_shown():
    assert len(movies().cells(list(COLUMNS))) == 6


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("--u=1,2,3", "--u has 3 numbers; give 1 × 2"),
        ("--u=0,0", "not all of them 0"),
        ("--columns=foo", "--columns: there is no column 'foo'"),
        ("--initial=nan,1", "--initial contains NaN or inf"),
    ],
)
def test_wrong_values_of_options_are_wrong_usage(tmp_path, capsys, wrong, said):
    (tmp_path / "t.csv").write_text("a,b,y\n1,1,-1\n3,2,1\n")
    assert main(["trace", str(tmp_path / "t.csv"), "--label", "y", wrong]) == 2
    assert said in capsys.readouterr().err


def test_what_a_table_cannot_show_is_told(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n1,nan,-1\n")
    assert main(["trace", str(path), "--label", "y"]) == 1
    assert "t.csv, line 2: column 'b' is 'nan'; give finite numbers" in capsys.readouterr().err
    path.write_text("a,b,y\n1,1,-1\n3,2,1\n")
    assert main(["trace", str(path), "--label", "y", "--u=-1,0"]) == 0
    assert "--u does not separate the examples: its margin γ is -3" in capsys.readouterr().err
