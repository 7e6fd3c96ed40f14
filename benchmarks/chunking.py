"""Templates for chunks, cross-validated on the training file of CoNLL-2000. Needs PERCEPTIVE_DATA.

python benchmarks/chunking.py                            # the preset
python benchmarks/chunking.py --without cluster          # without the lines that have this in them
python benchmarks/chunking.py --with 'cluster(30)[-1:1]' # with lines more
python benchmarks/chunking.py --reranked                 # what a ranker gains, on the candidates of cross-fitting
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

import data
from perceptive import LinearRanker, SequenceTagger
from perceptive.evaluation.conlleval import evaluate
from perceptive.features.presets import LONGER, PARAMETERS, PRESETS
from perceptive.learners.ranking import RankingLearner
from perceptive.learners.reranking import BITS, RANKER, RerankingLearner
from perceptive.streams import conll
from report import Table, show

BLOCK, FOLDS = 200, 3  # sentences of a block; blocks are held out in turn


def reranked(X: list[Any], y: list[Any], **tagger: Any) -> tuple[list[Any], list[Any]]:
    """The labels of taggers that have not seen the sentence, and of rankers that have not seen its candidates."""

    def fit(X: list[Any], y: list[Any], weights: Any = None) -> Any:
        return SequenceTagger(**tagger).fit(X, y, weights).learner_

    learner = RerankingLearner(fit(X, y), RankingLearner(bits=BITS, **RANKER), fit_tagger=fit)
    proposed, chosen = learner.cross_fitted(X, y), [[] for _ in X]

    def rows(some: list[int], only_telling: bool) -> tuple[Any, Any]:
        found = [[one[i] for i in some] for one in (X, y, proposed)]
        lists = learner.graded(*found, only_telling, in_segments=True)
        indptr, indices, values = lists.rows
        return sp.csr_array((values, indices, indptr), shape=(len(lists.grades), 2**BITS)), lists

    for fold in range(FOLDS):
        out = [i for i in range(len(X)) if i // BLOCK % FOLDS == fold]
        features, lists = rows(sorted({*range(len(X))} - {*out}), True)
        ranker = LinearRanker(bits=BITS, **RANKER, random_state=tagger["random_state"])
        ranker.fit(features, lists.grades, np.repeat(lists.sentences, lists.sizes))
        features, lists = rows(out, False)
        scores = np.split(features @ ranker.coef_, np.cumsum(lists.sizes)[:-1])
        for i, mine in zip(out, scores, strict=True):
            chosen[i] = proposed[i][int(np.argmax(mine))][0]
    return [found[0][0] for found in proposed], chosen


def main() -> None:
    """Print F1 of all held-out sentences, of each fold, and the time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--without", action="append", default=[], metavar="TEXT")
    parser.add_argument("--with", action="append", default=[], metavar="LINE", dest="more")
    parser.add_argument("--reranked", action="store_true")
    chosen = parser.parse_args()
    path = data.part("conll2000/train.txt")
    if path is None:
        return
    lines = [line for line in PRESETS["chunking"].splitlines() if not any(text in line for text in chosen.without)]
    X, y = conll.read(str(path))
    if chosen.reranked:
        table = Table("Chunks of CoNLL-2000, reranked, cross-validated", ["seed", "F1", "reranked", "gain", "folds"])
        for seed in range(chosen.seeds):
            how = {
                **LONGER,
                **PARAMETERS["chunking"],
                "random_state": seed,
                "template": "\n".join([*lines, *chosen.more]),
            }
            before, after = reranked(X, y, **how)
            outs = [[i for i in range(len(X)) if i // BLOCK % FOLDS == fold] for fold in range(FOLDS)]
            gains = [_f1(y, after, out) - _f1(y, before, out) for out in outs]
            f1, better = (_f1(y, found, range(len(X))) for found in (before, after))
            shown = [f"{f1:.2f}", f"{better:.2f}", f"{better - f1:+.2f}", ", ".join(f"{gain:+.2f}" for gain in gains)]
            table.rows.append([str(seed), *shown])
        return show([table], [])
    table = Table("Chunks of CoNLL-2000, cross-validated", ["seed", "F1", "folds", "CPU, s"])
    for seed in range(chosen.seeds):
        began, truth, found, folds = time.process_time(), [], [], []
        for fold in range(FOLDS):
            out = [i for i in range(len(X)) if i // BLOCK % FOLDS == fold]
            kept = sorted({*range(len(X))} - {*out})
            parameters = {**LONGER, **PARAMETERS["chunking"], "random_state": seed}
            tagger = SequenceTagger(template="\n".join([*lines, *chosen.more]), **parameters)
            tagger.fit([X[i] for i in kept], [y[i] for i in kept])
            truth += [y[i] for i in out]
            found += tagger.predict([X[i] for i in out])
            folds.append(evaluate(truth[-len(out) :], found[-len(out) :]).f1)
        shown = [evaluate(truth, found).f1, *folds]
        row = [f"{shown[0]:.2f}", ", ".join(f"{f1:.2f}" for f1 in shown[1:])]
        table.rows.append([str(seed), *row, f"{time.process_time() - began:.0f}"])
    show([table], [])


def _f1(y: list[Any], found: list[Any], some: Any) -> float:
    return float(evaluate([y[i] for i in some], [found[i] for i in some]).f1)


if __name__ == "__main__":
    main()
