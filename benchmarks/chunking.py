"""Templates for chunks, cross-validated on the training file of CoNLL-2000. Needs PERCEPTIVE_DATA.

python benchmarks/chunking.py                            # the preset
python benchmarks/chunking.py --without cluster          # without the lines that have this in them
python benchmarks/chunking.py --with 'cluster(30)[-1:1]' # with lines more
python benchmarks/chunking.py --reranked                 # what a reranker gains; with its gains by fold
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import data
from perceptive import LinearRanker, Reranker, SequenceTagger
from perceptive.evaluation.conlleval import evaluate
from perceptive.features.presets import LONGER, PARAMETERS, PRESETS
from perceptive.learners.reranking import BITS, RANKER
from perceptive.streams import conll
from report import Table, show

BLOCK, FOLDS = 200, 3  # sentences of a block; blocks are held out in turn


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
    outs = [[i for i in range(len(X)) if i // BLOCK % FOLDS == fold] for fold in range(FOLDS)]
    named = ["seed", "F1", "folds", *(["reranked, gain", "folds"] if chosen.reranked else []), "CPU, s"]
    table = Table("Chunks of CoNLL-2000, cross-validated", named)
    for seed in range(chosen.seeds):
        began, found = time.process_time(), [[[] for _ in X] for _ in range(2 if chosen.reranked else 1)]
        for out in outs:
            kept = sorted({*range(len(X))} - {*out})
            how = {**LONGER, **PARAMETERS["chunking"], "min_count": 2, "random_state": seed}  # as the preset's "auto"
            model: Any = SequenceTagger(template="\n".join([*lines, *chosen.more]), **how)
            if chosen.reranked:
                model = Reranker(model, ranker=LinearRanker(bits=BITS, **RANKER, random_state=seed))
            model.fit([X[i] for i in kept], [y[i] for i in kept])
            for labels, one in zip(found, [model.tagger_, model] if chosen.reranked else [model], strict=True):
                for i, mine in zip(out, one.predict([X[i] for i in out]), strict=True):
                    labels[i] = mine
        scores = [[_f1(y, labels, some) for some in (range(len(X)), *outs)] for labels in found]
        shown = [f"{scores[0][0]:.2f}", ", ".join(f"{f1:.2f}" for f1 in scores[0][1:])]
        if chosen.reranked:
            whole, *folds = (after - before for before, after in zip(*scores, strict=True))
            shown += [f"{whole:+.2f}", ", ".join(f"{gain:+.2f}" for gain in folds)]
        table.rows.append([str(seed), *shown, f"{time.process_time() - began:.0f}"])
    show([table], [])


def _f1(y: list[Any], found: list[Any], some: Any) -> float:
    return float(evaluate([y[i] for i in some], [found[i] for i in some]).f1)


if __name__ == "__main__":
    main()
