"""Freund & Schapire 1999, large margin classification: digits, d = 1 to 6, T = 0.1 to 10 epochs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import data
from papers.paper import Claim, Paper
from perceptive.kernels import Polynomial
from perceptive.learners import KernelLearner
from report import Table

DEGREES, EPOCHS = (1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 10)
KINDS = ("last", "last, normalised", "averaged", "averaged, normalised", "voted", "random", "random, normalised")
FEW = 15_000  # supports: with more, lengths of vectors take longer than all the rest


def errors_of(learner: KernelLearner, X: NDArray[np.float32], truth: NDArray[Any]) -> dict[str, float]:
    """Test errors in per cent; normalised: the ten problems are compared by v·x/‖v‖."""
    dual = learner.dual
    assert dual is not None
    single = ("last", "averaged", "random")
    alpha = np.hstack([dual.coefficients(name) for name in single])
    scores = np.split(dual.K.weighted(learner.kernel.prepare(X, dual.K.dtype), dual.supports, alpha), 3, axis=1)
    decided = {name: learner.decide(part) for name, part in zip(single, scores, strict=True)}
    if len(dual) <= FEW:
        lengths = np.sqrt(np.sum(alpha * dual.K.weighted(dual.supports, dual.supports, alpha), axis=0))
        for name, part, length in zip(single, scores, np.split(lengths, 3), strict=True):
            decided[f"{name}, normalised"] = learner.decide(part / np.where(length > 0, length, 1))
    decided["voted"] = learner.decide(learner.scores(X, "voted"))
    return {name: 100 * float(np.mean(labels != truth)) for name, labels in decided.items()}


def reproduce(quick: bool = False) -> Paper:
    """One run for all T ≥ 1 of a degree."""
    digits = data.digits()
    digits = digits.map(digits.name, data.scaled)
    degrees, epochs = ((1, 3), (1, 2)) if quick else (DEGREES, EPOCHS)
    X, y, X_test, y_test = digits.X, digits.y, digits.X_test, digits.y_test
    if quick:
        X, y, X_test, y_test = X[:1000], y[:1000], X_test[:300], y_test[:300]
    found: dict[tuple[int, float], dict[str, float]] = {}
    table = Table(
        f"{digits.name}, one-vs-rest, (x·x' + 1)ᵈ: test errors in %, mistakes of all problems, supports",
        ["d", "T", *KINDS, "mistakes", "supports"],
    )
    for degree in degrees:
        for parts in ((0.1,), epochs):
            n = round(min(1, parts[0]) * len(y))
            learner = KernelLearner(classes=range(10), kernel=Polynomial(degree), multiclass="ovr")
            dataset = learner.dataset(X[:n], y[:n], epochs=int(max(1, *parts, 1)))
            for epoch in range(1, int(max(1, *parts, 1)) + 1):
                sum(dataset.epoch(np.random.default_rng(epoch).permutation(n)))
                part = parts[0] if parts[0] < 1 else epoch
                if part in parts:
                    errors = found[degree, part] = errors_of(learner, X_test, y_test)
                    assert learner.dual is not None
                    cells = [f"{errors[kind]:.2f}" if kind in errors else "" for kind in KINDS]
                    counts = f"{learner.mistakes:,}", f"{len(learner.dual):,}"
                    table.rows.append((str(degree), f"{part:g}", *cells, *counts))
                    print(" ", *table.rows[-1], flush=True)
    top = degrees[min(3, len(degrees) - 1)]
    first, end = found[top, 1], found[top, epochs[-1]]
    better = [max(errors["voted"], errors["averaged"]) <= errors["last"] for errors in found.values()]
    apart = max(abs(errors["voted"] - errors["averaged"]) for (_, t), errors in found.items() if t >= 1)
    linear = {t: found[1, t] for t in epochs}
    claims = [
        Claim(
            "voting and averaging are better than the last vector",
            f"in {sum(better)} of {len(better)} rows",
            sum(better) > 0.9 * len(better),
        ),
        Claim("voting and averaging are about equal", f"at most {apart:.2f} points apart from T = 1 on", apart < 0.5),
        Claim(
            "a random vector of the run is no better than the last",
            f"d = {top}, T = 1: {first['random']:.2f}, last {first['last']:.2f}",
            first["random"] > first["last"] - 0.2,
        ),
        Claim(
            "with d = 1 the data is not separable, and the last vector stays bad",
            f"{linear[epochs[-1]]['last']:.2f} after {epochs[-1]} epochs, voted {linear[epochs[-1]]['voted']:.2f}",
            linear[epochs[-1]]["last"] > linear[epochs[-1]]["voted"] + 1,
        ),
        Claim(
            "one epoch is nearly enough for voting",
            f"d = {top}: {first['voted']:.2f} after 1, {end['voted']:.2f} after {epochs[-1]}",
            first["voted"] - end["voted"] < 1,
        ),
        Claim(
            "after many epochs with d ≥ 2 the hypotheses are about equal",
            f"d = {top}: {end['last']:.2f} last, {end['voted']:.2f} voted",
            abs(end["last"] - end["voted"]) < 0.3,
        ),
    ]

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        at = [0.1, *epochs]
        for ax, degree in ((left, degrees[0]), (right, top)):
            for kind, line in (("last", "--"), ("random", ":"), ("averaged", "-."), ("voted", "-")):
                ax.plot(at, [found[degree, t][kind] for t in at], line, marker=".", label=kind)
            ax.set(title=f"d = {degree}", xlabel="epochs T", xscale="log", ylabel="test error, %", ylim=(0, None))
        right.legend()

    return Paper(
        "Voted, averaged, last, random",
        "Freund & Schapire (1999), Large margin classification using the perceptron algorithm",
        """The paper asks which of the vectors of a run should predict: the last, the average of all, a vote of all,
        or one drawn at random? The table answers for polynomial kernels of degree d after T epochs. The data is
        MNIST, 60,000 digits to learn from and 10,000 to test on, as ten one-vs-rest problems.""",
        """Pixels are between 0 and 1, and each epoch has a new order. "Normalised" compares the problems by
        v·x/‖v‖; cells are empty if there are more than 15,000 supports, because ‖v‖ is then expensive to compute.
        The voted hypothesis compares the problems by their votes. The paper's own scores are not shown: neither the
        notes nor any text that we could read gives them.""",
        [table],
        claims,
        draw,
        "Test error by epoch, for each hypothesis",
    )
