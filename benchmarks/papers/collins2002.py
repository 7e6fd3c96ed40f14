"""Collins 2002, discriminative training of HMMs: averaged or not, rare features or not, beside maximum entropy."""

from __future__ import annotations

from statistics import mean
from typing import Any

from scipy.stats import ttest_rel

from papers.corpora import Corpus, corpus, noun_phrases, scored
from papers.max_ent import GreedyTagger
from papers.paper import Claim, Paper, spread
from perceptive.evaluation.conlleval import evaluate
from perceptive.learners import SequenceLearner
from report import Table
from rivals.token_features import chunking, parts_of_speech

# His figure 4 (the notes print it): score, and the iteration that had it.
HIS = {
    "NP chunking": {
        "avg, cc=0": (93.53, 13), "noavg, cc=0": (93.04, 35), "avg, cc=5": (93.33, 9), "noavg, cc=5": (91.88, 39),
        "ME, cc=0": (92.34, 900), "ME, cc=5": (92.65, 200),
    },
    "parts of speech": {
        "avg, cc=0": (2.93, 10), "noavg, cc=0": (3.68, 20), "avg, cc=5": (3.03, 6), "noavg, cc=5": (4.04, 17),
        "ME, cc=0": (3.4, 100), "ME, cc=5": (3.28, 200),
    },
}  # fmt: skip
PAIRS = (  # what the paper draws its conclusions from
    ("avg, cc=0", "noavg, cc=0"), ("avg, cc=5", "noavg, cc=5"), ("avg, cc=0", "avg, cc=5"),
    ("noavg, cc=0", "noavg, cc=5"), ("avg, cc=0", "ME, cc=0"), ("avg, cc=0", "ME, cc=5"), ("ME, cc=0", "ME, cc=5"),
)  # fmt: skip
POS = "word[-2:2]\nprefix(1..4)\nsuffix(1..4)\nhas(digit|hyphen|upper)\n@label[-1]"  # Ratnaparkhi's, first order


def measured(
    task: str, train: Corpus, dev: Corpus, epochs: int, seeds: int, iterations: int
) -> dict[str, tuple[list[float], list[int]]]:
    """For each row the best score of each seed, and the epoch that had it."""
    chunks = task == "NP chunking"

    def graded(predicted: list[list[str]]) -> float:
        result = evaluate(dev[1], predicted)
        return float(result.f1 if chunks else 100 - result.accuracy)

    def score(learner: SequenceLearner) -> float:
        return graded(learner.predict_many(dev[0]))

    best = max if chunks else min
    found: dict[str, tuple[list[float], list[int]]] = {}
    for row in HIS[task]:
        kind, count = row.split(", cc=")
        scores, at = [], []
        if kind == "ME":
            tagger = GreedyTagger(
                chunking if chunks else parts_of_speech, min_count=max(1, int(count)), iterations=iterations
            )
            scores, at = [graded(tagger.fit(*train).predict(dev[0]))], [tagger.n_iter_]
        else:
            for seed in range(seeds):
                curve = scored(
                    train,
                    score,
                    epochs=epochs,
                    template="crf++" if chunks else POS,
                    min_count=max(1, int(count)),
                    hypothesis="averaged" if kind == "avg" else "last",
                    random_state=seed,
                )
                scores.append(best(curve))
                at.append(curve.index(best(curve)) + 1)
        found[row] = scores, at
    return found


def reproduce(quick: bool = False) -> Paper:
    """Noun phrases of CoNLL-2000 and English tags of EWT."""
    n, epochs, seeds, iterations = (300, 4, 2, 20) if quick else (None, 40, 3, 60)
    tasks = {
        "NP chunking": (noun_phrases(corpus("conll2000/train.txt", n)), noun_phrases(corpus("conll2000/test.txt", n))),
        "parts of speech": tuple(corpus(f"ud_ewt/{part}.tsv", n, label=1) for part in ("train", "dev")),
    }
    tables, claims, results = [], [], {}
    for task, (train, dev) in tasks.items():
        found = results[task] = measured(
            task, train, dev, epochs if task == "NP chunking" else min(epochs, 20), seeds, iterations
        )
        unit = "F1" if task == "NP chunking" else "errors in %"
        tables.append(
            Table(
                f"{task[0].upper()}{task[1:]}: {unit}, best of the epochs, {seeds} seeds",
                ["", "Collins", "here", "his best after", "ours after"],
                [
                    (row, f"{HIS[task][row][0]:.2f}", spread(scores), str(HIS[task][row][1]), f"{mean(at):.0f}")
                    for row, (scores, at) in found.items()
                ],
            )
        )
        for a, b in PAIRS:
            his, ours = HIS[task][a][0] - HIS[task][b][0], mean(found[a][0]) - mean(found[b][0])
            paired = len(found[a][0]) == len(found[b][0]) > 1
            sure = float(ttest_rel(found[a][0], found[b][0]).pvalue) < 0.05 if paired else abs(ours) > 0.1
            text = f"{task}: {a} {'above' if his > 0 else 'below'} {b} ({his:+.2f})"
            claims.append(Claim(text, f"{ours:+.2f}", his * ours > 0 if sure else None))
        slow, fast = mean(found["noavg, cc=0"][1]), mean(found["avg, cc=0"][1])
        claims.append(
            Claim(f"{task}: averaging is best after fewer epochs", f"{fast:.0f}, not averaged {slow:.0f}", fast < slow)
        )

    def draw(figure: Any) -> None:
        for ax, (task, found) in zip(figure.subplots(1, 2), results.items(), strict=True):
            names = list(found)
            at = range(len(names))
            ax.plot([HIS[task][name][0] for name in names], at, "o", color="0.5", label="Collins")
            ax.plot([mean(found[name][0]) for name in names], at, "s", color="tab:purple", label="here")
            ax.set_yticks(at, names)
            ax.invert_yaxis()
            ax.set(title=task, xlabel="F1, %" if task == "NP chunking" else "errors, %")
            ax.legend()

    return Paper(
        "Perceptrons for tagging: averaged or not",
        "Collins (2002), Discriminative training methods for hidden Markov models; figure 4, as the notes print it",
        """Collins asks two things of a tagger. Does the average of its vectors predict better than the last one? Do
        rare features help? His figure 4, as the notes print it, stands beside ours. avg means averaged, noavg the
        last vector; cc = 0 is with all features, cc = 5 with those that occur 5 times or more; ME is a maximum
        entropy tagger.""",
        """The chunks are nearly his: the noun phrases of CoNLL-2000 (sections 15 to 18 and 20 of the Wall Street
        Journal), with CRF++'s template; Collins used Brill's tags and his own features. His parts of speech come
        from the Penn Treebank, which is not free. Here they come from the English Web Treebank, which is harder,
        with Ratnaparkhi's features, first order: compare the differences between rows, not the errors. Maximum
        entropy is scikit-learn's logistic regression in a greedy tagger, with at most 60 steps of L-BFGS; he used
        iterative scaling with up to 900 steps, and a beam. As in his table, each score is that of the best epoch,
        chosen on the data that is scored. Rows with several seeds differ if a paired t-test shows it (p < 0.05).
        Maximum entropy has no seed; there, a difference is 0.1 points or more.""",
        tables,
        claims,
        draw,
        "Collins' figures and ours, row by row",
    )
