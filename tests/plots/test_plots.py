"""Pictures: what is drawn is what the model says."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from perceptive import KernelClassifier, LinearClassifier, SequenceTagger
from perceptive.games import PerceptronGame, Planar, RankingGame, noisy_game, separable_game
from perceptive.kernels import Gaussian
from perceptive.plots import (
    ChainDisplay,
    DecisionSurfaceDisplay,
    GameDisplay,
    GramDisplay,
    HashKernelDisplay,
    HypothesesDisplay,
    LearningCurveDisplay,
    LiftDisplay,
    RankingDisplay,
    SurvivalDisplay,
    plot_explanation,
    plot_trellis,
)

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


@pytest.fixture(autouse=True)
def no_screen():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    yield
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("y", [[0, 1, 1, 0], [0, 1, 1, 2]])
def test_decision_surface(y, tmp_path):
    clf = KernelClassifier(kernel="quadratic", hypothesis="last", epochs=50).fit(X, y)
    display = DecisionSurfaceDisplay.from_estimator(clf, X, y, grid=30)
    assert display.scores.shape[:2] == (30, 30)
    corner = np.array([[display.x[0, 0], display.y[0, 0]]])
    assert np.allclose(display.scores[0, 0], clf.decision_function(corner)[0])
    assert len(display.supports) == len(clf.support_)
    display.figure_.savefig(tmp_path / "a.png")
    with pytest.raises(ValueError, match="two features"):
        DecisionSurfaceDisplay.from_estimator(clf, np.ones((2, 3)), [0, 1])
    with pytest.raises(ValueError, match="no rows of two numbers"):
        DecisionSurfaceDisplay.from_estimator(KernelClassifier(kernel="spectrum(1)"), ["ab", "cd"], [0, 1])


def test_gram(tmp_path):
    display = GramDisplay.from_kernel(Gaussian(gamma=1.0), X, [1, 0, 1, 0])
    order = [1, 3, 0, 2]
    assert np.allclose(display.K, Gaussian(gamma=1.0).gram(X)[np.ix_(order, order)])
    display.figure_.savefig(tmp_path / "a.png")


# ---------------------------------------------------------------- any classifier of two features


@pytest.mark.parametrize("y", [[0, 0, 0, 1], [0, 1, 1, 2]])
@pytest.mark.parametrize(
    "make",
    [
        lambda: LinearClassifier(bias=1.0, epochs=50),
        lambda: SVC(kernel="linear", C=100),
        lambda: SVC(kernel="rbf"),
        lambda: Perceptron(),
        lambda: DecisionTreeClassifier(),
        lambda: KNeighborsClassifier(1),
        lambda: RidgeClassifier(),
        lambda: KernelClassifier(kernel="quadratic", hypothesis="last"),
    ],
)
def test_surfaces_of_any_classifier(make, y, tmp_path):
    clf = make().fit(X, y)
    display = DecisionSurfaceDisplay.from_estimator(clf, X, y, grid=20)
    grid = np.column_stack([display.x.ravel(), display.y.ravel()])
    scores = display.scores.reshape(len(grid), -1)
    said = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
    assert (clf.classes_[said] == clf.predict(grid)).mean() > 0.95  # but for ties
    display.figure_.savefig(tmp_path / "a.png")


def test_w_stands_at_right_angles():
    clf = LinearClassifier(bias=1.0, epochs=50).fit(X, [0, 0, 0, 1])
    display = DecisionSurfaceDisplay.from_estimator(clf, X, [0, 0, 0, 1])
    assert display.w.tolist() == [*clf.coef_[0], clf.intercept_[0]]
    assert display.ax_.get_aspect() == 1.0
    assert DecisionSurfaceDisplay.from_estimator(clf, X, [0, 0, 0, 1], hypothesis="last").w is None
    assert display.margin == pytest.approx(np.abs(clf.decision_function(X)).min())


def test_no_such_hypothesis_of_another_library():
    with pytest.raises(TypeError, match="hypothesis"):
        DecisionSurfaceDisplay.from_estimator(SVC().fit(X, [0, 0, 0, 1]), X, [0, 0, 0, 1], hypothesis="last")


# ---------------------------------------------------------------- games


def test_game():
    game = PerceptronGame([0, 1], 0.2, 1)
    game.round([0.9, 0.3], 1)
    game.round([0.5, -0.3], -1)
    display = GameDisplay.from_game(game, guesses=[0, 1, 2])
    assert display.guesses[1].tolist() == [0.9, 0.3]
    assert display.X.shape == (2, 2)
    words = {text.get_text() for text in display.ax_.texts}
    assert {"u", "$v_{1}$", "$v_{2}$"} <= words
    with pytest.raises(ValueError, match="v_3 is not there: B has made 2 mistakes"):
        GameDisplay.from_game(game, guesses=[3])
    with pytest.raises(ValueError, match="of two features; this one has 3"):
        GameDisplay.from_game(PerceptronGame([0, 0, 1], 0.2, 1))
    assert GameDisplay.from_game(PerceptronGame([0, 1], 0.2, 1)).X.shape == (0, 2)


def test_chain():
    game = PerceptronGame([0, 1], 0.2, 1)
    game.play(Planar(), 50)
    display = ChainDisplay.from_game(game)
    assert len(display.along) == game.k + 1
    chain = np.array([display.least, display.along, display.length, display.most])
    assert (np.diff(chain, axis=0) >= -1e-9).all()
    assert display.ax_.get_lines()[0].get_label() == r"$\sqrt{k}\,R$"


def test_ranking():
    game = RankingGame([0, 1], 0.2, 1)
    with pytest.raises(ValueError, match="nothing has been played"):
        RankingDisplay.from_game(game)
    game.round([[0.5, 0.2], [0.1, 0.9]], 1)
    game.round([[-0.5, 0.7], [0.1, 0.1]], 0)
    assert RankingDisplay.from_game(game, 0, by="u").direction.tolist() == [0, 1]
    assert RankingDisplay.from_game(game, 1, by="v").direction.tolist() == game.rounds[0].v
    assert RankingDisplay.from_game(game, 0, by="correction").after.tolist() == game.rounds[0].v
    with pytest.raises(ValueError, match="choose 'u', 'v' or 'correction'"):
        RankingDisplay.from_game(game, by="w")


def test_lift():
    xor = LiftDisplay.from_data(X, [-1, 1, 1, -1])
    assert (np.sign(xor.scores(X)) == xor.y).all()
    assert len(xor.axs_) == 2
    with pytest.raises(ValueError, match="rows of two numbers"):
        LiftDisplay.from_data([[1, 2, 3]], [1])
    with pytest.raises(ValueError, match="3 classes"):
        LiftDisplay.from_data(X, [0, 1, 2, 0])


# ---------------------------------------------------------------- runs


def test_hypotheses_of_one_run():
    X, y, _ = noisy_game(400, 6, 0.05, 1.0, 0.1, 1)
    clf = LinearClassifier(random_state=3)
    display = HypothesesDisplay.from_estimator(clf, X[:300], y[:300], X[300:], y[300:], epochs=2, parts=3)
    assert display.epochs.tolist() == pytest.approx([1 / 3, 2 / 3, 1, 4 / 3, 5 / 3, 2])
    again = LinearClassifier(random_state=3, keep="all")
    rng = np.random.default_rng(3)
    for _ in range(2):
        for rows in np.array_split(rng.permutation(300), 3):
            again.partial_fit(X[rows], y[rows], classes=[-1, 1])
    for name, values in display.errors.items():
        assert values[-1] == np.mean(again.predict(X[300:], hypothesis=name) != y[300:])
    assert not hasattr(clf, "classes_")  # a copy was trained
    with pytest.raises(ValueError, match="at least one"):
        HypothesesDisplay.from_estimator(clf, X, y, X, y, epochs=0)


def test_survivals_are_those_of_the_table_of_000():
    examples = [[-1, -1], [-1, -1], [-2, 0], [-1, 1], [2, 1], [0, -1], [0, -2], [1, -2], [2, 1], [1, 0]]
    y = [1, 1, 1, -1, -1, 1, 1, -1, -1, 1]
    clf = LinearClassifier(keep="all", bias=0.0, epochs=1, shuffle=False).fit(examples, y)
    assert SurvivalDisplay.from_estimator(clf).survivals.tolist() == [1, 3, 4, 2, 0]
    with pytest.raises(ValueError, match="one sequence"):
        SurvivalDisplay.from_estimator(LinearClassifier(multiclass="ovr", keep="all").fit(X, [0, 1, 1, 2]))


def test_learning_curve():
    X, y, _ = separable_game(200, 4, 0.1, 1.0, 1)
    clf = LinearClassifier(bias=0.0).fit(X, y)
    display = LearningCurveDisplay.from_estimator(clf, X, y)
    assert display.updates.tolist() == clf.updates_.tolist()
    assert display.updates.sum() <= display.certificate.bound
    assert display.certificate.updates == display.updates.sum()


def test_hash_kernel():
    X = np.random.default_rng(0).normal(size=(25, 400))
    few, many = (HashKernelDisplay.from_data(X, bits) for bits in (4, 16))
    assert few.exact.shape == few.hashed.shape == (25 * 24 // 2,)
    assert np.abs(many.hashed - many.exact).mean() < np.abs(few.hashed - few.exact).mean() / 10
    with pytest.raises(ValueError, match="two rows"):
        HashKernelDisplay.from_data([[1.0]], 4)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", [LinearClassifier, KernelClassifier])
def test_surfaces_of_frames_have_the_columns_of_the_model(make):
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rows = np.random.default_rng(0).normal(size=(40, 2))
    frame, y = pd.DataFrame(rows, columns=["u", "v"]), (rows[:, 0] > 0).astype(int)
    model = make().fit(frame, y)
    plain = DecisionSurfaceDisplay.from_estimator(make().fit(rows, y), rows, y)
    for one in (frame, frame[["v", "u"]], frame.assign(w=1.0), pa.Table.from_pandas(frame)):
        drawn = DecisionSurfaceDisplay.from_estimator(model, one, y)
        np.testing.assert_array_equal(drawn.scores, plain.scores)
        np.testing.assert_array_equal(drawn.X, rows)
    numbered = pd.DataFrame(rows)
    DecisionSurfaceDisplay.from_estimator(make().fit(numbered, y), numbered, y)


def test_names_are_drawn_as_they_are(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    name = r"price=$\foo$"
    rows = [{"price": r"$\foo$"}, {"price": "5"}]
    told = LinearClassifier().fit(rows, ["a", r"$\bar$"]).explain(rows[0], label=r"$\bar$")
    ax = plot_explanation(told)
    assert ax.get_yticklabels()[0].get_text().replace(r"\$", "$") == name
    ax.figure.savefig(tmp_path / "why.svg")
    tagger = SequenceTagger().fit([["costs", r"$\foo$"]], [["O", "$B$"]])
    ax = plot_trellis(tagger, [r"$\foo$", "costs"])
    ax.figure.savefig(tmp_path / "trellis.svg")
    pyplot.close("all")
    with pytest.raises(TypeError, match="a sentence has one for each token"):
        plot_explanation(tagger.explain(["costs"]))
    with pytest.raises(NotFittedError):
        plot_trellis(SequenceTagger(), ["costs"])
