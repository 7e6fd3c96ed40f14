"""Classifiers with kernels."""

import golden_data as d
from golden_classifiers import EVERY, ROWS, about_rows
from golden_models import HYPOTHESES, add, one_by_one, partial

import perceptive
from perceptive import kernels as k


def kernel(kernel, X=d.X, y=d.TWO, **parameters):
    """A classifier with a kernel that has been fitted."""
    parameters = {"epochs": 3, **parameters}
    return lambda: perceptive.KernelClassifier(kernel=kernel, **parameters).fit(X, y)


def add_kernel(name, make, ask=EVERY, **options):
    add(f"kernel-{name}", make, ask, exact=False, **options)


def overlap(a, b):
    """A kernel of strings, as users write them: letters in common."""
    return float(len(set(a) & set(b)))


STRINGS, ABOUT_STRINGS = {"X": d.WORDS, "y": d.WORDS_Y}, about_rows(d.WORDS_TEST, keep=True)
ABOUT_TREES, ABOUT_OBJECTS = about_rows(d.TREES_TEST, keep=True), about_rows(d.OBJECTS_TEST, keep=True)
for rule in ("perceptron", "pa1", "pa2"):
    add_kernel(f"poly-{rule}", kernel(k.Polynomial(2), rule=rule, C=0.25))
    for multiclass in ("joint", "ovr"):
        add_kernel(f"{multiclass}-{rule}", kernel("poly(2)", y=d.FOUR, rule=rule, multiclass=multiclass, epochs=2))
for hypothesis in HYPOTHESES:
    add_kernel(hypothesis, kernel(k.Quadratic(), y=d.FOUR, hypothesis=hypothesis), ROWS)
add_kernel("linear", kernel(k.Linear(), bias=1.0))
add_kernel("gaussian", kernel("gaussian"))
add_kernel("gaussian-sigma", kernel(k.Gaussian(sigma=2.0), y=d.FOUR, dtype="float64"))
add_kernel("laplacian", kernel(k.Laplacian(0.5)))
add_kernel("normalized", kernel(k.Polynomial(3), normalized=True, hypothesis="voted"), ROWS)
add_kernel("sum-product", kernel(0.5 * k.Linear() + k.Gaussian(gamma=0.1) * k.Polynomial(2) + 1))
add_kernel("rescaled", kernel((k.Polynomial(2) + 1).normalized()))
add_kernel("sparse", kernel("poly(2)", X=d.SPARSE), about_rows(d.SPARSE_TEST, keep=True))
add_kernel("margin-ties", kernel("poly(2)", margin=0.5, learning_rate=0.5, ties="positive"))
add_kernel("delta", kernel("poly(2)", delta=2.0))
add_kernel("delta-joint", kernel("poly(2)", y=d.FOUR, delta=2.0))
add_kernel("weights", kernel("poly(2)", class_weight="balanced"))
add_kernel("no-shuffle", kernel("poly(3)", shuffle=False, epochs=30))
for forget in ("oldest", "random", "projectron"):
    add_kernel(f"budget-{forget}", kernel("poly(2)", budget=8, forget=forget, hypothesis="last"), ROWS)
add_kernel("budget-averaged", kernel("gaussian(gamma=0.2)", budget=8), ROWS)
add_kernel("budget-joint", kernel("poly(2)", y=d.FOUR, budget=8, hypothesis="last", forget="oldest"), ROWS)
add_kernel("spectrum", kernel(k.Spectrum(2), **STRINGS), ABOUT_STRINGS)
add_kernel("subsequence", kernel(k.Subsequence(2, 0.5).normalized(), **STRINGS), ABOUT_STRINGS)
add_kernel("all-subsequences", kernel(k.AllSubsequences().normalized(), **STRINGS), ABOUT_STRINGS)
add_kernel("subset-tree", kernel(k.SubsetTree(0.5), X=d.TREES, y=d.TREES_Y), ABOUT_TREES)
add_kernel("subtree", kernel(k.Subtree(), X=d.TREES, y=d.TREES_Y), ABOUT_TREES)
add_kernel("views", kernel("0.5*spectrum(2)@text + subsequence(2)@text", X=d.OBJECTS, y=d.WORDS_Y), ABOUT_OBJECTS)
add_kernel(
    "columns",
    kernel(k.Polynomial(2).on([0, 1, 2]) + k.Linear().on([3, 4])),
)
add_kernel("custom", kernel(k.Custom(overlap), **STRINGS), ABOUT_STRINGS, functions={"overlap": overlap})
add_kernel("precomputed", kernel("precomputed", X=(d.X @ d.X.T + 1) ** 2), about_rows((d.X_TEST @ d.X.T + 1) ** 2))
add_kernel("partial-fit", lambda: partial(perceptive.KernelClassifier(kernel="poly(2)"), 3, d.ROWS, d.FOUR))
add_kernel("learn-one", lambda: one_by_one(perceptive.KernelClassifier(kernel="spectrum(2)"), d.WORDS, d.WORDS_Y),
           ABOUT_STRINGS)  # fmt: skip
