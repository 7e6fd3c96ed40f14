"""Lodhi et al. 2002, string subsequence kernels: length and decay, beside n-grams and words."""

from __future__ import annotations

from statistics import mean
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from papers.paper import Claim, Paper, larger, spread
from papers.shi2009 import texts
from perceptive import KernelClassifier
from perceptive.kernels import Custom, Kernel, Spectrum, Subsequence
from report import Table

LENGTHS, DECAYS = (2, 3, 4, 5, 6, 8), (0.1, 0.3, 0.5, 0.7, 0.9)


def words_in_common(a: str, b: str) -> float:
    """The kernel of bags of words: Σ over words of the product of their counts."""
    left, right = a.lower().split(), b.lower().split()
    return float(sum(left.count(word) * right.count(word) for word in {*left} & {*right}))


def scores(kernel: Kernel, X: list[str], y: list[str], n: int, splits: int) -> list[float]:
    """F1 of the subjective sentences in per cent, on what is left after n to learn from, for several splits."""
    found = []
    K, labels = kernel.normalized().gram(X), np.array(y)
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(X))
        learn, test = order[:n], order[n:]
        clf = KernelClassifier(kernel="precomputed", epochs=10, random_state=seed)
        predicted = clf.fit(K[np.ix_(learn, learn)], labels[learn]).predict(K[np.ix_(test, learn)])
        found.append(100 * f1_score(labels[test], predicted, pos_label="subjective"))
    return found


def reproduce(quick: bool = False) -> Paper:
    """Sentences of the subjectivity corpus: 380 to learn from, 90 to test on, as in the paper's small Reuters."""
    X, y = texts("subjectivity/train.tsv", 120 if quick else 470)
    n, splits = round(len(X) * 380 / 470), 2 if quick else 10
    by_length = {k: scores(Subsequence(k, 0.5), X, y, n, splits) for k in LENGTHS}
    by_decay = {decay: scores(Subsequence(4, decay), X, y, n, splits) for decay in DECAYS}
    grams = {k: scores(Spectrum(k), X, y, n, splits) for k in LENGTHS}
    words = scores(Custom(words_in_common, "words"), X, y, n, splits)
    lengths = Table(
        f"F1 in %, averaged kernel perceptron, {splits} splits of {n} and {len(X) - n}",
        ["length", "subsequences, decay 0.5", "n-grams"],
        [(str(k), spread(by_length[k]), spread(grams[k])) for k in LENGTHS] + [("words", "", spread(words))],
    )
    decays = Table(
        "Subsequences of length 4: F1 in %", ["decay", "F1"], [(f"{d:g}", spread(by_decay[d])) for d in DECAYS]
    )
    middle, best = mean(by_length[4]), max(mean(v) for v in by_length.values())
    claims = [
        Claim(
            "lengths 4 to 6 are among the best; longer ones are worse",
            f"4: {middle:.1f}, 8: {mean(by_length[8]):.1f}",
            larger(by_length[4], by_length[8]),
        ),
        Claim(
            "subsequences are at least as good as n-grams of the same length",
            ", ".join(f"{k}: {mean(by_length[k]) - mean(grams[k]):+.1f}" for k in LENGTHS),
            larger([value for k in LENGTHS for value in by_length[k]], [value for k in LENGTHS for value in grams[k]]),
        ),
        Claim(
            "without using words, they come close to bags of words or beat them",
            f"best {best:.1f}, words {mean(words):.1f}",
            best > mean(words) - 1,
        ),
        Claim(
            "a strong decay does little harm, a weak one does much",
            f"0.1: {mean(by_decay[0.1]):.1f}, 0.5: {mean(by_decay[0.5]):.1f}, 0.9: {mean(by_decay[0.9]):.1f}",
            larger(by_decay[0.1], by_decay[0.9]),
        ),
    ]

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        left.plot(LENGTHS, [mean(by_length[k]) for k in LENGTHS], "o-", color="tab:purple", label="subsequences")
        left.plot(LENGTHS, [mean(grams[k]) for k in LENGTHS], "s--", color="tab:green", label="n-grams")
        left.axhline(mean(words), color="0.5", linestyle=":", label="words")
        left.set(xlabel="length", ylabel="F1, %")
        left.legend()
        right.plot(DECAYS, [mean(by_decay[d]) for d in DECAYS], "o-", color="tab:purple")
        right.set(xlabel="decay, length 4")

    return Paper(
        "String subsequence kernels",
        "Lodhi, Saunders, Shawe-Taylor, Cristianini & Watkins (2002), Text classification using string kernels",
        """A string kernel compares texts by the subsequences of letters that they share; gaps cost more the smaller
        the decay. How long should subsequences be, how much should gaps cost, and are words better?""",
        """The paper uses 380 and 90 articles of Reuters and a support vector machine. Here we use as many sentences
        of the subjectivity corpus and the averaged kernel perceptron, with normalised kernels as in the paper. A
        sentence has about a hundred letters, an article a thousand or more. So only the effects of length and decay
        can be compared. The paper's own scores are not shown: neither the notes nor any text that we could read
        gives them.""",
        [lengths, decays],
        claims,
        draw,
        "F1 by the length and the decay of subsequences",
    )
