"""What a budget of supports costs: test errors after one epoch over 12,000 examples. Needs PERCEPTIVE_DATA."""

from __future__ import annotations

import data
from perceptive import KernelClassifier
from perceptive.kernels import Gaussian, Polynomial
from report import Table, show

WAYS = [("no budget", {}, ["last", "averaged"])] + [
    (f"{forget}, {budget:,}", {"budget": budget, "forget": forget}, hypotheses)
    for budget in (200, 1000)
    for forget, hypotheses in (("oldest", ["last"]), ("random", ["last"]), ("projectron", ["last", "averaged"]))
]


def main() -> None:
    """Learn, and print."""
    mnist = data.digits()
    sets = [("MNIST, (x·x' + 1)⁴", mnist.map(mnist.name, data.scaled), Polynomial(4))]
    sets += [("a9a, Gaussian, γ = 0.05", adult, Gaussian(gamma=0.05)) for adult in data.a9a()]
    table = Table("Test errors in %, one epoch: last, averaged", ["", *(name for name, _, _ in sets)])
    for way, options, hypotheses in WAYS:
        cells = []
        for _, one, kernel in sets:
            models = [KernelClassifier(kernel=kernel, epochs=1, hypothesis=h, **options) for h in hypotheses]
            fitted = [model.fit(one.X[:12_000], one.y[:12_000]) for model in models]
            errors = ", ".join(f"{100 * (1 - model.score(one.X_test, one.y_test)):.1f}" for model in fitted)
            cells.append(f"{errors} ({len(fitted[0].support_):,} supports)")
        table.rows.append([way, *cells])
    show([table], [])


if __name__ == "__main__":
    main()
